/* The library's own names on the masters, which stand behind the client's prefix. Those that end with a colon go on
 * with the name of what they belong to. */
#ifndef RL_KINDS_NAMES_H
#define RL_KINDS_NAMES_H

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

/* The name that belongs to a key, and takes its room. */
struct rl_slice rl_name_of(struct rl_names *names, struct rl_slice key, const char *own);

/* What a command about the subject's key names beside it: the fencing counter; the wait queue, and for those commands
 * that may change it (not `brief`) all that belongs to it. */
void rl_subject_name_counter(struct rl_subject *subject);
void rl_subject_name_queue(struct rl_subject *subject, bool brief);

#endif
