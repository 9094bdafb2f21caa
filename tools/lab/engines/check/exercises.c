#include "exercises.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include <event2/event.h>

#define NS_PER_MS INT64_C(1000000)
#define SIDES 2
#define MOST_LOCKS 32
#define START_MS 60000  /* what an engine has until it is open; the runner is stricter */
#define ANSWER_MS 25000 /* likewise for answers */
#define END_MS 2000     /* to exit after the end of its input */
#define LATE_MS 2000    /* beyond a timeout */
#define ROUNDS 12       /* of each contender */

struct floor;

enum stand { IDLE, ASKED, HELD, REFUSED, RELEASING, RELEASED };

/* One ID after the other. */
struct taker {
    struct floor *floor;
    unsigned side;
    struct runner_lock *lock;
    enum stand stand;
    struct answer answer; /* the last; its texts are gone */
    char text[80];
    int64_t valid_ms;     /* -1: not asked, or not answered */
    bool lost;
    const char *key;
};

/* Up to two processes of the engine on one loop. */
struct floor {
    const struct exercise_setting *setting;
    struct event_base *base;
    struct runner *runners[SIDES];
    unsigned opened;
    bool ended[SIDES];
    struct taker takers[MOST_LOCKS];
    char *why;
    bool failed;
    const struct taker *holder; /* of the contended key ... */
    uint64_t last_fence;        /* ... and the token of the last one */
    int64_t last_end_ns;        /* when it has given the key up */
};

__attribute__((format(printf, 2, 3))) static bool fault(struct floor *floor, const char *format, ...)
{
    va_list args;
    int length;

    if (floor->failed)
        return false;
    length = snprintf(floor->why, EXERCISE_WHY_SIZE, "engine %s ", floor->setting->place->name);
    va_start(args, format);
    vsnprintf(floor->why + length, EXERCISE_WHY_SIZE - (size_t)length, format, args);
    va_end(args);
    floor->failed = true;
    event_base_loopbreak(floor->base);
    return false;
}

/* --- Processes ---------------------------------------------------------------------------------------------------- */

static void on_hello(struct runner *runner, const struct runner_hello *hello, void *user_data)
{
    runner_open(runner, ((struct floor *)user_data)->setting->settings);
}

static void on_opened(struct runner *runner, void *user_data)
{
    ((struct floor *)user_data)->opened++;
}

static void on_failed(struct runner *runner, const char *why, void *user_data)
{
    struct floor *floor = user_data;

    if (!floor->failed) {
        snprintf(floor->why, EXERCISE_WHY_SIZE, "%s", why);
        *floor->setting->is_broken = true;
    }
    floor->failed = true;
    event_base_loopbreak(floor->base);
}

static void on_ended(struct runner *runner, void *user_data)
{
    struct floor *floor = user_data;

    floor->ended[runner == floor->runners[1]] = true;
}

static const struct runner_callbacks callbacks = {on_hello, on_opened, on_failed, on_ended};

/* Runs the loop until there is what is waited for; false: not in time, or there is a fault. */
static bool wait_for(struct floor *floor, bool (*is_there)(const struct floor *floor), int64_t timeout_ms)
{
    int64_t deadline_ns = runner_now_ns() + timeout_ms * NS_PER_MS;

    while (!floor->failed && !is_there(floor) && runner_now_ns() < deadline_ns)
        event_base_loop(floor->base, EVLOOP_ONCE);
    return !floor->failed && is_there(floor);
}

static bool all_open(const struct floor *floor)
{
    unsigned n = 0;

    for (unsigned i = 0; i < SIDES; i++)
        n += floor->runners[i] != NULL;
    return floor->opened == n;
}

static bool open_sides(struct floor *floor, const struct exercise_setting *setting, unsigned n, char *why)
{
    *floor = (struct floor){.setting = setting, .why = why, .base = event_base_new()};
    for (unsigned i = 0; i < n; i++) {
        floor->runners[i] = floor->base ? runner_create(floor->base, setting->place, &callbacks, floor, why,
                                                        EXERCISE_WHY_SIZE)
                                        : NULL;
        if (!floor->runners[i])
            return false;
    }
    return wait_for(floor, all_open, START_MS) || fault(floor, "is not open in time");
}

