#include "votes/may_ask.h"

#include "util/mutant.h"
#include "votes/clock_step.h"

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
    if (votes_now(votes, node, now) && !rl_clock_doubted(votes, node, now))
        return true;
    *ret_why = votes->admissions[node].kind == RL_ADMISSION_EXCLUDED ? RL_DETAIL_EXCLUDED : RL_DETAIL_QUARANTINED;
    return false;
}

/* A smaller max_ttl that was declared meanwhile keeps out what is longer, and no more. */
static bool keeps(const struct rl_admission_status *admission, const struct rl_claim *claim)
{
    return claim->ttl_ms <= admission->keeps_ms || (RL_MUTANT(LONGER_HOLD_KEPT) && admission->keeps_ms);
}

/* A vote that has not expired keeps others out even after the master has lost its memory. */
bool rl_may_extend(const struct rl_votes *votes, const struct rl_claim *claim, size_t node, struct rl_instant now,
                   enum rl_detail *ret_why)
{
    const struct rl_admission_status *admission = &votes->admissions[node];

    if (!reachable(votes, node, ret_why))
        return false;
    if ((admission->kind == RL_ADMISSION_EXCLUDED && !keeps(admission, claim)) ||
        admission->kind == RL_ADMISSION_UNEVALUATED) {
        *ret_why = RL_DETAIL_EXCLUDED;
        return false;
    }
    *ret_why = RL_DETAIL_QUARANTINED;
    return rl_before(now, claim->slots[node].bound) ||
           (votes_now(votes, node, now) && !rl_clock_doubted(votes, node, now)) || RL_MUTANT(REPAIR_WITHOUT_CONDITION);
}

bool rl_may_repair(const struct rl_votes *votes, const struct rl_claim *claim, size_t node, struct rl_instant now)
{
    enum rl_detail why;

    return rl_may_extend(votes, claim, node, now, &why) && !rl_clock_doubted(votes, node, now);
}

bool rl_in_quarantine(const struct rl_votes *votes, size_t node, struct rl_instant now)
{
    const struct rl_admission_status *admission = &votes->admissions[node];

    return admission->kind == RL_ADMISSION_QUARANTINED && rl_before(now, admission->until);
}
