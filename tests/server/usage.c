/* What a client measures: how long things take, how acquisitions and holds end for each class of keys, and what kept
 * masters from having a part in a quorum. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/metrics.h>
#include <redlock/set.h>

#include "program_rig.h"

enum { MS = 1000, PAGE_SIZE = 1 << 17 };

static struct redlock_histogram histogram(enum redlock_histogram_kind kind, int which)
{
    struct redlock_histogram found;

    ck_assert_int_eq(redlock_client_histogram(rig.client, kind, which, &found, sizeof found), 0);
    return found;
}

static struct redlock_class_stats class_stats(size_t number)
{
    struct redlock_class_stats stats;

    ck_assert_int_eq(redlock_client_class_stats(rig.client, number, &stats, sizeof stats), 0);
    return stats;
}

/* The number of the sample that begins so; -1: there is none. */
static double sample(const char *format, const char *node)
{
    static char page[PAGE_SIZE];
    char start[300];
    const char *found;

    ck_assert_int_lt(redlock_client_metrics(rig.client, NULL, 0, page, sizeof page), PAGE_SIZE);
    start[0] = '\n';
    snprintf(start + 1, sizeof start - 1, format, node);
    found = strstr(page, start);
    return found ? strtod(found + strlen(start), NULL) : -1;
}

static const char *node_name(size_t node)
{
    struct redlock_node_stats stats;

    ck_assert_int_eq(redlock_client_node_stats(rig.client, node, &stats, sizeof stats), 0);
    return stats.name;
}

/* --- Outcomes of acquisitions ------------------------------------------------------------------------------------- */

GROUP(outcomes, "outcomes", rig_three, rig_end)

/* Exactly one acquisition, with this outcome, that took from so many to so many milliseconds. */
static void expect_only(int status, int64_t least_ms, int64_t most_ms)
{
    for (int other = REDLOCK_OK; other >= REDLOCK_CANCELED; other--) {
        struct redlock_histogram found = histogram(REDLOCK_HISTOGRAM_ACQUIRE, other);

        ck_assert_uint_eq(found.count, other == status);
        if (other != status)
            continue;
        ck_assert_int_ge((int64_t)found.sum_us, least_ms * MS);
        ck_assert_int_le((int64_t)found.sum_us, most_ms * MS);
    }
}

/* The class of all keys has so many acquisitions of each kind. */
static void expect_counts(uint64_t acquired, uint64_t held, uint64_t no_quorum, uint64_t too_slow, uint64_t canceled)
{
    struct redlock_class_stats stats = class_stats(0);

    ck_assert_str_eq(stats.name, "other");
    ck_assert_uint_eq(stats.acquired, acquired);
    ck_assert_uint_eq(stats.held, held);
    ck_assert_uint_eq(stats.no_quorum, no_quorum);
    ck_assert_uint_eq(stats.too_slow, too_slow);
    ck_assert_uint_eq(stats.canceled, canceled);
    ck_assert_uint_eq(stats.client, 0);
}

static void occupy_all(const char *key)
{
    for (size_t i = 0; i < 3; i++)
        rig_occupy(&rig, i, key);
}

TEST(outcomes, acquired)
{
    rig_hold(&rig, "key", 20000);
    expect_only(REDLOCK_OK, 0, RIG_NODE_TIMEOUT_MS);
    expect_counts(1, 0, 0, 0, 0);
}

TEST(outcomes, held)
{
    struct redlock_acquire_options request = rig_request(20000, 0);

    occupy_all("key");
    rig_expect_acquire(&rig, rig_new_lock(rig.client, "key"), &request, REDLOCK_HELD);
    expect_only(REDLOCK_HELD, 0, RIG_NODE_TIMEOUT_MS);
    expect_counts(0, 1, 0, 0, 0);
}

