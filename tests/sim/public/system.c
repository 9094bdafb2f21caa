/* In the place of api/environment.c, the system's clocks and random numbers: a run is decided by its seed.
 * Values are short, since the model of a master has little room. */
#include <stdio.h>
#include <sys/random.h>

#include "api/environment.h"
#include "net.h"

static struct rl_instant read_clock(void *ctx)
{
    return net_read_clock();
}

/* What a held lock is exported with. */
static int64_t read_boot(void *ctx)
{
    return net.now;
}

static uint64_t read_wall(void *ctx)
{
    return UINT64_C(1700000000000000) + (uint64_t)(net.now / RL_NS_PER_US);
}

static void make_uuid(void *ctx, char ret_text[RL_UUID_SIZE])
{
    snprintf(ret_text, RL_UUID_SIZE, "%08x-%04x-4%03x-8%03x-%012llx", rng_below(&net.rng, UINT32_MAX),
             rng_below(&net.rng, 1u << 16), rng_below(&net.rng, 1u << 12), rng_below(&net.rng, 1u << 12),
             (unsigned long long)(rng_next(&net.rng) >> 16));
}

static void make_token(void *ctx, struct rl_instant at, char ret_token[RL_TOKEN_SIZE])
{
    (void)ctx, (void)at;
    snprintf(ret_token, RL_TOKEN_SIZE, "%016llx", (unsigned long long)rng_next(&net.rng));
}

struct rl_environment rl_client_environment(struct redlock_client *client)
{
    return (struct rl_environment){.ctx = client,
                                   .now = read_clock,
                                   .boot_ns = read_boot,
                                   .wall_us = read_wall,
                                   .make_uuid = make_uuid,
                                   .make_token = make_token};
}

ssize_t getrandom(void *bytes, size_t size, unsigned flags)
{
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)bytes)[i] = (unsigned char)rng_below(&net.rng, 256);
    return (ssize_t)size;
}
