/* A mutex: its data, its memory, and what all threads may read of it. */
#ifndef RL_BLOCKING_MUTEX_H
#define RL_BLOCKING_MUTEX_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <redlock/blocking.h>

#include "blocking/alarm.h"
#include "blocking/holder.h"
#include "blocking/operation.h"
#include "blocking/recursion.h"

struct redlock_mutex {
    atomic_uint references;
    struct redlock_service *service;
    struct rl_holder holder;
    struct rl_operation attempt; /* to acquire, to extend or to convert */
    struct rl_operation release;
    struct rl_request give_back; /* of a lock that was won when nobody waited for it any more */
    struct rl_watch watch;
    struct rl_recursion *recursion; /* NULL: the mutex is not recursive */
    atomic_bool dying;           /* redlock_mutex_destroy() has been called */
    uint32_t limit;              /* of a semaphore, one permit of which the mutex is; 0: none */
    size_t key_size;
    unsigned char key[];
};

/* 0, E_ARGUMENT, E_FORKED. */
int rl_mutex_check(const struct redlock_mutex *mutex);

void rl_mutex_ref(struct redlock_mutex *mutex);
void rl_mutex_unref(struct redlock_mutex *mutex);

/* Checks the mutex, and keeps it during rl_service_call(): another thread may destroy it while this one waits. */
int rl_mutex_call(struct redlock_mutex *mutex, int (*fn)(void *argument), void *argument);

/* The same for what is asked of its holder, and is no operation. E_CLOSING: that has ended. */
int rl_mutex_ask(struct redlock_mutex *mutex, struct rl_request request);

/* For completions; NULL if the program has destroyed the mutex. */
struct redlock_mutex *rl_mutex_living(struct redlock_mutex *mutex);

#endif
