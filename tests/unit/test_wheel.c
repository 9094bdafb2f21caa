#include "util/wheel.h"

#include <stdlib.h>

#include "suite.h"

#define N_TIMERS 300

struct probe {
    struct rl_timer timer;
    int fired;
    struct rl_timer *other; /* for the fire functions that act on another timer */
};

static struct rl_wheel wheel;
static struct probe probes[N_TIMERS];

static struct probe *probe_of(struct rl_timer *timer)
{
    return RL_CONTAINER_OF(timer, struct probe, timer);
}

static void count(struct rl_timer *timer, struct rl_instant now)
{
    probe_of(timer)->fired++;
}

static void setup(void)
{
    rl_wheel_init(&wheel, (struct rl_instant){0});
    for (int i = 0; i < N_TIMERS; i++) {
        rl_timer_init(&probes[i].timer, count);
        probes[i].fired = 0;
    }
}

static struct rl_instant us(int64_t n)
{
    return (struct rl_instant){n * RL_NS_PER_US};
}

GROUP(tc, "wheel", setup, NULL)

TEST(tc, a_timer_fires_once_and_never_early)
{
    rl_wheel_arm(&wheel, &probes[0].timer, us(5300));
    rl_wheel_expire(&wheel, us(5299));
    ck_assert_int_eq(probes[0].fired, 0);
    rl_wheel_expire(&wheel, us(5300));
    rl_wheel_expire(&wheel, us(9000));
    ck_assert_int_eq(probes[0].fired, 1);
    ck_assert(!rl_timer_armed(&probes[0].timer));
}

TEST(tc, a_timer_more_than_a_turn_ahead_waits_for_its_turn)
{
    int64_t turn_us = RL_WHEEL_BUCKETS * 1000;

    rl_wheel_arm(&wheel, &probes[0].timer, us(turn_us + 10500));
    rl_wheel_expire(&wheel, us(11000));
    rl_wheel_expire(&wheel, us(turn_us + 10000));
    ck_assert_int_eq(probes[0].fired, 0);
    rl_wheel_expire(&wheel, us(turn_us + 11000));
    ck_assert_int_eq(probes[0].fired, 1);
}

TEST(tc, never_disarms)
{
    rl_wheel_arm(&wheel, &probes[0].timer, us(100));
    rl_wheel_arm(&wheel, &probes[0].timer, RL_NEVER);
    ck_assert(!rl_timer_armed(&probes[0].timer));
    ck_assert(rl_wheel_next(&wheel).ns == RL_NEVER.ns);
}

TEST(tc, the_distant_past_fires_at_the_next_pass)
{
    rl_wheel_expire(&wheel, us(50000));
    rl_wheel_arm(&wheel, &probes[0].timer, RL_LONG_AGO);
    rl_wheel_arm(&wheel, &probes[1].timer, us(100));
    rl_wheel_expire(&wheel, us(50000));
    ck_assert_int_eq(probes[0].fired, 1);
    ck_assert_int_eq(probes[1].fired, 1);
}

static void rearm_for_the_past(struct rl_timer *timer, struct rl_instant now)
{
    count(timer, now);
    rl_wheel_arm(&wheel, timer, us(1));
}

TEST(tc, what_a_fire_function_arms_for_the_past_fires_at_the_next_pass)
{
    rl_timer_init(&probes[0].timer, rearm_for_the_past);
    rl_wheel_arm(&wheel, &probes[0].timer, us(10));
    rl_wheel_expire(&wheel, us(5000));
    ck_assert_int_eq(probes[0].fired, 1);
    rl_wheel_expire(&wheel, us(5000));
    ck_assert_int_eq(probes[0].fired, 2);
}

static void disarm_other(struct rl_timer *timer, struct rl_instant now)
{
    count(timer, now);
    rl_wheel_disarm(&wheel, probe_of(timer)->other);
}

