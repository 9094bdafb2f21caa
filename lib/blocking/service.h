/* Inside the blocking layer: service, mutex, their operations and queues, and what the files share.
 *
 *     caller                                   whoever leads (lead.h): the caller itself, another one, or the
 *                                              service's thread
 *     take an operation of the mutex  --post-> start it with the client
 *     wait                                     its callback: finished
 *                                              the client writes what it has to write
 *     go on                           <-wake-- after(): publish validity, hand over
 *
 * Memory: a service is kept by its owner, its mutexes, its queues and the calls in progress; a mutex by its owner,
 * its operations in flight, its entries in queues, and the calls in progress. The client and its locks belong to
 * the lead, and end with the service's thread. */
#ifndef RL_BLOCKING_SERVICE_H
#define RL_BLOCKING_SERVICE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <redlock/blocking.h>

#include "blocking/bound.h"
#include "blocking/holders.h"
#include "blocking/inbox.h"
#include "blocking/lead.h"
#include "blocking/waiter.h"
#include "util/list.h"

struct event;
struct event_base;

struct redlock_service {
    atomic_uint references;
    unsigned fork_generation;
    struct rl_inbox inbox;
    struct rl_lead lead;
    pthread_t thread;
    struct rl_post stop;
    uint32_t max_ttl_ms;
    size_t n_nodes;
    redlock_event_fn on_event; /* the program's hook */
    void *event_data;
    uint32_t event_types;      /* that it is called for */
    struct redlock_service *next_left_behind; /* in a forked child */

    /* Of the lead from here on. */
    struct event_base *base;
    struct redlock_client *client; /* NULL: it has ended */
    struct event *posted;
    struct event *after;           /* behind the client's own turn */
    bool after_due;
    struct rl_list finished;       /* operations whose callers have to be told */
    struct rl_list stale;          /* mutexes whose published validity may be wrong */
    struct rl_holders holders;
};

/* What waits in a queue: an operation that has ended, or an alarm. */
struct rl_entry {
    struct rl_list link;
    enum redlock_completion_kind kind;
    struct redlock_mutex *mutex; /* kept */
    void *user_data;
};

/* A lock, extend or release call, from its beginning until its outcome is taken. One at a time. */
struct rl_operation {
    atomic_bool taken;
    struct rl_post post;
    struct redlock_mutex *mutex;
    struct rl_list finished;
    struct rl_waiter waiter;
    int status;
    bool wants_result;
    struct redlock_result *result; /* a copy */
    struct redlock_queue *queue;   /* where the outcome goes; NULL: to the waiter */
    struct rl_entry entry;
    int64_t began_ns;              /* by rl_monotonic_ns() */
    bool defaults;                 /* acquire without options */
    struct redlock_acquire_options options;
    uint32_t ttl_ms;               /* extend */
    const char *token;             /* release_token */
};

struct rl_alarm_entry {
    struct rl_entry entry;
    atomic_bool waiting;           /* in a queue, not yet taken: the rest is the taker's */
    enum redlock_alarm_kind alarm;
    enum redlock_loss loss;
};

/* For a watch, which somebody else than the service's thread must not call. */
struct rl_late_alarm {
    struct rl_post post;
    bool pending;
    struct redlock_mutex *mutex; /* kept while it is pending */
    struct redlock_alarm alarm;
    struct redlock_result *evidence; /* keeps the alarm's nodes */
};

struct redlock_mutex {
    atomic_uint references;
    unsigned fork_generation;
    struct redlock_service *service;
    struct rl_bound bound;
    struct rl_operation attempt;   /* acquire, extend */
    struct rl_operation release;
    atomic_bool dying;

    /* Of the lead from here on. */
    struct redlock_lock *lock;     /* NULL: it has ended */
    struct rl_holder holder;       /* finds the mutex by the lock */
    struct rl_list stale;
    bool holding;                  /* something is published */
    redlock_mutex_watch_fn watch;
    void *watch_data;
    struct redlock_queue *watch_queue;
    struct rl_alarm_entry alarms[2];
    struct rl_late_alarm late[2];

    size_t key_size;
    unsigned char key[];
};

/* --- service.c -------------------------------------------------------------------------------------------------- */

bool rl_service_forked(const struct redlock_service *service);
bool rl_service_is_own_thread(const struct redlock_service *service);
void rl_service_ref(struct redlock_service *service);
void rl_service_unref(struct redlock_service *service);

/* The lead: publishes what is stale, and runs what has been posted. */
void rl_service_read_inbox(struct redlock_service *service);

/* The lead: after() will run in this turn. */
void rl_service_wake_after(struct redlock_service *service);

/* The lead, after something that may have ended any hold. */
void rl_service_publish_all(struct redlock_service *service);

/* --- call.c: something that the lead does while its caller waits, with the client alive or gone ------------------ */

/* The function's result, or E_CLOSING if it has not been called. On the service's own thread calls it at once. */
int rl_notification(struct redlock_service *service, int (*fn)(void *argument), void *argument);

/* The same for code of the program, which nobody but the service's thread runs. */
int rl_call_on_thread(struct redlock_service *service, int (*fn)(void *argument), void *argument);

/* --- mutex.c ---------------------------------------------------------------------------------------------------- */

void rl_mutex_ref(struct redlock_mutex *mutex);
void rl_mutex_unref(struct redlock_mutex *mutex);

/* 0, E_ARGUMENT, E_FORKED. */
int rl_mutex_check(const struct redlock_mutex *mutex);

/* The lead: publishes what is left now, and it is stale no more ... */
void rl_mutex_publish(struct redlock_mutex *mutex);
/* ... or at the end of this turn. */
void rl_mutex_stale(struct redlock_mutex *mutex);

/* The service's thread: the client has ended, and the lock with it. */
void rl_mutex_orphan(struct redlock_mutex *mutex);

/* --- request.c, alarm.c: the lead -------------------------------------------------------------------------------- */

void rl_mutex_drop_watch(struct redlock_mutex *mutex);
void rl_mutex_on_alarm(struct redlock_lock *lock, const struct redlock_alarm *alarm, void *user_data);

/* --- operation.c ------------------------------------------------------------------------------------------------ */

void rl_operation_init(struct rl_operation *operation, struct redlock_mutex *mutex);

/* False: it is in use. Takes a reference to the mutex, which give_back() drops. */
bool rl_operation_take(struct rl_operation *operation);
void rl_operation_give_back(struct rl_operation *operation);

/* The lead: what is posted. */
void rl_operation_acquire(struct rl_post *post);
void rl_operation_extend(struct rl_post *post);
void rl_operation_release(struct rl_post *post);

/* The lead: all whose operations have ended are told. */
void rl_operation_hand_over(struct redlock_service *service);

/* --- queue.c ---------------------------------------------------------------------------------------------------- */

bool rl_queue_fits(const struct redlock_queue *queue, const struct redlock_service *service);
void rl_queue_ref(struct redlock_queue *queue);
void rl_queue_unref(struct redlock_queue *queue);
void rl_queue_put(struct redlock_queue *queue, struct rl_operation *operation);
void rl_queue_put_alarm(struct redlock_queue *queue, struct redlock_mutex *mutex, const struct redlock_alarm *alarm);

/* --- result.c --------------------------------------------------------------------------------------------------- */

/* A deep copy in one block, NULL without memory. */
struct redlock_result *rl_result_copy(const struct redlock_result *result);

#endif
