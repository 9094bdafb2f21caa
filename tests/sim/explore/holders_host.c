/* The host of the two engines: what lib/host does, upgrades among it, without sockets and memory of its own. */
#include <assert.h>
#include <string.h>

#include "engine/lock.h"
#include "engine/hold.h"
#include "engine/wait.h"
#include "holders_parts.h"
#include "kinds/mutex.h"
#include "kinds/shared.h"

void holders_push(struct holders_pipe *pipe, struct holders_message message)
{
    assert(pipe->count < HOLDERS_PIPE);
    pipe->messages[pipe->count++] = message;
}

/* What is beyond the end is kept zero: equal states have equal bytes. */
struct holders_message holders_shift(struct holders_pipe *pipe)
{
    struct holders_message first = pipe->messages[0];

    pipe->count--;
    memmove(pipe->messages, pipe->messages + 1, pipe->count * sizeof first);
    memset(&pipe->messages[pipe->count], 0, sizeof first);
    return first;
}

uint8_t holders_number_of(const struct holders_client *client, const struct rl_claim *claim)
{
    for (uint8_t i = 0; i < HOLDERS_CLAIMS; i++) {
        if ((const void *)client->claims[i].memory == (const void *)claim)
            return i;
    }
    assert(false); /* a claim of another client */
    return 0;
}

/* --- Commands ----------------------------------------------------------------------------------------------------- */

/* As in host/commands.c: the first claim of an upgrade replaces nothing, but is put back beside the second one. */
static uint8_t replaced_by(const struct holders_client *client, const struct rl_claim *claim, enum rl_step step)
{
    const struct rl_claim *first = client->lock.claim;
    const struct rl_claim *second = client->second.claim;
    bool is_first = claim == first;
    bool may_replace = !is_first || step == RL_STEP_REPAIR;

    if (!client->upgrading || !first || !second || (!is_first && claim != second) || !may_replace)
        return 0;
    return (uint8_t)(1 + holders_number_of(client, is_first ? second : first));
}

static void send(struct holders *world, unsigned number, const struct rl_effect *effect)
{
    const struct holders_client *client = &world->clients[number];
    const struct rl_claim *claim = effect->claim;
    struct holders_message message = {
        .step = (uint8_t)effect->step,
        .claim = holders_number_of(client, claim),
        .round = (uint8_t)effect->round,
        .ttl = (uint8_t)(claim->ttl_ms / HOLDERS_TICK_MS),
        .mode = claim->mode,
        .replaces = replaced_by(client, claim, effect->step),
        .shared = claim->kind == &rl_shared_kind,
        .stronger = claim->stronger,
    };
    uint64_t proposal;

    if (effect->step == RL_STEP_ENQUEUE)
        message.ticket = (uint8_t)rl_lock_ticket(claim->lock, &proposal);
    for (unsigned master = 0; master < HOLDERS_MASTERS; master++) {
        if (effect->nodes >> master & 1u)
            holders_push(&world->up[number][master], message);
    }
}

/* --- Claims ------------------------------------------------------------------------------------------------------- */

static void begin_attempt(struct holders *world, struct holders_client *client, struct rl_lock *lock)
{
    for (unsigned i = 0; i < HOLDERS_CLAIMS; i++) {
        struct holders_claim *claim = &client->claims[i];

        if (claim->state != HOLDERS_UNUSED)
            continue;
        claim->state = HOLDERS_KNOWN;
        rl_lock_begin_attempt(&client->engine, lock, holders_instant(world->now), holders_claim(claim),
                              HOLDERS_PROPOSED_TICKET);
        return;
    }
    rl_lock_refuse_attempt(&client->engine, lock, holders_instant(world->now));
}

static void accept(struct holders *world, struct holders_client *client, struct rl_lock *lock)
{
    struct rl_instant now = holders_instant(world->now);

    rl_lock_accept(&client->engine, lock, now);
    if (lock->state == RL_LOCK_HELD && !rl_lock_is_valid(&client->engine, lock, now))
        world->wrong = "a lock was accepted without any validity left";
}

static void dispose(struct holders *world, const struct holders_setup *setup, unsigned number,
                    const struct rl_claim *claim)
{
    unsigned at = holders_number_of(&world->clients[number], claim);
    struct holders_claim *box = &world->clients[number].claims[at];

    if (!holders_is_gone(world, setup, number, at))
        world->wrong = "a claim was disposed of while a master had a vote or an entry of it";
    box->state = HOLDERS_DISPOSED;
    memset(box->memory, 0, sizeof box->memory);
}

