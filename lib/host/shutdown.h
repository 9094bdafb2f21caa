/* The orderly end of a host: what is still waited for when all locks have been released. */
#ifndef RL_HOST_SHUTDOWN_H
#define RL_HOST_SHUTDOWN_H

#include <stdbool.h>
#include <stdint.h>

#include <redlock/options.h>

#include "util/instant.h"
#include "util/wheel.h"

struct rl_host;

struct rl_host_shutdown {
    struct rl_timer timer; /* comes back every node_timeout */
    struct rl_instant deadline;
    uint64_t answers[REDLOCK_MAX_MASTERS]; /* when the timer came last */
    bool silent[REDLOCK_MAX_MASTERS];      /* no answer has come between its last two times */
    bool running;
    bool expired;
};

enum rl_shutdown_progress {
    RL_SHUTDOWN_WAITING,
    RL_SHUTDOWN_CONFIRMED,   /* a quorum of masters has none of the values, and no answer is expected any more */
    RL_SHUTDOWN_UNCONFIRMED, /* the deadline has passed */
};

/* Takes no more attempts (host->closing), and looks after the time from here on. */
void rl_host_start_shutdown(struct rl_host *host, struct rl_span timeout);

/* Forgets a shutdown. The turn that follows a deadline is asked for by rl_transport_wake(). */
void rl_host_stop_shutdown(struct rl_host *host);

/* What has become of a shutdown that is running. */
enum rl_shutdown_progress rl_host_shutdown_progress(const struct rl_host *host);

#endif
