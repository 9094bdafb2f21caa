/* Names of the library's own, behind the prefix: the marker, and what fencing counters, queues and their waiters, the
 * directories of semaphores' waiters, latches, and channels begin with: the client's own, and those of leaders. */
#ifndef RL_HOST_NAMES_H
#define RL_HOST_NAMES_H

#define RL_MARKER_NAME "redlock:marker"
#define RL_COUNTER_NAME "redlock:fence:"
#define RL_QUEUE_NAME "redlock:queue:"
#define RL_WAITERS_NAME "redlock:waiters:"
#define RL_PERMITS_NAME "redlock:permits:"
#define RL_PERMIT_WAITERS_NAME "redlock:permit-waiters:"
#define RL_LATCH_NAME "redlock:latch:"
#define RL_CHANNEL_NAME "redlock:grant:"
#define RL_LEADER_NAME "redlock:leader:"

#endif
