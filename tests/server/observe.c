/* Statistics and events: they tell what happened, and add up. */
#include <string.h>

#include <redlock/latch.h>
#include <redlock/log.h>

#include "program_rig.h"

#define MAX_EVENTS 128

/* Copies: events are borrowed. */
static struct record {
    enum redlock_event_type type;
    struct redlock_lock *lock;
    int node;
    enum redlock_op op;
    enum redlock_vote vote;
    int status;
    enum redlock_link link;
    int64_t remaining_us;
    char token[64];
} records[MAX_EVENTS];

static size_t n_records;

static void on_event(const struct redlock_event *event, void *user_data)
{
    struct record *record = &records[n_records];

    ck_assert_ptr_eq(user_data, records);
    ck_assert_uint_lt(n_records, MAX_EVENTS);
    *record = (struct record){.type = event->type,     .lock = event->lock, .node = event->node, .op = event->op,
                              .vote = event->vote,     .status = event->status, .link = event->link,
                              .remaining_us = event->remaining_us};
    snprintf(record->token, sizeof record->token, "%s", event->token ? event->token : "");
    n_records++;
}

static void observed(struct redlock_options *options)
{
    n_records = 0;
    rig_tune_for_counting(options);
    options->on_event = on_event;
    options->event_data = records;
}

static void open_five(void)
{
    rig_open_with(&rig, 5, 0, observed);
}

static size_t count(enum redlock_event_type type, enum redlock_op op)
{
    size_t n = 0;

    for (size_t i = 0; i < n_records; i++)
        n += records[i].type == type && (!op || records[i].op == op);
    return n;
}

static const struct record *first(enum redlock_event_type type)
{
    for (size_t i = 0; i < n_records; i++)
        if (records[i].type == type)
            return &records[i];
    ck_abort_msg("no event of type %s", redlock_event_name(type));
}

static struct redlock_stats stats_now(void)
{
    struct redlock_stats stats;

    ck_assert_int_eq(redlock_client_stats(rig.client, &stats, sizeof stats), 0);
    return stats;
}

GROUP(five, "five masters", open_five, rig_end)

TEST(five, connecting_is_reported_for_each_master)
{
    bool ready[5] = {false};

    for (size_t i = 0; i < n_records; i++)
        if (records[i].type == REDLOCK_EVENT_NODE && records[i].link == REDLOCK_LINK_READY)
            ready[records[i].node] = true;
    for (size_t i = 0; i < 5; i++)
        ck_assert(ready[i]);
}

TEST(five, a_whole_life_is_reported_in_order)
{
    struct redlock_lock *lock;

    n_records = 0;
    lock = rig_hold(&rig, "life", 20000);
    ck_assert_int_eq(records[0].type, REDLOCK_EVENT_ATTEMPT);
    ck_assert_ptr_eq(records[0].lock, lock);
    ck_assert_str_eq(records[0].token, redlock_lock_token(lock));
    ck_assert_uint_eq(count(REDLOCK_EVENT_VOTE, REDLOCK_OP_ACQUIRE), 5);
    ck_assert_uint_eq(count(REDLOCK_EVENT_ACQUIRED, 0), 1);
    ck_assert_int_gt(first(REDLOCK_EVENT_ACQUIRED)->remaining_us, 10000000);
    rig_expect_extend(&rig, lock, 0, REDLOCK_OK);
    rig_wait_quiet(&rig, rig.client);
    ck_assert_uint_eq(count(REDLOCK_EVENT_VOTE, REDLOCK_OP_EXTEND), 5);
    ck_assert_uint_eq(count(REDLOCK_EVENT_EXTENDED, 0), 1);
    rig_expect_release(&rig, lock, REDLOCK_OK);
    ck_assert_uint_eq(count(REDLOCK_EVENT_VOTE, REDLOCK_OP_RELEASE), 5);
    ck_assert_uint_eq(count(REDLOCK_EVENT_RELEASED, 0), 1);
    ck_assert_int_eq(first(REDLOCK_EVENT_RELEASED)->status, REDLOCK_OK);
    ck_assert_uint_eq(count(REDLOCK_EVENT_FAILED, 0) + count(REDLOCK_EVENT_LOST, 0), 0);
    ck_assert_uint_eq(count(REDLOCK_EVENT_VALIDITY, 0), 0);
}

/* --- Some events only --------------------------------------------------------------------------------------------- */

static void observed_ends(struct redlock_options *options)
{
    observed(options);
    options->event_types = REDLOCK_EVENT_BIT(REDLOCK_EVENT_ACQUIRED) | REDLOCK_EVENT_BIT(REDLOCK_EVENT_RELEASED) |
                           REDLOCK_EVENT_BIT(31);
}

GROUP(own, "some events", NULL, NULL)

TEST(own, what_is_not_asked_for_is_not_told)
{
    struct redlock_lock *lock;

    rig_open_with(&rig, 5, 0, observed_ends);
    lock = rig_hold(&rig, "life", 20000);
    rig_expect_release(&rig, lock, REDLOCK_OK);
    ck_assert_uint_eq(n_records, 2);
    ck_assert_int_eq(records[0].type, REDLOCK_EVENT_ACQUIRED);
    ck_assert_int_eq(records[1].type, REDLOCK_EVENT_RELEASED);
    rig_close(&rig);
}

