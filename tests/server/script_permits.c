/* The permits of one master by the core's own commands (kinds/scripts/directory.lua): whom a release tells of its slot,
 * and what masters show of other slots. The master's clock stands still but where a test sets it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/classify.h"
#include "kinds/names.h"
#include "kinds/permit.h"
#include "script_queue_rig.h"
#include "scripted.h"
#include "suite.h"

#define SLOTS 3
#define SECOND INT64_C(1000000)
#define BEGIN (INT64_C(1700000000) * SECOND)

#define DIRECTORY RL_PERMITS_NAME "lock"
#define ENTRIES RL_PERMIT_WAITERS_NAME "lock"

static const char *const keys[SLOTS] = {"lock#0", "lock#1", "lock#2"};
static const char *const queues[SLOTS] = {RL_QUEUE_NAME "lock#0", RL_QUEUE_NAME "lock#1", RL_QUEUE_NAME "lock#2"};
static const char *const waiters[SLOTS] = {"waiters#0", "waiters#1", "waiters#2"};

static const struct rl_kind *kind;
static uint32_t limit; /* for those that wait from now on */

static void start(void)
{
    queue_start();
    kind = &rl_permit_kind;
    limit = SLOTS;
    clock_fault_stop_us(counter_clock, BEGIN);
    subscriber_open();
}

static struct rl_slice text(const char *chars)
{
    return (struct rl_slice){chars, strlen(chars)};
}

/* All slots but its own are asked about, in their order. */
static struct rl_subject permit_of(const char *value, unsigned slot)
{
    struct rl_subject about = counter_subject(value, kind->has_token ? 1 : 0);

    for (unsigned i = 0; i < SLOTS; i++) {
        if (i == slot)
            continue;
        about.candidates.keys[about.candidates.n++] = text(keys[i]);
    }
    about.key = text(keys[slot]);
    about.queue = text(queues[slot]);
    about.waiters = text(waiters[slot]);
    about.marker = text("");
    about.ttl_ms = queue_lease_ms;
    about.channel = text(queue_channel);
    about.proposed_ticket = 1000;
    about.limit = limit;
    return about;
}

/* What it is answered; where masters show which other slots are free, the mask of these. */
static struct rl_answer take(enum rl_step step, const struct rl_subject *about, uint32_t *ret_mask)
{
    bool has_mask = step == RL_STEP_CLAIM || step == RL_STEP_ENQUEUE;
    unsigned char room[512];
    struct rl_names names = {.room = room};
    struct rl_subject named = *about;
    struct rl_command command;
    struct scripted scripted;
    struct rl_answer answer;

    named.names = &names;
    kind->command(step, &named, &command);
    scripted = scripted_run(counter_master, 0, &command);
    ck_assert(!has_mask || rl_permit_mask(&scripted.reply, ret_mask));
    answer = rl_classify(kind, step, &scripted.reply);
    scripted_free(&scripted);
    return answer;
}

static uint32_t expect(enum rl_step step, const char *value, unsigned slot, enum rl_outcome outcome)
{
    struct rl_subject about = permit_of(value, slot);
    uint32_t mask = 0;

    ck_assert_int_eq(take(step, &about, &mask).outcome, outcome);
    return mask;
}

static void hold(const char *value, unsigned slot)
{
    expect(RL_STEP_CLAIM, value, slot, RL_GRANTED);
}

static void release(const char *value, unsigned slot)
{
    expect(RL_STEP_RELEASE, value, slot, RL_GRANTED);
}

/* Enters the queue, or refreshes the entry. Ticket 0: it is to be given one. */
static uint32_t wait_at(const char *value, unsigned slot, uint64_t ticket)
{
    struct rl_subject about = permit_of(value, slot);
    uint32_t mask = 0;

    about.ticket = ticket;
    ck_assert_int_eq(take(RL_STEP_ENQUEUE, &about, &mask).outcome, RL_QUEUED);
    return mask;
}

/* The next that is said is to this waiter, of this slot. */
static void expect_told(const char *value, unsigned slot)
{
    struct rl_notification call = subscriber_expect(value, false, 0, "-");

    ck_assert_int_eq(call.kind, RL_TOLD_LOOK);
    ck_assert_uint_eq(call.fence, slot);
}

static void expect_listed(const char *values)
{
    char *reply = ask(counter_master, 0, "ZRANGE " DIRECTORY " 0 -1");

    for (char *at = strchr(reply, '\n'); at; at = strchr(at, '\n'))
        *at = ' ';
    ck_assert_str_eq(reply, values);
    free(reply);
}

