/* The library's own names on the masters, which stand behind the client's prefix. Those that end with a colon go on
 * with the name of what they belong to. Header only. */
#ifndef RL_KINDS_NAMES_H
#define RL_KINDS_NAMES_H

#include <string.h>

#include "kinds/command.h"

#define RL_MARKER_NAME "redlock:marker"

/* Of a key: its fencing counter, its wait queue, and the entries of those who wait there. */
#define RL_COUNTER_NAME "redlock:fence:"
#define RL_QUEUE_NAME "redlock:queue:"
#define RL_WAITERS_NAME "redlock:waiters:"

/* Of a semaphore: the directory of those who wait for a permit, and their entries there. */
#define RL_PERMITS_NAME "redlock:permits:"
#define RL_PERMIT_WAITERS_NAME "redlock:permit-waiters:"

#define RL_LATCH_NAME "redlock:latch:"

/* Channels: a client's, and those on which the leaders of a key tell of themselves. */
#define RL_CHANNEL_NAME "redlock:grant:"
#define RL_LEADER_NAME "redlock:leader:"

/* The longest of those that belong to a key; and so many are made for one command at most. */
#define RL_NAME_MAX_BYTES (sizeof RL_PERMIT_WAITERS_NAME - 1)
#define RL_NAMES_MAX (5 + RL_MAX_CANDIDATES)

/* Where the names for one command are made, one behind the other. */
struct rl_names {
    size_t prefix_size;
    unsigned char *room; /* RL_NAME_MAX_BYTES more than the key has, for each that is still to be made */
};

_Static_assert(sizeof RL_COUNTER_NAME - 1 <= RL_NAME_MAX_BYTES && sizeof RL_QUEUE_NAME - 1 <= RL_NAME_MAX_BYTES &&
               sizeof RL_WAITERS_NAME - 1 <= RL_NAME_MAX_BYTES && sizeof RL_LEADER_NAME - 1 <= RL_NAME_MAX_BYTES,
               "the longest");

/* The name that belongs to a key, and takes its room. */
static inline struct rl_slice rl_name_of(struct rl_names *names, struct rl_slice key, const char *own)
{
    unsigned char *name = names->room;
    const unsigned char *bytes = key.data;
    size_t prefix_size = names->prefix_size;
    size_t own_size = strlen(own);

    memcpy(name, bytes, prefix_size);
    memcpy(name + prefix_size, own, own_size);
    memcpy(name + prefix_size + own_size, bytes + prefix_size, key.size - prefix_size);
    names->room += own_size + key.size;
    return (struct rl_slice){name, own_size + key.size};
}

/* What a command about the subject's key names beside it: the fencing counter. */
static inline void rl_subject_name_counter(struct rl_subject *subject)
{
    if (!subject->counter.size)
        subject->counter = rl_name_of(subject->names, subject->key, RL_COUNTER_NAME);
}

/* ... and the wait queue, and for those commands that may change it (not `brief`) all that belongs to it: a release may
 * have to give the key to a waiter with a token. */
static inline void rl_subject_name_queue(struct rl_subject *subject, bool brief)
{
    subject->queue = rl_name_of(subject->names, subject->key, RL_QUEUE_NAME);
    if (brief)
        return;
    subject->waiters = rl_name_of(subject->names, subject->key, RL_WAITERS_NAME);
    rl_subject_name_counter(subject);
}

#endif
