/* A long random life of several handles, with a few rules that must hold after every step.
 *
 * The harness checks every effect (core_harness.h). Here a second, naive ledger is kept beside the engine's, from
 * nothing but the commands and the answers: a vote counts if a grant has come, and then until the earliest expiry
 * that the granted command, or any later one that may have been carried out, can have set. On failure the transcript
 * names the seed. */
#include <stdlib.h>
#include <string.h>

#include "core/retry.h"
#include "core_harness.h"
#include "suite.h"

#define N_STEPS 100000
#define N_SEEDS 6
#define MAX_NODES 5
#define MAX_SENT 64

/* --- The naive ledger ------------------------------------------------------------------------------------------ */

struct sent {
    int64_t round;
    int64_t bound_ns;
};

struct naive_vote {
    struct sent sent[MAX_SENT]; /* what may have been carried out, oldest first */
    size_t n_sent;
    int64_t granted; /* latest round that was; -1: none */
};

struct naive {
    struct naive_vote votes[MAX_NODES];
    bool passed; /* the deadline was seen to have passed while the lock was held */
};

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

static struct naive *naive_of(struct core_claim *claim)
{
    if (!claim->watched) {
        struct naive *naive = calloc(1, sizeof(*naive));

        ck_assert_ptr_nonnull(naive);
        for (size_t i = 0; i < MAX_NODES; i++)
            naive->votes[i].granted = -1;
        claim->watched = naive;
    }
    return claim->watched;
}

static bool sets_ttl(const struct core_command *command)
{
    return command->step == RL_STEP_CLAIM || command->step == RL_STEP_EXTEND;
}

static void note_sent(struct core *core, const struct core_command *command, unsigned node)
{
    struct naive_vote *vote = &naive_of(command->claim)->votes[node];
    int64_t ttl_ms = command->claim->claim->ttl_ms;
    int64_t drift_ms = (ttl_ms + 99) / 100 + 2;

    if (!sets_ttl(command))
        return;
    if (vote->n_sent == MAX_SENT)
        strike(vote, vote->sent[0].round, vote->sent[0].round);
    vote->sent[vote->n_sent].round = command->round;
    vote->sent[vote->n_sent++].bound_ns = core->now.ns + (ttl_ms - drift_ms) * RL_NS_PER_MS;
}

static void note_ended(struct core *core, const struct core_command *command, unsigned node, enum rl_outcome outcome)
{
    struct naive_vote *vote = &naive_of(command->claim)->votes[node];

    if (!sets_ttl(command))
        return;
    if (outcome == RL_GRANTED) {
        strike(vote, 0, (int64_t)command->round - 1);
        vote->granted = command->round;
    } else if (outcome == RL_REFUSED) {
        strike(vote, 0, command->round);
        vote->granted = -1;
    } else if (outcome == RL_FAILED) {
        strike(vote, command->round, command->round);
    }
    (void)core;
}

static const struct core_watch watch = {note_sent, note_ended};

static int64_t naive_bound(const struct naive_vote *vote)
{
    int64_t bound_ns = INT64_MAX;

    if (vote->granted < 0)
        return INT64_MIN;
    for (size_t i = 0; i < vote->n_sent; i++)
        bound_ns = vote->sent[i].bound_ns < bound_ns ? vote->sent[i].bound_ns : bound_ns;
    return bound_ns;
}

static int falling(const void *a, const void *b)
{
    const int64_t *left = a;
    const int64_t *right = b;

    return (*left < *right) - (*left > *right);
}

static int64_t naive_deadline(const struct core *core, const struct naive *naive)
{
    int64_t bounds[MAX_NODES];
    size_t n = core->engine.config.n_nodes;

    for (size_t i = 0; i < n; i++)
        bounds[i] = naive_bound(&naive->votes[i]);
    qsort(bounds, n, sizeof(*bounds), falling);
    return bounds[core->engine.config.quorum - 1];
}

/* --- The rules ------------------------------------------------------------------------------------------------- */

static bool is_held(const struct rl_lock *lock)
{
    return lock->state == RL_LOCK_HELD || lock->state == RL_LOCK_EXTENDING;
}

static void look_before(struct core *core)
{
    for (unsigned i = 0; i < CORE_LOCKS; i++) {
        struct naive *naive;

        if (!is_held(&core->locks[i]))
            continue;
        naive = naive_of(core->locks[i].claim->host);
        naive->passed = naive->passed || naive_deadline(core, naive) <= core->now.ns;
    }
}

static void check_locks(struct core *core)
{
    for (unsigned i = 0; i < CORE_LOCKS; i++) {
        const struct rl_lock *lock = &core->locks[i];
        int64_t deadline_ns = rl_lock_deadline(&core->engine, lock).ns;
        struct naive *naive;

        if (!is_held(lock))
            continue;
        naive = naive_of(lock->claim->host);
        CORE_DEMAND(deadline_ns <= naive_deadline(core, naive), "lock %u claims to be valid too long\n%s", i,
                      core->log);
        CORE_DEMAND(!naive->passed || deadline_ns <= core->now.ns, "lock %u came back to life\n%s", i, core->log);
        CORE_DEMAND(!((struct core_claim *)lock->claim->host)->undone, "lock %u held after its undo\n%s", i,
                      core->log);
    }
}

static void check_claims(const struct core *core)
{
    size_t n_undoing = 0;

    for (struct rl_list *at = core->live.next; at != &core->live; at = at->next) {
        const struct core_claim *record = RL_CONTAINER_OF(at, struct core_claim, link);
        const struct rl_claim *claim = record->claim;
        bool owed = claim->undoing && !rl_list_empty(&claim->link);

        n_undoing += owed;
        CORE_DEMAND(claim->in_flight == record->in_flight, "#%u: %u in flight, not %u\n%s", record->number,
                      record->in_flight, claim->in_flight, core->log);
        CORE_DEMAND(claim->lock || claim->in_flight || owed, "#%u is of no use and still there\n%s",
                      record->number, core->log);
    }
    CORE_DEMAND(core->engine.n_debts == n_undoing, "%zu debts counted, %zu there\n%s", core->engine.n_debts,
                  n_undoing, core->log);
}