static void close_sides(struct floor *floor)
{
    for (unsigned i = 0; i < SIDES; i++)
        runner_destroy(floor->runners[i]);
    if (floor->base)
        event_base_free(floor->base);
}

/* --- Locks -------------------------------------------------------------------------------------------------------- */

static void keep(struct taker *taker, const struct answer *answer, enum stand stand)
{
    taker->answer = *answer;
    snprintf(taker->text, sizeof taker->text, "%s", answer->text ? answer->text : "");
    taker->stand = stand;
}

static void on_acquired(struct runner_lock *lock, const struct answer *answer, void *user_data)
{
    keep(user_data, answer, HELD);
}

static void on_refused(struct runner_lock *lock, const struct answer *answer, void *user_data)
{
    keep(user_data, answer, REFUSED);
}

static void on_released(struct runner_lock *lock, const struct answer *answer, void *user_data)
{
    keep(user_data, answer, RELEASED);
}

static void on_lost(struct runner_lock *lock, const struct answer *answer, void *user_data)
{
    ((struct taker *)user_data)->lost = true;
}

static void on_valid(struct runner_lock *lock, const struct answer *answer, void *user_data)
{
    ((struct taker *)user_data)->valid_ms = answer->remaining_ms;
}

static const struct runner_lock_callbacks lock_callbacks = {
    .on_acquired = on_acquired,
    .on_refused = on_refused,
    .on_released = on_released,
    .on_lost = on_lost,
    .on_valid = on_valid,
};

static struct taker *take(struct floor *floor, unsigned number, unsigned side, const char *key, int64_t timeout_ms)
{
    struct taker *taker = &floor->takers[number];

    *taker = (struct taker){.floor = floor, .side = side, .stand = ASKED, .valid_ms = -1, .key = key};
    taker->lock = runner_acquire(floor->runners[side], key, EXERCISE_TTL_MS, timeout_ms, &lock_callbacks, taker);
    return taker;
}

static void give_back(struct taker *taker)
{
    taker->stand = RELEASING;
    runner_release(taker->lock);
}

static bool all_answered(const struct floor *floor)
{
    for (unsigned i = 0; i < MOST_LOCKS; i++)
        if (floor->takers[i].stand == ASKED || floor->takers[i].stand == RELEASING)
            return false;
    return true;
}

static bool settle(struct floor *floor)
{
    return wait_for(floor, all_answered, ANSWER_MS) || fault(floor, "does not answer");
}

static bool expect_held(struct floor *floor, const struct taker *taker)
{
    static const char *const reasons[] = {"held", "deadline", "unreachable", "error"};

    if (taker->stand == HELD)
        return true;
    return fault(floor, "does not get '%s', which nobody has: %s %s", taker->key, reasons[taker->answer.reason],
                 taker->text);
}

static bool expect_released(struct floor *floor, const struct taker *taker)
{
    return (taker->stand == RELEASED && taker->answer.outcome == RUNNER_RELEASED) ||
           fault(floor, "does not say ok to the release of '%s', which it held", taker->key);
}

/* --- The exercises ------------------------------------------------------------------------------------------------ */

static bool is_valid_known(const struct floor *floor)
{
    return floor->takers[0].valid_ms >= 0;
}

static bool one_lock(const struct exercise_setting *setting, char *why)
{
    struct floor floor;
    bool ok = open_sides(&floor, setting, 1, why);

    if (ok) {
        struct taker *taker = take(&floor, 0, 0, "check-one", 5000);

        ok = settle(&floor) && expect_held(&floor, taker);
        if (ok)
            runner_valid(taker->lock);
        ok = ok && (wait_for(&floor, is_valid_known, ANSWER_MS) || fault(&floor, "does not answer valid"));
        if (ok && taker->valid_ms == 0)
            ok = fault(&floor, "says that a lock that it has just acquired is not valid");
        if (ok && taker->answer.until_ns != RUNNER_NO_END && taker->answer.until_ns < taker->answer.t1_ns)
            ok = fault(&floor, "acquires a lock that may not be believed in any more: until= is before T1");
        if (ok)
            give_back(taker);
        ok = ok && settle(&floor) && expect_released(&floor, taker);
    }
    close_sides(&floor);
    return ok;
}

