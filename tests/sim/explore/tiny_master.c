/* The masters, and the connections to them. */
#include <string.h>

#include "tiny_parts.h"

static struct rl_answer refuse(const struct tiny_master *master)
{
    return (struct rl_answer){RL_REFUSED, master->owner ? RL_DETAIL_FOREIGN : RL_DETAIL_MISSING};
}

/* One command at one master: what SET NX PX, extend.lua and release.lua do. */
static struct rl_answer execute(struct tiny *tiny, unsigned index, unsigned client, struct tiny_message message)
{
    struct tiny_master *master = &tiny->masters[index];
    uint8_t owner = (uint8_t)(1 + client * TINY_CLAIMS + message.claim);

    if (master->owner && master->expires <= tiny->now)
        *master = (struct tiny_master){.back_at = master->back_at};
    if (message.step == RL_STEP_CLAIM) {
        if (master->owner)
            return (struct rl_answer){RL_REFUSED, RL_DETAIL_HELD};
        master->owner = owner;
    } else if (master->owner != owner) {
        return refuse(master);
    }
    if (message.step == RL_STEP_CLAIM || message.step == RL_STEP_EXTEND) {
        master->expires = (uint8_t)(tiny->now + message.ttl);
    } else {
        master->owner = 0;
        master->expires = 0;
    }
    return (struct rl_answer){RL_GRANTED, RL_DETAIL_NONE};
}

void tiny_carry_out(struct tiny *tiny, unsigned client, unsigned master)
{
    struct tiny_message message = tiny_shift(&tiny->up[client][master]);
    struct rl_answer answer = execute(tiny, master, client, message);

    message.outcome = (uint8_t)answer.outcome;
    message.detail = (uint8_t)answer.detail;
    tiny_push(&tiny->down[client][master], message);
}

void tiny_carry_out_ghost(struct tiny *tiny, unsigned client, unsigned master)
{
    struct tiny_message message = tiny_shift(&tiny->ghost[client][master]);
    struct rl_answer answer = execute(tiny, master, client, message);

    if (answer.outcome == RL_GRANTED && (message.step == RL_STEP_CLAIM || message.step == RL_STEP_EXTEND))
        tiny->claims[client][message.claim].strays |= (uint8_t)(1u << master);
}

/* --- Connections -------------------------------------------------------------------------------------------------- */

void tiny_deliver(struct tiny *tiny, const struct tiny_setup *setup, unsigned client, unsigned master)
{
    tiny_tell(tiny, client, master, tiny_shift(&tiny->down[client][master]));
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

            message.outcome = RL_UNKNOWN;
            message.detail = RL_DETAIL_DISCONNECTED;
            tiny_tell(tiny, client, master, message);
            tiny_pump(tiny, setup, client);
        }
    }
    rl_engine_link(&tiny->engines[client], tiny_instant(tiny->now), master, RL_LINK_DOWN);
    tiny_pump(tiny, setup, client);
}

void tiny_break(struct tiny *tiny, const struct tiny_setup *setup, struct tiny_action action)
{
    const struct tiny_pipe *up = &tiny->up[action.a][action.b];

    tiny->breaks++;
    for (uint8_t i = 0; i < action.c; i++)
        tiny_push(&tiny->ghost[action.a][action.b], up->messages[i]);
    disconnect(tiny, setup, action.a, action.b);
}

void tiny_crash(struct tiny *tiny, const struct tiny_setup *setup, unsigned master)
{
    for (unsigned client = 0; client < TINY_CLIENTS; client++) {
        memset(&tiny->ghost[client][master], 0, sizeof tiny->ghost[client][master]);
        if (tiny->open[client][master])
            disconnect(tiny, setup, client, master);
    }
}
