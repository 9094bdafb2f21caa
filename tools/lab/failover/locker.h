/* A client of the lock system that is put to the test: the library in this process (locker_library.c), or an engine
 * program (locker_engine.c). The load, requests.c and contender.c, knows the lock system by this alone. */
#ifndef FAILOVER_LOCKER_H
#define FAILOVER_LOCKER_H

#include "worker.h"

struct event_base;
struct fo_locker;
struct fo_lock;

/* What became of an acquisition. */
struct fo_grant {
    int64_t at_ns;   /* when the lock system had answered */
    int status;      /* an enum redlock_status ... */
    int cause;       /* ... and what kept it from being REDLOCK_OK until the deadline */
    int32_t trip_us; /* the masters' round trip, on average; 0: not known */
    uint32_t nodes;  /* masters that granted, as a mask */
};

/* None is called inside of the call that asked for it, and none after the lock's end. */
struct fo_lock_calls {
    void (*acquired)(const struct fo_grant *grant, void *user_data);
    void (*released)(void *user_data);
    void (*lost)(void *user_data);                      /* NULL: of no interest */
    void (*renewed)(int64_t until_ns, void *user_data); /* likewise */
};

/* What a client tells the process that it is in. */
struct fo_locker_calls {
    void (*ready)(void *user_data); /* locks can be asked for */
    void (*shut_down)(bool ok, void *user_data);
};

struct fo_locker_type {
    struct fo_locker *(*create)(struct fo_worker *worker, struct event_base *base, const struct fo_locker_calls *calls,
                                void *user_data); /* NULL: fo_worker_fail() has said why */
    void (*destroy)(struct fo_locker *locker);
    void (*started)(struct fo_locker *locker);   /* the load begins */
    void (*count)(struct fo_locker *locker);     /* into the meter of the phase */
    void (*shut_down)(struct fo_locker *locker); /* nothing is asked for any more */

    struct fo_lock *(*lock)(struct fo_locker *locker, uint32_t key, const struct fo_lock_calls *calls,
                            void *user_data); /* NULL without memory; the calls are borrowed */
    void (*unlock)(struct fo_lock *lock);     /* the lock's end, in whatever state it is; NULL is fine */
    int (*acquire)(struct fo_lock *lock, uint32_t timeout_ms); /* an enum redlock_status */
    int (*release)(struct fo_lock *lock);                      /* likewise */
    int64_t (*remaining_ns)(const struct fo_lock *lock);       /* of the validity, as the lock system tells it */
    uint64_t (*fence)(const struct fo_lock *lock);             /* 0: it has none */
    const char *(*token)(const struct fo_lock *lock);          /* what masters keep; "" if nobody knows */
};

extern const struct fo_locker_type fo_library_locker;
extern const struct fo_locker_type fo_engine_locker;

/* Both kinds begin with these. */
struct fo_locker {
    const struct fo_locker_type *type;
    struct fo_worker *worker;
    const struct fo_locker_calls *calls;
    void *user_data;
};

struct fo_lock {
    struct fo_locker *locker;
    uint32_t key;
    const struct fo_lock_calls *calls;
    void *user_data;
};

/* What is believed of a lock without an end. Far away, and safe to calculate with. */
#define FO_NO_END_NS INT64_C(3600000000000)

#endif