static bool many_at_once(const struct exercise_setting *setting, char *why)
{
    static const char *const keys[] = {"check-a", "check-b", "check-c", "check-d", "check-e", "check-f",
                                       "check-g", "check with a space", "check-100%", "check-\xc3\xa4", "check-k",
                                       "check-l", "check-m", "check-n", "check-o", "check-p"};
    enum { KEYS = sizeof keys / sizeof keys[0] };
    struct floor floor;
    bool ok = open_sides(&floor, setting, 1, why);

    for (unsigned i = 0; ok && i < KEYS; i++)
        take(&floor, i, 0, keys[i], 10000);
    ok = ok && settle(&floor);
    for (unsigned i = 0; ok && i < KEYS; i++)
        ok = expect_held(&floor, &floor.takers[i]);
    for (unsigned i = 0; ok && i < KEYS; i++)
        give_back(&floor.takers[i]);
    ok = ok && settle(&floor);
    for (unsigned i = 0; ok && i < KEYS; i++)
        ok = expect_released(&floor, &floor.takers[i]);
    close_sides(&floor);
    return ok;
}

/* Contended: each holder checks that it is alone, by the engine's own instants, and that its token is the largest. */
static void on_turn(struct runner_lock *lock, const struct answer *answer, void *user_data)
{
    struct taker *taker = user_data;
    struct floor *floor = taker->floor;

    keep(taker, answer, HELD);
    if (floor->holder || answer->t1_ns < floor->last_end_ns) {
        fault(floor, "grants two holders: '%s' to a second one that does not wait for the end of the first",
              taker->key);
        return;
    }
    if (answer->has_fence && answer->fence <= floor->last_fence) {
        fault(floor, "has a fence that does not grow: %llu after %llu", (unsigned long long)answer->fence,
              (unsigned long long)floor->last_fence);
        return;
    }
    floor->holder = taker;
    floor->last_fence = answer->fence;
    runner_valid(lock); /* holds it for a while */
}

static void on_held_long_enough(struct runner_lock *lock, const struct answer *answer, void *user_data)
{
    struct taker *taker = user_data;

    taker->floor->holder = NULL;
    taker->floor->last_end_ns = runner_now_ns();
    give_back(taker);
}

static void on_turn_over(struct runner_lock *lock, const struct answer *answer, void *user_data)
{
    struct taker *taker = user_data;

    keep(taker, answer, RELEASED);
}

static const struct runner_lock_callbacks turn_callbacks = {
    .on_acquired = on_turn,
    .on_refused = on_refused,
    .on_released = on_turn_over,
    .on_valid = on_held_long_enough,
};

static bool all_idle(const struct floor *floor)
{
    for (unsigned i = 0; i < 4; i++)
        if (floor->takers[i].stand != RELEASED && floor->takers[i].stand != REFUSED)
            return false;
    return true;
}

/* Whoever was refused is content with that: an unfair engine is no wrong one. */
static bool exclusion(const struct exercise_setting *setting, char *why)
{
    struct floor floor;
    bool ok = open_sides(&floor, setting, SIDES, why);
    unsigned turns = 0;

    for (unsigned round = 0; ok && round < ROUNDS; round++) {
        for (unsigned i = 0; i < 4; i++) {
            struct taker *taker = &floor.takers[i];

            *taker = (struct taker){.floor = &floor, .side = i % SIDES, .stand = ASKED, .key = "check-contended"};
            taker->lock = runner_acquire(floor.runners[taker->side], taker->key, EXERCISE_TTL_MS, 3000,
                                         &turn_callbacks, taker);
        }
        ok = wait_for(&floor, all_idle, ANSWER_MS) || fault(&floor, "does not answer");
        for (unsigned i = 0; i < 4; i++)
            turns += floor.takers[i].stand == RELEASED;
    }
    if (ok && turns == 0)
        ok = fault(&floor, "grants a contended key to nobody");
    close_sides(&floor);
    return ok;
}

