/* The completion queue: a list, and a descriptor that is readable while there is something in the list. */
#ifndef RL_BLOCKING_QUEUE_H
#define RL_BLOCKING_QUEUE_H

#include <stdbool.h>

#include <redlock/blocking.h>

#include "util/list.h"

/* Embedded in what waits in a queue: an operation that has ended, or an alarm. */
struct rl_queue_entry {
    struct rl_list link;
    void *user_data;

    /* Any thread: makes a completion of the entry, which is no longer in the queue. Afterwards it may be put again. */
    void (*take)(struct rl_queue_entry *entry, struct redlock_completion *ret_completion);
};

/* Does the queue belong to the service? */
bool rl_queue_fits(const struct redlock_queue *queue, const struct redlock_service *service);

void rl_queue_ref(struct redlock_queue *queue);
void rl_queue_unref(struct redlock_queue *queue);

/* The loop's owner. An entry for a queue that has been destroyed is taken at once, and its completion freed. */
void rl_queue_put(struct redlock_queue *queue, struct rl_queue_entry *entry);

#endif
