/* Transfer: a held lock goes from one handle to another, perhaps of another process. The masters are not asked. */
#include "engine/transfer.h"

#include "engine/states.h"
#include "votes/ledger.h"

void rl_lock_detach(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    rl_lock_follow(engine, lock, now, rl_go(RL_LOCK_IDLE, RL_END_NONE, RL_END_NONE));
    rl_lock_set_claim(engine, lock, NULL);
}

/* Masters may not have been told yet of a mode that was lowered.
 *
 * A bound may be from before a clock step that this engine has seen, and then it is worth nothing. One from after the
 * step is regained by the first renewal, if enough others are left. */
static void import(const struct rl_engine *engine, struct rl_instant now, struct rl_claim *claim,
                   const struct rl_exported_state *state)
{
    struct rl_fence *fence = rl_claim_fence(claim);

    claim->ttl_ms = state->ttl_ms;
    claim->longest_ttl_ms = state->longest_ttl_ms;
    claim->shortest_extension_ms = state->shortest_extension_ms;
    claim->unresolved_extension = state->unresolved_extension;
    claim->mode = state->mode;
    claim->stronger = state->mode == RL_EXCLUSIVE ? 0 : rl_bit(claim->n_nodes) - 1;
    if (fence)
        fence->token = state->fence;
    for (size_t i = 0; i < claim->n_nodes; i++) {
        rl_ledger_set(claim, i, rl_before(now, engine->votes.stepped_until[i]) ? RL_LONG_AGO : state->bounds[i]);
        claim->slots[i].vote = RL_UNKNOWN; /* to be rolled back wherever it may be */
    }
}

/* It is not known how old the bounds are, so the first renewal comes soon. */
bool rl_lock_import(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, struct rl_claim *claim,
                    const struct rl_acquire *request, const struct rl_exported_state *state)
{
    rl_claim_init(claim, engine->votes.config.n_nodes, engine->votes.config.quorum, state->kind);
    import(engine, now, claim, state);
    claim->give_up = rl_surely_expired(&engine->votes.config.drift, now, claim->longest_ttl_ms);
    if (!rl_before(now, rl_ledger_deadline(claim, engine->votes.config.guard))) {
        rl_votes_settle(&engine->votes, claim);
        return false;
    }
    rl_lock_set_claim(engine, lock, claim);
    lock->round_start = now;
    rl_lock_follow(engine, lock, now,
                   (struct rl_next){.state = RL_LOCK_HELD, .request = request, .soon = true,
                                    .ttl_ms = state->full_ttl_ms ? state->full_ttl_ms : claim->ttl_ms});
    return true;
}
