/* Export and import: a held lock passes to another process, which goes on renewing it and releases it. */
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "program_rig.h"
#include "watch.h"

/* A lock with one of these lives through a pause of the test's process. The shorter one is waited for. */
#define TTL_MS 20000
#define SHORT_TTL_MS 4000

static struct tally tally;
static char text[REDLOCK_MAX_EXPORT_BYTES];

static void watched_events(struct redlock_options *options)
{
    watch_events(options, &tally);
}

static void open_three(void)
{
    rig_open_with(&rig, 3, 0, watched_events);
}

static void hold_and_export(const char *key, uint32_t ttl_ms)
{
    struct redlock_lock *lock = rig_hold(&rig, key, ttl_ms);

    ck_assert_int_eq(redlock_lock_export(lock, text, sizeof text), 0);
    redlock_lock_destroy(lock);
}

static struct redlock_lock *adopt(struct redlock_client *client, const char *key)
{
    struct redlock_lock *lock = rig_new_lock(client, key);

    ck_assert_int_eq(redlock_lock_adopt(lock, NULL, text), 0);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_HELD);
    ck_assert_int_gt(redlock_remaining_ns(lock), 0);
    return lock;
}

/* --- To another process */

enum {
    NO_CLIENT = 1,
    NOT_ADOPTED,
    NOT_HELD,
    WRONG_TOKEN,
    NOT_HELD_TO_THE_END,
    NOT_RELEASED,
};

static void on_released(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    *(int *)user_data = result->status;
}

/* The parent closes the other end of the pipe. */
static bool is_told_to_end(int pipe_end)
{
    struct pollfd end = {.fd = pipe_end, .events = POLLIN};

    return poll(&end, 1, 0) != 0;
}

/* The process that takes over: no Check in it. */
static int be_the_importer(const char *token, int pipe_end)
{
    struct redlock_acquire_options options = rig_request(TTL_MS, 0);
    struct event_base *base = event_base_new();
    struct redlock_client *client;
    struct redlock_lock *lock;
    int status = 1;

    rig.options.on_event = NULL;
    if (redlock_client_create(base, rig.urls, rig.n, &rig.options, &client, NULL) != 0 ||
        redlock_lock_create(client, "export", 6, &lock) != 0)
        return NO_CLIENT;
    options.renew_ms = 50;
    if (redlock_lock_adopt(lock, &options, text) != 0)
        return NOT_ADOPTED;
    if (redlock_state(lock) != REDLOCK_STATE_HELD || redlock_remaining_ns(lock) <= 0)
        return NOT_HELD;
    if (strcmp(redlock_lock_token(lock), token) != 0)
        return WRONG_TOKEN;
    while (!is_told_to_end(pipe_end)) {
        struct timeval turn = {.tv_usec = 10000};

        event_base_loopexit(base, &turn);
        event_base_dispatch(base);
    }
    if (redlock_state(lock) != REDLOCK_STATE_HELD || redlock_remaining_ns(lock) <= 0)
        return NOT_HELD_TO_THE_END;
    if (redlock_release(lock, on_released, &status) != 0)
        return NOT_RELEASED;
    while (status > 0)
        event_base_loop(base, EVLOOP_ONCE);
    return status == 0 ? 0 : NOT_RELEASED;
}

static bool has_its_ttl_again(void *argument)
{
    size_t n = 0;

    for (size_t i = 0; i < rig.n; i++)
        n += rig_pttl(&rig, i, "export") > TTL_MS / 2;
    return n > rig.n / 2;
}

GROUP(given, "given", open_three, rig_end)

TEST(given, another_process_goes_on_renewing_and_releases)
{
    struct redlock_lock *lock = rig_hold(&rig, "export", TTL_MS);
    struct redlock_acquire_options request = rig_request(TTL_MS, 0);
    char token[64];
    int ends[2];
    pid_t pid;

    snprintf(token, sizeof token, "%s", redlock_lock_token(lock));
    ck_assert_int_eq(redlock_lock_export(lock, text, sizeof text), 0);
    rig_do_all(&rig, "PEXPIRE", "export", "10000", NULL); /* half of it: only a renewal brings more */
    ck_assert(!has_its_ttl_again(NULL));
    ck_assert_int_eq(pipe(ends), 0);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        close(ends[1]);
        _exit(be_the_importer(token, ends[0]));
    }
    rig_wait(&rig, has_its_ttl_again, NULL, "a renewal by the other process");
    rig_expect_acquire_in_time(&rig, rig_new_lock(rig.client, "export"), &request, REDLOCK_HELD);
    close(ends[0]);
    close(ends[1]);
    rig_wait_child(&rig, pid);
    rig_wait_absent(&rig, "export");
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_IDLE);
}

