/* Modes of a hold: from exclusive to shared (rule 9.7), and waiting for a share (rule 9.5). Held since t = 0, ttl 1000:
 * valid until 988. */
#include "core_harness.h"
#include "engine/answer.h"
#include "engine/lock.h"
#include "engine/hold.h"
#include "kinds/mutex.h"
#include "kinds/shared.h"
#include "suite.h"
#include "votes/fence.h"

static void lower(struct core *core)
{
    core->started[core->handle]++;
    rl_lock_lower(&core->engine, &core->locks[0], core->now, &rl_shared_kind, RL_SHARED);
    core_drain_for(core, 0);
}

static enum rl_mode mode_of(const struct core *core)
{
    return rl_lock_mode(&core->locks[0]);
}

GROUP(cases, "modes", NULL, core_stop_all)

TEST(cases, the_mode_is_lowered_before_anything_is_answered)
{
    struct core *core = core_start_held(3);

    ck_assert_int_eq(mode_of(core), RL_EXCLUSIVE);
    core_run_to(core, 300);
    lower(core);
    ck_assert_int_eq(mode_of(core), RL_SHARED);
    ck_assert_ptr_eq(core->locks[0].claim->kind, &rl_shared_kind);
    ck_assert_int_eq(core_deadline_ms(core), 988);
    core_answers(core, "gg");
    core_expect(core, "t=300ms SEND extend #1: 0 1 2\n"
                      "t=300ms COMPLETE extend ok\n");
    ck_assert_int_eq(core_deadline_ms(core), 1288);
}

TEST(cases, masters_that_have_not_confirmed_are_told_by_every_later_round)
{
    struct core *core = core_start_held(3);

    core_run_to(core, 300);
    lower(core);
    ck_assert_uint_eq(core->locks[0].claim->stronger, 7);
    core_answers(core, "gfu");
    ck_assert_int_eq(core->last.status, RL_END_NO_QUORUM);
    ck_assert_int_eq(mode_of(core), RL_SHARED);
    ck_assert_uint_eq(core->locks[0].claim->stronger, 6);
    core_extend(core, 0);
    core_answers(core, "ggg");
    ck_assert_uint_eq(core->locks[0].claim->stronger, 0);
}

TEST(cases, an_answer_to_an_earlier_extension_confirms_nothing)
{
    struct core *core = core_start_held(3);

    core_run_to(core, 300);
    core_extend(core, 0);
    core_answers(core, "gg");
    lower(core);
    core_answer(core, 2, RL_GRANTED);
    ck_assert_uint_eq(core->locks[0].claim->stronger, 7);
    core_answer(core, 2, RL_GRANTED);
    ck_assert_uint_eq(core->locks[0].claim->stronger, 3);
}

/* It may have an entry in its wait queue from before. */
TEST(cases, a_master_without_a_vote_is_told_of_a_lowered_mode_again)
{
    struct core *core = core_start_held(3);

    core_run_to(core, 300);
    lower(core);
    core_answers(core, "gg");
    core_answer_for(core, 2, RL_REFUSED, RL_DETAIL_MISSING);
    core_answer(core, 2, RL_GRANTED); /* the repair */
    ck_assert_uint_eq(core->locks[0].claim->stronger, 4);
    core_extend(core, 0);
    core_answers(core, "ggg");
    ck_assert_uint_eq(core->locks[0].claim->stronger, 0);
}

/* The claim of a minority's master may be answered when the mode has been lowered already. */
TEST(cases, the_reply_to_a_claim_that_was_exclusive_is_understood)
{
    struct rl_reply reply = {.root = {.type = RL_REPLY_STATUS, .text = {"OK", 2}}};

    ck_assert_int_eq(rl_shared_kind.answer(RL_STEP_CLAIM, &reply).outcome, RL_GRANTED);
    reply.root.type = RL_REPLY_NIL;
    ck_assert_int_eq(rl_shared_kind.answer(RL_STEP_CLAIM, &reply).outcome, RL_REFUSED);
    reply = (struct rl_reply){.root = {.type = RL_REPLY_ARRAY}, .n_elements = 3};
    reply.elements[0] = (struct rl_reply_item){.type = RL_REPLY_INTEGER, .integer = 0};
    reply.elements[1] = (struct rl_reply_item){.type = RL_REPLY_INTEGER, .integer = 900};
    reply.elements[2] = (struct rl_reply_item){.type = RL_REPLY_INTEGER, .integer = 77};
    ck_assert_uint_eq(rl_fenced_shared_kind.answer(RL_STEP_CLAIM, &reply).fence, 77);
    ck_assert_int_eq(rl_shared_kind.answer(RL_STEP_CLAIM, &reply).detail, RL_DETAIL_PROTOCOL);
}

