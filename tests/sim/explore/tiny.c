/* The host of the two engines: what lib/api does, without sockets and memory of its own. */
#include "tiny.h"

#include <assert.h>
#include <string.h>

#include "engine/answer.h"
#include "kinds/mutex.h"
#include "mutants.h"
#include "tiny_parts.h"

struct rl_instant tiny_instant(unsigned tick)
{
    return (struct rl_instant){(int64_t)(tick + 1) * TICK_NS};
}

uint32_t tiny_ms(unsigned ticks)
{
    return (uint32_t)(ticks * (TICK_NS / RL_NS_PER_MS));
}

uint8_t tiny_number_of(const struct tiny *tiny, unsigned client, const struct rl_claim *claim)
{
    for (uint8_t i = 0; i < TINY_CLAIMS; i++) {
        if ((const void *)tiny->claims[client][i].memory == (const void *)claim)
            return i;
    }
    assert(false); /* a claim of another client */
    return 0;
}

void tiny_push(struct tiny_pipe *pipe, struct tiny_message message)
{
    assert(pipe->count < TINY_PIPE);
    pipe->messages[pipe->count++] = message;
}

/* What is beyond the end is kept zero: equal states have equal bytes. */
struct tiny_message tiny_shift(struct tiny_pipe *pipe)
{
    struct tiny_message first = pipe->messages[0];

    pipe->count--;
    memmove(pipe->messages, pipe->messages + 1, pipe->count * sizeof first);
    memset(&pipe->messages[pipe->count], 0, sizeof first);
    return first;
}

void tiny_tell(struct tiny *tiny, unsigned client, unsigned master, struct tiny_message message)
{
    struct tiny_claim *claim = &tiny->claims[client][message.claim];
    struct rl_event event = {.now = tiny_instant(tiny->now), .claim = tiny_claim(claim),
                             .step = (enum rl_step)message.step, .round = message.round, .node = master,
                             .answer = {(enum rl_outcome)message.outcome, (enum rl_detail)message.detail, 0},
                             .latency_us = RL_NO_LATENCY};

    if (tiny->stale_repair && message.step == RL_STEP_REPAIR)
        event.now = tiny->locks[client].round_start;
    if (claim->state != 1) {
        tiny->wrong = "an answer for a claim that was disposed of";
        return;
    }
    rl_engine_reply(&tiny->engines[client], &event);
}

static void send(struct tiny *tiny, const struct tiny_setup *setup, unsigned client, const struct rl_effect *effect)
{
    struct tiny_message message = {
        .step = (uint8_t)effect->step,
        .claim = tiny_number_of(tiny, client, effect->claim),
        .round = (uint8_t)effect->round,
        .ttl = (uint8_t)(effect->claim->ttl_ms / tiny_ms(1)),
    };

    for (unsigned master = 0; master < setup->masters; master++) {
        if (!(effect->nodes >> master & 1u))
            continue;
        if (tiny->open[client][master]) {
            if (effect->step == RL_STEP_REPAIR && !RL_MUTANT(REPAIR_ANY_MEMORY))
                message.memory = tiny->memory[client][master];
            tiny_push(&tiny->up[client][master], message);
            continue;
        }
        message.outcome = RL_FAILED;
        message.detail = RL_DETAIL_DOWN;
        tiny_tell(tiny, client, master, message);
    }
}

static void begin_attempt(struct tiny *tiny, unsigned client)
{
    struct rl_engine *engine = &tiny->engines[client];

    for (uint8_t i = 0; i < TINY_CLAIMS; i++) {
        struct tiny_claim *claim = &tiny->claims[client][i];

        if (claim->state)
            continue;
        claim->state = 1;
        rl_lock_begin_attempt(engine, &tiny->locks[client], tiny_instant(tiny->now), tiny_claim(claim), 0);
        return;
    }
    rl_lock_refuse_attempt(engine, &tiny->locks[client], tiny_instant(tiny->now));
}