/* --- The handle that gives */

TEST(given, the_old_handle_is_inert)
{
    struct redlock_acquire_options request = rig_request(TTL_MS, 0);
    struct watched watched;
    struct redlock_lock *lock;
    uint64_t renewals;

    request.renew_ms = 20;
    lock = watch_hold_as(&rig, "given", &request, &watched);
    watch_wait_event(&rig, &tally, REDLOCK_EVENT_RENEWED, 1);
    ck_assert_int_eq(redlock_lock_export(lock, text, sizeof text), 0);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_IDLE);
    ck_assert_int_eq(redlock_remaining_ns(lock), 0);
    ck_assert_int_eq(redlock_release(lock, NULL, NULL), REDLOCK_E_NOT_HELD);
    ck_assert_int_eq(redlock_lock_export(lock, text, sizeof text), REDLOCK_E_NOT_HELD);
    renewals = watch_stats(rig.client).renewals;
    redlock_lock_destroy(lock);
    rig_run_for(&rig, 200);
    ck_assert_uint_eq(watch_stats(rig.client).renewals, renewals);
    ck_assert_uint_eq(watched.lost, 0);
    ck_assert_uint_eq(masters_count_key(rig.masters, "given"), 3);
}

TEST(given, a_small_buffer_changes_nothing)
{
    struct redlock_acquire_options request = rig_request(TTL_MS, 0);
    struct redlock_lock *lock;
    char small[64] = "before";

    request.renew_ms = 20;
    lock = rig_hold_as(&rig, "small", &request);
    ck_assert_int_eq(redlock_lock_export(lock, small, sizeof small), REDLOCK_E_LIMIT);
    ck_assert_str_eq(small, "before");
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_HELD);
    watch_wait_event(&rig, &tally, REDLOCK_EVENT_RENEWED, 2);
}

TEST(given, the_text_is_one_printable_line)
{
    hold_and_export("line", TTL_MS);
    ck_assert_uint_lt(strlen(text), sizeof text);
    for (const char *at = text; *at; at++)
        ck_assert_msg(*at > ' ' && *at <= '~', "character %d", *at);
}

/* --- The handle that takes */

TEST(given, the_masters_may_be_listed_in_another_order)
{
    struct redlock_client *other;
    struct redlock_lock *lock;
    struct outcome outcome;
    const char *first = rig.urls[0];

    rig_kill_master(&rig, 0);
    hold_and_export("order", TTL_MS);
    rig.urls[0] = rig.urls[1];
    rig.urls[1] = rig.urls[2];
    rig.urls[2] = first;
    ck_assert_int_eq(redlock_client_create(rig.base, rig.urls, 3, &rig.options, &other, NULL), 0);
    lock = rig_new_lock(other, "order");
    ck_assert_int_eq(redlock_lock_adopt(lock, NULL, text), 0);
    ck_assert_int_gt(redlock_remaining_ms(lock), 10000);
    rig_wait_link(&rig, other, 0, REDLOCK_LINK_READY);
    rig_wait_link(&rig, other, 1, REDLOCK_LINK_READY);
    outcome = rig_expect_extend(&rig, lock, 0, REDLOCK_OK);
    ck_assert_int_eq(outcome.nodes[2].valid_for_ms, 0); /* this is the one that was down */
    ck_assert_int_gt(outcome.nodes[0].valid_for_ms, 10000);
    outcome = rig_expect_release(&rig, lock, REDLOCK_OK);
    rig_wait_absent(&rig, "order");
    redlock_client_destroy(other);
}

TEST(given, the_fencing_token_goes_with_the_lock)
{
    struct redlock_acquire_options request = rig_request(TTL_MS, 0);
    struct redlock_lock *lock, *importer;
    struct outcome outcome;
    uint64_t fence;

    request.fenced = 1;
    lock = rig_hold_as(&rig, "fenced", &request);
    fence = redlock_lock_fence(lock);
    ck_assert_uint_ne(fence, 0);
    ck_assert_int_eq(redlock_lock_export(lock, text, sizeof text), 0);
    ck_assert_uint_eq(redlock_lock_fence(lock), 0);
    importer = adopt(rig.client, "fenced");
    ck_assert_uint_eq(redlock_lock_fence(importer), fence);
    outcome = rig_expect_release(&rig, importer, REDLOCK_OK);
    outcome = rig_expect_acquire(&rig, lock, &request, REDLOCK_OK);
    ck_assert_uint_gt(outcome.fence, fence);
}

