#include <stdio.h>
#include <string.h>

#include "lab/load/system.h"
#include "servers.h"

static bool pin(const struct bench_servers *servers, size_t first, size_t end, const char **ret_reason)
{
    for (size_t i = first; i < end; i++)
        if (!system_pin_others(masters_pid(servers->own, i))) {
            *ret_reason = "--pin: there is only one processor, or the system refuses";
            return false;
        }
    return true;
}

/* Every other one keeps its keys over a restart. */
static void mix(struct masters_setup setups[MASTERS_MAX])
{
    for (size_t i = 0; i < MASTERS_MAX; i++)
        setups[i] = (struct masters_setup){.persistence = i % 2 ? MASTERS_VOLATILE : MASTERS_ALWAYS};
}

static bool delay(struct bench_servers *servers, uint32_t delay_us, const char **ret_reason)
{
    static char why[160];
    const struct relay_toxics late = {.latency_us = delay_us};

    servers->relays = relays_create(servers->urls, servers->n, masters_dir(servers->own), 0, why, sizeof why);
    *ret_reason = why;
    if (!servers->relays)
        return false;
    *ret_reason = "a relay does not answer";
    for (size_t i = 0; i < servers->n; i++)
        if (!relays_set(servers->relays, i, 0, RELAY_UPSTREAM, &late) ||
            !relays_set(servers->relays, i, 0, RELAY_DOWNSTREAM, &late))
            return false;
    servers->urls = relays_urls(servers->relays);
    return true;
}

bool bench_servers_start(struct bench_servers *servers, const struct bench_options *options, const char **ret_reason)
{
    struct masters_options own = {.count = options->local, .tcp = !options->unix_sockets,
                                  .tls = options->tls ? MASTERS_TLS : MASTERS_PLAIN,
                                  .persistence = options->persistence};
    struct masters_setup setups[MASTERS_MAX];

    mix(setups);
    if (options->mixed)
        own.setups = setups;
    *servers = (struct bench_servers){.urls = options->masters.urls, .n = options->masters.count};
    if (!options->local)
        return true;
    servers->own = masters_create(&own);
    if (!servers->own || !masters_cleanup_on_exit(servers->own)) {
        *ret_reason = masters_error();
        return false;
    }
    servers->urls = masters_urls(servers->own);
    servers->n = options->local;
    snprintf(servers->ca, sizeof servers->ca, "%s/ca.crt", masters_dir(servers->own));
    return (!options->pin || pin(servers, 0, servers->n, ret_reason)) &&
           (!options->delay_us || delay(servers, options->delay_us, ret_reason));
}

void bench_servers_stop(struct bench_servers *servers)
{
    relays_destroy(servers->relays);
    servers->relays = NULL;
    masters_destroy(servers->own);
    servers->own = NULL;
}

bool bench_servers_break(struct bench_servers *servers, enum bench_fault fault, size_t n, const char **ret_reason)
{
    for (size_t i = 0; i < n; i++)
        if (!(fault == BENCH_HANG ? masters_hang(servers->own, i) : masters_kill(servers->own, i))) {
            *ret_reason = masters_error();
            return false;
        }
    return true;
}

bool bench_servers_heal(struct bench_servers *servers, enum bench_fault fault, size_t n, bool pinned,
                        const char **ret_reason)
{
    for (size_t i = 0; i < n; i++)
        if (!(fault == BENCH_HANG ? masters_resume(servers->own, i) : masters_restart(servers->own, i))) {
            *ret_reason = masters_error();
            return false;
        }
    return fault == BENCH_HANG || !pinned || pin(servers, 0, n, ret_reason);
}

bool bench_servers_kill(struct bench_servers *servers, size_t i, const char **ret_reason)
{
    if (masters_kill(servers->own, i))
        return true;
    *ret_reason = masters_error();
    return false;
}

bool bench_servers_restart(struct bench_servers *servers, size_t i, bool pinned, const char **ret_reason)
{
    if (masters_restart(servers->own, i))
        return !pinned || pin(servers, i, i + 1, ret_reason);
    *ret_reason = masters_error();
    return false;
}
