/* The protocol side of an engine: a program that takes locks of one system for redlock-lab, as
 * README.md describes it. An engine fills a struct engine with blocking functions and calls engine_main(); each
 * operation runs in a thread of its own, so that many can be in flight. */
#ifndef ENGINES_ENGINE_H
#define ENGINES_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ENGINE_NODES_MAX 31

/* What came with "open". */
struct engine_settings {
    const char *nodes[ENGINE_NODES_MAX + 1]; /* URLs or addresses; ends with NULL */
    size_t n_nodes;
    int64_t ttl_ms;     /* the longest that will be asked for; 0: not told */
    const char *system; /* one of those that the engine uses; "" if not told */
    const char *master; /* by what name Sentinels know it; "" if not told */
    const char *prefix; /* of all keys, which have it already; "" if not told */
};

/* One attempt, and the lock if it succeeds. */
struct engine_hold {
    const char *key; /* with the prefix */
    int64_t ttl_ms;
    int64_t timeout_ms;
    void *state; /* the engine's own */
    bool has_fence;
    uint64_t fence;
};

enum engine_verdict {
    ENGINE_ACQUIRED,
    ENGINE_HELD,        /* somebody else has it, and the time is up */
    ENGINE_DEADLINE,    /* the time is up, and nobody knows why */
    ENGINE_UNREACHABLE, /* the system cannot be asked, or does not serve */
    ENGINE_ERROR,
};

#define ENGINE_NO_END INT64_MAX

enum engine_release {
    ENGINE_RELEASED,
    ENGINE_LOST,        /* it was not this holder's any more */
    ENGINE_UNCONFIRMED, /* the system was told, or may have been; it has not answered */
    ENGINE_FAILED,
};

struct engine {
    const char *name;
    const char *version; /* of its client library */
    const char *can;     /* some of "lease,renewal,fence,fifo,alarm"; "-" for none */
    const char *systems; /* that it uses, the usual one first: "etcd", "redis:1,sentinel" */
    int64_t ttl_ms;      /* that its library uses if its user names none; 0: one must be named */

    /* Connects, or does not need to yet; false: engine_say() has told why. */
    bool (*open)(const struct engine_settings *settings);
    /* Nothing is left of an attempt that is not ENGINE_ACQUIRED. */
    enum engine_verdict (*acquire)(struct engine_hold *hold);
    enum engine_release (*release)(struct engine_hold *hold);
    /* How long the holder may believe in the lock, 0 if it must not, ENGINE_NO_END if no end is known. NULL: until what
     * engine_hold_until() has said. */
    int64_t (*remaining_ms)(struct engine_hold *hold);
    /* Called every hold's engine_renew_every(), also while it is acquired. NULL: the engine renews nothing. */
    void (*renew)(struct engine_hold *hold);
    /* The last call for a hold, whether it was acquired or not: frees its state. NULL: there is nothing to free. */
    void (*forget)(struct engine_hold *hold);
};

/* Until stdin ends, which releases nothing, or "bye" comes. Gives the exit status for main(). */
int engine_main(const struct engine *engine);

int64_t engine_now_ns(void); /* CLOCK_MONOTONIC */

/* In the thread of an operation: why it has failed. */
void engine_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* From any thread, during the life of the hold. */
void engine_hold_until(struct engine_hold *hold, int64_t deadline_ns); /* "lost" is told when this passes */
void engine_renew_every(struct engine_hold *hold, int64_t interval_ms);
void engine_hold_lost(struct engine_hold *hold); /* is told once, and only while it is held */

/* "127.0.0.1:2379" of "http://user@127.0.0.1:2379/path": host and port alone. */
void engine_address(const char *node, char *ret_address, size_t size);

#endif
