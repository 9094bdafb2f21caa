#include "api/public.h"

#include "api/handle.h"
#include "api/lock_state.h"

enum redlock_vote rl_public_vote(enum rl_outcome outcome)
{
    static const enum redlock_vote votes[] = {
        [RL_NOT_ASKED] = REDLOCK_VOTE_NONE,  [RL_PENDING] = REDLOCK_VOTE_PENDING,
        [RL_GRANTED] = REDLOCK_VOTE_GRANTED, [RL_REFUSED] = REDLOCK_VOTE_REFUSED,
        [RL_FAILED] = REDLOCK_VOTE_FAILED,   [RL_UNKNOWN] = REDLOCK_VOTE_UNKNOWN,
        [RL_QUEUED] = REDLOCK_VOTE_QUEUED,
    };

    return votes[outcome];
}

enum redlock_link rl_public_link(enum rl_link link)
{
    static const enum redlock_link links[] = {
        [RL_LINK_JOINING] = REDLOCK_LINK_JOINING,
        [RL_LINK_READY] = REDLOCK_LINK_READY,
        [RL_LINK_LATE] = REDLOCK_LINK_LATE,
        [RL_LINK_DOWN] = REDLOCK_LINK_DOWN,
    };

    return links[link];
}

enum redlock_standing rl_public_standing(enum rl_admission kind)
{
    static const enum redlock_standing standings[] = {
        [RL_ADMISSION_UNEVALUATED] = REDLOCK_STANDING_UNJUDGED,
        [RL_ADMISSION_VOTES] = REDLOCK_STANDING_VOTES,
        [RL_ADMISSION_QUARANTINED] = REDLOCK_STANDING_QUARANTINED,
        [RL_ADMISSION_EXCLUDED] = REDLOCK_STANDING_EXCLUDED,
    };

    return standings[kind];
}

enum redlock_fault rl_public_fault(enum rl_fault fault)
{
    static const enum redlock_fault faults[RL_FAULT_COUNT] = {
#define PUBLIC_FAULT(name, text) [RL_FAULT_##name] = REDLOCK_FAULT_##name,
        RL_FAULT_MAP(PUBLIC_FAULT)
#undef PUBLIC_FAULT
    };

    return faults[fault];
}

enum redlock_op rl_public_op(enum rl_op op)
{
    static const enum redlock_op ops[] = {[RL_OP_ACQUIRE] = REDLOCK_OP_ACQUIRE, [RL_OP_EXTEND] = REDLOCK_OP_EXTEND,
                                          [RL_OP_RELEASE] = REDLOCK_OP_RELEASE, [RL_OP_CONVERT] = REDLOCK_OP_CONVERT};

    return ops[op];
}

enum redlock_mode rl_public_mode(enum rl_mode mode)
{
    static const enum redlock_mode modes[] = {[RL_EXCLUSIVE] = REDLOCK_EXCLUSIVE,
                                              [RL_UPGRADEABLE] = REDLOCK_UPGRADEABLE, [RL_SHARED] = REDLOCK_SHARED};

    return modes[mode];
}

bool rl_mode_is_valid(enum redlock_mode mode)
{
    return mode == REDLOCK_EXCLUSIVE || mode == REDLOCK_UPGRADEABLE || mode == REDLOCK_SHARED;
}

enum rl_mode rl_mode_of(enum redlock_mode mode)
{
    if (mode == REDLOCK_EXCLUSIVE)
        return RL_EXCLUSIVE;
    return mode == REDLOCK_UPGRADEABLE ? RL_UPGRADEABLE : RL_SHARED;
}

enum redlock_look_verdict rl_public_verdict(enum rl_look_verdict verdict)
{
    static const enum redlock_look_verdict verdicts[] = {
        [RL_LOOK_FREE] = REDLOCK_LOOK_FREE,           [RL_LOOK_EXCLUSIVE] = REDLOCK_LOOK_EXCLUSIVE,
        [RL_LOOK_SHARED] = REDLOCK_LOOK_SHARED,       [RL_LOOK_UPGRADING] = REDLOCK_LOOK_UPGRADING,
        [RL_LOOK_UNSETTLED] = REDLOCK_LOOK_UNSETTLED, [RL_LOOK_UNKNOWN] = REDLOCK_LOOK_UNKNOWN,
    };

    return verdicts[verdict];
}

int64_t rl_public_latency_us(uint32_t latency_us)
{
    return latency_us == RL_NO_LATENCY ? -1 : (int64_t)latency_us;
}

int rl_public_status(const struct redlock_lock *lock, enum rl_end end)
{
    switch (end) {
    case RL_END_NONE:
    case RL_END_OK:
        return REDLOCK_OK;
    case RL_END_HELD:
        return REDLOCK_HELD;
    case RL_END_NO_QUORUM:
        return REDLOCK_NO_QUORUM;
    case RL_END_TOO_SLOW:
        return REDLOCK_TOO_SLOW;
    case RL_END_DEADLINE:
        return REDLOCK_DEADLINE;
    case RL_END_CANCELED:
        return REDLOCK_CANCELED;
    case RL_END_LOST:
        return REDLOCK_LOST;
    case RL_END_REFUSED_BY_HOST:
        return lock->host.refusal;
    }
    return REDLOCK_LOST;
}

enum redlock_loss rl_public_loss(enum rl_loss loss)
{
    static const enum redlock_loss losses[] = {
        [RL_LOSS_NONE] = REDLOCK_LOSS_NONE,             [RL_LOSS_EXPIRED] = REDLOCK_LOSS_EXPIRED,
        [RL_LOSS_UNREACHABLE] = REDLOCK_LOSS_UNREACHABLE, [RL_LOSS_REFUSED] = REDLOCK_LOSS_REFUSED,
        [RL_LOSS_CLOCK_STEP] = REDLOCK_LOSS_CLOCK_STEP, [RL_LOSS_HOLD_LIMIT] = REDLOCK_LOSS_HOLD_LIMIT,
    };

    return losses[loss];
}
