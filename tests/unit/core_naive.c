#include "core_naive.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SENT 64

struct sent {
    int64_t round;
    int64_t bound_ns;
    bool lengthens; /* at most: the lease of a refresh never cuts the key's life short */
};

enum waiting { NOTHING, GRANT, MISSING };

struct naive_vote {
    struct sent sent[MAX_SENT]; /* what may have been carried out, oldest first */
    size_t n_sent;
    int64_t granted; /* latest round that was; -1: none */
    enum waiting waiting; /* for its epoch check */
    int64_t waiting_round;
    bool waiting_is_claim;
};

struct naive {
    struct naive_vote votes[RL_MAX_NODES];
    bool passed;
};

static struct naive *naive_of(struct core_claim *claim)
{
    if (!claim->watched) {
        struct naive *naive = calloc(1, sizeof *naive);

        CORE_DEMAND(naive, "out of memory");
        for (size_t i = 0; i < RL_MAX_NODES; i++)
            naive->votes[i].granted = -1;
        claim->watched = naive;
    }
    return claim->watched;
}

/* --- Votes -------------------------------------------------------------------------------------------------------- */

/* Removes the rounds from `first` to `last`. */
static void strike(struct naive_vote *vote, int64_t first, int64_t last)
{
    size_t kept = 0;

    for (size_t i = 0; i < vote->n_sent; i++) {
        if (vote->sent[i].round < first || vote->sent[i].round > last)
            vote->sent[kept++] = vote->sent[i];
    }
    vote->n_sent = kept;
}

static int64_t naive_bound(const struct naive_vote *vote)
{
    int64_t bound_ns = INT64_MAX;

    if (vote->granted < 0)
        return INT64_MIN;
    for (size_t i = 0; i < vote->n_sent; i++) {
        if (vote->sent[i].lengthens && vote->sent[i].round != vote->granted)
            continue;
        bound_ns = vote->sent[i].bound_ns < bound_ns ? vote->sent[i].bound_ns : bound_ns;
    }
    return bound_ns == INT64_MAX ? INT64_MIN : bound_ns;
}

/* rule 6.2: a master whose clock was set gives no new votes, but may lengthen one that counts. */
static void grant(const struct core *core, struct naive_vote *vote, unsigned node, int64_t round, bool is_claim)
{
    bool stepped = core->now.ns < core->engine.votes.stepped_until[node].ns;

    if (stepped && (is_claim || naive_bound(vote) <= core->now.ns))
        return;
    strike(vote, 0, round - 1);
    vote->granted = round > vote->granted ? round : vote->granted;
}

static void revoke(struct naive_vote *vote, int64_t round)
{
    strike(vote, 0, round);
    vote->granted = -1;
}

/* rule 4.5: 'A "missing" from a quarantined node leaves lb_j as it was'. */
static void miss(const struct core *core, struct naive_vote *vote, unsigned node, int64_t round)
{
    const struct rl_admission_status *admission = &core->engine.votes.admissions[node];

    if (admission->kind != RL_ADMISSION_QUARANTINED || core->now.ns >= admission->until.ns)
        revoke(vote, round);
}

/* --- Commands ----------------------------------------------------------------------------------------------------- */

static bool sets_ttl(const struct core_command *command)
{
    return command->step == RL_STEP_CLAIM || command->step == RL_STEP_ENQUEUE || command->step == RL_STEP_EXTEND ||
           command->step == RL_STEP_REPAIR;
}

/* A new round waits for no epoch check of what was said in an earlier one: "missing" is believed, or in a quarantine
 * not. */
static void end_missing(const struct core *core, struct naive *naive, int64_t round)
{
    for (unsigned node = 0; node < core->engine.votes.config.n_nodes; node++) {
        struct naive_vote *vote = &naive->votes[node];

        if (vote->waiting != MISSING || vote->waiting_round >= round)
            continue;
        miss(core, vote, node, vote->waiting_round);
        vote->waiting = NOTHING;
    }
}

static void note_sent(struct core *core, const struct core_command *command, unsigned node)
{
    struct naive_vote *vote = &naive_of(command->claim)->votes[node];
    int64_t ttl_ms = command->claim->claim->ttl_ms;
    int64_t drift_ms = (ttl_ms + 99) / 100 + 2;

    if (!sets_ttl(command))
        return;
    end_missing(core, naive_of(command->claim), command->round);
    if (vote->n_sent == MAX_SENT)
        strike(vote, vote->sent[0].round, vote->sent[0].round);
    vote->sent[vote->n_sent].round = command->round;
    vote->sent[vote->n_sent].lengthens = command->step == RL_STEP_ENQUEUE;
    vote->sent[vote->n_sent++].bound_ns = core->now.ns + (ttl_ms - drift_ms) * RL_NS_PER_MS;
}

static void await(struct naive_vote *vote, const struct core_command *command, enum waiting what)
{
    vote->waiting = what;
    vote->waiting_round = command->round;
    vote->waiting_is_claim = command->step == RL_STEP_CLAIM;
}

static bool is_latest(const struct naive_vote *vote, int64_t round)
{
    for (size_t i = 0; i < vote->n_sent; i++) {
        if (vote->sent[i].round > round)
            return false;
    }
    return true;
}

