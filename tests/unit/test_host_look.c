/* Looks at a key by a host whose masters are the test's own: who is asked, when a look is over, and what the answers
 * amount to. */
#include "host/look.h"

#include <stdio.h>
#include <string.h>

#include "codec/classify.h"
#include "engine/engine.h"
#include "host/host.h"
#include "host_rig.h"
#include "suite.h"

#define MASTERS 5
#define QUORUM 3

/* What a master says. */
struct says {
    const char *form;
    int64_t counter;
    int64_t n_votes;
    int64_t n_waiting;
    const char *votes;
    const char *waiters;
    const char *memory;
};

static struct {
    struct rl_key *key;
    struct rl_look look;
    struct rl_look_picture picture;
    unsigned over;           /* how often */
    unsigned failed;         /* connections that were given up */
    uint32_t asked;
    uint32_t arrived;        /* masters whose answer, that nobody has the key, is there to be read */
    struct rl_tag tags[MASTERS];
} world;

/* --- The host's environment --------------------------------------------------------------------------------------- */

static bool on_send(void *ctx, unsigned node, const struct rl_bytes *command, enum rl_sending how,
                    const struct rl_tag *tag)
{
    world.asked |= UINT32_C(1) << node;
    world.tags[node] = *tag;
    return true;
}

static void answer(unsigned node, struct says says);

static void on_read_now(void *ctx)
{
    for (unsigned node = 0; node < MASTERS; node++) {
        if (world.arrived & UINT32_C(1) << node)
            answer(node, (struct says){.form = "absent"});
    }
}

static void link_is(unsigned node, enum rl_link link)
{
    rl_host_events.link(&rig.host, node, link, "", rig.now);
}

static void setup(void)
{
    memset(&world, 0, sizeof world);
    host_rig_init(on_send);
    rig.transport.read_now = on_read_now;
    host_rig_start(MASTERS, QUORUM);
    world.key = rl_key_create(rl_slice_of(rig.options.key_prefix), "key", 3);
    ck_assert_ptr_nonnull(world.key);
}

static void teardown(void)
{
    rl_look_fini(&world.look);
    rl_key_unref(world.key);
    host_rig_end();
}

/* --- Looking ------------------------------------------------------------------------------------------------------ */

static void on_done(struct rl_look *look)
{
    world.over++;
}

static void start(void)
{
    ck_assert(rl_look_start(&rig.host, &world.look, world.key, on_done));
}

/* All masters can be asked. */
static void begin(void)
{
    host_rig_connect();
    start();
    ck_assert_uint_eq(world.asked, (UINT32_C(1) << MASTERS) - 1);
}

static struct rl_reply_item text(const char *word)
{
    return (struct rl_reply_item){.type = RL_REPLY_STRING, .text = rl_slice_of(word ? word : "")};
}

static struct rl_reply_item number(int64_t value)
{
    return (struct rl_reply_item){.type = RL_REPLY_INTEGER, .integer = value};
}

static void answer(unsigned node, struct says says)
{
    const struct rl_reply reply = {
        .root.type = RL_REPLY_ARRAY,
        .n_elements = 8,
        .elements = {text(says.form), number(1000), number(says.counter), number(says.n_votes), number(says.n_waiting),
                     text(says.votes), text(says.waiters), text(says.memory)},
    };

    rl_host_events.reply(&rig.host, node, &world.tags[node], &reply, rig.now);
}

/* One vote. */
static void vote(unsigned node, const char *listed)
{
    answer(node, (struct says){.form = "set", .n_votes = 1, .votes = listed});
}

static void time_out(void)
{
    struct rl_timer *timer = RL_CONTAINER_OF(rig.timers.prev, struct rl_timer, link);

    rig.now = rl_after(rig.now, rl_ms(100));
    ck_assert(!rl_before(rig.now, timer->at));
    timer->fire(timer, rig.now);
}

static void expect(enum rl_look_verdict verdict)
{
    memset(&world.picture, 0xff, sizeof world.picture);
    ck_assert(rl_look_picture(&world.look, &world.picture));
    ck_assert_int_eq(world.picture.verdict, verdict);
}

static void expect_over(enum rl_look_verdict verdict)
{
    ck_assert_uint_eq(world.over, 1);
    ck_assert_ptr_null(world.look.read);
    expect(verdict);
}

