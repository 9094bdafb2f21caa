/* How the locks of a client are used: how long acquisitions, waits and holds take, and how acquisitions and holds end
 * for each class of keys. */
#ifndef RL_API_USAGE_H
#define RL_API_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <redlock/observe.h>

#include "util/histogram.h"

struct redlock_lock;
struct redlock_options;
struct rl_call;

/* The outcomes of an acquisition, as negative numbers: REDLOCK_OK to REDLOCK_CANCELED. */
#define RL_OUTCOMES (1 - REDLOCK_CANCELED)

struct rl_usage {
    struct rl_histogram acquisitions[RL_OUTCOMES];
    struct rl_histogram waits;
    struct rl_histogram holds;
    struct redlock_class_stats *classes; /* the first has the keys that no prefix fits */
    size_t n_classes;
    struct rl_class_prefix *prefixes;
    size_t n_prefixes;
};

/* The classes of the options, which are copied; *usage is zero. False: out of memory. rl_usage_fini() is due in either
 * case. */
bool rl_usage_init(struct rl_usage *usage, const struct redlock_options *options);
void rl_usage_fini(struct rl_usage *usage);

/* The class of a key: that of the longest prefix that the key begins with. */
uint8_t rl_usage_class(const struct rl_usage *usage, const void *key, size_t size);

/* An acquisition has ended, whose result is known. */
void rl_usage_acquired(const struct redlock_lock *lock, const struct rl_call *call);

/* The lock is held from now on. */
void rl_usage_begin_hold(struct redlock_lock *lock);

/* The lock is about to be given back, or away; nothing if it is not held. */
void rl_usage_end_hold(const struct redlock_lock *lock);

/* The lock has just been lost. */
void rl_usage_lost(const struct redlock_lock *lock);

#endif
