/* Who may use a recursive mutex: one owner at a time, as often as it likes. Other callers of this process wait here, in
 * the order in which they came; only the first of them asks the masters.
 *
 *     nobody --- enter ---> CLAIMED --- hold ---> HELD --- leave, at depth 1 ---> CLAIMED --- pass on ---> nobody
 *                              |                  |  ^
 *                              +--- pass on       +--+ enter, leave: the depth
 *
 * CLAIMED is an owner whose acquisition, release or transfer is under way. `pass on` makes the first who waits the
 * owner. */
#ifndef RL_BLOCKING_RECURSION_H
#define RL_BLOCKING_RECURSION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/list.h"

/* A pointer of the program's, or a thread. Threads are numbered and no number comes twice, as addresses and the
 * system's numbers of threads do. */
struct rl_owner {
    const void *pointer; /* NULL: the thread */
    uint64_t thread;
};

struct rl_recursion {
    pthread_mutex_t guard;  /* never held while anything is waited for */
    struct rl_list waiters;
    struct rl_owner owner;  /* if it is claimed */
    uint32_t depth;         /* 0: nobody holds the mutex */
    bool claimed;
    bool admitted;          /* the owner has waited, and its acquisition has yet to begin */
    bool canceled;          /* and it is not to begin */
    bool closed;
    bool by_thread;         /* its owners are threads */
};

/* NULL: out of memory. */
struct rl_recursion *rl_recursion_create(bool by_thread);
void rl_recursion_destroy(struct rl_recursion *recursion); /* NULL is allowed */

/* The owner that a call means: the pointer that it names, or the thread that it is made on. REDLOCK_E_OWNER: the mutex
 * has owners of the other kind. */
int rl_recursion_owner(const struct rl_recursion *recursion, const void *pointer, struct rl_owner *ret_owner);

/* 0: the mutex is claimed by this owner, who asks the masters next. REDLOCK_E_ALREADY_HELD: the owner holds the mutex.
 * REDLOCK_E_BUSY: the owner has an operation under way. REDLOCK_DEADLINE: somebody else still has the mutex at end_ns
 * (rl_monotonic_ns()). REDLOCK_CANCELED, REDLOCK_E_CLOSING. */
int rl_recursion_enter(struct rl_recursion *recursion, const struct rl_owner *owner, int64_t end_ns);

/* The owner that has claimed the mutex holds it, at depth 1; or nobody does, and the next one may. */
void rl_recursion_hold(struct rl_recursion *recursion);
void rl_recursion_pass_on(struct rl_recursion *recursion);

/* The acquisition of the owner that has claimed the mutex begins. False: it was canceled before that. */
bool rl_recursion_begin(struct rl_recursion *recursion);

/* The owner, who held the mutex a moment ago, enters once more if it may: `verdict` is 0, or the error that it gets.
 * 0, the verdict, or REDLOCK_E_DEPTH. REDLOCK_E_BUSY: another call of the owner has ended the hold meanwhile. */
int rl_recursion_enter_again(struct rl_recursion *recursion, const struct rl_owner *owner, int verdict);

/* One entry of the owner ends. 0: it was the last, and the mutex is claimed until rl_recursion_pass_on(), or
 * rl_recursion_hold() if it is held all the same. REDLOCK_E_DEPTH: it was an inner one; with `only_last` nothing has
 * changed. REDLOCK_E_NOT_HELD: the mutex is free. REDLOCK_E_OWNER: another owner has it. REDLOCK_E_BUSY: the owner has
 * an operation under way. */
int rl_recursion_leave(struct rl_recursion *recursion, const struct rl_owner *owner, bool only_last);

/* All that wait are told REDLOCK_CANCELED, and so is an owner that has waited, if its acquisition has yet to begin.
 * True: there were any. */
bool rl_recursion_cancel(struct rl_recursion *recursion);

/* The same for good: from now on nobody enters. */
void rl_recursion_close(struct rl_recursion *recursion);

uint32_t rl_recursion_depth(struct rl_recursion *recursion);

#endif