TESTS(given, a_label_goes_with_the_lock, 0, 3)
{
    static const char *const labels[] = {"web7", "host:4711", ":a::b:"};
    struct redlock_client *labelled;
    struct redlock_lock *lock, *importer;
    char token[REDLOCK_MAX_TOKEN_BYTES + 1];

    rig.options.label = labels[_i];
    labelled = rig_further_client(&rig);
    lock = rig_new_lock(labelled, "labelled");
    rig_expect_acquire(&rig, lock, NULL, REDLOCK_OK);
    snprintf(token, sizeof token, "%s", redlock_lock_token(lock));
    ck_assert_ptr_nonnull(strstr(token, labels[_i]));
    ck_assert_int_eq(redlock_lock_export(lock, text, sizeof text), 0);
    importer = adopt(rig.client, "labelled");
    ck_assert_str_eq(redlock_lock_token(importer), token);
    rig_expect_release(&rig, importer, REDLOCK_OK);
}

TEST(given, the_adopted_lock_has_what_validity_was_left)
{
    struct redlock_lock *lock = rig_hold_lease(&rig, "left", TTL_MS), *importer;
    int64_t before_ns = redlock_remaining_ns(lock);

    ck_assert_int_eq(redlock_lock_export(lock, text, sizeof text), 0);
    importer = adopt(rig.client, "left");
    ck_assert_int_le(redlock_remaining_ns(importer), before_ns);
    ck_assert_int_gt(redlock_remaining_ns(importer), before_ns - INT64_C(5000000000));
}

TEST(given, an_adopted_lock_that_is_not_renewed_ends_with_its_ttl)
{
    struct redlock_acquire_options options = rig_lease(SHORT_TTL_MS, 0);
    struct redlock_lock *importer = rig_new_lock(rig.client, "ends");
    struct watched watched;

    watch_start(importer, &watched);
    ck_assert_int_eq(redlock_lock_export(rig_hold_lease(&rig, "ends", SHORT_TTL_MS), text, sizeof text), 0);
    ck_assert_int_eq(redlock_lock_adopt(importer, &options, text), 0);
    watch_wait_lost(&rig, &watched);
    ck_assert_int_eq(watched.loss, REDLOCK_LOSS_EXPIRED);
    rig_wait_absent(&rig, "ends");
}

/* As a program has one that was built against a later header. */
TEST(given, a_longer_structure_of_options_is_taken_as_by_an_acquisition)
{
    struct {
        struct redlock_acquire_options known;
        uint64_t later;
    } options = {.later = 1};
    struct redlock_lock *lock = rig_new_lock(rig.client, "later");

    redlock_acquire_options_init(&options.known);
    options.known.size = sizeof options;
    options.known.ttl_ms = TTL_MS;
    rig_expect_acquire(&rig, lock, &options.known, REDLOCK_OK);
    ck_assert_int_eq(redlock_lock_export(lock, text, sizeof text), 0);
    ck_assert_int_eq(redlock_lock_adopt(lock, &options.known, text), 0);
}

TEST(given, the_handle_must_be_free)
{
    struct redlock_lock *held = rig_hold(&rig, "free", TTL_MS), *busy = rig_new_lock(rig.client, "given");
    struct outcome outcome = {0};

    hold_and_export("given", TTL_MS);
    ck_assert_int_eq(redlock_lock_adopt(held, NULL, text), REDLOCK_E_EXPORT); /* it is another key's, first of all */
    ck_assert_int_eq(redlock_acquire(busy, NULL, outcome_record, &outcome), 0);
    ck_assert_int_eq(redlock_lock_adopt(busy, NULL, text), REDLOCK_E_BUSY);
    rig_wait_outcome(&rig, &outcome);
    outcome_expect(&outcome, REDLOCK_HELD);
    ck_assert_int_eq(redlock_lock_adopt(busy, NULL, text), 0);
    ck_assert_int_eq(redlock_lock_adopt(busy, NULL, text), REDLOCK_E_ALREADY_HELD);
}

/* --- Texts that are refused --------------------------------------------------------------------------------------- */

static char text[REDLOCK_MAX_EXPORT_BYTES];

static void expect_refused(struct redlock_client *client, const char *key, const char *wrong, int expected)
{
    struct redlock_lock *lock = rig_new_lock(client, key);
    int status = redlock_lock_adopt(lock, NULL, wrong);

    ck_assert_msg(status == expected, "%s instead of %s for %s", redlock_status_name(status),
                  redlock_status_name(expected), wrong);
    ck_assert_int_ne(redlock_state(lock), REDLOCK_STATE_HELD);
    ck_assert_int_eq(redlock_remaining_ns(lock), 0);
    redlock_lock_destroy(lock);
}

