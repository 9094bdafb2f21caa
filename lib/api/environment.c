#include "api/environment.h"

#include <stdatomic.h>
#include <time.h>

#include "api/handle.h"
#include "driver/simulator.h"

static struct rl_instant now(void *ctx)
{
    struct redlock_client *client = ctx;

    return rl_clock_now(&client->clock);
}

static int64_t ahead_ns(void)
{
    return atomic_load_explicit(&rl_clock_ahead_ns, memory_order_acquire);
}

static int64_t boot_ns(void *ctx)
{
    return rl_clock_kernel_ns(CLOCK_BOOTTIME) + ahead_ns();
}

static uint64_t wall_us(void *ctx)
{
    struct timespec time;

    clock_gettime(CLOCK_REALTIME, &time);
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)(time.tv_nsec + ahead_ns()) / 1000;
}

static void make_uuid(void *ctx, char ret_text[RL_UUID_SIZE])
{
    struct redlock_client *client = ctx;

    rl_token_make(&client->tokens, rl_clock_now(&client->clock), ret_text);
}

static void make_token(void *ctx, struct rl_instant at, char ret_token[RL_TOKEN_SIZE])
{
    struct redlock_client *client = ctx;
    const struct rl_simulator *simulator = rl_simulator();
    uuid_t drawn;

    if (simulator && simulator->draw(drawn, sizeof drawn))
        uuid_unparse_lower(drawn, ret_token);
    else
        rl_token_make(&client->tokens, at, ret_token);
}

struct rl_environment rl_client_environment(struct redlock_client *client)
{
    return (struct rl_environment){.ctx = client,
                                   .now = now,
                                   .boot_ns = boot_ns,
                                   .wall_us = wall_us,
                                   .make_uuid = make_uuid,
                                   .make_token = make_token};
}