TEST(outcomes, no_quorum)
{
    struct redlock_acquire_options request = rig_request(20000, 0);

    rig_kill_masters(&rig, 6);
    rig_expect_acquire(&rig, rig_new_lock(rig.client, "key"), &request, REDLOCK_NO_QUORUM);
    expect_only(REDLOCK_NO_QUORUM, 0, RIG_NODE_TIMEOUT_MS);
    expect_counts(0, 0, 1, 0, 0);
    ck_assert_double_eq(sample("redlock_node_failures_total{node=\"%s\",reason=\"not connected\"} ", node_name(0)), -1);
    ck_assert_double_eq(sample("redlock_node_failures_total{node=\"%s\",reason=\"not connected\"} ", node_name(1)), 1);
    ck_assert_double_eq(sample("redlock_node_failures_total{node=\"%s\",reason=\"not connected\"} ", node_name(2)), 1);
}

/* Nobody answers before the ttl is used up. */
TEST(outcomes, too_slow)
{
    struct redlock_acquire_options request = rig_request(300, 0);

    rig_hang_masters(&rig, RIG_ALL);
    rig_expect_acquire(&rig, rig_new_lock(rig.client, "key"), &request, REDLOCK_TOO_SLOW);
    expect_only(REDLOCK_TOO_SLOW, 290, RIG_NODE_TIMEOUT_MS);
    expect_counts(0, 0, 0, 1, 0);
    ck_assert_double_eq(sample("redlock_node_failures_total{node=\"%s\",reason=\"timeout\"} ", node_name(1)), 1);
    rig_resume_masters(&rig, RIG_ALL);
}

/* Others have the key all the time: the reason is theirs, and the wait is measured. */
TEST(outcomes, deadline)
{
    struct redlock_acquire_options request = rig_request(20000, 400);
    struct redlock_histogram waits;

    request.wait = REDLOCK_WAIT_FIFO;
    occupy_all("key");
    rig_expect_acquire(&rig, rig_new_lock(rig.client, "key"), &request, REDLOCK_DEADLINE);
    expect_only(REDLOCK_DEADLINE, 400, RIG_NODE_TIMEOUT_MS);
    expect_counts(0, 1, 0, 0, 0);
    waits = histogram(REDLOCK_HISTOGRAM_WAIT, 0);
    ck_assert_uint_eq(waits.count, 1);
    ck_assert_uint_ge(waits.sum_us, 300 * MS);
    ck_assert_uint_le(waits.sum_us, histogram(REDLOCK_HISTOGRAM_ACQUIRE, REDLOCK_DEADLINE).sum_us);
}

/* By the program, and by the end of its lock. */
TESTS(outcomes, canceled, 0, 2)
{
    struct redlock_acquire_options request = rig_request(20000, REDLOCK_FOREVER);
    struct redlock_lock *lock = rig_new_lock(rig.client, "key");
    struct outcome outcome = {0};

    occupy_all("key");
    ck_assert_int_eq(redlock_acquire(lock, &request, outcome_record, &outcome), 0);
    if (_i == 0)
        ck_assert_int_eq(redlock_cancel(lock), 0);
    else
        redlock_lock_destroy(lock);
    rig_wait_outcome(&rig, &outcome);
    outcome_expect(&outcome, REDLOCK_CANCELED);
    expect_only(REDLOCK_CANCELED, 0, RIG_NODE_TIMEOUT_MS);
    expect_counts(0, 0, 0, 0, 1);
}

/* A waiter that is not first in the queue gets the lock from the holder. */
TEST(outcomes, a_wait_ends_with_the_lock)
{
    struct redlock_acquire_options request = rig_request(20000, REDLOCK_FOREVER);
    struct redlock_lock *holder = rig_hold(&rig, "key", 20000);
    struct redlock_lock *waiter = rig_new_lock(rig_further_client(&rig), "key");
    struct outcome outcome = {0};

    ck_assert_uint_eq(histogram(REDLOCK_HISTOGRAM_WAIT, 0).count, 0);
    ck_assert_int_eq(redlock_acquire(waiter, &request, outcome_record, &outcome), 0);
    rig_run_for(&rig, 100);
    rig_expect_release(&rig, holder, REDLOCK_OK);
    rig_wait_outcome(&rig, &outcome);
    outcome_expect(&outcome, REDLOCK_OK);
    rig.client = redlock_lock_client(waiter);
    ck_assert_uint_eq(histogram(REDLOCK_HISTOGRAM_WAIT, 0).count, 1);
    rig.client = redlock_lock_client(holder);
}

