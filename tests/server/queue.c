/* Waiting in the queue: the order, the hand-off, and what the next holder has. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "program_rig.h"
#include "queue_rig.h"
#include "watch.h"

#define N_WAITERS 8

static struct waiter waiters[N_WAITERS];

/* What the event hook has told of places. */
static struct places {
    size_t n;
    uint32_t position[64];
    int64_t held_for_ms[64];
} places;

static void on_event(const struct redlock_event *event, void *user_data)
{
    struct places *to = user_data;

    if (event->type != REDLOCK_EVENT_WAITING || to->n == 64)
        return;
    ck_assert_ptr_nonnull(event->lock);
    ck_assert_int_eq(event->op, REDLOCK_OP_ACQUIRE);
    to->position[to->n] = event->position;
    to->held_for_ms[to->n++] = event->held_for_ms;
}

static void hooked(struct redlock_options *options)
{
    memset(&places, 0, sizeof places);
    options->on_event = on_event;
    options->event_data = &places;
}

static void open_five(void)
{
    queue_open();
    rig_open_with(&rig, 5, 0, hooked);
}

static bool have_been_told(void *argument)
{
    return places.n >= *(const size_t *)argument;
}

static void wait_told(size_t times)
{
    rig_wait(&rig, have_been_told, &times, "places to be told");
}

GROUP(five, "five masters", open_five, rig_end)

TEST(five, waiters_are_served_in_the_order_of_their_arrival)
{
    struct redlock_lock *holder = rig_hold(&rig, "order", 10000);

    queue_fill(&rig, waiters, N_WAITERS, "order");
    ck_assert_int_eq(redlock_release(holder, NULL, NULL), 0);
    for (unsigned i = 0; i < N_WAITERS; i++) {
        waiter_wait_held(&waiters[i]);
        ck_assert_uint_eq(waiters[i].turn, i + 1);
        waiter_leave(&waiters[i]);
    }
    queue_wait_gone(&rig, "order");
    ck_assert_uint_eq(watch_stats(rig.client).waits, N_WAITERS);
}

/* The waiter's client writes nothing between the release and the callback. A refresh may fall into that time: then the
 * test looks at the next release. */
TEST(five, the_next_holder_needs_no_round_trip_of_its_own)
{
    struct redlock_acquire_options request = queue_request();
    struct redlock_client *other = rig_further_client(&rig);
    struct redlock_stats before;
    struct waiter holder = {0}, next = {0};
    unsigned tries = 0;

    waiter_start(&rig, &holder, rig.client, "trip", &request);
    waiter_wait_held(&holder);
    do {
        ck_assert_uint_lt(tries++, 20);
        waiter_take(&rig, &next, tries % 2 ? other : rig.client, "trip", &request);
        rig_wait_quiet(&rig, redlock_lock_client(next.lock));
        before = watch_stats(redlock_lock_client(next.lock));
        waiter_leave(&holder);
        waiter_wait_held(&next);
        redlock_lock_destroy(holder.lock);
        holder = next;
    } while (next.commands > before.commands || tries < 2);
    ck_assert_uint_ge(watch_stats(other).hand_offs, 3);
}

TEST(five, the_hook_tells_the_position_and_what_the_holder_has_left)
{
    struct redlock_lock *holder = rig_hold_lease(&rig, "place", 9000);

    queue_fill(&rig, waiters, 3, "place");
    wait_told(3);
    ck_assert_uint_eq(places.position[0], 1);
    ck_assert_int_gt(places.held_for_ms[0], 0);
    ck_assert_int_le(places.held_for_ms[0], 9000 + 2); /* rounded, and with the last millisecond */
    ck_assert_uint_eq(places.position[places.n - 1], 3);
    ck_assert_int_eq(redlock_cancel(waiters[0].lock), 0);
    memset(&places, 0, sizeof places);
    wait_told(2);
    ck_assert_uint_eq(places.position[0] + places.position[1], 1 + 2);
    ck_assert_int_gt(redlock_remaining_ms(holder), 0);
}

