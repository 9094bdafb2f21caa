/* Proof of memory: a vote counts when the guard behind it shows the incarnation that was judged (protocol 1.3).
 *
 * IMPLEMENTATION NOTES
 *
 * The guard (HGET marker inc, TIME) is written behind all the commands of a loop turn, once for each connection, not
 * once for each vote. That is as good: the commands of a connection are carried out in the order of writing, and a
 * master that loses its memory loses its marker for ever, since the next one gets a fresh incarnation. So when the
 * guard finds the incarnation of the handshake, everything before it on this connection was done in that very memory.
 * Replies come in the same order: when the guard's arrives, the answers that are waiting are those it speaks of.
 *
 * Until then an answer that matters - a grant, or "missing" to an extension - leaves its slot PENDING, with a bit in
 * claim->unproved. Other answers change nothing for the better and are believed at once. */
#include "engine/machine.h"

static bool is_missing(enum rl_step step, struct rl_answer answer)
{
    return step == RL_STEP_EXTEND && answer.outcome == RL_REFUSED && answer.detail == RL_DETAIL_MISSING;
}

bool rl_proof_needed(const struct rl_engine *engine, const struct rl_claim *claim, enum rl_step step, uint32_t round,
                     unsigned node, struct rl_answer answer)
{
    if (!engine->standings[node].guarded || !claim->lock || claim->undoing || round != claim->round ||
        RL_MUTANT(UNPROVED_COUNTS))
        return false;
    if (is_missing(step, answer))
        return true;
    return answer.outcome == RL_GRANTED && (step == RL_STEP_CLAIM || step == RL_STEP_EXTEND);
}

void rl_proof_await(struct rl_engine *engine, struct rl_claim *claim, unsigned node, struct rl_answer answer,
                    uint32_t latency_us)
{
    if (!claim->unproved)
        rl_list_append(&engine->unproved, &claim->link);
    claim->unproved |= rl_bit(node);
    if (answer.outcome == RL_REFUSED)
        claim->missing |= rl_bit(node);
    else if (claim->fenced && claim->round == 0)
        rl_claim_fence(claim)->counters[node] = answer.fence;
    claim->slots[node].latency_us = latency_us;
}

static void stop_waiting(struct rl_claim *claim, uint32_t nodes)
{
    claim->unproved &= ~nodes;
    if (!claim->unproved)
        rl_list_remove(&claim->link);
}

/* A claim that was granted may be set, proof or no proof. */
void rl_proof_drop(struct rl_claim *claim)
{
    if (!claim->unproved)
        return;
    for (size_t i = 0; i < claim->n_nodes; i++) {
        if ((claim->unproved & rl_bit(i)) && claim->slots[i].vote == RL_PENDING)
            claim->slots[i].vote = RL_GRANTED;
    }
    stop_waiting(claim, claim->unproved);
}

static struct rl_answer what_was_answered(const struct rl_claim *claim, unsigned node)
{
    if (claim->missing & rl_bit(node))
        return (struct rl_answer){RL_REFUSED, RL_DETAIL_MISSING, 0};
    return (struct rl_answer){RL_GRANTED, RL_DETAIL_NONE, claim->fenced ? rl_claim_fence(claim)->counters[node] : 0};
}

/* A claim may be set there all the same. An extension may have lengthened the life of a key there, which is no harm. */
static struct rl_answer what_is_left(enum rl_step step, enum rl_detail why)
{
    return (struct rl_answer){step == RL_STEP_CLAIM ? RL_UNKNOWN : RL_FAILED, why, 0};
}

static void resolve(struct rl_engine *engine, struct rl_instant now, struct rl_claim *claim, unsigned node,
                    enum rl_detail why_not)
{
    enum rl_step step = claim->round == 0 ? RL_STEP_CLAIM : RL_STEP_EXTEND;
    struct rl_answer answer = why_not ? what_is_left(step, why_not) : what_was_answered(claim, node);

    stop_waiting(claim, rl_bit(node));
    claim->missing &= ~rl_bit(node);
    rl_answer_apply(engine, now, claim, step, claim->round, node, answer, claim->slots[node].latency_us);
    rl_claim_settle(engine, claim);
}

/* Resolving one answer touches no other claim: the next one in the list stays in it. */
static void resolve_all(struct rl_engine *engine, struct rl_instant now, unsigned node, enum rl_detail why_not)
{
    struct rl_list *at = engine->unproved.next;

    while (at != &engine->unproved) {
        struct rl_claim *claim = RL_CONTAINER_OF(at, struct rl_claim, link);

        at = at->next;
        if (!(claim->unproved & rl_bit(node)))
            continue;
        engine->counters.disproved += why_not == RL_DETAIL_MEMORY_LOST;
        resolve(engine, now, claim, node, why_not);
    }
}

void rl_engine_proof(struct rl_engine *engine, struct rl_instant now, unsigned node, bool same_memory)
{
    resolve_all(engine, now, node, same_memory ? RL_DETAIL_NONE : RL_DETAIL_MEMORY_LOST);
}

void rl_proof_fail(struct rl_engine *engine, struct rl_instant now, unsigned node, enum rl_detail why)
{
    resolve_all(engine, now, node, why);
}