/* --- Upgrades (host/upgrade.c) ------------------------------------------------------------------------------------ */

static void end_upgrade(struct holders *world, struct holders_client *client)
{
    rl_lock_fini(&client->engine, &client->second, holders_instant(world->now));
    client->upgrading = false;
}

static void complete_upgrade(struct holders *world, struct holders_client *client, enum rl_end status)
{
    if (status == RL_END_OK)
        rl_lock_replace(&client->engine, &client->lock, holders_instant(world->now), &client->second);
    end_upgrade(world, client);
}

/* --- Effects ------------------------------------------------------------------------------------------------------ */

static void carry_out(struct holders *world, const struct holders_setup *setup, unsigned number,
                      const struct rl_effect *effect)
{
    struct holders_client *client = &world->clients[number];

    if (effect->kind == RL_EFFECT_SEND)
        send(world, number, effect);
    else if (effect->kind == RL_EFFECT_WANT_CLAIM)
        begin_attempt(world, client, effect->lock);
    else if (effect->kind == RL_EFFECT_ACCEPT)
        accept(world, client, effect->lock);
    else if (effect->kind == RL_EFFECT_DISPOSE)
        dispose(world, setup, number, effect->claim);
    else if (effect->kind == RL_EFFECT_LOST && client->upgrading)
        end_upgrade(world, client); /* there is nothing left that the second claim could replace */
    else if (effect->kind == RL_EFFECT_COMPLETE && effect->lock == &client->second)
        complete_upgrade(world, client, effect->status);
    else if (effect->kind == RL_EFFECT_COMPLETE)
        rl_lock_forget(&client->engine, &client->lock);
}

void holders_pump(struct holders *world, const struct holders_setup *setup, unsigned number)
{
    struct rl_engine *engine = &world->clients[number].engine;
    struct rl_effect effect;

    while (rl_engine_poll(engine, &effect))
        carry_out(world, setup, number, &effect);
    /* What has no influence on what follows must not make states differ. */
    memset(&engine->votes.counters, 0, sizeof engine->votes.counters);
    memset(&engine->spreading, 0, sizeof engine->spreading);
    engine->random = 0;
}

/* --- Operations (host/operations.c) ------------------------------------------------------------------------------- */

void holders_acquire(struct holders *world, const struct holders_setup *setup, unsigned number)
{
    struct holders_client *client = &world->clients[number];
    const struct holders_wishes *wishes = &setup->wishes[number];

    client->started = true;
    client->request = (struct rl_acquire){
        .kind = wishes->mode == RL_EXCLUSIVE ? &rl_mutex_kind : rl_shared_form(&rl_mutex_kind),
        .mode = wishes->mode,
        .ttl_ms = setup->ttl * HOLDERS_TICK_MS,
        .retry_delay = rl_ms(HOLDERS_TICK_MS),
        .deadline = RL_NEVER,
        .once = !wishes->waits,
        .wait = wishes->waits ? RL_WAIT_QUEUE : RL_WAIT_SPIN,
        .entry = &client->entry,
    };
    rl_lock_acquire(&client->engine, &client->lock, holders_instant(world->now), &client->request);
}

/* Pauses are a tick, not drawn at random. */
void holders_upgrade(struct holders *world, unsigned number, bool once)
{
    struct holders_client *client = &world->clients[number];
    struct rl_acquire *request = &client->request;

    client->upgrading = true;
    rl_lock_describe_hold(&client->engine, &client->lock, request);
    request->mode = RL_EXCLUSIVE;
    request->front = true;
    request->once = once;
    request->wait = once ? RL_WAIT_SPIN : RL_WAIT_FIFO;
    request->entry = &client->entry;
    request->retry_delay = rl_ms(HOLDERS_TICK_MS);
    request->retry_jitter = rl_ms(0);
    rl_lock_acquire(&client->engine, &client->second, holders_instant(world->now), request);
}

void holders_cancel(struct holders *world, const struct holders_setup *setup, unsigned number)
{
    struct holders_client *client = &world->clients[number];

    rl_lock_cancel(&client->engine, client->upgrading ? &client->second : &client->lock, holders_instant(world->now));
    holders_pump(world, setup, number);
}

/* The end of an upgrade comes first. */
void holders_release(struct holders *world, const struct holders_setup *setup, unsigned number)
{
    struct holders_client *client = &world->clients[number];

    if (client->upgrading)
        holders_cancel(world, setup, number);
    rl_lock_release(&client->engine, &client->lock, holders_instant(world->now));
}