static void wait_full_ttl(const struct redlock_lock *lock)
{
    while (redlock_remaining_ms(lock) < 8000) {
        ck_assert_int_gt(redlock_remaining_ms(lock), 0);
        rig_run_for(&rig, 10);
    }
}

/* Until the first extension. */
TESTS(five, a_lock_that_is_handed_over_has_its_lease_and_then_its_full_ttl, 0, 2)
{
    struct redlock_acquire_options request = queue_request();
    struct redlock_lock *holder = rig_hold(&rig, "pending", 10000);
    struct waiter waiter;

    if (_i)
        request.renew_ms = REDLOCK_NO_RENEWAL;
    waiter_take(&rig, &waiter, rig.client, "pending", &request);
    ck_assert_int_eq(redlock_release(holder, NULL, NULL), 0);
    waiter_wait_held(&waiter);
    ck_assert_int_le(waiter.remaining_ns, INT64_C(2000000000));
    wait_full_ttl(waiter.lock);
    ck_assert_uint_eq(watch_stats(rig.client).renewals, 1);
}

TESTS(five, who_adopts_such_a_lock_brings_its_full_ttl, 0, 2)
{
    struct redlock_acquire_options request = queue_request();
    struct redlock_lock *holder = rig_hold(&rig, "pending", 10000), *importer = rig_new_lock(rig.client, "pending");
    char text[REDLOCK_MAX_EXPORT_BYTES];

    if (_i)
        request.renew_ms = REDLOCK_NO_RENEWAL;
    queue_fill(&rig, waiters, 1, "pending");
    ck_assert_int_eq(redlock_release(holder, NULL, NULL), 0);
    waiter_wait_held(&waiters[0]);
    ck_assert_int_eq(redlock_lock_export(waiters[0].lock, text, sizeof text), 0);
    ck_assert_int_eq(redlock_lock_adopt(importer, &request, text), 0);
    ck_assert_int_lt(redlock_remaining_ms(importer), 2000);
    wait_full_ttl(importer);
}

TEST(five, an_extension_by_the_caller_brings_the_full_ttl_at_once)
{
    struct redlock_lock *holder = rig_hold(&rig, "pending", 10000);

    queue_fill(&rig, waiters, 1, "pending");
    ck_assert_int_eq(redlock_release(holder, NULL, NULL), 0);
    waiter_wait_held(&waiters[0]);
    rig_expect_extend(&rig, waiters[0].lock, 0, REDLOCK_OK);
    ck_assert_int_gt(redlock_remaining_ms(waiters[0].lock), 8000);
}

TEST(five, fencing_tokens_grow_from_hand_off_to_hand_off)
{
    struct redlock_acquire_options request = queue_request();
    uint64_t last = 0;

    request.fenced = 1;
    for (size_t i = 0; i < N_WAITERS; i++) {
        waiter_start(&rig, &waiters[i], rig.client, "tokens", &request);
        if (i == 0)
            waiter_wait_held(&waiters[0]);
        else
            waiter_wait_in_queue(&waiters[i], 5);
    }
    for (size_t i = 0; i < N_WAITERS; i++) {
        waiter_wait_held(&waiters[i]);
        ck_assert_uint_gt(waiters[i].outcome.fence, last);
        last = waiters[i].outcome.fence;
        waiter_leave(&waiters[i]);
    }
    queue_wait_gone(&rig, "tokens");
}

static uint64_t wall_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

struct refreshes {
    const struct redlock_client *client;
    uint64_t until; /* commands */
};

static bool have_been_sent(void *argument)
{
    const struct refreshes *refreshes = argument;

    return watch_stats(refreshes->client).commands >= refreshes->until;
}

/* Where counters are lost, only the numbers that clients propose keep tokens growing: a waiter's must not be those of
 * its beginning, since others may have got larger ones meanwhile. */
