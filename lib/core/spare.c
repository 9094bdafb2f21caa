/* Spare votes: what a holder has beyond a quorum, handed on to the next in line while it still holds (protocol 6.2).
 *
 * IMPLEMENTATION NOTES
 *
 * The next in line has the lock when a quorum of masters has handed the key over to it. A holder that will hold for a
 * moment only (wish->brief) and has got the lock from the line keeps a quorum of votes, those that count longest, and
 * releases the others at once, as soon as it has them. So when it releases the rest, the first of these masters to say
 * so makes the quorum of the next one: with five masters one of three, instead of the third of five.
 *
 *     granted --hand on--> undo SENT --answered--> SETTLED --first extension--> ASKED_BACK --handed over--> granted
 *
 * Exclusion rests on the votes that are left. One that is handed on counts no more from before its RELEASE is written,
 * whatever the master says of it later. The deadline, the quorum-th largest bound, stays what it was. A quorum had
 * recorded the fencing token when it was handed out, each master while it held the key, and whoever gets the key there
 * next is counted after that (fence.c).
 *
 * What is given away is the reserve: against a key that is deleted or a clock that is set on a master that was kept,
 * and for an extension, which needs a quorum that can be reached. Masters that merely die or hang take nothing away
 * before the bounds. So it is for short holds only, and those votes are kept whose masters can be reached. If the
 * hold gets long all the same, the first extension asks for the spare votes back: it gets in line on those masters
 * with the ticket of holders, which is lower than any waiter's, and a waiter who has no more than these yields them
 * (wait.c).
 *
 * That claims a value again for which a deletion has been written, what protocol 1.1 forbids, since the deletion may be
 * carried out late and take the new vote away. Here it is done on the one master that has answered the RELEASE: it was
 * carried out, once, and everything that follows comes behind it. Where the answer is outstanding the vote is asked for
 * when it has come; where it was lost, never (planted bug SPARE_ASKED_TOO_SOON, tests/sim/mutants.h). Whoever adopts
 * the lock does without them: notifications name rounds, which are the former holder's. */
#include <assert.h>

#include "core/machine.h"

/* Masters answer newcomers with numbers above all they have seen, and above the first ones proposed. */
#define HOLDERS_TICKET 1

/* A vote on which an extension, too, can count. */
static bool is_kept(const struct rl_engine *engine, const struct rl_claim *claim, size_t node)
{
    const struct rl_slot *slot = &claim->slots[node];

    return slot->vote == RL_GRANTED && slot->undo == RL_UNDO_NONE && slot->bound.ns != RL_LONG_AGO.ns &&
           engine->links[node] == RL_LINK_READY;
}

/* Without it there is a quorum, each vote of which counts at least as long. Of equal ones the first are kept. */
static bool is_spare(const struct rl_engine *engine, const struct rl_claim *claim, size_t node)
{
    struct rl_instant bound = claim->slots[node].bound;
    size_t needed = RL_MUTANT(SPARE_ONE_TOO_MANY) && claim->quorum > 1 ? claim->quorum - 1u : claim->quorum;
    size_t better = 0;

    for (size_t i = 0; i < claim->n_nodes; i++) {
        if (i != node && is_kept(engine, claim, i))
            better += rl_before(bound, claim->slots[i].bound) || (bound.ns == claim->slots[i].bound.ns && i < node);
    }
    return is_kept(engine, claim, node) && better >= needed;
}

void rl_spare_hand_on(struct rl_engine *engine, struct rl_lock *lock)
{
    struct rl_claim *claim = lock->claim;
    uint32_t nodes = 0;

    if (!lock->brief || lock->state != RL_LOCK_HELD)
        return;
    for (size_t i = claim->n_nodes; i-- > 0;) {
        if (!is_spare(engine, claim, i))
            continue;
        nodes |= rl_bit(i);
        claim->slots[i].undo = RL_UNDO_SENT;
        if (!RL_MUTANT(SPARE_ONE_TOO_MANY) && !RL_MUTANT(SPARE_STILL_COUNTS))
            rl_ledger_revoke(claim, i);
        engine->counters.spares++;
    }
    rl_claim_send(engine, claim, RL_STEP_RELEASE, nodes);
}

/* What is not known to be gone is undone once more with the rest. */
void rl_spare_answered(struct rl_engine *engine, struct rl_claim *claim, unsigned node, struct rl_instant now,
                       struct rl_answer answer)
{
    struct rl_slot *slot = &claim->slots[node];
    bool gone = answer.outcome == RL_GRANTED || answer.outcome == RL_REFUSED;

    assert(!claim->undoing && (slot->undo == RL_UNDO_SENT || RL_MUTANT(SPARE_ASKED_TOO_SOON)));
    if (slot->undo != RL_UNDO_SENT)
        return;
    slot->undo = gone ? RL_UNDO_SETTLED : RL_UNDO_OWED;
    slot->vote = gone ? RL_REFUSED : RL_UNKNOWN;
    if (!claim->lock || !claim->lock->asks_back)
        return;
    if (rl_spare_ask_back(engine, claim, node, now))
        rl_claim_send(engine, claim, RL_STEP_ENQUEUE, rl_bit(node));
}

void rl_spare_end(struct rl_lock *lock)
{
    lock->brief = false;
    lock->asks_back = true;
}

bool rl_spare_is_out(const struct rl_slot *slot)
{
    return slot->undo != RL_UNDO_NONE;
}

/* PENDING until the RELEASE is answered, too: that is part of the asking. */
bool rl_spare_ask_back(const struct rl_engine *engine, struct rl_claim *claim, size_t node, struct rl_instant now)
{
    struct rl_slot *slot = &claim->slots[node];
    bool settled = slot->undo == RL_UNDO_SETTLED || slot->undo == RL_UNDO_ASKED_BACK ||
                   (slot->undo == RL_UNDO_SENT && RL_MUTANT(SPARE_ASKED_TOO_SOON));
    enum rl_detail why = RL_DETAIL_HANDED_ON;

    slot->answer = slot->undo == RL_UNDO_SENT ? RL_PENDING : RL_FAILED;
    slot->detail = RL_DETAIL_HANDED_ON;
    if (!settled)
        return false;
    if (!rl_may_claim(engine, node, now, &why)) {
        slot->detail = (uint8_t)why;
        return false;
    }
    slot->undo = RL_UNDO_ASKED_BACK;
    slot->answer = RL_PENDING;
    slot->detail = RL_DETAIL_NONE;
    if (slot->vote == RL_REFUSED)
        slot->vote = RL_PENDING;
    return true;
}

void rl_spare_granted(struct rl_slot *slot)
{
    if (slot->undo == RL_UNDO_ASKED_BACK)
        slot->undo = RL_UNDO_NONE;
}

/* Waiters who give up while their commands are written have their own still, and the wish is lent still. */
uint64_t rl_lock_ticket(const struct rl_lock *lock, uint64_t *ret_proposal)
{
    *ret_proposal = lock->asks_back ? HOLDERS_TICKET : lock->wish->line->proposal;
    return lock->asks_back ? HOLDERS_TICKET : lock->wish->line->ticket;
}
