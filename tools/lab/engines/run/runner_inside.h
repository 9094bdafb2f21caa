/* A running engine, for the runner's own parts. */
#ifndef ENGINES_RUN_RUNNER_INSIDE_H
#define ENGINES_RUN_RUNNER_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <event2/event.h>

#include "process.h"
#include "runner.h"
#include "list.h"

#define NS_PER_MS INT64_C(1000000)

enum stage { GREETING, GREETED, OPENING, OPEN, LEAVING, PARTED };

enum step { ACQUIRING, HELD, LOST, RELEASING };

struct runner {
    struct event_base *base;
    struct engine_place place;
    struct engine_process process;
    const struct runner_callbacks *callbacks;
    void *user_data;
    struct event *on_out, *on_err, *on_in, *tick;
    struct evbuffer *orders, *answers, *complaints;
    struct list locks; /* struct runner_lock.link */
    size_t in_flight;
    uint64_t next_id;
    enum stage stage;
    unsigned can;
    int64_t ticked_ns;
    int64_t clock_ms;    /* the sum of the ticks */
    int64_t deadline_ms; /* of the stage, by that clock; 0: none */
    int status;          /* once it has ended; -1 */
    bool input_closed;
    bool leaving;
    bool failed;
};

/* A lock that the engine was asked for, until it has ended. */
struct runner_lock {
    struct list link;
    struct runner *runner;
    const struct runner_lock_callbacks *callbacks; /* NULL: nobody is interested */
    void *user_data;
    uint64_t id;
    enum step step;
    unsigned valid_pending;
    int64_t asked_ns;       /* acquire, release */
    int64_t asked_valid_ns; /* the first that is pending */
    int64_t last_ns;     /* the largest instant that the engine has told about it */
    int64_t deadline_ms; /* 0: no answer is due */
};

/* The engine has broken the protocol, or has ended: everything stops, and whoever has started it is told why, once. */
void runner_fail(struct runner *runner, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What it writes on its standard error is shown. */
void runner_on_complaints(evutil_socket_t fd, short what, void *user_data);

/* Neither input nor output of the engine is looked at from here on. */
void runner_stop_events(struct runner *runner);

/* An order, or a part of one. */
void runner_say(struct runner *runner, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Parts from an engine that is to leave, once everything has been answered. */
void runner_say_bye_if_idle(struct runner *runner);
void runner_on_writable(evutil_socket_t fd, short what, void *user_data);

void runner_forget(struct runner_lock *lock);

#endif
