#include "engine/engine.h"

#include <assert.h>
#include <string.h>

#include "engine/acquire.h"
#include "engine/answer.h"
#include "engine/states.h"
#include "votes/ask.h"
#include "votes/votes.h"
#include "votes/rollback.h"

void rl_engine_init(struct rl_engine *engine, const struct rl_config *config)
{
    memset(engine, 0, sizeof *engine);
    rl_votes_init(&engine->votes, config);
    engine->random = config->seed;
    rl_list_init(&engine->notices);
    rl_list_init(&engine->waiting_for_links);
}

/* --- Events -------------------------------------------------------------------------------------------------- */

/* Starts the acquisitions that have waited, once a quorum can vote or no first connection is on its way. */
static void start_waiting(struct rl_engine *engine, struct rl_instant now)
{
    if (rl_list_empty(&engine->waiting_for_links) || rl_ask_must_wait(&engine->votes, now))
        return;
    while (!rl_list_empty(&engine->waiting_for_links)) {
        struct rl_lock *lock = RL_CONTAINER_OF(engine->waiting_for_links.next, struct rl_lock, queue);

        rl_list_remove(&lock->queue);
        if (lock->state == RL_LOCK_BACKING_OFF)
            rl_lock_woken(engine, lock, now);
        else
            rl_lock_follow(engine, lock, now, rl_acquire_start(engine, lock, now));
    }
}

void rl_engine_adopt(struct rl_engine *engine, const struct rl_engine_list *list)
{
    struct rl_votes *votes = &engine->votes;

    assert(list->n_nodes >= votes->config.n_nodes && list->n_nodes <= RL_MAX_NODES);
    for (size_t i = 0; i < list->n_nodes; i++) {
        if (list->newcomers & rl_bit(i))
            rl_votes_init_node(votes, i);
    }
    votes->config.n_nodes = list->n_nodes;
    votes->config.quorum = list->quorum;
    votes->members = list->members;
    votes->newcomers = list->newcomers;
    votes->greeting = list->members;
}

void rl_engine_invite(struct rl_engine *engine, unsigned node)
{
    struct rl_votes *votes = &engine->votes;

    assert(node <= votes->config.n_nodes && node < RL_MAX_NODES && !(votes->members & rl_bit(node)));
    rl_votes_init_node(votes, node);
    if (node == votes->config.n_nodes)
        votes->config.n_nodes++;
}

void rl_engine_greeted(struct rl_engine *engine, struct rl_instant now, unsigned node)
{
    engine->votes.greeting &= ~rl_bit(node);
    start_waiting(engine, now);
}

/* A link has changed, so some releases may have no master left to wait for. */
static void recheck_releases(struct rl_engine *engine, struct rl_instant now)
{
    struct rl_list *at = engine->votes.pending_rollbacks.next;

    while (at != &engine->votes.pending_rollbacks) {
        const struct rl_claim *claim = RL_CONTAINER_OF(at, struct rl_claim, link);

        at = at->next;
        if (claim->lock && claim->lock->state == RL_LOCK_RELEASING)
            rl_lock_changed(engine, claim->lock, now);
    }
}

void rl_engine_link(struct rl_engine *engine, struct rl_instant now, unsigned node, enum rl_link link)
{
    assert(node < engine->votes.config.n_nodes);
    engine->votes.links[node] = link;
    if (link == RL_LINK_DOWN) {
        engine->votes.unchecked &= ~rl_bit(node);
        rl_answer_checked(engine, now, node, RL_DETAIL_DISCONNECTED);
    }
    if (link == RL_LINK_READY)
        rl_rollback_resend(&engine->votes, node);
    start_waiting(engine, now);
    recheck_releases(engine, now);
}

void rl_engine_admission(struct rl_engine *engine, unsigned node, const struct rl_admission_status *admission)
{
    assert(node < engine->votes.config.n_nodes);
    engine->votes.admissions[node] = *admission;
}

void rl_engine_admissions_changed(struct rl_engine *engine, struct rl_instant now)
{
    start_waiting(engine, now);
}

