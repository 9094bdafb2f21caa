/* The host on a transport, clock and randomness of the test's own: no socket, and nothing of the driver or the public
 * functions. Masters answer when and what the test wants. */
#ifndef TESTS_HOST_RIG_H
#define TESTS_HOST_RIG_H

#include "host/host.h"

#define HOST_RIG_LOCKS 4

struct host_rig {
    struct rl_host host;
    struct rl_host_sink sink;     /* it hears of everything, and notes only what completes */
    struct redlock_options options;
    struct rl_deployment_names names;
    struct rl_transport transport;
    struct rl_instant now;
    struct rl_list timers;        /* those that are armed, the latest last */
    unsigned tokens;              /* "token-1", "token-2" ... */
    struct rl_host_lock locks[HOST_RIG_LOCKS];
    struct rl_host_call attempts[HOST_RIG_LOCKS];
    unsigned completed;           /* operations */
    enum rl_end status;           /* ... of the latest one ... */
    const struct rl_host_lock *ended; /* ... and its lock */
};

extern struct host_rig rig;

/* Forgets everything. Until host_rig_start() the test may set options, names, sink and functions of the transport. */
void host_rig_init(bool (*send)(void *ctx, unsigned node, const struct rl_bytes *command, enum rl_sending how,
                                const struct rl_tag *tag));
void host_rig_start(size_t n_masters, size_t quorum);

/* The connections of all masters are usable. */
void host_rig_connect(void);

void host_rig_end(void);

void host_rig_add_lock(size_t i, const char *name);
void host_rig_acquire(size_t i, const struct rl_acquire *request);

#endif
