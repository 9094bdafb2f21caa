/* The masters of a run: our own, or those that the user named. */
#ifndef BENCH_SERVERS_H
#define BENCH_SERVERS_H

#include "options.h"
#include "relay/relays.h"

struct bench_servers {
    struct masters *own;   /* NULL with --nodes */
    struct relays *relays; /* NULL without --delay */
    const char *const *urls;
    size_t n;
    char ca[128]; /* the file with the CA of our own, with --tls */
};

/* Starts --local masters, and pins them if asked to. False: *ret_reason is a sentence. */
bool bench_servers_start(struct bench_servers *servers, const struct bench_options *options, const char **ret_reason);
void bench_servers_stop(struct bench_servers *servers);

/* Stops or kills the first `n` masters; heal brings them back, empty unless they are persistent. */
bool bench_servers_break(struct bench_servers *servers, enum bench_fault fault, size_t n, const char **ret_reason);
bool bench_servers_heal(struct bench_servers *servers, enum bench_fault fault, size_t n, bool pinned,
                        const char **ret_reason);

/* One master, any time; it comes back with its keys only if it is persistent. */
bool bench_servers_kill(struct bench_servers *servers, size_t i, const char **ret_reason);
bool bench_servers_restart(struct bench_servers *servers, size_t i, bool pinned, const char **ret_reason);

#endif