static void observed_validity(struct redlock_options *options)
{
    observed(options);
    options->event_types = REDLOCK_EVENT_BIT(REDLOCK_EVENT_VALIDITY);
}

static bool told_of(void *lock)
{
    return n_records && records[n_records - 1].lock == lock;
}

/* Nothing else is told in the turn in which the client finds out. */
static bool has_lost(void *lock)
{
    if (stats_now().lost == 0)
        n_records = 0;
    return stats_now().lost == 1;
}

TEST(own, a_loss_is_told)
{
    struct redlock_lock *lock;

    rig_open_with(&rig, 5, 0, observed_validity);
    lock = rig_hold_lease(&rig, "key", 300);
    rig_wait(&rig, has_lost, lock, "the loss");
    ck_assert(told_of(lock));
    rig_close(&rig);
}

/* By what others and the masters do; what the program has asked for itself it knows. */
TEST(own, a_change_of_what_is_left_is_told)
{
    struct redlock_acquire_options request = rig_request(10000, 10000);
    struct redlock_lock *lock;

    rig_open_with(&rig, 5, 0, observed_validity);
    request.renew_ms = 100;
    lock = rig_hold_as(&rig, "key", &request);
    rig_wait_quiet(&rig, rig.client);
    n_records = 0;
    rig_wait(&rig, told_of, lock, "a renewal to be told");
    for (size_t i = 0; i < 3; i++)
        rig_occupy(&rig, i, "key");
    rig_wait(&rig, has_lost, lock, "the loss");
    ck_assert(told_of(lock));
    for (size_t i = 0; i < n_records; i++)
        ck_assert_int_eq(records[i].type, REDLOCK_EVENT_VALIDITY);
    rig_close(&rig);
}

/* --- Latches ------------------------------------------------------------------------------------------------------ */

/* What the log says of arrivals and waits, one line after the other. */
static char logged[1000];
static size_t n_ended;

static void on_latch_event(const struct redlock_event *event, void *user_data)
{
    char line[REDLOCK_MAX_LINE_BYTES];

    ck_assert_ptr_eq(user_data, logged);
    if (!event->latch)
        return;
    ck_assert_ptr_null(event->lock);
    strcat(strcat(logged, redlock_event_line(event, line, sizeof line)), "\n");
}

static void observed_latches(struct redlock_options *options)
{
    logged[0] = '\0';
    n_ended = 0;
    options->key_prefix = "app:";
    options->on_event = on_latch_event;
    options->event_data = logged;
}

static void on_latch_end(struct redlock_latch *latch, const struct redlock_latch_result *result, void *user_data)
{
    ck_assert_ptr_nonnull(latch);
    ck_assert_ptr_nonnull(result);
    ck_assert(logged[0] || result->status == REDLOCK_CANCELED);
    n_ended++;
}

static bool have_ended(void *wanted)
{
    return n_ended == *(const size_t *)wanted;
}

static bool is_logged(void *line)
{
    return strstr(logged, line) != NULL;
}

TEST(own, arrivals_at_a_latch_and_waits_for_it_are_told_before_their_callbacks)
{
    struct redlock_latch *latch, *rival;
    char arrived[] = "latch-arrived job: success\n";
    size_t one = 1, two = 2;

    rig_open_with(&rig, 5, 0, observed_latches);
    ck_assert_int_eq(redlock_latch_create(rig.client, "job", 3, 1, 1, "a", NULL, &latch), 0);
    ck_assert_int_eq(redlock_latch_create(rig.client, "job", 3, 2, 1, "b", NULL, &rival), 0);
    ck_assert_int_eq(redlock_latch_arrive(latch, REDLOCK_FOREVER, NULL, NULL), 0);
    rig_wait(&rig, is_logged, arrived, "an arrival without a callback");
    ck_assert_int_eq(redlock_latch_await(latch, REDLOCK_FOREVER, on_latch_end, NULL), 0);
    rig_wait(&rig, have_ended, &one, "the latch");
    ck_assert_str_eq(logged, "latch-arrived job: success\nlatch-awaited job: success\n");
    ck_assert_int_eq(redlock_latch_arrive(rival, REDLOCK_FOREVER, on_latch_end, NULL), 0);
    rig_wait(&rig, have_ended, &two, "a refusal");
    ck_assert_ptr_nonnull(strstr(logged, redlock_strerror(REDLOCK_OTHER_PARTIES)));
    ck_assert_ptr_null(strchr(logged, '(')); /* no reason that repeats the status */
    logged[0] = '\0';
    ck_assert_int_eq(redlock_latch_await(rival, REDLOCK_FOREVER, on_latch_end, NULL), 0);
    redlock_latch_destroy(rival);
    ck_assert_uint_eq(n_ended, 3);
    ck_assert_str_eq(logged, "");
    rig_close(&rig);
}