static int64_t bound_of(const struct naive_vote *vote, int64_t round)
{
    for (size_t i = 0; i < vote->n_sent; i++) {
        if (vote->sent[i].round == round)
            return vote->sent[i].bound_ns;
    }
    return INT64_MIN;
}

/* "queued" in the latest round: whatever was granted by an earlier one is over. (In an earlier round it may be older
 * than what a notification has told since.) The engine cannot tell rounds of one instant apart, and need not. */
static void place_ended(struct core *core, const struct core_command *command, struct naive_vote *vote, unsigned node,
                        enum rl_outcome outcome)
{
    bool latest = command->round == command->claim->claim->round;

    if (outcome == RL_GRANTED)
        grant(core, vote, node, command->round, true);
    else if (outcome == RL_QUEUED && latest && naive_bound(vote) != bound_of(vote, command->round))
        vote->granted = -1;
}

static void note_ended(struct core *core, const struct core_command *command, unsigned node, enum rl_outcome outcome)
{
    struct naive_vote *vote = &naive_of(command->claim)->votes[node];
    bool guarded = core->engine.votes.admissions[node].epoch_checked && command->step != RL_STEP_REPAIR;

    if (!sets_ttl(command))
        return;
    if (command->step == RL_STEP_ENQUEUE)
        place_ended(core, command, vote, node, outcome);
    else if (outcome == RL_GRANTED && guarded)
        await(vote, command, GRANT);
    else if (outcome == RL_GRANTED)
        grant(core, vote, node, command->round, command->step == RL_STEP_CLAIM);
    else if (outcome == RL_REFUSED && guarded && command->step == RL_STEP_EXTEND &&
             command->round == command->claim->claim->round) /* what is said of an earlier one is believed at once */
        await(vote, command, MISSING);
    else if (outcome == RL_REFUSED && command->step == RL_STEP_EXTEND)
        miss(core, vote, node, command->round);
    else if (outcome == RL_REFUSED)
        revoke(vote, command->round);
    else if (outcome == RL_FAILED)
        strike(vote, command->round, command->round);
}

/* A grant by hand-off counts as long as one by the refresh that it names, and that must be the latest. */
static void note_called(struct core *core, struct core_claim *claim, unsigned node,
                        const struct rl_notification *notification)
{
    struct naive_vote *vote = &naive_of(claim)->votes[node];

    if (notification->kind == RL_TOLD_GRANTED && is_latest(vote, notification->round))
        grant(core, vote, node, notification->round, true);
}

const struct core_watch core_naive_watch = {note_sent, note_ended, note_called};

/* --- Other events ------------------------------------------------------------------------------------------------- */

static void end_wait(const struct core *core, struct naive_vote *vote, unsigned node, bool same_memory)
{
    if (same_memory && vote->waiting == GRANT)
        grant(core, vote, node, vote->waiting_round, vote->waiting_is_claim);
    else if (same_memory && vote->waiting == MISSING)
        miss(core, vote, node, vote->waiting_round);
    vote->waiting = NOTHING;
}

static struct core_claim *claim_at(struct rl_list *at)
{
    return RL_CONTAINER_OF(at, struct core_claim, link);
}

void core_naive_epoch_check(struct core *core, unsigned node, bool same_memory)
{
    for (struct rl_list *at = core->live.next; at != &core->live; at = at->next)
        end_wait(core, &naive_of(claim_at(at))->votes[node], node, same_memory);
}

/* What is answered later was carried out after the step: answers come in order. */
void core_naive_step(struct core *core, unsigned node, int64_t step_ns)
{
    core_naive_epoch_check(core, node, false);
    for (struct rl_list *at = core->live.next; at != &core->live; at = at->next) {
        struct naive_vote *vote = &naive_of(claim_at(at))->votes[node];

        for (size_t i = 0; i < vote->n_sent; i++) {
            if (vote->sent[i].round <= vote->granted)
                vote->sent[i].bound_ns -= step_ns;
        }
    }
}

void core_naive_imported(const struct rl_lock *lock, int64_t bound_ns)
{
    struct naive *naive = naive_of(core_claim_of(lock->claim));

    for (size_t i = 0; i < lock->claim->n_nodes; i++) {
        naive->votes[i].sent[0] = (struct sent){0, bound_ns, false};
        naive->votes[i].n_sent = 1;
        naive->votes[i].granted = 0;
    }
}

/* --- The deadline ------------------------------------------------------------------------------------------------- */

static int falling(const void *a, const void *b)
{
    const int64_t *left = a;
    const int64_t *right = b;

    return (*left < *right) - (*left > *right);
}

int64_t core_naive_deadline(const struct core *core, const struct rl_claim *claim)
{
    const struct naive *naive = naive_of(core_claim_of(claim));
    int64_t bounds[RL_MAX_NODES];
    size_t n = core->engine.votes.config.n_nodes;

    for (size_t i = 0; i < n; i++)
        bounds[i] = naive_bound(&naive->votes[i]);
    qsort(bounds, n, sizeof *bounds, falling);
    return bounds[core->engine.votes.config.quorum - 1];
}

bool *core_naive_passed(const struct rl_claim *claim)
{
    return &naive_of(core_claim_of(claim))->passed;
}
