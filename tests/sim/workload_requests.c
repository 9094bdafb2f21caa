#include "workload_requests.h"

#include "foreign.h"
#include "kinds/mutex.h"
#include "kinds/permit.h"
#include "kinds/shared.h"
#include "world.h"

uint32_t agent_draw_ttl(const struct client *client)
{
    struct world *world = client->world;

    return (uint32_t)rng_scaled(&world->work, world->plan.ttl_min_ms, world->plan.own_ttl_ms[client->index]);
}

/* Mostly as the library sets them by default, sometimes anything. */
static void draw_holding(struct world *world, struct rl_acquire *request)
{
    struct rng *rng = &world->work;

    if (rng_chance(rng, world->plan.forgetful ? 900 : 500))
        request->renew_ms = rng_chance(rng, 600) ? request->ttl_ms / 3 + 1 : 1 + rng_below(rng, request->ttl_ms);
    if (rng_chance(rng, 500))
        request->at_risk_ms = rng_chance(rng, 600) ? request->ttl_ms / 4 + 1 : 1 + rng_below(rng, request->ttl_ms);
    if (request->renew_ms && rng_chance(rng, 200))
        request->max_hold_ms = 1 + rng_below(rng, 6 * request->ttl_ms);
}

static uint8_t draw_wait(const struct client *client)
{
    struct world *world = client->world;

    if (world->plan.foreign[client->index] || !rng_chance(&world->work, world->plan.queue_permille))
        return RL_WAIT_SPIN;
    return rng_chance(&world->work, world->plan.fifo_permille) ? RL_WAIT_FIFO : RL_WAIT_QUEUE;
}

bool agent_may_share(const struct client *client, const struct handle *handle)
{
    return client->world->plan.shared_permille && !handle->permit && name_of_key(handle->key)[0] != 's';
}

enum rl_mode agent_draw_shared_mode(struct world *world)
{
    return rng_chance(&world->work, 350) ? RL_UPGRADEABLE : RL_SHARED;
}

static void draw_kind(const struct client *client, const struct handle *handle, struct rl_acquire *request)
{
    const struct plan *plan = &client->world->plan;
    struct rng *rng = &client->world->work;
    bool fenced = rng_chance(rng, plan->fenced_permille);

    request->kind = fenced ? &rl_fenced_kind : &rl_mutex_kind;
    if (plan->foreign[client->index]) {
        request->kind = &foreign_kind;
    } else if (handle->permit) {
        request->kind = fenced ? &rl_fenced_permit_kind : &rl_permit_kind;
    } else if (agent_may_share(client, handle) && rng_chance(rng, plan->shared_permille)) {
        request->kind = rl_shared_form(request->kind);
        request->mode = (uint8_t)agent_draw_shared_mode(client->world);
    }
}

/* In calm worlds nobody gives up but while the key is there that somebody has left. */
static struct rl_instant draw_end(struct client *client)
{
    struct world *world = client->world;
    int64_t left = world->left_until - client_true_now(client);

    if (left <= 0 || rng_chance(&world->work, 400))
        return RL_NEVER;
    return rl_after(client->host.now, (struct rl_span){rng_between(&world->work, left / 2, left + RL_NS_PER_MS)});
}

struct rl_acquire agent_draw_request(struct client *client, const struct handle *handle)
{
    struct world *world = client->world;
    struct rng *rng = &world->work;
    struct rl_acquire request = {
        .ttl_ms = agent_draw_ttl(client),
        .retry_delay = rl_ms(rng_between(rng, world->plan.pace_ms / 24, world->plan.pace_ms / 2)),
        .retry_jitter = rl_ms(rng_between(rng, world->plan.pace_ms / 24 + 1, world->plan.pace_ms / 2)),
        .min_validity = rl_ms(rng_chance(rng, 800) ? 1 : rng_between(rng, 1, world->plan.ttl_min_ms / 4)),
        .deadline = RL_NEVER,
    };

    draw_kind(client, handle, &request);
    request.wait = draw_wait(client);
    request.own_token = world->plan.cohort_permille && rng_chance(rng, 250);
    if (world->plan.calm) {
        request.deadline = draw_end(client);
        return request;
    }
    draw_holding(world, &request);
    if (world->plan.contested) {
        request.retry_delay.ns /= 4;
        request.retry_jitter.ns /= 4;
    }
    if (rng_chance(rng, 300)) {
        request.once = true;
        request.max_attempts = 1;
    } else if (rng_chance(rng, 600)) {
        request.deadline = rl_after(client->host.now,
                                    (struct rl_span){rng_scaled(rng, RL_NS_PER_MS, world->plan.duration_ns)});
    } else if (rng_chance(rng, 500) && request.wait == RL_WAIT_SPIN) {
        request.max_attempts = 1 + rng_below(rng, 5);
    }
    return request;
}

struct rl_acquire agent_draw_last_request(struct client *client, const struct handle *handle)
{
    struct rng *rng = &client->world->work;
    struct rl_acquire request = {
        .ttl_ms = client->world->plan.own_ttl_ms[client->index],
        .retry_delay = rl_ms(rng_between(rng, 10, 20 + client->world->plan.max_ttl_ms / 8)),
        .retry_jitter = rl_ms(rng_between(rng, 20, 80 + client->world->plan.max_ttl_ms / 8)),
        .min_validity = rl_ms(1),
        .deadline = RL_NEVER,
    };

    draw_kind(client, handle, &request);
    request.wait = draw_wait(client);
    return request;
}