/* --- Numbers ------------------------------------------------------------------------------------------------------ */

TEST(five, the_votes_of_an_attempt_are_in_its_result)
{
    struct redlock_lock *lock = rig_new_lock(rig.client, "b26");
    struct redlock_acquire_options request = rig_request(20000, 0);
    struct outcome outcome;

    rig_occupy(&rig, 0, "b26");
    rig_do(&rig, 1, "REPLICAOF", "127.0.0.1", "1", NULL);
    rig_kill_master(&rig, 2);
    outcome = rig_acquire(&rig, lock, &request);
    ck_assert_int_ne(outcome.status, REDLOCK_OK);
    ck_assert_uint_eq(outcome.n_nodes, 5);
    ck_assert_uint_eq(outcome.quorum, 3);
    outcome_expect_failed(&outcome, 2, "c");
    ck_assert_int_eq(outcome.nodes[2].latency_us, -1);
    for (size_t i = 0; i < 2; i++)
        if (outcome.nodes[i].vote != REDLOCK_VOTE_PENDING)
            ck_assert_int_ge(outcome.nodes[i].latency_us, 0);
    rig_wait_quiet(&rig, rig.client);
    ck_assert_uint_eq(count(REDLOCK_EVENT_FAILED, REDLOCK_OP_ACQUIRE), 1);
}

TEST(five, the_counters_add_up)
{
    struct redlock_lock *held, *other = rig_new_lock(rig.client, "sums");
    struct redlock_stats stats;

    held = rig_hold(&rig, "sums", 20000);
    rig_expect_acquire(&rig, other, NULL, REDLOCK_HELD);
    rig_expect_extend(&rig, held, 0, REDLOCK_OK);
    rig_expect_release(&rig, held, REDLOCK_OK);
    rig_wait_no_claims(&rig, rig.client);
    stats = stats_now();
    ck_assert_uint_eq(stats.acquires, 2);
    ck_assert_uint_eq(stats.attempts, 2);
    ck_assert_uint_eq(stats.acquired, 1);
    ck_assert_uint_eq(stats.held, 1);
    ck_assert_uint_eq(stats.extends, 1);
    ck_assert_uint_eq(stats.extended, 1);
    ck_assert_uint_eq(stats.releases, 1);
    ck_assert_uint_eq(stats.released, 1);
    ck_assert_uint_eq(stats.rollbacks, 1);
    ck_assert_uint_eq(stats.lost + stats.canceled + stats.deadline + stats.no_quorum + stats.too_slow, 0);
    ck_assert_uint_eq(stats.pending_rollbacks, 0);
}

TEST(five, the_counters_of_the_masters_agree_with_those_of_the_client)
{
    uint64_t expected = rig.guarded ? 4 : 2; /* a guard is two commands, behind the claim; a release needs none */
    uint64_t commands = 0;

    rig_expect_release(&rig, rig_hold(&rig, "nodes", 20000), REDLOCK_OK);
    for (size_t i = 0; i < 5; i++) {
        struct redlock_node_stats node;

        ck_assert_int_eq(redlock_client_node_stats(rig.client, i, &node, sizeof node), 0);
        ck_assert_str_eq(node.name, rig.urls[i] + strlen("unix://"));
        ck_assert_int_eq(node.link, REDLOCK_LINK_READY);
        ck_assert_uint_eq(node.commands, expected);
        ck_assert_uint_eq(node.replies, expected);
        ck_assert_uint_eq(node.granted, 1);
        ck_assert_uint_eq(node.refused + node.failed + node.unknown, 0);
        ck_assert_uint_eq(node.connects, 1);
        ck_assert_uint_eq(node.pending, 0);
        ck_assert_uint_gt(node.bytes_out, 0);
        ck_assert_uint_gt(node.bytes_in, 0);
        ck_assert_int_ge(node.last_latency_us, 0);
        ck_assert_str_eq(node.last_error, "");
        commands += node.commands;
    }
    ck_assert_uint_eq(stats_now().commands, commands);
    ck_assert_uint_eq(redlock_client_node_count(rig.client), 5);
}

TEST(five, a_dead_master_tells_why)
{
    struct redlock_node_stats node;

    rig_kill_master(&rig, 3);
    ck_assert_int_eq(redlock_client_node_stats(rig.client, 3, &node, sizeof node), 0);
    ck_assert_uint_gt(strlen(node.last_error), 0);
    ck_assert_uint_ge(node.disconnects, 1);
}

TEST(five, a_program_with_a_shorter_structure_gets_its_part)
{
    struct redlock_stats stats;
    size_t size = offsetof(struct redlock_stats, acquired);

    rig_hold(&rig, "short", 20000);
    memset(&stats, 0xee, sizeof stats);
    ck_assert_int_eq(redlock_client_stats(rig.client, &stats, size), 0);
    ck_assert_uint_eq(stats.acquires, 1);
    ck_assert_uint_eq(stats.acquired, UINT64_C(0xeeeeeeeeeeeeeeee));
}

SUITE_WITH_SERVER("observe")