static void expect_value(const struct rl_look_value *value, const char *name, uint32_t masters, int64_t left_ms)
{
    ck_assert_msg(rl_slice_is(value->value, name), "%.*s", (int)value->value.size, (const char *)value->value.data);
    ck_assert_uint_eq(value->masters, masters);
    ck_assert_int_eq(value->left_ms, left_ms);
}

/* --- Who is asked, and for how long ------------------------------------------------------------------------------- */

GROUP(cases, "looks", setup, teardown)

TEST(cases, a_quorum_that_agrees_ends_a_look)
{
    begin();
    answer(0, (struct says){.form = "absent"});
    answer(3, (struct says){.form = "absent"});
    ck_assert_uint_eq(world.over, 0);
    answer(1, (struct says){.form = "absent"});
    expect_over(RL_LOOK_FREE);
}

TEST(cases, nothing_is_left_of_a_look_when_the_last_command_has_ended)
{
    begin();
    for (unsigned node = 0; node < MASTERS; node++) {
        ck_assert(!rl_list_empty(&rig.host.reads));
        if (node == 3)
            rl_host_events.dropped(&rig.host, node, &world.tags[node], true, rig.now);
        else
            answer(node, (struct says){.form = "absent"});
    }
    ck_assert(rl_list_empty(&rig.host.reads));
    ck_assert_uint_eq(world.over, 1);
}

TEST(cases, a_look_that_has_timed_out_is_kept_for_the_answers_that_may_yet_come)
{
    begin();
    time_out();
    expect_over(RL_LOOK_UNKNOWN);
    for (unsigned node = 0; node < MASTERS; node++) {
        ck_assert(!rl_list_empty(&rig.host.reads));
        answer(node, (struct says){.form = "absent"});
    }
    ck_assert(rl_list_empty(&rig.host.reads));
    expect_over(RL_LOOK_UNKNOWN);
}

TEST(cases, masters_whose_votes_do_not_count_are_not_asked)
{
    static const struct rl_admission_status quarantined = {.kind = RL_ADMISSION_QUARANTINED, .until = {INT64_MAX}};
    static const struct rl_admission_status excluded = {.kind = RL_ADMISSION_EXCLUDED};

    for (unsigned node = 0; node < MASTERS; node++)
        link_is(node, RL_LINK_READY);
    rl_engine_admission(&rig.host.engine, 0, &quarantined);
    rl_engine_admission(&rig.host.engine, 1, &excluded);
    start();
    ck_assert_uint_eq(world.asked, 1u << 2 | 1u << 3 | 1u << 4);
    ck_assert_int_eq(world.look.nodes[0].why, RL_DETAIL_QUARANTINED);
    ck_assert_int_eq(world.look.nodes[1].why, RL_DETAIL_EXCLUDED);
}

/* Its end has passed, and nobody has been told yet. */
TEST(cases, a_master_whose_quarantine_is_over_is_asked)
{
    const struct rl_admission_status over = {.kind = RL_ADMISSION_QUARANTINED, .until = rig.now};

    for (unsigned node = 0; node < MASTERS; node++)
        link_is(node, RL_LINK_READY);
    rl_engine_admission(&rig.host.engine, 0, &over);
    start();
    ck_assert_uint_eq(world.asked, (UINT32_C(1) << MASTERS) - 1);
}

TEST(cases, masters_without_a_connection_are_not_asked)
{
    for (unsigned node = 0; node < MASTERS; node++)
        link_is(node, RL_LINK_READY);
    link_is(2, RL_LINK_DOWN);
    link_is(4, RL_LINK_LATE);
    start();
    ck_assert_uint_eq(world.asked, 1u << 0 | 1u << 1 | 1u << 3);
    ck_assert_int_eq(world.look.nodes[2].why, RL_DETAIL_DOWN);
    ck_assert_int_eq(world.look.nodes[4].why, RL_DETAIL_LATE);
}

