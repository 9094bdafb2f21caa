/* In the place of api/environment.c, the system's clocks and libuuid's random numbers: a run is decided by its seed.
 * Values are short, since the model of a master has little room. */
#include <stdio.h>
#include <time.h>
#include <uuid/uuid.h>

#include "api/environment.h"
#include "net.h"

static struct rl_instant read_clock(void *ctx)
{
    (void)ctx;
    return net_read_clock();
}

static uint64_t read_wall(void *ctx)
{
    (void)ctx;
    return UINT64_C(1700000000000000) + (uint64_t)(net.now / RL_NS_PER_US);
}

static void make_uuid(void *ctx, char ret_text[RL_UUID_SIZE])
{
    (void)ctx;
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
    return (struct rl_environment){
        .ctx = client, .now = read_clock, .wall_us = read_wall, .make_uuid = make_uuid, .make_token = make_token};
}

void uuid_generate_random(uuid_t out)
{
    for (int i = 0; i < 16; i++)
        out[i] = (unsigned char)rng_below(&net.rng, 256);
}

/* What a held lock is exported with. */
int clock_gettime(clockid_t id, struct timespec *ret_time)
{
    (void)id;
    ret_time->tv_sec = net.now / (1000 * RL_NS_PER_MS);
    ret_time->tv_nsec = net.now % (1000 * RL_NS_PER_MS);
    return 0;
}
