/* The masters, and the connections to them. */
#include <string.h>

#include "tiny_parts.h"

static const struct rl_answer granted = {RL_GRANTED, RL_DETAIL_NONE, 0};

void tiny_empty(struct tiny_master *master)
{
    *master = (struct tiny_master){.back_at = master->back_at, .latest = master->latest};
}

static struct rl_answer set(struct tiny_master *master, uint8_t owner, unsigned expires)
{
    master->owner = owner;
    master->expires = (uint8_t)expires;
    return granted;
}

/* One command at one master: what SET NX PX, extend.lua, repair.lua and release.lua do. */
static struct rl_answer execute(struct tiny *tiny, unsigned index, unsigned client, struct tiny_message message)
{
    struct tiny_master *master = &tiny->masters[index];
    uint8_t owner = (uint8_t)(1 + client * TINY_CLAIMS + message.claim);

    if (master->owner && master->expires <= tiny->now)
        set(master, 0, 0);
    if (message.step == RL_STEP_REPAIR && message.memory && message.memory != master->memory)
        return (struct rl_answer){RL_FAILED, RL_DETAIL_MEMORY_LOST, 0};
    if (message.step == RL_STEP_CLAIM && master->owner)
        return (struct rl_answer){RL_REFUSED, RL_DETAIL_HELD, 0};
    if (master->owner && master->owner != owner)
        return (struct rl_answer){RL_REFUSED, RL_DETAIL_FOREIGN, 0};
    if (!master->owner && message.step != RL_STEP_CLAIM && message.step != RL_STEP_REPAIR)
        return (struct rl_answer){RL_REFUSED, RL_DETAIL_MISSING, 0};
    if (message.step == RL_STEP_RELEASE || message.step == RL_STEP_ROLLBACK)
        return set(master, 0, 0);
    return set(master, owner, tiny->now + message.ttl);
}

void tiny_carry_out(struct tiny *tiny, unsigned client, unsigned master)
{
    struct tiny_message message = tiny_shift(&tiny->up[client][master]);

    if (message.step == TINY_EPOCH_CHECK) {
        message.memory = tiny->masters[master].memory;
    } else {
        struct rl_answer answer = execute(tiny, master, client, message);

        message.outcome = (uint8_t)answer.outcome;
        message.detail = (uint8_t)answer.detail;
    }
    tiny_push(&tiny->down[client][master], message);
}

void tiny_carry_out_ghost(struct tiny *tiny, unsigned client, unsigned master)
{
    struct tiny_message message = tiny_shift(&tiny->ghost[client][master]);
    struct rl_answer answer = execute(tiny, master, client, message);

    if (answer.outcome == RL_GRANTED && message.step != RL_STEP_RELEASE && message.step != RL_STEP_ROLLBACK)
        tiny->claims[client][message.claim].strays |= (uint8_t)(1u << master);
}

/* --- Connections -------------------------------------------------------------------------------------------------- */

void tiny_deliver(struct tiny *tiny, const struct tiny_setup *setup, unsigned client, unsigned master)
{
    struct tiny_message message = tiny_shift(&tiny->down[client][master]);

    if (message.step == TINY_EPOCH_CHECK) {
        tiny_guarded(tiny, setup, client, master, message.memory);
        return;
    }
    tiny_tell(tiny, client, master, message);
    tiny_pump(tiny, setup, client);
}

/* Every command without a reply is unknown, in its order; then the link is down. */
static void disconnect(struct tiny *tiny, const struct tiny_setup *setup, unsigned client, unsigned master)
{
    struct tiny_pipe pending[2] = {tiny->down[client][master], tiny->up[client][master]};

    memset(&tiny->down[client][master], 0, sizeof pending[0]);
    memset(&tiny->up[client][master], 0, sizeof pending[0]);
    tiny->open[client][master] = false;
    for (unsigned i = 0; i < 2; i++) {
        while (pending[i].count) {
            struct tiny_message message = tiny_shift(&pending[i]);

            if (message.step == TINY_EPOCH_CHECK)
                continue;
            message.outcome = RL_UNKNOWN;
            message.detail = RL_DETAIL_DISCONNECTED;
            tiny_tell(tiny, client, master, message);
            tiny_pump(tiny, setup, client);
        }
    }
    rl_engine_link(&tiny->engines[client], tiny_instant(tiny->now), master, RL_LINK_DOWN);
    tiny_pump(tiny, setup, client);
}

/* Epoch checks do nothing when nobody hears of them. */
static void haunt(struct tiny *tiny, unsigned client, unsigned master, unsigned survivors)
{
    const struct tiny_pipe *up = &tiny->up[client][master];

    for (unsigned i = 0; i < survivors; i++) {
        if (up->messages[i].step != TINY_EPOCH_CHECK)
            tiny_push(&tiny->ghost[client][master], up->messages[i]);
    }
}

void tiny_break(struct tiny *tiny, const struct tiny_setup *setup, struct search_action action)
{
    tiny->breaks++;
    haunt(tiny, action.a, action.b, action.c);
    disconnect(tiny, setup, action.a, action.b);
}

void tiny_give_up(struct tiny *tiny, const struct tiny_setup *setup, unsigned client, unsigned master)
{
    haunt(tiny, client, master, tiny->up[client][master].count);
    disconnect(tiny, setup, client, master);
}

void tiny_crash(struct tiny *tiny, const struct tiny_setup *setup, unsigned master)
{
    for (unsigned client = 0; client < TINY_CLIENTS; client++) {
        memset(&tiny->ghost[client][master], 0, sizeof tiny->ghost[client][master]);
        if (tiny->open[client][master])
            disconnect(tiny, setup, client, master);
    }
}
