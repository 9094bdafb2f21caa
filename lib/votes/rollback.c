/* Undo and debts: getting a value off every master that may hold it.
 *
 * IMPLEMENTATION NOTES
 *
 * An undo is written behind the claim on the same connection, at once, without waiting for the claim's reply
 * (protocol 2.1). TCP keeps the order, so whatever becomes of the replies, the claim cannot outlive its undo on that
 * connection. What remains is a debt (protocol 2.2): an undo that was never confirmed, since the link was down, or
 * ended before the answer, or the master answered with an error. Debts to a master are paid first thing when it can be
 * written to again, are tried again every RESEND_NS while it refuses, and end when confirmed or when the key's ttl has
 * surely passed.
 *
 * Masters that refused the claim or certainly did not apply it hold nothing of it: the value is fresh and was sent to
 * them once. They get no undo. */
#include <assert.h>

#include "engine/machine.h"

#define RESEND_NS (250 * RL_NS_PER_MS)

void rl_claim_send(struct rl_engine *engine, struct rl_claim *claim, enum rl_step step, uint32_t nodes)
{
    claim->to_send[step] |= nodes;
    if (!nodes || claim->waiting)
        return;
    claim->waiting = true;
    claim->next_out = NULL;
    if (engine->outbox)
        engine->outbox_last->next_out = claim;
    else
        engine->outbox = claim;
    engine->outbox_last = claim;
}

static bool may_hold(const struct rl_slot *slot)
{
    if (RL_MUTANT(ROLLBACK_ONLY_GRANTED))
        return slot->vote == RL_GRANTED;
    if (RL_MUTANT(UNKNOWN_NOT_UNDONE))
        return slot->vote == RL_PENDING || slot->vote == RL_GRANTED;
    if (RL_MUTANT(QUEUED_NOT_UNDONE) && slot->vote == RL_QUEUED)
        return false;
    return slot->vote == RL_PENDING || slot->vote == RL_GRANTED || slot->vote == RL_UNKNOWN || slot->vote == RL_QUEUED;
}

/* Takes back what has not been handed to the host yet. */
static void withdraw_unsent(struct rl_claim *claim)
{
    for (size_t i = 0; i < claim->n_nodes; i++) {
        if (claim->to_send[RL_STEP_CLAIM] & rl_bit(i))
            claim->slots[i].vote = RL_NOT_ASKED;
    }
    for (size_t i = 0; i < claim->n_nodes; i++) {
        if (claim->to_send[RL_STEP_REPAIR] & rl_bit(i))
            claim->slots[i].vote = RL_UNKNOWN; /* as before the repair: the key may be there all the same */
    }
    for (size_t i = 0; i < claim->n_nodes; i++) {
        if ((claim->to_send[RL_STEP_ENQUEUE] & rl_bit(i)) && claim->slots[i].vote == RL_PENDING)
            claim->slots[i].vote = claim->round == 0 ? RL_NOT_ASKED : RL_UNKNOWN;
    }
    claim->to_send[RL_STEP_CLAIM] = 0;
    claim->to_send[RL_STEP_ENQUEUE] = 0;
    claim->to_send[RL_STEP_RAISE] = 0;
    claim->to_send[RL_STEP_EXTEND] = 0;
    claim->to_send[RL_STEP_REPAIR] = 0;
}

void rl_claim_undo(struct rl_engine *engine, struct rl_claim *claim, enum rl_step step, struct rl_instant now)
{
    uint32_t nodes = 0;

    if (claim->undoing)
        return;
    rl_proof_drop(claim);
    claim->undoing = true;
    withdraw_unsent(claim);
    for (size_t i = 0; i < claim->n_nodes; i++) {
        struct rl_slot *slot = &claim->slots[i];

        if (!may_hold(slot))
            continue;
        slot->undo = RL_UNDO_OWED;
        if (rl_link_writable(engine->links[i])) {
            slot->undo = RL_UNDO_SENT;
            nodes |= rl_bit(i);
        }
    }
    rl_claim_send(engine, claim, step, nodes);
    rl_list_append(&engine->debts, &claim->link);
    engine->n_debts++;
    if (engine->debts_due.ns == RL_NEVER.ns)
        engine->debts_due = rl_after(now, (struct rl_span){RESEND_NS});
}