/* They are awaited for as long as they need to connect. */
TEST(cases, a_first_connection_is_asked_when_it_comes_and_fails_when_it_fails)
{
    start();
    ck_assert_uint_eq(world.asked, 0);
    time_out();
    ck_assert_uint_eq(world.over, 0);
    link_is(0, RL_LINK_READY);
    link_is(1, RL_LINK_DOWN);
    ck_assert_uint_eq(world.asked, 1u << 0);
    ck_assert_int_eq(world.look.nodes[1].why, RL_DETAIL_DOWN);
    time_out();
    ck_assert_int_eq(world.look.nodes[0].why, RL_DETAIL_TIMEOUT);
    ck_assert_uint_eq(world.over, 0);
    for (unsigned node = 2; node < MASTERS; node++)
        link_is(node, RL_LINK_READY);
    for (unsigned node = 2; node < MASTERS; node++)
        answer(node, (struct says){.form = "absent"});
    expect_over(RL_LOOK_FREE);
}

TEST(cases, silent_masters_end_a_look_at_node_timeout)
{
    begin();
    vote(0, "x 500 1 a");
    time_out();
    expect_over(RL_LOOK_UNKNOWN);
    ck_assert_int_eq(world.look.nodes[1].why, RL_DETAIL_TIMEOUT);
    ck_assert(world.look.nodes[0].answered && !world.look.nodes[1].answered);
}

/* The client was stopped for longer than node_timeout. */
TEST(cases, what_has_arrived_is_read_before_the_time_is_up)
{
    begin();
    world.arrived = 1u << 0 | 1u << 2 | 1u << 4;
    time_out();
    expect_over(RL_LOOK_FREE);
}

TEST(cases, a_connection_that_ends_is_no_answer)
{
    begin();
    rl_host_events.dropped(&rig.host, 0, &world.tags[0], true, rig.now);
    ck_assert_int_eq(world.look.nodes[0].why, RL_DETAIL_DISCONNECTED);
    ck_assert_uint_eq(world.over, 0);
}

TEST(cases, an_error_says_why_a_master_does_not_count)
{
    const struct rl_reply error = {.root = {.type = RL_REPLY_ERROR, .text = rl_slice_of("NOPERM no")}};

    begin();
    rl_host_events.reply(&rig.host, 0, &world.tags[0], &error, rig.now);
    ck_assert_int_eq(world.look.nodes[0].why, rl_classify_error(rl_slice_of("NOPERM no")));
    ck_assert_int_ne(world.look.nodes[0].why, RL_DETAIL_NONE);
    ck_assert(!world.look.nodes[0].answered);
}

/* --- What the answers amount to ----------------------------------------------------------------------------------- */

TEST(cases, a_look_waits_for_more_answers_while_they_may_settle_it)
{
    begin();
    vote(0, "x 500 1 a");
    vote(1, "x 500 1 b");
    vote(2, "x 500 1 a");
    ck_assert_uint_eq(world.over, 0);
    expect(RL_LOOK_UNSETTLED);
    vote(3, "x 500 1 a");
    expect_over(RL_LOOK_EXCLUSIVE);
    ck_assert_uint_eq(world.picture.n_holders, 1);
    ck_assert_uint_eq(world.picture.n_values, 2);
    expect_value(&world.picture.values[0], "a", 3, 500);
    expect_value(&world.picture.values[1], "b", 1, 500);
}

TEST(cases, split_votes_are_unsettled_when_all_have_answered)
{
    begin();
    vote(0, "x 500 1 a");
    vote(1, "x 500 1 b");
    vote(2, "x 500 1 a");
    vote(3, "x 500 1 b");
    ck_assert_uint_eq(world.over, 0);
    answer(4, (struct says){.form = "absent"});
    expect_over(RL_LOOK_UNSETTLED);
    ck_assert_uint_eq(world.picture.n_holders, 0);
}

TEST(cases, a_foreign_key_is_not_free)
{
    begin();
    for (unsigned node = 0; node < MASTERS; node++)
        answer(node, (struct says){.form = node ? "absent" : "foreign"});
    expect_over(RL_LOOK_UNSETTLED);
    ck_assert(world.look.nodes[0].foreign && !world.look.nodes[1].foreign);
}

/* What a value has is the most that any master says, and its weakest mode: it may just have been made weaker. */
TEST(cases, a_value_that_masters_know_differently_is_one)
{
    begin();
    vote(0, "x 500 1 a");
    vote(1, "r 900 1 a");
    vote(2, "u 700 1 a");
    expect_over(RL_LOOK_SHARED);
    ck_assert_uint_eq(world.picture.n_values, 1);
    expect_value(&world.picture.values[0], "a", 3, 900);
    ck_assert_int_eq(world.picture.values[0].mode, RL_SHARED);
}