void rl_engine_tick(struct rl_engine *engine, struct rl_instant now)
{
    rl_rollback_tick(&engine->votes, now);
}

struct rl_instant rl_engine_wakeup(const struct rl_engine *engine)
{
    return engine->votes.rollbacks_due;
}

/* --- Effects ------------------------------------------------------------------------------------------------- */

static bool poll_send(struct rl_engine *engine, struct rl_effect *effect)
{
    struct rl_outgoing outgoing;

    if (!rl_outbox_take(&engine->votes, &outgoing))
        return false;
    *effect = (struct rl_effect){.kind = RL_EFFECT_SEND, .claim = outgoing.claim, .lock = outgoing.claim->lock,
                                 .step = outgoing.step, .round = outgoing.round, .nodes = outgoing.nodes};
    return true;
}

static struct rl_effect completion(enum rl_op op, enum rl_end status, enum rl_end cause)
{
    return (struct rl_effect){.kind = RL_EFFECT_COMPLETE, .op = op, .status = status, .cause = cause};
}

static struct rl_effect effect_of(const struct rl_lock *lock, enum rl_notice notice)
{
    switch (notice) {
    case RL_NOTICE_LOST:
        return (struct rl_effect){.kind = RL_EFFECT_LOST};
    case RL_NOTICE_EXTEND_CANCELED:
        return completion(RL_OP_EXTEND, RL_END_CANCELED, RL_END_NONE);
    case RL_NOTICE_COMPLETE:
        return completion((enum rl_op)lock->ended, (enum rl_end)lock->status, (enum rl_end)lock->cause);
    case RL_NOTICE_WAITING:
        return (struct rl_effect){.kind = RL_EFFECT_WAITING};
    case RL_NOTICE_BACKOFF:
        return (struct rl_effect){.kind = RL_EFFECT_BACKOFF, .status = (enum rl_end)lock->attempt};
    case RL_NOTICE_RENEWED:
        return (struct rl_effect){.kind = RL_EFFECT_RENEWED};
    case RL_NOTICE_AT_RISK:
        return (struct rl_effect){.kind = RL_EFFECT_AT_RISK};
    case RL_NOTICE_ACCEPT:
        return (struct rl_effect){.kind = RL_EFFECT_ACCEPT};
    case RL_NOTICE_EARLIER:
        return (struct rl_effect){.kind = RL_EFFECT_EARLIER};
    case RL_NOTICE_WANT_CLAIM:
        break;
    }
    return (struct rl_effect){.kind = RL_EFFECT_WANT_CLAIM};
}

static bool poll_notice(struct rl_engine *engine, struct rl_effect *effect)
{
    struct rl_lock *lock;
    unsigned notice;

    if (rl_list_empty(&engine->notices))
        return false;
    lock = RL_CONTAINER_OF(engine->notices.next, struct rl_lock, queue);
    notice = lock->notices & (~(unsigned)lock->notices + 1u); /* the lowest one */
    rl_lock_drop_notices(lock, notice);
    if (!lock->notices)
        rl_list_remove(&lock->queue);
    *effect = effect_of(lock, (enum rl_notice)notice);
    effect->lock = lock;
    effect->claim = lock->claim;
    return true;
}

static bool poll_disposal(struct rl_engine *engine, struct rl_effect *effect)
{
    *effect = (struct rl_effect){.kind = RL_EFFECT_DISPOSE, .claim = rl_votes_take_finished(&engine->votes)};
    return effect->claim;
}

uint32_t rl_engine_take_unchecked(struct rl_engine *engine)
{
    uint32_t nodes = 0;

    for (size_t i = 0; i < engine->votes.config.n_nodes; i++) {
        if (engine->votes.admissions[i].epoch_checked)
            nodes |= engine->votes.unchecked & rl_bit(i);
    }
    engine->votes.unchecked = 0;
    return nodes;
}

bool rl_engine_poll(struct rl_engine *engine, struct rl_effect *ret_effect)
{
    return poll_send(engine, ret_effect) || poll_disposal(engine, ret_effect) || poll_notice(engine, ret_effect);
}
