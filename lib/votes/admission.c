#include "util/mutant.h"
#include "votes/admission.h"

bool rl_clock_stepped(const struct rl_votes *votes, size_t node, struct rl_instant now)
{
    return rl_before(now, votes->stepped_until[node]) && !RL_MUTANT(CLOCK_STEP_IGNORED);
}

static bool votes_now(const struct rl_votes *votes, size_t node, struct rl_instant now)
{
    return rl_admission_votes(&votes->admissions[node], now) || RL_MUTANT(QUARANTINE_IGNORED);
}

static bool reachable(const struct rl_votes *votes, size_t node, enum rl_detail *ret_why)
{
    if (votes->links[node] == RL_LINK_READY)
        return true;
    *ret_why = votes->links[node] == RL_LINK_LATE ? RL_DETAIL_LATE : RL_DETAIL_DOWN;
    return false;
}

bool rl_may_claim(const struct rl_votes *votes, size_t node, struct rl_instant now, enum rl_detail *ret_why)
{
    if (!reachable(votes, node, ret_why))
        return false;
    if (votes_now(votes, node, now) && !rl_clock_stepped(votes, node, now))
        return true;
    *ret_why = votes->admissions[node].kind == RL_ADMISSION_EXCLUDED ? RL_DETAIL_EXCLUDED : RL_DETAIL_QUARANTINED;
    return false;
}

/* A vote that has not expired keeps others out even after the master has lost its memory. */
bool rl_may_extend(const struct rl_votes *votes, size_t node, const struct rl_slot *slot, struct rl_instant now,
                   enum rl_detail *ret_why)
{
    if (!reachable(votes, node, ret_why))
        return false;
    if (votes->admissions[node].kind == RL_ADMISSION_EXCLUDED ||
        votes->admissions[node].kind == RL_ADMISSION_UNEVALUATED) {
        *ret_why = RL_DETAIL_EXCLUDED;
        return false;
    }
    *ret_why = RL_DETAIL_QUARANTINED;
    return rl_before(now, slot->bound) || (votes_now(votes, node, now) && !rl_clock_stepped(votes, node, now)) ||
           RL_MUTANT(REPAIR_WITHOUT_CONDITION);
}

bool rl_may_repair(const struct rl_votes *votes, size_t node, const struct rl_slot *slot, struct rl_instant now)
{
    enum rl_detail why;

    return rl_may_extend(votes, node, slot, now, &why) && !rl_clock_stepped(votes, node, now);
}

bool rl_in_quarantine(const struct rl_votes *votes, size_t node, struct rl_instant now)
{
    const struct rl_admission_status *admission = &votes->admissions[node];

    return admission->kind == RL_ADMISSION_QUARANTINED && rl_before(now, admission->until);
}

/* protocol 5.6: "Forward by at most d: subtract d from own lb_j, ignore the node's new votes for min(d, max_ttl)". That
 * is too short for the other holders: a step of d makes a key end d earlier, which may be as late as max_ttl - d from
 * now, and only then a holder that has not noticed counts a vote that somebody else may get. So new votes are ignored
 * for max_ttl whatever the step: by then every key that was set before it has ended by anybody's reckoning
 * (tests/sim/golden/small-clock-step.story). */
void rl_note_clock_step(struct rl_votes *votes, struct rl_instant now, unsigned node)
{
    const struct rl_config *config = &votes->config;

    votes->stepped_until[node] =
        RL_MUTANT(STEP_WAIT_TOO_SHORT) ? now : rl_surely_expired(&config->drift, now, config->max_ttl_ms);
}