GROUP(refused, "refused", rig_three, rig_end)

TEST(refused, a_text_of_another_key_is_refused)
{
    hold_and_export("mine", 20000);
    expect_refused(rig.client, "min", text, REDLOCK_E_EXPORT);
    expect_refused(rig.client, "mined", text, REDLOCK_E_EXPORT);
    expect_refused(rig.client, "Mine", text, REDLOCK_E_EXPORT);
}

TEST(refused, a_text_of_other_masters_or_another_quorum_is_refused)
{
    struct redlock_client *two, *strict;

    hold_and_export("mine", 20000);
    ck_assert_int_eq(redlock_client_create(rig.base, rig.urls, 2, &rig.options, &two, NULL), 0);
    rig.options.quorum = 3;
    ck_assert_int_eq(redlock_client_create(rig.base, rig.urls, 3, &rig.options, &strict, NULL), 0);
    expect_refused(two, "mine", text, REDLOCK_E_EXPORT);
    expect_refused(strict, "mine", text, REDLOCK_E_EXPORT);
    redlock_client_destroy(two);
    redlock_client_destroy(strict);
}

/* A client of the same deployment whose options have no room for the lock: the text itself is good. */
static void expect_no_room(const char *key)
{
    struct redlock_client *small;

    ck_assert_int_eq(redlock_client_create(rig.base, rig.urls, 3, &rig.options, &small, NULL), 0);
    expect_refused(small, key, text, REDLOCK_E_TTL);
    redlock_client_destroy(small);
}

TEST(refused, a_ttl_that_does_not_fit_the_clients_options_is_refused_as_a_ttl)
{
    hold_and_export("mine", 20000);
    rig.options.max_ttl_ms = 19999;
    expect_no_room("mine");
    rig.options.max_ttl_ms = 60000;
    rig.options.guard_ms = 20000;
    expect_no_room("mine");
}

TEST(refused, a_damaged_text_is_refused)
{
    char wrong[sizeof text + 2];

    hold_and_export("mine", 60000);
    for (size_t i = 0; text[i]; i++) {
        strcpy(wrong, text);
        wrong[i] = text[i] == '1' ? '2' : '1';
        expect_refused(rig.client, "mine", wrong, REDLOCK_E_EXPORT);
        wrong[i] = '\0';
        expect_refused(rig.client, "mine", wrong, REDLOCK_E_EXPORT);
    }
    snprintf(wrong, sizeof wrong, "%s ", text);
    expect_refused(rig.client, "mine", wrong, REDLOCK_E_EXPORT);
    snprintf(wrong, sizeof wrong, "%s:", text);
    expect_refused(rig.client, "mine", wrong, REDLOCK_E_EXPORT);
    memset(wrong, 'x', sizeof wrong - 1);
    wrong[sizeof wrong - 1] = '\0';
    expect_refused(rig.client, "mine", wrong, REDLOCK_E_EXPORT);
}

TEST(refused, an_expired_text_is_refused_and_leaves_nothing)
{
    ck_assert_int_eq(redlock_lock_export(rig_hold_lease(&rig, "old", 200), text, sizeof text), 0);
    rig_wait_absent(&rig, "old");
    expect_refused(rig.client, "old", text, REDLOCK_E_NOT_HELD);
    rig_wait_no_claims(&rig, rig.client);
}

/* Another time namespace is like another boot: its clock says something else. Where the system has none, or does not
 * let us, there is nothing to test. */
static int adopt_in_another_time(void)
{
    struct redlock_client *client;
    struct redlock_lock *lock;

    if (redlock_client_create(event_base_new(), rig.urls, rig.n, &rig.options, &client, NULL) != 0 ||
        redlock_lock_create(client, "mine", 4, &lock) != 0)
        return 1;
    return redlock_lock_adopt(lock, NULL, text) == REDLOCK_E_EXPORT ? 0 : 2;
}

TEST(refused, a_text_of_another_clock_is_refused)
{
#ifdef CLONE_NEWTIME
    pid_t pid;

    hold_and_export("mine", 20000);
    if (unshare(CLONE_NEWTIME) != 0)
        return;
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        _exit(adopt_in_another_time());
    rig_wait_child(&rig, pid);
#endif
}

SUITE_WITH_SERVER("transfer")
