#include "host/fencing_counter.h"

#include "host/host.h"

/* protocol 4: "idle expiry >= 24 h and >= 10 max_ttl, refreshed on use". */
#define IDLE_TTL_MS (24 * 3600 * 1000)
#define IDLE_TTL_MAX_TTLS 10

uint64_t rl_counter_idle_ttl_ms(const struct rl_host *host)
{
    uint64_t long_enough = (uint64_t)host->engine.votes.config.max_ttl_ms * IDLE_TTL_MAX_TTLS;

    return long_enough > IDLE_TTL_MS ? long_enough : IDLE_TTL_MS;
}

void rl_counter_note(const struct rl_claim *claim, uint64_t counter)
{
    struct rl_host_lock *lock = rl_host_claim_lock(claim);

    if (lock && lock->attempt && counter > lock->attempt->counter)
        lock->attempt->counter = counter;
}

/* Tickets are at least that: 1 belongs to those who stand in front of the wait queue (engine/acquire.c). */
#define SMALLEST_PROPOSAL 2

/* protocol 4.4: "max(client wall clock in microseconds, last c seen for this key + 1)". */
uint64_t rl_counter_propose(const struct rl_host_lock *lock)
{
    const struct rl_environment *environment = &lock->host->environment;
    const struct rl_host_attempt *attempt = lock->attempt;
    uint64_t wall = environment->wall_us(environment->ctx);

    if (wall < SMALLEST_PROPOSAL)
        wall = SMALLEST_PROPOSAL;
    return attempt && attempt->counter >= wall ? attempt->counter + 1 : wall;
}