static bool check_refusal(struct floor *floor, int64_t timeout_ms)
{
    const struct taker *taker;
    int64_t asked_ns = runner_now_ns();

    taker = take(floor, 1, 1, "check-held", timeout_ms);
    if (!settle(floor))
        return false;
    if (taker->stand == HELD)
        return fault(floor, "grants two holders: '%s', which another process of it holds", taker->key);
    if (taker->answer.t1_ns - asked_ns > (timeout_ms + LATE_MS) * NS_PER_MS)
        return fault(floor, "waits for longer than it was asked to: %lld ms instead of %lld",
                     (long long)((taker->answer.t1_ns - asked_ns) / NS_PER_MS), (long long)timeout_ms);
    if (taker->answer.reason != RUNNER_HELD && taker->answer.reason != RUNNER_DEADLINE)
        return fault(floor, "calls a key that is held unreachable, or an error: %s", taker->text);
    return true;
}

/* The holder's lock must not end meanwhile. */
static bool refusal(const struct exercise_setting *setting, char *why)
{
    struct floor floor;
    bool ok = open_sides(&floor, setting, SIDES, why);

    if (ok) {
        struct taker *holder = take(&floor, 0, 0, "check-held", 5000);

        ok = settle(&floor) && expect_held(&floor, holder) && check_refusal(&floor, 0) && check_refusal(&floor, 300);
        if (ok)
            give_back(holder);
        ok = ok && settle(&floor);
    }
    close_sides(&floor);
    return ok;
}

static bool second_waits(const struct floor *floor)
{
    return floor->takers[0].valid_ms >= 0; /* an answer behind the order that it wait */
}

static bool hand_off(const struct exercise_setting *setting, char *why)
{
    struct floor floor;
    bool ok = open_sides(&floor, setting, SIDES, why);

    if (ok) {
        struct taker *first = take(&floor, 0, 0, "check-next", 5000), *second;

        ok = settle(&floor) && expect_held(&floor, first);
        second = ok ? take(&floor, 1, 1, "check-next", 10000) : NULL;
        if (ok)
            runner_valid(first->lock);
        ok = ok && wait_for(&floor, second_waits, ANSWER_MS);
        if (ok)
            give_back(first);
        ok = ok && settle(&floor) && expect_released(&floor, first) && expect_held(&floor, second);
        if (ok)
            give_back(second);
        ok = ok && settle(&floor) && expect_released(&floor, second);
    }
    close_sides(&floor);
    return ok;
}

static bool first_has_ended(const struct floor *floor)
{
    return runner_status(floor->runners[0]) >= 0;
}

/* What it holds ends with its process, its connection or its lease. */
static bool death(const struct exercise_setting *setting, char *why)
{
    struct floor floor;
    bool ok = open_sides(&floor, setting, SIDES, why);

    if (ok) {
        const struct taker *dead = take(&floor, 0, 0, "check-dead", 5000), *successor;

        ok = settle(&floor) && expect_held(&floor, dead);
        if (ok)
            runner_close_input(floor.runners[0]);
        ok = ok && (wait_for(&floor, first_has_ended, END_MS) ||
                    fault(&floor, "does not exit at the end of its standard input"));
        successor = ok ? take(&floor, 1, 1, "check-dead", 10 * EXERCISE_TTL_MS) : NULL;
        ok = ok && settle(&floor);
        if (ok && successor->stand != HELD)
            ok = fault(&floor, "leaves the lock of a holder that has died to nobody, for ten times its ttl");
    }
    close_sides(&floor);
    return ok;
}

static bool is_gone(const struct floor *floor)
{
    return floor->ended[0];
}

static bool farewell(const struct exercise_setting *setting, char *why)
{
    struct floor floor;
    bool ok = open_sides(&floor, setting, 1, why);

    if (ok)
        runner_bye(floor.runners[0]);
    ok = ok && (wait_for(&floor, is_gone, ANSWER_MS) || fault(&floor, "does not end after bye"));
    close_sides(&floor);
    return ok;
}

const struct exercise exercises[EXERCISES] = {
    {"one", "acquire, valid, release", one_lock},
    {"many", "16 keys at once, with all kinds of characters", many_at_once},
    {"exclusion", "two processes compete for a key: one holder at a time, tokens that grow", exclusion},
    {"refusal", "a key that another process holds is refused in time", refusal},
    {"next", "who waits gets the lock when it is released", hand_off},
    {"death", "the end of its standard input ends the process, and in time its lock", death},
    {"bye", "it ends in order", farewell},
};
