/* What an operation is about: one lock, or a set of locks; or what an agent has of either (agent_lock.h). And what the
 * library calls the same thing for each. */
#ifndef CLI_SUBJECT_H
#define CLI_SUBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <redlock/redlock.h>
#include <redlock/set.h>

/* Who is told of an end, and of alarms. Of a set the status, the cause and the times are its own, and the rest is about
 * the key that decided, `part`; without one there are no nodes. */
struct subject_sink {
    void (*done)(const struct redlock_result *result, void *data);
    void (*alarm)(size_t part, const struct redlock_alarm *alarm, void *data);
    void *data;
};

struct subject_kind {
    bool votes_follow; /* votes that come in after the decision are told as events of the handle itself */
    int (*acquire)(void *handle, const struct redlock_acquire_options *options, struct subject_sink *sink);
    int (*extend)(void *handle, uint32_t ttl_ms, struct subject_sink *sink);
    int (*release)(void *handle, struct subject_sink *sink);
    int (*watch)(void *handle, struct subject_sink *sink); /* NULL: nobody is told of alarms */
    int (*cancel)(void *handle);
    int (*detach)(void *handle);
    int (*export)(void *handle, char *ret_text, size_t size);
    int (*adopt)(void *handle, const struct redlock_acquire_options *options, const char *text);
    int64_t (*remaining_ns)(const void *handle);
    const struct redlock_lock *(*part)(const void *handle, size_t i); /* NULL: the library has no handles of it */
};

extern const struct subject_kind subject_lock, subject_set;

struct subject {
    const struct subject_kind *kind; /* NULL: there is none */
    void *handle;
};

#endif