TEST(cases, a_canceled_change_of_mode_is_one_all_the_same)
{
    struct core *core = core_start_held(3);

    lower(core);
    ck_assert(core_cancel(core));
    ck_assert_int_eq(mode_of(core), RL_SHARED);
}

/* --- Waiting ------------------------------------------------------------------------------------------------------ */

static struct core *start_waiting(const struct rl_kind *kind, enum rl_mode mode)
{
    struct rl_acquire request = core_request_fifo();
    struct core *core = core_start(3);

    request.kind = kind;
    request.mode = (uint8_t)mode;
    core_acquire(core, &request);
    core_run_to(core, 2);
    core_answers(core, "gqq");
    core_skip(core);
    return core;
}

/* One vote, no quorum, after a round trip of 2 ms: asks again after 8 ms, then after 16. Nobody else would say that a
 * lower ticket has come. */
/* The first claim's renewal waits for the third master when the upgrade has its quorum. It is then a round of a claim
 * that is none of the handle's, and the second claim has a rhythm of its own. */
TEST(cases, the_claim_of_an_upgrade_begins_a_rhythm_of_its_own)
{
    struct rl_acquire request = core_request();
    struct core *core;

    request.renew_ms = 300;
    core = core_start_held_as(3, &request);
    core_run_to(core, 300);
    core->handle = 1;
    core_acquire(core, &request);
    core_answers(core, "gf");
    core_answers(core, "gg");
    ck_assert_int_eq(core_state(core), RL_LOCK_HELD);
    ck_assert(core->locks[0].hold.renewing);
    ck_assert(rl_lock_replace(&core->engine, &core->locks[0], core->now, &core->locks[1]));
    core_drain_for(core, 0);
    ck_assert_int_eq(core_state(core), RL_LOCK_IDLE);
    core->handle = 0;
    ck_assert_int_eq(core_deadline_ms(core), 1288);
    core_answers(core, "ggg");
    core_answers(core, "..g");
    core_answers(core, "..g");
    core_run_to(core, 600);
    core_expect(core, "t=300ms SEND extend #1: 0 1 2\n"
                      "t=300ms SEND claim #2: 0 1 2\n"
                      "t=300ms COMPLETE acquire ok\n"
                      "t=300ms SEND release #1: 0 1 2\n"
                      "t=300ms DISPOSE #1\n"
                      "t=600ms SEND extend #2: 0 1 2\n");
}

TEST(cases, votes_that_are_no_quorum_are_refreshed_early)
{
    struct core *core = start_waiting(&rl_shared_kind, RL_SHARED);

    core_run_to(core, 7);
    core_expect(core, "");
    core_run_to(core, 8);
    core_expect(core, "t=8ms SEND enqueue #1: 0 1 2\n");
    core_answers(core, "gqq");
    core_run_to(core, 23);
    core_expect(core, "");
    core_run_to(core, 24);
    core_expect(core, "t=24ms SEND enqueue #1: 0 1 2\n");
}

TEST(cases, a_waiter_for_the_key_alone_is_told_and_does_not_ask_early)
{
    struct core *core = start_waiting(&rl_mutex_kind, RL_EXCLUSIVE);

    core_run_to(core, 100);
    core_expect(core, "");
}

TESTS(cases, who_is_told_to_look_asks_that_master, 0, 2)
{
    static const enum rl_notice_kind kinds[] = {RL_TOLD_LOOK, RL_TOLD_FIRST};
    struct rl_notification look = {.kind = kinds[_i]};
    struct core *core = core_start_queued(3);

    core_skip(core);
    rl_engine_notified(&core->engine, core->now, core->locks[0].claim, 1, &look);
    core_drain_for(core, 0);
    ck_assert_uint_eq(core_queued(core, 1), 1);
    ck_assert_uint_eq(core_queued(core, 0), 0);
}

/* --- Fencing ------------------------------------------------------------------------------------------------------ */

TEST(cases, readers_of_one_time_propose_one_number)
{
    struct core *core = core_start(3);
    struct rl_claim claim = {.mode = RL_SHARED};
    uint64_t span = 500000;
    uint64_t first = rl_fence_proposal(&core->engine.votes, &claim, 20 * span);

    ck_assert_uint_eq(first, 20 * span);
    ck_assert_uint_eq(rl_fence_proposal(&core->engine.votes, &claim, 21 * span - 1), first);
    ck_assert_uint_eq(rl_fence_proposal(&core->engine.votes, &claim, 21 * span), 21 * span);
    ck_assert_uint_eq(rl_fence_proposal(&core->engine.votes, &claim, 0), 1);
    claim.mode = RL_EXCLUSIVE;
    ck_assert_uint_eq(rl_fence_proposal(&core->engine.votes, &claim, 20 * span + 1), 20 * span + 1);
}

SUITE("engine_shared")