/* --- Holds -------------------------------------------------------------------------------------------------------- */

GROUP(holds, "holds", rig_three, rig_end)

struct set_end {
    bool ended;
    int status;
};

static void on_set_end(struct redlock_set *set, const struct redlock_set_result *result, void *end)
{
    *(struct set_end *)end = (struct set_end){true, result->status};
}

static bool has_ended(void *end)
{
    return ((const struct set_end *)end)->ended;
}

static void expect_hold(int64_t least_ms)
{
    struct redlock_histogram found = histogram(REDLOCK_HISTOGRAM_HOLD, 0);

    ck_assert_uint_eq(found.count, 1);
    ck_assert_int_ge((int64_t)found.sum_us, least_ms * MS);
    ck_assert_int_le((int64_t)found.sum_us, least_ms * MS + INT64_C(1000) * MS * SUITE_PATIENCE_S);
}

static void by_release(struct redlock_lock *lock)
{
    rig_expect_release(&rig, lock, REDLOCK_OK);
}

static void by_the_end_of_its_handle(struct redlock_lock *lock)
{
    redlock_lock_destroy(lock);
}

static void by_detaching(struct redlock_lock *lock)
{
    ck_assert_int_eq(redlock_lock_detach(lock), 0);
}

static void by_export(struct redlock_lock *lock)
{
    char text[REDLOCK_MAX_EXPORT_BYTES];

    ck_assert_int_eq(redlock_lock_export(lock, text, sizeof text), 0);
}

static void (*const ends[])(struct redlock_lock *) = {by_release, by_the_end_of_its_handle, by_detaching, by_export};

TESTS(holds, a_hold_is_measured_however_it_ends, 0, sizeof ends / sizeof ends[0])
{
    struct redlock_lock *lock = rig_hold(&rig, "key", 20000);

    ck_assert_uint_eq(histogram(REDLOCK_HISTOGRAM_HOLD, 0).count, 0);
    rig_run_for(&rig, 50);
    ends[_i](lock);
    expect_hold(40);
}

TEST(holds, an_adopted_lock_is_held_from_then_on)
{
    struct redlock_lock *lock = rig_hold(&rig, "key", 20000);
    struct redlock_lock *heir = rig_new_lock(rig.client, "key");
    char text[REDLOCK_MAX_EXPORT_BYTES];

    ck_assert_int_eq(redlock_lock_export(lock, text, sizeof text), 0);
    rig_run_for(&rig, 20);
    ck_assert_int_eq(redlock_lock_adopt(heir, NULL, text), 0);
    rig_expect_release(&rig, heir, REDLOCK_OK);
    ck_assert_uint_eq(histogram(REDLOCK_HISTOGRAM_HOLD, 0).count, 2);
    ck_assert_uint_le(histogram(REDLOCK_HISTOGRAM_HOLD, 0).sum_us, 1000 * MS * SUITE_PATIENCE_S);
}

