/* The loss alarm on its way to the program: a queue takes it at once, a watch runs on the service's thread. */
#ifndef RL_BLOCKING_ALARM_H
#define RL_BLOCKING_ALARM_H

#include <stdatomic.h>
#include <stdbool.h>

#include <redlock/blocking.h>

#include "blocking/holder.h"
#include "blocking/loop.h"
#include "blocking/queue.h"

/* An alarm in a queue. */
struct rl_alarm_entry {
    struct rl_queue_entry entry;
    struct redlock_mutex *mutex; /* kept while the entry waits */
    atomic_bool waiting;         /* in a queue and not yet taken; the other members are the taker's then */
    enum redlock_alarm_kind alarm;
    struct redlock_result *evidence; /* NULL: there was no memory */
    enum redlock_loss loss;
};

/* An alarm for a watch that has to wait until the service's thread owns the loop. */
struct rl_late_alarm {
    struct rl_post post;
    bool pending;
    struct redlock_mutex *mutex;     /* kept while the alarm is pending */
    struct redlock_alarm alarm;
    struct redlock_result *evidence; /* a copy of the alarm's nodes and texts */
};

/* What a mutex has for its alarms: a function, a queue, or neither. All of it is the loop owner's, but for entries that
 * wait. The two elements are for the two kinds of alarm. */
struct rl_watch {
    redlock_mutex_watch_fn fn;
    void *user_data;
    struct redlock_queue *queue;
    struct rl_alarm_entry entries[2];
    struct rl_late_alarm late[2];
};

/* Of each holder: an alarm of the lock or the set, whoever watches. */
void rl_watch_tell(struct rl_holder *holder, const struct redlock_alarm *alarm);

/* Nobody is told of alarms any more. */
void rl_watch_drop(struct rl_watch *watch);

#endif