bool tiny_holds(const struct tiny *tiny, unsigned master, unsigned client, unsigned claim)
{
    return tiny->masters[master].owner == 1 + client * TINY_CLAIMS + claim &&
           tiny->masters[master].expires > tiny->now;
}

static void accept(struct tiny *tiny, unsigned client)
{
    struct rl_lock *lock = &tiny->locks[client];

    rl_lock_accept(&tiny->engines[client], lock, tiny_instant(tiny->now));
    if (lock->state == RL_LOCK_HELD && !tiny_is_valid(tiny, client))
        tiny->wrong = "a lock was accepted without any validity left";
}

static void dispose(struct tiny *tiny, unsigned client, struct rl_claim *claim)
{
    uint8_t number = tiny_number_of(tiny, client, claim);
    struct tiny_claim *box = &tiny->claims[client][number];

    for (unsigned master = 0; master < TINY_MASTERS; master++) {
        if (tiny_holds(tiny, master, client, number) && !(box->strays >> master & 1))
            tiny->wrong = "a claim was disposed of while a master held its value";
    }
    box->state = 2;
    memset(box->memory, 0, sizeof box->memory);
}

void tiny_pump(struct tiny *tiny, const struct tiny_setup *setup, unsigned client)
{
    struct rl_effect effect;

    while (rl_engine_poll(&tiny->engines[client], &effect)) {
        if (effect.kind == RL_EFFECT_SEND)
            send(tiny, setup, client, &effect);
        else if (effect.kind == RL_EFFECT_WANT_CLAIM)
            begin_attempt(tiny, client);
        else if (effect.kind == RL_EFFECT_ACCEPT)
            accept(tiny, client);
        else if (effect.kind == RL_EFFECT_DISPOSE)
            dispose(tiny, client, effect.claim);
        else if (effect.kind == RL_EFFECT_COMPLETE)
            rl_lock_forget(&tiny->engines[client], &tiny->locks[client]);
    }
    /* What has no influence on what follows must not make states differ. */
    memset(&tiny->engines[client].votes.counters, 0, sizeof tiny->engines[client].votes.counters);
    tiny->engines[client].random = 0;
}

void tiny_start(struct tiny *tiny, const struct tiny_setup *setup, unsigned client)
{
    tiny->requests[client] = (struct rl_acquire){
        .kind = &rl_mutex_kind,
        .ttl_ms = tiny_ms(setup->ttl),
        .max_attempts = setup->attempts,
        .retry_delay = {TICK_NS},
        .deadline = RL_NEVER,
        .once = setup->attempts == 1,
    };

    tiny->started[client] = true;
    rl_lock_acquire(&tiny->engines[client], &tiny->locks[client], tiny_instant(tiny->now),
                    &tiny->requests[client]);
}

void tiny_init(struct tiny *tiny, const struct tiny_setup *setup)
{
    struct rl_config config = {
        .n_nodes = setup->masters,
        .quorum = setup->quorum,
        .node_timeout = {TICK_NS},
        .max_ttl_ms = tiny_ms(setup->ttl),
    };

    memset(tiny, 0, sizeof *tiny);
    tiny->stale_repair = setup->stale_repair;
    for (unsigned master = 0; master < setup->masters && setup->quarantine; master++)
        tiny->masters[master].memory = tiny->masters[master].latest = 1; /* declared new by somebody */
    for (unsigned client = 0; client < TINY_CLIENTS; client++) {
        rl_engine_init(&tiny->engines[client], &config);
        rl_lock_init(&tiny->locks[client]);
        for (unsigned master = 0; master < setup->masters; master++)
            tiny_join(tiny, setup, client, master);
        tiny_pump(tiny, setup, client);
    }
    tiny_start(tiny, setup, 0); /* the first client is the one that begins */
    tiny_pump(tiny, setup, 0);
    tiny_guard(tiny, setup, 0);
}