void rl_debt_waive(struct rl_slot *slot)
{
    if (slot->undo == RL_UNDO_OWED)
        slot->undo = RL_UNDO_SETTLED;
}

void rl_debt_answered(struct rl_claim *claim, unsigned node, struct rl_answer answer)
{
    struct rl_slot *slot = &claim->slots[node];

    assert(claim->undoing || RL_MUTANT(YIELD_REUSES_VALUE));
    if (answer.outcome == RL_GRANTED || answer.outcome == RL_REFUSED || !may_hold(slot) ||
        (RL_MUTANT(DEBT_FORGOTTEN) && answer.outcome == RL_UNKNOWN))
        slot->undo = RL_UNDO_SETTLED;
    else if (slot->undo == RL_UNDO_SENT)
        slot->undo = RL_UNDO_OWED;
}

/* Resends are EVAL with the script's text: a restarted master has forgotten its scripts. */
static void pay(struct rl_engine *engine, struct rl_claim *claim, size_t node)
{
    if (RL_MUTANT(DEBT_NEVER_PAID) || claim->slots[node].undo != RL_UNDO_OWED ||
        !rl_link_writable(engine->links[node]))
        return;
    claim->slots[node].undo = RL_UNDO_SENT;
    rl_claim_send(engine, claim, RL_STEP_ROLLBACK, rl_bit(node));
    engine->counters.debts_paid++;
}

void rl_debts_pay(struct rl_engine *engine, unsigned node)
{
    for (struct rl_list *at = engine->debts.next; at != &engine->debts; at = at->next)
        pay(engine, RL_CONTAINER_OF(at, struct rl_claim, link), node);
}

/* A claim that is still on its way may yet set a key whose ttl has not begun. */
static void expire(struct rl_engine *engine, struct rl_slot *slot)
{
    if (slot->undo != RL_UNDO_OWED || slot->vote == RL_PENDING)
        return;
    slot->undo = RL_UNDO_SETTLED;
    engine->counters.debts_expired++;
}

static void tick_claim(struct rl_engine *engine, struct rl_claim *claim, struct rl_instant now)
{
    bool expired = !rl_before(now, claim->give_up);

    for (size_t i = 0; i < claim->n_nodes; i++) {
        if (expired)
            expire(engine, &claim->slots[i]);
        pay(engine, claim, i);
    }
    rl_claim_settle(engine, claim);
}

void rl_engine_tick(struct rl_engine *engine, struct rl_instant now)
{
    struct rl_list *at = engine->debts.next;

    if (rl_before(now, engine->debts_due))
        return;
    while (at != &engine->debts) {
        struct rl_list *next = at->next;

        tick_claim(engine, RL_CONTAINER_OF(at, struct rl_claim, link), now);
        at = next;
    }
    engine->debts_due = rl_list_empty(&engine->debts) ? RL_NEVER : rl_after(now, (struct rl_span){RESEND_NS});
}

struct rl_instant rl_engine_wakeup(const struct rl_engine *engine)
{
    return engine->debts_due;
}

/* The claim may be in the list of debts, or in the list of the finished, or in none: never in both. */
void rl_claim_settle(struct rl_engine *engine, struct rl_claim *claim)
{
    if (claim->done)
        return;
    if (claim->undoing && !rl_list_empty(&claim->link) && rl_claim_count_clean(claim) == claim->n_nodes) {
        rl_list_remove(&claim->link);
        engine->n_debts--;
    }
    if (claim->lock || claim->in_flight || claim->waiting || !rl_list_empty(&claim->link))
        return;
    claim->done = true;
    rl_list_append(&engine->finished, &claim->link);
}