TEST(cases, a_value_without_an_end_has_none)
{
    begin();
    vote(0, "x 500 1 a");
    vote(1, "x -1 1 a");
    vote(2, "x 700 1 a");
    expect_over(RL_LOOK_EXCLUSIVE);
    expect_value(&world.picture.values[0], "a", 3, -1);
}

TEST(cases, a_number_counts_if_all_that_have_the_vote_agree_on_it)
{
    begin();
    answer(0, (struct says){.form = "set", .counter = 7, .n_votes = 2, .votes = "r 500 1 ar 500 1 b"});
    answer(1, (struct says){.form = "set", .counter = 7, .n_votes = 2, .votes = "r 500 1 ar 500 1 b"});
    ck_assert_uint_eq(world.over, 0);
    answer(2, (struct says){.form = "set", .counter = 8, .n_votes = 1, .votes = "r 500 1 b"});
    expect_over(RL_LOOK_SHARED);
    ck_assert_uint_eq(world.picture.n_holders, 1);
    expect_value(&world.picture.values[0], "b", 3, 500);
    ck_assert_uint_eq(world.picture.values[0].counter, 0);
    expect_value(&world.picture.values[1], "a", 2, 500);
    ck_assert_uint_eq(world.picture.values[1].counter, 7);
}

/* By its larger ticket "a" comes last, though one master has it in front. */
TEST(cases, waiters_stand_in_the_order_of_the_largest_ticket_of_each)
{
    begin();
    answer(0, (struct says){.form = "absent", .n_waiting = 2, .waiters = "x 500 3 1 ax 500 5 1 b"});
    answer(1, (struct says){.form = "absent", .n_waiting = 3, .waiters = "r 800 9 1 ax 400 5 1 b"});
    answer(2, (struct says){.form = "absent", .n_waiting = 1, .waiters = "x 500 4 1 a"});
    expect_over(RL_LOOK_FREE);
    ck_assert_uint_eq(world.picture.n_waiters, 2);
    expect_value(&world.picture.waiters[0], "b", 2, 500);
    ck_assert_uint_eq(world.picture.waiters[0].ticket, 5);
    expect_value(&world.picture.waiters[1], "a", 3, 800);
    ck_assert_uint_eq(world.picture.waiters[1].ticket, 9);
}

TEST(cases, the_numbers_of_votes_and_waiters_are_the_largest)
{
    begin();
    answer(0, (struct says){.form = "set", .n_votes = 3, .n_waiting = 2, .votes = "r 500 1 a"});
    answer(1, (struct says){.form = "set", .n_votes = 150, .n_waiting = 1, .votes = "r 500 1 a"});
    answer(2, (struct says){.form = "set", .n_votes = 2, .n_waiting = 40, .votes = "r 500 1 a"});
    expect_over(RL_LOOK_SHARED);
    ck_assert_uint_eq(world.picture.n_votes, 150);
    ck_assert_uint_eq(world.picture.n_waiting, 40);
}

TEST(cases, a_master_with_both_votes_shows_an_upgrade)
{
    begin();
    vote(0, "u 500 1 a");
    vote(1, "u 500 1 a");
    vote(2, "u 500 1 a");
    expect(RL_LOOK_SHARED);
    teardown();
    setup();
    begin();
    vote(0, "u 500 1 a");
    answer(1, (struct says){.form = "set", .n_votes = 2, .votes = "x 500 1 bu 500 1 a"});
    vote(2, "u 500 1 a");
    expect_over(RL_LOOK_UPGRADING);
}

/* Another's vote on a master of its own. */
TEST(cases, a_rivals_exclusive_vote_is_no_upgrade)
{
    begin();
    vote(0, "u 500 1 a");
    vote(1, "x 500 1 b");
    vote(2, "u 500 1 a");
    answer(3, (struct says){.form = "set", .n_votes = 2, .votes = "x 500 1 bu 500 1 c"});
    vote(4, "u 500 1 a");
    expect_over(RL_LOOK_SHARED);
}

SUITE("host_look")
