/* The small parts of the driver on their own: the ring of commands, the backoff, the timers. */
#include <stdlib.h>

#include "rig.h"

GROUP(pure, "pure", NULL, NULL)

TEST(pure, a_ring_gives_back_what_was_pushed_in_order_while_it_grows)
{
    struct rl_in_flight in_flight = {0};
    uint32_t in = 0;
    uint32_t out = 0;

    srand(1);
    for (int i = 0; i < 20000; i++) {
        if (rand() % 5 < 3) {
            const struct rl_tag tag = {.round = in};

            if (!rl_in_flight_reserve(&in_flight))
                ck_abort_msg("no memory");
            rl_in_flight_push(&in_flight, &tag, 10 * in++);
        } else if (rl_in_flight_count(&in_flight)) {
            struct rl_in_flight_entry entry = rl_in_flight_pop(&in_flight);

            if (entry.tag.round != out || entry.start != 10 * out)
                ck_abort_msg("entry %u", out);
            out++;
        }
        if (rl_in_flight_count(&in_flight) != in - out)
            ck_abort_msg("count");
    }
    rl_in_flight_fini(&in_flight);
}

static int64_t largest_of_many(unsigned failures)
{
    int64_t largest = 0;

    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct rl_backoff backoff = {
            .min = rl_ms(50), .max = rl_ms(1000), .failures = failures, .random = seed};
        int64_t ns = rl_backoff_next(&backoff).ns;

        if (ns < 0)
            ck_abort_msg("negative");
        largest = ns > largest ? ns : largest;
    }
    return largest;
}

TEST(pure, the_longest_backoff_is_never_short)
{
    struct rl_backoff backoff = {.min = rl_ms(50), .max = rl_ms(1000), .random = 1};
    int64_t least = INT64_MAX;

    for (int i = 0; i < 2000; i++) {
        int64_t ns = rl_backoff_longest(&backoff).ns;

        if (ns < 500 * RL_NS_PER_MS || ns > 1000 * RL_NS_PER_MS)
            ck_abort_msg("%lld ns", (long long)ns);
        least = ns < least ? ns : least;
    }
    ck_assert_int_lt(least, 550 * RL_NS_PER_MS);
}

TEST(pure, the_backoff_doubles_up_to_its_limit_with_full_jitter)
{
    static const int64_t limits_ms[] = {50, 100, 200, 400, 800, 1000, 1000};

    for (unsigned failures = 0; failures < 7; failures++) {
        int64_t limit = limits_ms[failures] * RL_NS_PER_MS;
        int64_t largest = largest_of_many(failures);

        ck_assert_int_le(largest, limit);
        ck_assert_int_gt(largest, limit - limit / 10);
    }
}

TEST(pure, many_failures_do_not_overflow_the_backoff)
{
    struct rl_backoff backoff = {.min = rl_ms(1), .max = rl_ms(60000)};

    for (int i = 0; i < 1000; i++)
        ck_assert_int_le(rl_backoff_next(&backoff).ns, rl_ms(60000).ns);
    rl_backoff_reset(&backoff);
    ck_assert_int_le(rl_backoff_next(&backoff).ns, rl_ms(1).ns);
}

static struct rl_timers timers;
static unsigned n_after;

struct alarm {
    struct rl_timer timer;
    struct rl_instant fired;
};

static void on_alarm(struct rl_timer *timer, struct rl_instant now)
{
    RL_CONTAINER_OF(timer, struct alarm, timer)->fired = now;
}

static void after(void *ctx)
{
    ck_assert_ptr_eq(ctx, &n_after);
    n_after++;
}

static void timers_setup(void)
{
    rig_setup();
    n_after = 0;
    ck_assert(rl_timers_init(&timers, rig.base, &rig.clock, after, &n_after));
}

static void timers_teardown(void)
{
    rl_timers_fini(&timers);
    rig_teardown();
}

GROUP(timed, "timers", timers_setup, timers_teardown)

TEST(timed, a_timer_fires_after_its_instant_and_after_is_called)
{
    struct alarm alarm = {.fired = RL_LONG_AGO};
    struct rl_instant at = rl_after(rl_clock_now(&rig.clock), rl_ms(3));

    rl_timer_init(&alarm.timer, on_alarm);
    rl_timers_arm(&timers, &alarm.timer, at);
    while (alarm.fired.ns == RL_LONG_AGO.ns)
        rig_turn();
    ck_assert(!rl_before(alarm.fired, at));
    ck_assert_uint_ge(n_after, 1);
}

TEST(timed, an_earlier_timer_moves_the_wake_up_forward)
{
    struct alarm hour = {.fired = RL_LONG_AGO};
    struct alarm soon = {.fired = RL_LONG_AGO};
    struct rl_instant now = rl_clock_now(&rig.clock);

    rl_timer_init(&hour.timer, on_alarm);
    rl_timer_init(&soon.timer, on_alarm);
    rl_timers_arm(&timers, &hour.timer, rl_after(now, rl_ms(3600 * 1000)));
    rl_timers_arm(&timers, &soon.timer, rl_after(now, rl_ms(2)));
    while (soon.fired.ns == RL_LONG_AGO.ns)
        rig_turn();
    ck_assert_int_eq(hour.fired.ns, RL_LONG_AGO.ns);
    rl_timers_disarm(&timers, &hour.timer);
}

TEST(timed, a_disarmed_timer_does_not_fire)
{
    struct alarm first = {.fired = RL_LONG_AGO};
    struct alarm second = {.fired = RL_LONG_AGO};
    struct rl_instant now = rl_clock_now(&rig.clock);

    rl_timer_init(&first.timer, on_alarm);
    rl_timer_init(&second.timer, on_alarm);
    rl_timers_arm(&timers, &first.timer, rl_after(now, rl_ms(1)));
    rl_timers_arm(&timers, &second.timer, rl_after(now, rl_ms(5)));
    rl_timers_disarm(&timers, &first.timer);
    while (second.fired.ns == RL_LONG_AGO.ns)
        rig_turn();
    ck_assert_int_eq(first.fired.ns, RL_LONG_AGO.ns);
}

SUITE("parts")