TEST(five, a_waiter_proposes_a_number_as_young_as_its_latest_refresh)
{
    struct redlock_client *client = rig_new_client(&rig);
    struct redlock_acquire_options request = queue_request();
    struct refreshes refreshes = {.client = client};
    struct redlock_lock *holder = rig_hold(&rig, "young", 10000);
    struct waiter waiter;
    uint64_t since_us;

    request.fenced = 1;
    waiter_take(&rig, &waiter, client, "young", &request);
    since_us = wall_us();
    refreshes.until = watch_stats(client).commands + 2 * rig.n; /* a round may be under way */
    rig_wait(&rig, have_been_sent, &refreshes, "two refreshes");
    for (size_t i = 0; i < rig.n; i++)
        free(masters_command(rig.masters, i, (const char *const[]){"DEL", "redlock:fence:young", NULL}));
    ck_assert_int_eq(redlock_release(holder, NULL, NULL), 0);
    waiter_wait_held(&waiter);
    ck_assert_uint_gt(waiter.outcome.fence, since_us);
    waiter_leave(&waiter);
    queue_wait_gone(&rig, "young");
    redlock_client_destroy(client);
}

TEST(five, strict_order_waits_in_the_queue_from_the_first_attempt)
{
    struct redlock_acquire_options request = queue_request();
    struct waiter first, second;

    request.wait = REDLOCK_WAIT_FIFO;
    waiter_start(&rig, &first, rig.client, "strict", &request);
    ck_assert_int_eq(redlock_state(first.lock), REDLOCK_STATE_WAITING);
    waiter_wait_held(&first);
    waiter_take(&rig, &second, rig.client, "strict", &request);
    waiter_leave(&first);
    waiter_wait_held(&second);
    ck_assert_uint_eq(watch_stats(rig.client).waits, 2);
    waiter_leave(&second);
    queue_wait_gone(&rig, "strict");
}

TEST(five, an_uncontended_acquisition_sends_no_command_more_than_a_single_attempt)
{
    struct redlock_acquire_options once = rig_request(10000, 0), wait = queue_request();
    struct redlock_client *plain = rig_further_client(&rig), *waiting = rig_further_client(&rig);
    struct waiter a, b;

    waiter_start(&rig, &a, plain, "alone-1", &once);
    waiter_wait_held(&a);
    waiter_start(&rig, &b, waiting, "alone-2", &wait);
    waiter_wait_held(&b);
    ck_assert_uint_eq(b.commands, a.commands);
    ck_assert_uint_eq(watch_stats(waiting).waits, 0);
}

/* No attempt that is bound to be refused: one command for each master to join the queue, one to release. */
TEST(five, who_knows_that_others_wait_enters_the_queue_at_once)
{
    struct redlock_acquire_options request = queue_request();
    struct waiter first, second, again;

    waiter_start(&rig, &first, rig.client, "known", &request);
    waiter_wait_held(&first);
    waiter_take(&rig, &second, rig.client, "known", &request);
    waiter_start(&rig, &again, rig.client, "known", &request);
    ck_assert_int_eq(redlock_state(again.lock), REDLOCK_STATE_WAITING);
    waiter_leave(&first);
    waiter_wait_held(&second);
    waiter_leave(&second);
    waiter_wait_held(&again);
    ck_assert_uint_eq(again.outcome.attempts, 1);
    ck_assert_uint_eq(second.outcome.attempts, 2);
    waiter_leave(&again);
    queue_wait_gone(&rig, "known");
    rig_run_for(&rig, 600); /* that is forgotten after half a second */
    waiter_start(&rig, &again, rig.client, "known", &request);
    ck_assert_int_eq(redlock_state(again.lock), REDLOCK_STATE_ACQUIRING);
    waiter_wait_held(&again);
}

/* --- Whose turn it is --------------------------------------------------------------------------------------------- */

static struct event_base *elsewhere; /* the rival's loop, which runs when the test says so */
static struct redlock_client *rival;

static void open_three(void)
{
    queue_open();
    rig_open(&rig, 3);
    elsewhere = event_base_new();
    ck_assert_ptr_nonnull(elsewhere);
}

static void close_rig(void)
{
    redlock_client_destroy(rival);
    event_base_free(elsewhere);
    rig_close(&rig);
}