/* Its release, its export, and its end. */
TESTS(holds, the_locks_of_a_set_are_measured, 0, 3)
{
    struct redlock_acquire_options request = rig_request(20000, 0);
    struct redlock_set *set;
    struct set_end end = {0};
    char text[REDLOCK_MAX_SET_EXPORT_BYTES];

    ck_assert_int_eq(redlock_set_create(rig.client, &set), 0);
    ck_assert_int_eq(redlock_set_add(set, "a", 1), 0);
    ck_assert_int_eq(redlock_set_add(set, "b", 1), 0);
    ck_assert_int_eq(redlock_set_acquire(set, &request, on_set_end, &end), 0);
    rig_wait(&rig, has_ended, &end, "the acquisition of the set");
    ck_assert_int_eq(end.status, REDLOCK_OK);
    ck_assert_uint_eq(histogram(REDLOCK_HISTOGRAM_HOLD, 0).count, 0);
    if (_i == 0)
        ck_assert_int_eq(redlock_set_release(set, NULL, NULL), 0);
    if (_i == 1)
        ck_assert_int_eq(redlock_set_export(set, text, sizeof text), 0);
    if (_i < 2)
        ck_assert_uint_eq(histogram(REDLOCK_HISTOGRAM_HOLD, 0).count, 2);
    redlock_set_destroy(set);
    ck_assert_uint_eq(histogram(REDLOCK_HISTOGRAM_HOLD, 0).count, 2);
}

static bool is_lost(void *lock)
{
    return redlock_state(lock) == REDLOCK_STATE_LOST && class_stats(0).lost_expired + class_stats(0).lost_refused > 0;
}

/* The release of what is lost already is no second hold. */
TEST(holds, a_loss_counts_by_its_reason)
{
    struct redlock_lock *lock = rig_hold_lease(&rig, "key", 200);
    struct redlock_class_stats stats;

    rig_wait(&rig, is_lost, lock, "the loss");
    rig_expect_release(&rig, lock, REDLOCK_LOST);
    expect_hold(100);
    stats = class_stats(0);
    ck_assert_uint_eq(stats.lost_expired, 1);
    ck_assert_uint_eq(stats.lost_unreachable + stats.lost_refused + stats.lost_clock_step + stats.lost_hold_limit, 0);
}

/* --- Renewals and replies ----------------------------------------------------------------------------------------- */

static bool has_renewed_twice(void *nothing)
{
    return histogram(REDLOCK_HISTOGRAM_RENEWAL, 0).count >= 2;
}

TEST(holds, renewals_are_measured)
{
    struct redlock_stats stats;

    rig_hold(&rig, "key", 300);
    rig_wait(&rig, has_renewed_twice, NULL, "two renewals");
    ck_assert_int_eq(redlock_client_stats(rig.client, &stats, sizeof stats), 0);
    ck_assert_uint_eq(histogram(REDLOCK_HISTOGRAM_RENEWAL_LATE, 0).count, stats.renewals);
}

/* The program blocks its loop while a renewal is due. */
TEST(holds, a_blocked_loop_makes_renewals_late)
{
    struct redlock_acquire_options request = rig_request(20000, 0);

    request.renew_ms = 50;
    rig_hold_as(&rig, "key", &request);
    poll(NULL, 0, 350);
    rig_wait(&rig, has_renewed_twice, NULL, "two renewals");
    ck_assert_uint_ge(histogram(REDLOCK_HISTOGRAM_RENEWAL_LATE, 0).sum_us, 250 * MS);
}

TEST(holds, every_reply_is_measured)
{
    rig_release(&rig, rig_hold(&rig, "key", 20000));
    rig_wait_quiet(&rig, rig.client);
    for (size_t i = 0; i < 3; i++) {
        struct redlock_histogram found = histogram(REDLOCK_HISTOGRAM_REPLY, (int)i);
        struct redlock_node_stats stats;
        uint64_t sum = 0;

        ck_assert_int_eq(redlock_client_node_stats(rig.client, i, &stats, sizeof stats), 0);
        ck_assert_uint_ge(found.count, 2);
        ck_assert_uint_eq(found.count, stats.replies);
        for (size_t bucket = 0; bucket < REDLOCK_HISTOGRAM_BUCKETS; bucket++)
            sum += found.buckets[bucket];
        ck_assert_uint_eq(sum, found.count);
    }
}

/* --- Masters ------------------------------------------------------------------------------------------------------ */