TEST(tc, a_fire_function_may_disarm_a_timer_that_is_due_too)
{
    rl_timer_init(&probes[0].timer, disarm_other);
    probes[0].other = &probes[1].timer;
    rl_wheel_arm(&wheel, &probes[0].timer, us(10));
    rl_wheel_arm(&wheel, &probes[1].timer, us(11));
    rl_wheel_expire(&wheel, us(20));
    ck_assert_int_eq(probes[0].fired, 1);
    ck_assert_int_eq(probes[1].fired, 0);
}

static void move_other(struct rl_timer *timer, struct rl_instant now)
{
    count(timer, now);
    rl_wheel_arm(&wheel, probe_of(timer)->other, us(50000));
}

TEST(tc, a_fire_function_may_move_a_timer_that_is_due_too)
{
    rl_timer_init(&probes[0].timer, move_other);
    probes[0].other = &probes[1].timer;
    rl_wheel_arm(&wheel, &probes[0].timer, us(10));
    rl_wheel_arm(&wheel, &probes[1].timer, us(2500));
    rl_wheel_expire(&wheel, us(4000));
    ck_assert_int_eq(probes[1].fired, 0);
    rl_wheel_expire(&wheel, us(50000));
    ck_assert_int_eq(probes[1].fired, 1);
}

static struct rl_instant earliest(void)
{
    struct rl_instant at = RL_NEVER;

    for (int i = 0; i < N_TIMERS; i++) {
        if (rl_timer_armed(&probes[i].timer))
            at = rl_earlier(at, probes[i].timer.at);
    }
    return at;
}

/* The wake-up that the wheel asks for: in the future, and no later than a bucket behind the first timer. */
static void check_next(struct rl_instant now)
{
    struct rl_instant next = rl_wheel_next(&wheel);
    struct rl_instant first = earliest();

    if (first.ns == RL_NEVER.ns) {
        ck_assert(next.ns == RL_NEVER.ns);
        return;
    }
    ck_assert(rl_before(now, next));
    ck_assert_int_le(next.ns, rl_after(rl_later(first, now), rl_ms(1)).ns);
}

/* The model: after a pass at `now`, exactly the timers with at <= now have fired, each once. */
static void expire_and_compare(struct rl_instant now)
{
    int expected[N_TIMERS];

    for (int i = 0; i < N_TIMERS; i++)
        expected[i] = probes[i].fired + (rl_timer_armed(&probes[i].timer) && probes[i].timer.at.ns <= now.ns);
    rl_wheel_expire(&wheel, now);
    for (int i = 0; i < N_TIMERS; i++) {
        if (probes[i].fired != expected[i])
            ck_abort_msg("timer %d fired %d times, expected %d", i, probes[i].fired, expected[i]);
    }
    check_next(now);
}

static int64_t random_step_us(void)
{
    static const int64_t scales[] = {500, 5000, 100000, 3000000, 20000000};

    return rand() % scales[rand() % 5];
}

TESTS(tc, random_operations_agree_with_a_naive_model, 1, 9)
{
    int64_t now_us = 0;

    srand((unsigned)_i);
    for (int step = 0; step < 4000; step++) {
        struct rl_timer *timer = &probes[rand() % N_TIMERS].timer;

        if (rand() % 4)
            rl_wheel_arm(&wheel, timer, us(now_us + random_step_us() - 200));
        else
            rl_wheel_disarm(&wheel, timer);
        if (rand() % 3 == 0) {
            now_us += rand() % 4 ? rand() % 3000 : random_step_us();
            expire_and_compare(us(now_us));
        }
    }
}

TEST(tc, following_the_wake_ups_fires_each_timer_within_one_slot)
{
    struct rl_instant at = us(1234567);
    int wake_ups = 0;

    rl_wheel_arm(&wheel, &probes[0].timer, us(9876543));
    rl_wheel_arm(&wheel, &probes[1].timer, at);
    while (!probes[1].fired) {
        struct rl_instant now = rl_wheel_next(&wheel);

        rl_wheel_expire(&wheel, now);
        ck_assert_int_le(now.ns, at.ns + RL_NS_PER_MS);
        wake_ups++;
    }
    ck_assert_int_le(wake_ups, 2);
}

SUITE("wheel")