static void on_end(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    outcome_record(lock, result, user_data);
}

/* The rival's loop, until that has happened. */
static void run_elsewhere(const struct outcome *outcome)
{
    while (!outcome->calls)
        ck_assert_int_eq(event_base_loop(elsewhere, EVLOOP_ONCE), 0);
}

static struct redlock_lock *hold_elsewhere(const char *key)
{
    struct redlock_acquire_options request = queue_request();
    struct redlock_options options = rig.options;
    struct redlock_error error;
    struct redlock_lock *lock;
    struct outcome outcome = {.calls = 0};

    options.join = REDLOCK_JOIN_VOTE;
    ck_assert_int_eq(redlock_client_create(elsewhere, rig.urls, rig.n, &options, &rival, &error), 0);
    lock = rig_new_lock(rival, key);
    ck_assert_int_eq(redlock_acquire(lock, &request, on_end, &outcome), 0);
    run_elsewhere(&outcome);
    outcome_expect(&outcome, REDLOCK_OK);
    return lock;
}

/* A ticket far above that of the others: a waiter that has answers of both has to tell this master. */
static void raise_ticket(size_t node, const char *key)
{
    char name[60];
    char number[24];

    snprintf(name, sizeof name, "redlock:waiters:%s", key);
    snprintf(number, sizeof number, "%" PRId64, ((int64_t)time(NULL) + 3600) * 1000000);
    rig_do(&rig, node, "HSET", name, "@last", number, NULL);
}

struct pair {
    struct redlock_lock *waiter;
    struct redlock_lock *held;
    struct outcome extension;
    struct outcome outcome;
};

static void on_turn(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct pair *pair = user_data;

    outcome_record(lock, result, &pair->outcome);
    ck_assert_int_eq(redlock_extend(pair->held, 0, on_end, &pair->extension), 0);
}

static bool is_waiting(void *lock)
{
    return redlock_state(lock) == REDLOCK_STATE_WAITING;
}

GROUP(cases, "one turn", open_three, close_rig)

/* A master that was hung answers with another ticket, and must be told; before that is written the other two hand the
 * key over. What the callback starts takes over the attempt's memory, and is written behind what was gathered. */
TEST(cases, who_has_won_need_not_tell_its_ticket)
{
    struct redlock_acquire_options request = queue_request();
    struct redlock_lock *holder = hold_elsewhere("turn");
    struct pair pair = {.held = rig_hold(&rig, "other", 10000), .waiter = rig_new_lock(rig.client, "turn")};
    struct outcome released = {.calls = 0};
    struct waiter before;

    waiter_take(&rig, &before, rig.client, "turn", &request); /* from now on the client listens */
    raise_ticket(2, "turn");
    ck_assert_int_eq(redlock_cancel(before.lock), 0);
    rig_wait_quiet(&rig, rig.client);
    redlock_lock_destroy(before.lock);
    raise_ticket(2, "turn");
    ck_assert(masters_hang(rig.masters, 2));
    request.wait = REDLOCK_WAIT_FIFO;
    ck_assert_int_eq(redlock_acquire(pair.waiter, &request, on_turn, &pair), 0);
    rig_wait(&rig, is_waiting, pair.waiter, "the answers of the others");
    ck_assert(masters_resume(rig.masters, 2));
    ck_assert_int_eq(redlock_release(holder, on_end, &released), 0);
    run_elsewhere(&released);
    rig_wait_outcome(&rig, &pair.outcome);
    outcome_expect(&pair.outcome, REDLOCK_OK);
    rig_wait_outcome(&rig, &pair.extension);
    outcome_expect(&pair.extension, REDLOCK_OK);
    ck_assert_int_eq(redlock_release(pair.waiter, NULL, NULL), 0);
    queue_wait_empty(&rig, "turn");
    redlock_lock_destroy(pair.waiter);
    redlock_lock_destroy(pair.held);
    redlock_lock_destroy(holder);
}

SUITE_WITH_SERVER("queue")
