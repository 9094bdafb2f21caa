/* A long random life of several handles, with a few rules that must hold after every step.
 *
 * The harness checks every effect (core_harness.h), and a second, naive ledger is kept beside the engine's
 * (core_naive.h). Every second life has masters with markers, that restart, lose their memory or have their clocks
 * set, and locks that are renewed, fenced and handed off. On failure the transcript names the seed. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core_harness.h"
#include "core_naive.h"
#include "engine/hold.h"
#include "kinds/mutex.h"
#include "suite.h"
#include "util/random.h"

#define N_STEPS 100000
#define N_SEEDS 12
#define MAX_NODES 5

/* --- The rules ------------------------------------------------------------------------------------------------- */

static bool is_held(const struct rl_lock *lock)
{
    return lock->state == RL_LOCK_HELD || lock->state == RL_LOCK_EXTENDING;
}

static void look_before(struct core *core)
{
    for (unsigned i = 0; i < CORE_LOCKS; i++) {
        const struct rl_claim *claim = core->locks[i].claim;

        if (is_held(&core->locks[i]) && core_naive_deadline(core, claim) <= core->now.ns)
            *core_naive_passed(claim) = true;
    }
}

static void check_locks(struct core *core)
{
    size_t n_held = 0;

    for (unsigned i = 0; i < CORE_LOCKS; i++) {
        const struct rl_lock *lock = &core->locks[i];
        int64_t deadline_ns = rl_lock_deadline(&core->engine, lock).ns;

        CORE_DEMAND(lock->state != RL_LOCK_WAITING || rl_lock_wakeup(&core->engine, lock).ns != RL_NEVER.ns,
                    "lock %u waits for ever\n%s", i, core->log);
        CORE_DEMAND(lock->state != RL_LOCK_WAITING || !core_claim_of(lock->claim)->rolled_back,
                    "lock %u waits with a value that is rolled back\n%s", i, core->log);
        if (!is_held(lock))
            continue;
        n_held++;
        CORE_DEMAND(deadline_ns <= core_naive_deadline(core, lock->claim),
                    "lock %u claims to be valid until %" PRId64 " and not %" PRId64 "\n%s", i, deadline_ns,
                    core_naive_deadline(core, lock->claim), core->log);
        CORE_DEMAND(!*core_naive_passed(lock->claim) || deadline_ns <= core->now.ns,
                    "lock %u came back to life\n%s", i, core->log);
        CORE_DEMAND(!lock->claim->kind->has_token || rl_claim_token(lock->claim),
                    "lock %u held without its token\n%s", i, core->log);
        CORE_DEMAND(!core_claim_of(lock->claim)->rolled_back, "lock %u held after its rollback\n%s", i,
                      core->log);
    }
    CORE_DEMAND(core->engine.n_held == n_held, "%zu held locks counted, %zu there\n%s", core->engine.n_held, n_held,
                core->log);
}

static void check_claims(const struct core *core)
{
    size_t n_rolling_back = 0;

    for (struct rl_list *at = core->live.next; at != &core->live; at = at->next) {
        const struct core_claim *record = RL_CONTAINER_OF(at, struct core_claim, link);
        const struct rl_claim *claim = record->claim;
        bool pending = claim->rolling_back && !rl_list_empty(&claim->link);

        n_rolling_back += pending;
        CORE_DEMAND(claim->in_flight == record->in_flight, "#%u: %u in flight, not %u\n%s", record->number,
                      record->in_flight, claim->in_flight, core->log);
        CORE_DEMAND(claim->lock || claim->in_flight || pending, "#%u is of no use and still there\n%s",
                      record->number, core->log);
    }
    CORE_DEMAND(core->engine.votes.n_pending_rollbacks == n_rolling_back,
                "%zu pending rollbacks counted, %zu there\n%s", core->engine.votes.n_pending_rollbacks,
                  n_rolling_back, core->log);
}

static bool is_plain(const struct core *core)
{
    return core->engine.votes.config.tick.ns == 0;
}

/* --- The life -------------------------------------------------------------------------------------------------- */

static uint64_t draw(uint64_t *random, uint64_t below)
{
    return rl_random_next(random) % below;
}

static void keep_somehow(uint64_t *random, struct rl_acquire *request)
{
    request->renew_ms = draw(random, 2) ? (request->ttl_ms + 2) / 3 : 0;
    request->at_risk_ms = draw(random, 2) ? request->ttl_ms / 4 : 0;
    request->max_hold_ms = draw(random, 4) ? 0 : (uint32_t)draw(random, 2000);
    request->kind = draw(random, 2) ? &rl_fenced_kind : &rl_mutex_kind;
}

