/* The library's own names on the masters, which stand behind the client's prefix. Those that end with a colon go on
 * with the name of what they belong to. */
#ifndef RL_HOST_NAMES_H
#define RL_HOST_NAMES_H

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

#endif