/* --- The life -------------------------------------------------------------------------------------------------- */

static uint64_t draw(uint64_t *random, uint64_t below)
{
    return rl_random_next(random) % below;
}

static void acquire_somehow(struct core *core, uint64_t *random)
{
    struct rl_acquire wish = {
        .ttl_ms = 1 + (uint32_t)draw(random, draw(random, 2) ? 2000 : 60),
        .max_attempts = (uint32_t)draw(random, 4),
        .retry_delay = rl_ms(1 + (int64_t)draw(random, 50)),
        .retry_jitter = rl_ms((int64_t)draw(random, 50)),
        .min_validity = rl_ms(draw(random, 4) ? 0 : (int64_t)draw(random, 100)),
        .deadline = RL_NEVER,
        .once = draw(random, 4) == 0,
    };

    if (draw(random, 2))
        wish.deadline = rl_after(core->now, rl_ms((int64_t)draw(random, 500)));
    core_acquire(core, &wish);
}

static void act_without_lock(struct core *core, uint64_t *random, bool idle)
{
    uint64_t choice = draw(random, 20);

    if (choice < 15)
        acquire_somehow(core, random);
    else if (choice < 17)
        core_release_value(core, 1 + (uint32_t)draw(random, 1000));
    else if (!idle)
        core_release(core);
    else
        core_forget(core);
}

static void act_with_lock(struct core *core, uint64_t *random)
{
    uint64_t choice = draw(random, 20);

    if (choice == 0)
        core_detach(core);
    else if (choice < 6)
        core_release(core);
    else if (rl_before(core->now, rl_lock_deadline(&core->engine, &core->locks[core->handle])))
        core_extend(core, draw(random, 3) ? 0 : 50 + (uint32_t)draw(random, 2000));
    else
        core_tick(core);
}

static void act(struct core *core, uint64_t *random)
{
    core->handle = (unsigned)draw(random, CORE_LOCKS);
    if (draw(random, 40) == 0)
        core_fini(core);
    else if (core_state(core) == RL_LOCK_IDLE || core_state(core) == RL_LOCK_LOST)
        act_without_lock(core, random, core_state(core) == RL_LOCK_IDLE);
    else if (core_state(core) == RL_LOCK_HELD)
        act_with_lock(core, random);
    else if (core_state(core) == RL_LOCK_EXTENDING && draw(random, 10) == 0)
        core_release(core);
    else if (draw(random, 20) == 0)
        core_cancel(core);
}

/* Mostly grants, so that locks live long enough to be extended. */
static void answer(struct core *core, uint64_t *random)
{
    static const enum rl_outcome outcomes[] = {RL_REFUSED, RL_REFUSED, RL_FAILED, RL_UNKNOWN};
    unsigned node = (unsigned)draw(random, core->engine.config.n_nodes);
    uint64_t choice = draw(random, 20);

    if (core_queued(core, node))
        core_answer(core, node, choice < 4 ? outcomes[choice] : RL_GRANTED);
}

static void disturb(struct core *core, uint64_t *random)
{
    static const enum rl_link links[] = {RL_LINK_READY, RL_LINK_READY, RL_LINK_READY, RL_LINK_LATE, RL_LINK_DOWN};
    unsigned node = (unsigned)draw(random, core->engine.config.n_nodes);
    enum rl_link link = links[draw(random, 5)];
    uint64_t choice = draw(random, 20);

    core->refuse_claims = choice == 0;
    core->accept_delay = rl_ms(choice == 1 ? (int64_t)draw(random, 100) : 0);
    core_clog(core, node, choice == 2);
    if (link == RL_LINK_DOWN)
        core_drop(core, node);
    else
        core_link(core, node, link);
}

static void pass_time(struct core *core, uint64_t *random)
{
    int64_t longest_us = draw(random, 50) ? 5000 : 1500000;

    core->now.ns += (int64_t)draw(random, (uint64_t)longest_us) * RL_NS_PER_US;
    look_before(core);
    if (draw(random, 3))
        core_tick(core);
}

static void step(struct core *core, uint64_t *random)
{
    uint64_t choice = draw(random, 100);

    look_before(core);
    if (choice < 60)
        answer(core, random);
    else if (choice < 80)
        act(core, random);
    else if (choice < 97)
        pass_time(core, random);
    else
        disturb(core, random);
    check_locks(core);
    check_claims(core);
}

START_TEST(no_rule_is_broken_in_a_long_random_life)
{
    struct rl_config config = core_config(1 + (size_t)_i % MAX_NODES);
    uint64_t random = (uint64_t)_i;
    struct core *core;

    config.seed = random;
    core = core_new(&config);
    core->watch = &watch;
    for (unsigned number = 0; number < N_STEPS; number++) {
        core_say(core, "-- seed %d, step %u\n", _i, number);
        step(core, &random);
    }
    ck_assert_uint_gt(core->engine.counters.attempts, 1000);
    ck_assert_uint_gt(core->engine.counters.lost, 10);
    ck_assert_uint_gt(core->engine.counters.debts_paid, 10);
    core_stop(core);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_random");
    TCase *cases = suite_add_case(suite, "random", NULL, NULL);

    tcase_add_loop_test(cases, no_rule_is_broken_in_a_long_random_life, 1, 1 + N_SEEDS);
    return suite_run(suite);
}