static void acquire_somehow(struct core *core, uint64_t *random)
{
    struct rl_acquire request = {
        .kind = &rl_mutex_kind,
        .ttl_ms = 1 + (uint32_t)draw(random, draw(random, 2) ? 2000 : 60),
        .max_attempts = (uint32_t)draw(random, 4),
        .retry_delay = rl_ms(1 + (int64_t)draw(random, 50)),
        .retry_jitter = rl_ms((int64_t)draw(random, 50)),
        .min_validity = rl_ms(draw(random, 4) ? 0 : (int64_t)draw(random, 100)),
        .deadline = RL_NEVER,
        .once = draw(random, 4) == 0,
    };

    if (draw(random, 2))
        request.deadline = rl_after(core->now, rl_ms((int64_t)draw(random, 500)));
    if (!is_plain(core))
        keep_somehow(random, &request);
    request.wait = (uint8_t)draw(random, RL_WAIT_FIFO + 1);
    core_acquire(core, &request);
}

static void adopt_somehow(struct core *core, uint64_t *random)
{
    struct rl_acquire request = {.kind = &rl_mutex_kind, .ttl_ms = 1000};
    int64_t until_ms = core->now.ns / RL_NS_PER_MS + (int64_t)draw(random, 1000);

    keep_somehow(random, &request);
    if (core_import(core, &request, until_ms, draw(random, 2)))
        core_naive_imported(&core->locks[core->handle], until_ms * RL_NS_PER_MS);
}

