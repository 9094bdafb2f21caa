#include "engine/engine.h"

#include <assert.h>
#include <string.h>

#include "engine/machine.h"

void rl_engine_init(struct rl_engine *engine, const struct rl_config *config)
{
    assert(config->n_nodes >= 1 && config->n_nodes <= RL_MAX_NODES);
    assert(config->quorum > config->n_nodes / 2 && config->quorum <= config->n_nodes);
    memset(engine, 0, sizeof *engine);
    engine->config = *config;
    engine->random = config->seed;
    engine->debts_due = RL_NEVER;
    rl_list_init(&engine->notices);
    rl_list_init(&engine->gathering);
    rl_list_init(&engine->unproved);
    rl_list_init(&engine->debts);
    rl_list_init(&engine->finished);
    for (size_t i = 0; i < config->n_nodes; i++) {
        engine->links[i] = RL_LINK_JOINING;
        engine->standings[i] = (struct rl_standing){.kind = RL_STANDING_UNJUDGED, .fault = RL_FAULT_UNJUDGED};
        engine->stepped_until[i] = RL_LONG_AGO;
    }
}

/* --- Events -------------------------------------------------------------------------------------------------- */

/* Starts what has waited for the first connections, once none is outstanding. */
static void end_gathering(struct rl_engine *engine, struct rl_instant now)
{
    for (size_t i = 0; i < engine->config.n_nodes; i++) {
        if (engine->links[i] == RL_LINK_JOINING)
            return;
    }
    while (!rl_list_empty(&engine->gathering)) {
        struct rl_lock *lock = RL_CONTAINER_OF(engine->gathering.next, struct rl_lock, queue);

        rl_list_remove(&lock->queue);
        rl_acquire_start(engine, lock, now);
    }
}

void rl_engine_link(struct rl_engine *engine, struct rl_instant now, unsigned node, enum rl_link link)
{
    assert(node < engine->config.n_nodes);
    engine->links[node] = link;
    if (link == RL_LINK_DOWN) {
        engine->unguarded &= ~rl_bit(node);
        rl_proof_fail(engine, now, node, RL_DETAIL_DISCONNECTED);
    }
    if (link == RL_LINK_READY)
        rl_debts_pay(engine, node);
    end_gathering(engine, now);
    rl_releases_recheck(engine);
}

/* --- Effects ------------------------------------------------------------------------------------------------- */

/* Steps are numbered in the order in which they must reach a connection. */
static bool poll_send(struct rl_engine *engine, struct rl_effect *effect)
{
    struct rl_claim *claim = engine->outbox;
    int step = 0;

    if (!claim)
        return false;
    while (step < RL_STEP_COUNT && !claim->to_send[step])
        step++;
    if (step == RL_STEP_COUNT) {
        engine->outbox = claim->next_out;
        claim->waiting = false;
        rl_claim_settle(engine, claim);
        return poll_send(engine, effect);
    }
    *effect = (struct rl_effect){.kind = RL_EFFECT_SEND, .claim = claim, .lock = claim->lock};
    effect->step = (enum rl_step)step;
    effect->round = claim->round;
    effect->nodes = claim->to_send[step];
    claim->to_send[step] = 0;
    claim->in_flight += rl_count_bits(effect->nodes);
    if (step == RL_STEP_CLAIM || step == RL_STEP_EXTEND)
        engine->unguarded |= effect->nodes;
    if (step == RL_STEP_EXTEND || step == RL_STEP_REPAIR)
        claim->unanswered |= effect->nodes;
    return true;
}

static void fill_completion(struct rl_effect *effect, enum rl_op op, enum rl_end status, enum rl_end cause)
{
    effect->kind = RL_EFFECT_COMPLETE;
    effect->op = op;
    effect->status = status;
    effect->cause = cause;
}

static bool poll_notice(struct rl_engine *engine, struct rl_effect *effect)
{
    struct rl_lock *lock;
    uint16_t notice;

    if (rl_list_empty(&engine->notices))
        return false;
    lock = RL_CONTAINER_OF(engine->notices.next, struct rl_lock, queue);
    notice = (uint16_t)(lock->notices & (~lock->notices + 1u)); /* the lowest one */
    lock->notices = (uint16_t)(lock->notices & ~notice);
    if (!lock->notices)
        rl_list_remove(&lock->queue);
    *effect = (struct rl_effect){.lock = lock, .claim = lock->claim};
    if (notice == RL_NOTICE_LOST)
        effect->kind = RL_EFFECT_LOST;
    else if (notice == RL_NOTICE_AT_RISK)
        effect->kind = RL_EFFECT_AT_RISK;
    else if (notice == RL_NOTICE_RENEWED)
        effect->kind = RL_EFFECT_RENEWED;
    else if (notice == RL_NOTICE_SHORTENED)
        effect->kind = RL_EFFECT_SHORTENED;
    else if (notice == RL_NOTICE_EXTEND_CANCELED)
        fill_completion(effect, RL_OP_EXTEND, RL_END_CANCELED, RL_END_NONE);
    else if (notice == RL_NOTICE_COMPLETE)
        fill_completion(effect, (enum rl_op)lock->ended_op, (enum rl_end)lock->ended, (enum rl_end)lock->ended_cause);
    else if (notice == RL_NOTICE_WAITING)
        effect->kind = RL_EFFECT_WAITING;
    else if (notice == RL_NOTICE_BACKOFF) {
        effect->kind = RL_EFFECT_BACKOFF;
        effect->status = (enum rl_end)lock->last_end;
    } else {
        effect->kind = notice == RL_NOTICE_ACCEPT ? RL_EFFECT_ACCEPT : RL_EFFECT_WANT_CLAIM;
    }
    return true;
}

static bool poll_disposal(struct rl_engine *engine, struct rl_effect *effect)
{
    struct rl_claim *claim;

    if (rl_list_empty(&engine->finished))
        return false;
    claim = RL_CONTAINER_OF(engine->finished.next, struct rl_claim, link);
    rl_list_remove(&claim->link);
    *effect = (struct rl_effect){.kind = RL_EFFECT_DISPOSE, .claim = claim};
    return true;
}

uint32_t rl_engine_take_unguarded(struct rl_engine *engine)
{
    uint32_t nodes = 0;

    for (size_t i = 0; i < engine->config.n_nodes; i++) {
        if (engine->standings[i].guarded)
            nodes |= engine->unguarded & rl_bit(i);
    }
    engine->unguarded = 0;
    return nodes;
}

bool rl_engine_poll(struct rl_engine *engine, struct rl_effect *ret_effect)
{
    return poll_send(engine, ret_effect) || poll_disposal(engine, ret_effect) || poll_notice(engine, ret_effect);
}