TEST(holds, the_margin_tells_how_many_masters_may_still_fail)
{
    ck_assert_double_eq(sample("redlock_quorum%s ", ""), 2);
    for (int margin = 1; margin >= -1; margin--) {
        ck_assert_double_eq(sample("redlock_quorum_margin%s ", ""), margin);
        ck_assert_double_eq(sample("redlock_node_not_voting{node=\"%s\",reason=\"down\"} ", node_name(0)),
                            margin == 1 ? -1 : 1);
        if (margin >= 0)
            rig_kill_master(&rig, (size_t)(1 - margin));
    }
}

TEST(holds, a_quarantine_has_its_reason)
{
    if (!rig.guarded)
        return;
    rig_lose_memory(&rig, 1, RIG_RESTARTED);
    ck_assert_double_eq(sample("redlock_node_not_voting{node=\"%s\",reason=\"new-memory\"} ", node_name(1)), 1);
    ck_assert_double_gt(sample("redlock_node_quarantine_seconds{node=\"%s\"} ", node_name(1)), 0);
    ck_assert_double_eq(sample("redlock_quorum_margin%s ", ""), 0);
}

/* --- Classes of keys ---------------------------------------------------------------------------------------------- */

static void with_classes(struct redlock_options *options)
{
    static const struct redlock_key_class classes[] = {
        {"order:", "orders"}, {"order:large:", "large"}, {"invoice:", "orders"}, {"o", "o"}};

    options->key_classes = classes;
    options->n_key_classes = sizeof classes / sizeof classes[0];
}

static void open_with_classes(void)
{
    rig_open_with(&rig, 3, 0, with_classes);
}

GROUP(classes, "classes of keys", open_with_classes, rig_end)

TEST(classes, a_key_counts_for_the_longest_prefix)
{
    static const char *const keys[] = {"order:1", "order:large:1", "order:large", "invoice:7", "other", "order", "x"};
    static const struct {
        const char *name;
        uint64_t acquired;
    } expected[] = {{"other", 1}, {"orders", 3}, {"large", 1}, {"o", 2}};

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        rig_hold(&rig, keys[i], 20000);
    ck_assert_uint_eq(redlock_client_class_count(rig.client), sizeof expected / sizeof expected[0]);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        ck_assert_str_eq(class_stats(i).name, expected[i].name);
        ck_assert_uint_eq(class_stats(i).acquired, expected[i].acquired);
        ck_assert_double_eq(sample("redlock_key_acquired_total{key_class=\"%s\"} ", expected[i].name),
                            (double)expected[i].acquired);
    }
}

TEST(classes, what_is_not_there_is_refused)
{
    struct redlock_class_stats stats;
    struct redlock_histogram found;

    ck_assert_int_eq(redlock_client_class_stats(rig.client, 4, &stats, sizeof stats), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_client_class_stats(NULL, 0, &stats, sizeof stats), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_client_class_stats(rig.client, 0, NULL, 0), REDLOCK_E_ARGUMENT);
    ck_assert_uint_eq(redlock_client_class_count(NULL), 0);
    for (int which = -1; which <= 3; which += 4)
        ck_assert_int_eq(redlock_client_histogram(rig.client, REDLOCK_HISTOGRAM_REPLY, which, &found, sizeof found),
                         REDLOCK_E_ARGUMENT);
    for (int which = REDLOCK_CANCELED - 1; which <= 1; which += 2 - REDLOCK_CANCELED)
        ck_assert_int_eq(redlock_client_histogram(rig.client, REDLOCK_HISTOGRAM_ACQUIRE, which, &found, sizeof found),
                         REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_client_histogram(rig.client, (enum redlock_histogram_kind)6, 0, &found, sizeof found),
                     REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_client_histogram(NULL, REDLOCK_HISTOGRAM_HOLD, 0, &found, sizeof found),
                     REDLOCK_E_ARGUMENT);
}

SUITE_WITH_SERVER("usage")
