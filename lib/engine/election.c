#include "engine/election.h"

void rl_candidate_campaigns(struct rl_candidate *candidate, bool begun)
{
    candidate->state = begun ? RL_CANDIDATE_CAMPAIGNING : RL_CANDIDATE_IDLE;
}

/* The candidate had withdrawn when it was elected. */
static enum rl_candidate_step withdraw(struct rl_candidate *candidate, bool won)
{
    if (won)
        return RL_CANDIDATE_RELEASE;
    candidate->state = RL_CANDIDATE_IDLE;
    return RL_CANDIDATE_WITHDRAWN;
}

enum rl_candidate_step rl_candidate_acquired(struct rl_candidate *candidate, bool won, int64_t left_ns)
{
    if (candidate->state == RL_CANDIDATE_RESIGNING)
        return withdraw(candidate, won);
    candidate->state = RL_CANDIDATE_IDLE;
    if (!won)
        return RL_CANDIDATE_FAILED;
    if (left_ns <= 0)
        return RL_CANDIDATE_CAMPAIGN;
    candidate->state = RL_CANDIDATE_LEADING;
    return RL_CANDIDATE_ELECTED;
}

enum rl_candidate_step rl_candidate_lost(struct rl_candidate *candidate)
{
    candidate->state = RL_CANDIDATE_IDLE;
    return candidate->once ? RL_CANDIDATE_NOTHING : RL_CANDIDATE_CAMPAIGN;
}

enum rl_candidate_step rl_candidate_resign(const struct rl_candidate *candidate)
{
    return candidate->state == RL_CANDIDATE_CAMPAIGNING ? RL_CANDIDATE_CANCEL : RL_CANDIDATE_RELEASE;
}

void rl_candidate_resigns(struct rl_candidate *candidate, bool begun)
{
    candidate->state = begun ? RL_CANDIDATE_RESIGNING : RL_CANDIDATE_IDLE;
}

void rl_candidate_released(struct rl_candidate *candidate)
{
    candidate->state = RL_CANDIDATE_IDLE;
}

int64_t rl_candidate_remaining(const struct rl_candidate *candidate, int64_t left_ns)
{
    return candidate->state == RL_CANDIDATE_LEADING ? left_ns : 0;
}

enum rl_candidate_state rl_candidate_state(const struct rl_candidate *candidate, int64_t left_ns, bool closing)
{
    if (candidate->state != RL_CANDIDATE_LEADING || left_ns > 0)
        return candidate->state;
    return candidate->once || closing ? RL_CANDIDATE_IDLE : RL_CANDIDATE_CAMPAIGNING;
}