static void act_without_lock(struct core *core, uint64_t *random, bool idle)
{
    uint64_t choice = draw(random, 20);

    if (choice < 15)
        acquire_somehow(core, random);
    else if (choice < 17)
        core_release_value(core, 1 + (uint32_t)draw(random, 1000));
    else if (choice == 17 && !is_plain(core))
        adopt_somehow(core, random);
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
    else if (choice < (is_plain(core) ? 6 : 2))
        core_release(core);
    else if (choice > 8 && !is_plain(core))
        core_tick(core); /* left to its renewals */
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

/* A host that is told of another memory gives up the connection, and finds the master in quarantine. */
static void restart(struct core *core, uint64_t *random, unsigned node)
{
    core_naive_epoch_check(core, node, false);
    core_restart(core, node, core->now.ns / RL_NS_PER_MS + (int64_t)draw(random, draw(random, 2) ? 2000 : 20));
}

/* In the wait queue: mostly queued, so that the grants come by notifications. */
static void answer_place(struct core *core, uint64_t *random, unsigned node)
{
    static const enum rl_outcome outcomes[] = {RL_REFUSED, RL_FAILED, RL_UNKNOWN, RL_GRANTED, RL_GRANTED, RL_GRANTED};
    uint64_t choice = draw(random, 20);

    core->reports[node] = (struct rl_entry_report){
        .ticket = 1 + draw(random, draw(random, 2) ? 3 : 1000),
        .rank = (uint32_t)draw(random, 4),
        .held_ms = (int64_t)draw(random, 1000) - 1,
        .look_ms = (int64_t)draw(random, 1000) - 1,
        .lower = draw(random, 4) == 0,
    };
    core_answer(core, node, choice < 6 ? outcomes[choice] : RL_QUEUED);
}

static struct core_claim *claim_in_the_queue(struct core *core, uint64_t *random)
{
    struct core_claim *found = NULL;
    uint64_t n = 0;

    for (struct rl_list *at = core->live.next; at != &core->live; at = at->next) {
        struct core_claim *claim = RL_CONTAINER_OF(at, struct core_claim, link);

        if (claim->enqueued && draw(random, ++n) == 0)
            found = claim;
    }
    return found;
}

/* Of the latest refresh or of an earlier one; true or not, since the engine cannot know. */
static void notify(struct core *core, uint64_t *random)
{
    unsigned node = (unsigned)draw(random, core->engine.votes.config.n_nodes);
    struct core_claim *claim = claim_in_the_queue(core, random);
    uint32_t back = draw(random, 3) ? 0 : (uint32_t)draw(random, 3);
    struct rl_notification notification;

    if (!claim || !(claim->enqueued & (UINT32_C(1) << node)) || claim->enqueued_round[node] < back)
        return;
    notification = (struct rl_notification){.round = claim->enqueued_round[node] - back,
                                            .kind = draw(random, 4) ? RL_TOLD_GRANTED : RL_TOLD_LOWER};
    if (claim->claim->kind->has_token && draw(random, 10))
        notification.fence = core->counters[node] += 1 + draw(random, 2);
    core_notify(core, claim, node, &notification);
}

static void answer_guard(struct core *core, uint64_t *random, unsigned node)
{
    bool same_memory = draw(random, 25) != 0;

    core_naive_epoch_check(core, node, same_memory);
    core_answer(core, node, same_memory ? RL_GRANTED : RL_REFUSED);
    if (!same_memory)
        restart(core, random, node);
}

/* Mostly grants, so that locks live long enough to be extended. */
static void answer(struct core *core, uint64_t *random)
{
    static const enum rl_outcome outcomes[] = {RL_REFUSED, RL_REFUSED, RL_FAILED, RL_UNKNOWN};
    unsigned node = (unsigned)draw(random, core->engine.votes.config.n_nodes);
    uint64_t choice = draw(random, 20);
    const struct core_queue *queue = &core->queues[node];

    if (!core_queued(core, node))
        return;
    core->counters[node] += draw(random, 4) == 0;
    if (!queue->commands[queue->head].claim)
        answer_guard(core, random, node);
    else if (queue->commands[queue->head].step == RL_STEP_ENQUEUE)
        answer_place(core, random, node);
    else
        core_answer(core, node, choice < 4 ? outcomes[choice] : RL_GRANTED);
}

/* A master in quarantine stays there; the others change between what the handshake may find. */
static void shake_trust(struct core *core, uint64_t *random, unsigned node)
{
    uint64_t choice = draw(random, 20);
    int64_t step_ms = (int64_t)draw(random, draw(random, 4) ? 20 : 2000);
    bool quarantined = core->engine.votes.admissions[node].kind == RL_ADMISSION_QUARANTINED &&
                       rl_before(core->now, core->engine.votes.admissions[node].until);

    if (choice < 1) {
        restart(core, random, node);
    } else if (choice < 2 && draw(random, 6) == 0) {
        core_naive_step(core, node, step_ms * RL_NS_PER_MS);
        core_step_clock(core, node, step_ms);
    } else if (choice < 3 && !quarantined) {
        core_naive_epoch_check(core, node, false);
        core_drop(core, node);
        core_admit_voting(core, node, draw(random, 2));
    }
}

static void disturb(struct core *core, uint64_t *random)
{
    static const enum rl_link links[] = {RL_LINK_READY, RL_LINK_READY, RL_LINK_READY, RL_LINK_LATE, RL_LINK_DOWN};
    unsigned node = (unsigned)draw(random, core->engine.votes.config.n_nodes);
    enum rl_link link = links[draw(random, 5)];
    uint64_t choice = draw(random, 20);

    core->refuse_claims = choice == 0;
    core->accept_delay = rl_ms(choice == 1 ? (int64_t)draw(random, 100) : 0);
    core_clog(core, node, choice == 2);
    if (!is_plain(core))
        shake_trust(core, random, node);
    if (link != RL_LINK_DOWN) {
        core_link(core, node, link);
        core->handle = (unsigned)draw(random, CORE_LOCKS);
        core_look_again(core, node);
        return;
    }
    core_naive_epoch_check(core, node, false);
    core_drop(core, node);
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
    if (choice < 55)
        answer(core, random);
    else if (choice < 60)
        notify(core, random);
    else if (choice < 80)
        act(core, random);
    else if (choice < 97)
        pass_time(core, random);
    else
        disturb(core, random);
    check_locks(core);
    check_claims(core);
}

GROUP(cases, "random", NULL, core_stop_all)

TESTS(cases, no_rule_is_broken_in_a_long_random_life, 1, 1 + N_SEEDS)
{
    struct rl_config config = core_config(1 + (size_t)_i / 2 % MAX_NODES);
    uint64_t random = (uint64_t)_i;
    struct core *core;

    config.seed = random;
    config.tick = rl_ms(_i % 2 ? 4 : 0);
    config.renewals_per_tick = _i % 2 ? (uint32_t)_i / 2 % 3 : 0;
    core = core_new(&config);
    core->watch = &core_naive_watch;
    for (unsigned node = 0; node < config.n_nodes; node++)
        core->counters[node] = 1; /* whoever grants has counted */
    for (unsigned number = 0; number < N_STEPS; number++) {
        core_say(core, "-- seed %d, step %u\n", _i, number);
        step(core, &random);
    }
    ck_assert_uint_gt(core->engine.votes.counters.attempts, 1000);
    ck_assert_uint_gt(core->engine.votes.counters.lost, 10);
    ck_assert_uint_gt(core->engine.votes.counters.rollbacks_resent, 10);
    ck_assert_uint_gt(core->engine.votes.counters.waits, 100);
    ck_assert_uint_gt(core->engine.votes.counters.hand_offs, 100);
    ck_assert(config.n_nodes < 3 || core->engine.votes.counters.yields > 0);
    ck_assert(config.n_nodes < 3 || core->engine.votes.counters.repairs > 0);
    ck_assert(is_plain(core) || core->engine.votes.counters.renewals > 20);
    ck_assert(is_plain(core) || core->engine.votes.counters.epoch_mismatches > 10);
}

SUITE("engine_random")