/* Beside the waiters' there are the fields of the whole directory. */
static void expect_entries(long long n)
{
    long long all = ask_integer(counter_master, 0, "HLEN " ENTRIES);

    ck_assert_int_eq(all - ask_integer(counter_master, 0, "HEXISTS " ENTRIES " @last") -
                         ask_integer(counter_master, 0, "HEXISTS " ENTRIES " @told"), n);
}

/* Somebody has each slot. */
static void hold_all(void)
{
    hold("zero", 0);
    hold("one", 1);
    hold("two", 2);
}

/* --- Whom a release tells ----------------------------------------------------------------------------------------- */

GROUP(cases, "permits", start, subscriber_close)

TEST(cases, of_those_who_wait_elsewhere_the_one_with_the_lowest_ticket_is_told)
{
    hold_all();
    wait_at("late", 1, 30);
    wait_at("early", 2, 20);
    wait_at("middle", 1, 25);
    release("zero", 0);
    expect_told("early", 0);
    subscriber_expect_silence();
}

TEST(cases, nobody_is_told_of_a_slot_above_its_number_of_permits)
{
    hold_all();
    limit = 2;
    wait_at("of-two", 1, 20);
    limit = 3;
    wait_at("of-three", 1, 30);
    release("two", 2);
    expect_told("of-three", 2);
    limit = 2;
    release("zero", 0);
    expect_told("of-two", 0);
    subscriber_expect_silence();
}

/* It may have moved, and its refresh is on its way. A refresh does not make it forget. */
TEST(cases, who_has_been_told_is_told_again_after_a_tenth_of_a_second)
{
    hold_all();
    wait_at("early", 1, 20);
    wait_at("late", 1, 30);
    release("zero", 0);
    expect_told("early", 0);
    wait_at("early", 1, 20);
    clock_fault_stop_us(counter_clock, BEGIN + SECOND / 10 - 1000);
    hold("next", 0);
    release("next", 0);
    expect_told("late", 0);
    clock_fault_stop_us(counter_clock, BEGIN + SECOND / 10);
    hold("third", 0);
    release("third", 0);
    expect_told("early", 0);
    subscriber_expect_silence();
}

TEST(cases, the_dead_are_not_told_and_leave_the_directory)
{
    hold_all();
    queue_lease_ms = 2000;
    wait_at("dead", 1, 10);
    queue_lease_ms = 20000;
    wait_at("alive", 1, 20);
    clock_fault_stop_us(counter_clock, BEGIN + 2 * SECOND);
    release("zero", 0);
    expect_told("alive", 0);
    expect_listed("alive");
    expect_entries(1);
    subscriber_expect_silence();
}

/* The head of its queue had a place behind theirs. More often it would not be worth the messages. */
TEST(cases, of_a_slot_that_goes_to_a_higher_ticket_somebody_is_told_now_and_then)
{
    hold_all();
    wait_at("first", 1, 10);
    wait_at("second", 1, 20);
    wait_at("heir", 0, 30);
    wait_at("next", 0, 40);
    release("zero", 0);
    subscriber_expect("heir", true, 0, "-");
    expect_told("first", 0);
    release("heir", 0);
    subscriber_expect("next", true, 0, "-");
    subscriber_expect_silence();
    wait_at("last", 0, 50);
    clock_fault_stop_us(counter_clock, BEGIN + SECOND / 10);
    release("next", 0);
    subscriber_expect("last", true, 0, "-");
    expect_told("first", 0);
    subscriber_expect_silence();
}

TEST(cases, nobody_is_told_of_a_slot_that_goes_to_a_lower_ticket)
{
    hold_all();
    wait_at("heir", 0, 10);
    wait_at("other", 1, 20);
    release("zero", 0);
    subscriber_expect("heir", true, 0, "-");
    subscriber_expect_silence();
    release("heir", 0);
    expect_told("other", 0);
}

/* It is still held. */
TEST(cases, a_value_that_does_not_have_the_slot_frees_none)
{
    hold_all();
    wait_at("waiter", 1, 10);
    expect(RL_STEP_ROLLBACK, "stranger", 0, RL_REFUSED);
    subscriber_expect_silence();
    expect_listed("waiter");
}

/* --- Who is listed ------------------------------------------------------------------------------------------------ */

TEST(cases, who_gives_up_leaves_the_directory)
{
    hold_all();
    wait_at("waiter", 1, 10);
    wait_at("other", 2, 20);
    expect(RL_STEP_ROLLBACK, "waiter", 1, RL_REFUSED);
    expect_listed("other");
    expect_entries(1);
    release("zero", 0);
    expect_told("other", 0);
}

TEST(cases, who_has_a_slot_is_told_of_no_other)
{
    hold_all();
    wait_at("waiter", 1, 10);
    wait_at("other", 2, 20);
    release("one", 1);
    subscriber_expect("waiter", true, 0, "-");
    subscriber_expect_silence();
    expect_listed("other");
    expect_entries(1);
    release("zero", 0);
    expect_told("other", 0);
}

/* Its key has ended, and the first of its queue finds that at its next refresh. */
TEST(cases, who_takes_its_slot_at_a_refresh_leaves_the_directory)
{
    hold_all();
    wait_at("waiter", 1, 10);
    wait_at("other", 1, 20);
    ask_expect(counter_master, 0, "DEL lock#1", "(integer) 1");
    expect(RL_STEP_ENQUEUE, "waiter", 1, RL_GRANTED);
    expect_listed("other");
    expect_entries(1);
}

/* Its refresh may have been lost: then that of whoever waits behind it gives it the slot. */
TEST(cases, who_is_given_its_slot_by_anothers_refresh_leaves_the_directory)
{
    hold_all();
    wait_at("waiter", 1, 10);
    wait_at("other", 1, 20);
    ask_expect(counter_master, 0, "DEL lock#1", "(integer) 1");
    wait_at("other", 1, 20);
    subscriber_expect("waiter", true, 0, "-");
    expect_listed("other");
    expect_entries(1);
}

/* --- Tickets, and the directory's end ----------------------------------------------------------------------------- */

TEST(cases, a_new_ticket_is_above_those_at_its_slot)
{
    hold_all();
    wait_at("first", 1, 5000);
    wait_at("second", 1, 0);
    ask_expect(counter_master, 0, "ZSCORE " RL_QUEUE_NAME "lock#1 second", "5001");
    ask_expect(counter_master, 0, "ZSCORE " DIRECTORY " second", "5001");
    wait_at("elsewhere", 2, 0);
    ask_expect(counter_master, 0, "ZSCORE " DIRECTORY " elsewhere", "1000");
}

TEST(cases, a_ticket_that_is_known_stays)
{
    hold_all();
    wait_at("first", 1, 5000);
    wait_at("second", 2, 10);
    ask_expect(counter_master, 0, "ZSCORE " RL_QUEUE_NAME "lock#2 second", "10");
    wait_at("second", 2, 10);
    ask_expect(counter_master, 0, "ZSCORE " DIRECTORY " second", "10");
}

static void expect_end(const char *ms)
{
    ask_expect(counter_master, 0, "PTTL " DIRECTORY, ms);
    ask_expect(counter_master, 0, "PTTL " ENTRIES, ms);
}

/* Twice the lease of whoever waits for longest: a shorter one takes nothing off it. */
TEST(cases, the_directory_ends_some_time_after_its_waiters)
{
    hold_all();
    wait_at("waiter", 1, 10);
    expect_end("(integer) 40000");
    queue_lease_ms = 5000;
    wait_at("short", 1, 20);
    expect_end("(integer) 40000");
    queue_lease_ms = 60000;
    wait_at("long", 1, 30);
    expect_end("(integer) 120000");
}

/* --- Other slots -------------------------------------------------------------------------------------------------- */

static const struct rl_kind *const kinds[] = {&rl_permit_kind, &rl_fenced_permit_kind};

TESTS(cases, whoever_is_refused_is_shown_the_slots_that_nobody_has_or_waits_for, 0, 2)
{
    kind = kinds[_i];
    hold("zero", 0);
    ck_assert_uint_eq(expect(RL_STEP_CLAIM, "rival", 0, RL_REFUSED), 3);
    hold("one", 1);
    ck_assert_uint_eq(expect(RL_STEP_CLAIM, "rival", 0, RL_REFUSED), 2);
    ck_assert_uint_eq(wait_at("waiter", 1, 10), 2);
    ask_expect(counter_master, 0, "DEL lock#1", "(integer) 1");
    ck_assert_uint_eq(expect(RL_STEP_CLAIM, "rival", 0, RL_REFUSED), 2);
    hold("two", 2);
    ck_assert_uint_eq(expect(RL_STEP_CLAIM, "rival", 0, RL_REFUSED), 0);
    ck_assert_uint_eq(wait_at("other", 2, 20), 0);
}

TESTS(cases, who_has_a_slot_is_shown_no_other, 0, 2)
{
    kind = kinds[_i];
    ck_assert_uint_eq(expect(RL_STEP_CLAIM, "zero", 0, RL_GRANTED), 0);
    ck_assert_uint_eq(expect(RL_STEP_ENQUEUE, "zero", 0, RL_GRANTED), 0);
}

SUITE("script_permits")
