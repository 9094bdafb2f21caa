/* The clock of a master against ours: what is found, and that nothing is found where nothing is. */
#include "votes/clocks.h"

#include <inttypes.h>
#include <string.h>

#include "suite.h"

#define US 1000
#define MS 1000000
#define SECOND INT64_C(1000000000)
#define EPOCH_US INT64_C(1700000000000000)

static struct rl_node_clock watched;

static void fresh(void)
{
    rl_node_clock_init(&watched);
}

/* A reading at `ns` of ours that took a millisecond, of a clock that is `ahead_us` ahead of EPOCH_US + ours. */
static enum rl_clock_finding read_at(int64_t ns, int64_t ahead_us, uint32_t ppm)
{
    return rl_node_clock_read(&watched, ppm, EPOCH_US + ns / US + ahead_us, (struct rl_instant){ns - MS / 2},
                             (struct rl_instant){ns + MS / 2});
}

/* --- Examples ----------------------------------------------------------------------------------------------------- */

GROUP(examples, "examples", fresh, NULL)

TEST(examples, the_first_reading_gives_the_offset)
{
    ck_assert_int_eq(rl_node_clock_offset_ns(&watched), 0);
    ck_assert_int_eq(read_at(SECOND, 0, 0), RL_CLOCK_STEADY);
    ck_assert_int_eq(watched.low_ns, EPOCH_US * US - MS / 2);
    ck_assert_int_eq(watched.high_ns, EPOCH_US * US + MS / 2 + US);
    ck_assert_int_eq(watched.at.ns, SECOND + MS / 2);
    ck_assert_int_eq(rl_node_clock_offset_ns(&watched), EPOCH_US * US + US / 2);
}

TEST(examples, better_readings_narrow_the_interval)
{
    read_at(SECOND, 0, 0);
    rl_node_clock_read(&watched, 0, EPOCH_US + 2000000, (struct rl_instant){2 * SECOND},
                      (struct rl_instant){2 * SECOND + 10 * US});
    ck_assert_int_eq(watched.low_ns, EPOCH_US * US - 10 * US);
    ck_assert_int_eq(watched.high_ns, EPOCH_US * US + US);
    read_at(3 * SECOND, 0, 0);
    ck_assert_int_eq(watched.high_ns - watched.low_ns, 11 * US);
}

/* 100 millionths of the true time are 100.01 of the time of a clock that is slow by as much: 101. */
TEST(examples, time_widens_the_interval_by_the_drift)
{
    read_at(SECOND, 0, 100);
    rl_node_clock_read(&watched, 100, EPOCH_US + 11000000, (struct rl_instant){10 * SECOND},
                      (struct rl_instant){12 * SECOND});
    ck_assert_int_eq(watched.low_ns, EPOCH_US * US - MS / 2 - 1110950);
    ck_assert_int_eq(watched.high_ns, EPOCH_US * US + MS / 2 + US + 101 + 1110950);
}

/* A little more than a millionth counts as two, and 1.999998 ns as 2. */
TEST(examples, the_drift_is_rounded_up)
{
    struct rl_instant later = {999999};

    rl_node_clock_read(&watched, 1, 0, (struct rl_instant){0}, (struct rl_instant){0});
    rl_node_clock_read(&watched, 1, 999, later, later);
    ck_assert_int_eq(watched.low_ns, -2);
    ck_assert_int_eq(watched.high_ns, 1);
}

TEST(examples, a_step_forward_is_found_with_its_size)
{
    read_at(SECOND, 0, 0);
    ck_assert_int_eq(read_at(2 * SECOND, 20000, 0), RL_CLOCK_FORWARD);
    ck_assert_uint_eq(watched.forward_steps, 1);
    ck_assert_uint_eq(watched.backward_steps, 0);
    ck_assert_int_ge(watched.last_step.ns, 20 * MS);
    ck_assert_int_le(watched.last_step.ns, 21 * MS + US);
    ck_assert_int_eq(read_at(3 * SECOND, 20000, 0), RL_CLOCK_STEADY);
    ck_assert_uint_eq(watched.forward_steps, 1);
}

TEST(examples, a_step_backward_is_found_with_its_size)
{
    read_at(SECOND, 0, 0);
    ck_assert_int_eq(read_at(2 * SECOND, -20000, 0), RL_CLOCK_BACKWARD);
    ck_assert_uint_eq(watched.forward_steps, 0);
    ck_assert_uint_eq(watched.backward_steps, 1);
    ck_assert_int_le(watched.last_step.ns, -19 * MS + US);
    ck_assert_int_ge(watched.last_step.ns, -20 * MS);
    ck_assert_int_eq(read_at(3 * SECOND, -20000, 0), RL_CLOCK_STEADY);
}

/* --- Rates -------------------------------------------------------------------------------------------------------- */

TEST(examples, a_clock_that_stands_still_is_slow_until_it_goes_on)
{
    read_at(SECOND, 0, 0);
    read_at(2 * SECOND, -1000000, 0);
    ck_assert(!rl_node_clock_is_slow(&watched));
    read_at(3 * SECOND, -2000000, 0);
    ck_assert(rl_node_clock_is_slow(&watched));
    read_at(3 * SECOND + 100 * MS, -2100000, 0);
    ck_assert(rl_node_clock_is_slow(&watched));
    read_at(4 * SECOND, -2100000, 0);
    ck_assert(!rl_node_clock_is_slow(&watched));
}

/* Each pair: what it does of a second, in thousandths, and whether that is slow. */
static const int paces[][2] = {{0, 1}, {500, 1}, {740, 1}, {760, 0}, {1000, 0}, {2000, 0}};

TESTS(examples, a_clock_is_slow_that_does_less_than_three_quarters_of_our_time, 0, sizeof paces / sizeof paces[0])
{
    for (int64_t t = 1; t <= 5; t++)
        read_at(t * SECOND, t * 1000 * (paces[_i][0] - 1000), 0);
    ck_assert_int_eq(rl_node_clock_is_slow(&watched), paces[_i][1]);
}

TEST(examples, a_clock_that_was_set_back_is_not_slow)
{
    read_at(SECOND, 0, 0);
    for (int64_t t = 2; t <= 6; t++) {
        read_at(t * SECOND, -400000, 0);
        ck_assert(!rl_node_clock_is_slow(&watched));
    }
    for (int64_t t = 7; t <= 12; t++)
        read_at(t * SECOND, -2000000 * t, 0);
    ck_assert(!rl_node_clock_is_slow(&watched));
}

TEST(examples, a_move_is_known_as_precisely_as_it_was_read)
{
    read_at(SECOND, 0, 0);
    read_at(2 * SECOND, 20000, 0);
    ck_assert_int_eq(watched.last_move.from.ns, SECOND - MS / 2);
    ck_assert_int_eq(watched.last_move.to.ns, 2 * SECOND + MS / 2);
    ck_assert_int_eq(watched.last_move.least.ns, 19 * MS - US);
    ck_assert_int_eq(watched.last_move.most.ns, watched.last_step.ns);
}

TEST(examples, a_step_that_the_delays_may_explain_is_none)
{
    read_at(SECOND, 0, 0);
    ck_assert_int_eq(read_at(2 * SECOND, 1000, 0), RL_CLOCK_STEADY);
    ck_assert_int_eq(watched.last_step.ns, 0);
}

TEST(examples, a_step_on_the_very_edge_is_none_and_one_beyond_it_is)
{
    int64_t edge_us = 1001; /* the width of a reading of 1 ms */

    read_at(SECOND, 0, 0);
    ck_assert_int_eq(read_at(2 * SECOND, edge_us, 0), RL_CLOCK_STEADY);
    fresh();
    read_at(SECOND, 0, 0);
    ck_assert_int_eq(read_at(2 * SECOND, edge_us + 1, 0), RL_CLOCK_FORWARD);
}

TEST(examples, readings_of_any_value_are_survived)
{
    static const int64_t wild[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX / 1000, INT64_MAX - 1, INT64_MAX};
    const size_t n = sizeof wild / sizeof *wild;

    for (size_t i = 0; i < n * n * n; i++) {
        struct rl_instant sent = {wild[i % n]};
        struct rl_instant received = {wild[i / n % n]};

        if (rl_before(received, sent))
            continue;
        rl_node_clock_read(&watched, i % 2 ? UINT32_MAX : 0, wild[i / n / n], sent, received);
        ck_assert_int_le(watched.low_ns, rl_node_clock_offset_ns(&watched));
        ck_assert_int_ge(watched.high_ns, rl_node_clock_offset_ns(&watched));
    }
}

/* --- Properties --------------------------------------------------------------------------------------------------- */

#define RUNS 400
#define READINGS 250

static uint64_t state;

static int64_t draw(int64_t low, int64_t high)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return low + (int64_t)(state % (uint64_t)(high - low + 1));
}

/* A clock whose rate changes all the time, as far as the drift allowance goes: with ours slow, and the node's not, it
 * gains ppm / (1 - ppm). Exact to the nanosecond, rounded against us. */
struct model {
    uint32_t ppm;
    int64_t now; /* ours */
    int64_t node;
};

/* ns * numerator / denominator, rounded down. The product alone may not fit. */
static int64_t scale(int64_t ns, int64_t numerator, int64_t denominator)
{
    return ns / denominator * numerator + ns % denominator * numerator / denominator;
}

static void pass(struct model *model, int64_t ns)
{
    int64_t most = scale(ns, model->ppm, 1000000 - model->ppm);
    int64_t kind = draw(0, 3);
    int64_t gain = kind == 0 ? most : kind == 1 ? -most : draw(-most, most);

    model->now += ns;
    model->node += ns + gain;
}

/* From microseconds to a minute. */
static int64_t some_time(int64_t most)
{
    int64_t scale = draw(0, 3);

    return draw(0, scale == 0 ? 10 * US : scale == 1 ? MS : scale == 2 ? SECOND : most);
}

static enum rl_clock_finding model_read(struct model *model)
{
    struct rl_instant sent = {model->now};
    int64_t node_us;

    pass(model, some_time(2 * SECOND));
    node_us = model->node / US;
    pass(model, some_time(2 * SECOND));
    return rl_node_clock_read(&watched, model->ppm, node_us, sent, (struct rl_instant){model->now});
}

static struct model some_model(uint64_t seed)
{
    static const uint32_t rates[] = {0, 1, 50, 500, 10000, 83000};
    struct model model;

    state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    fresh();
    model = (struct model){.ppm = rates[draw(0, 5)], .now = draw(0, 1000 * SECOND)};
    model.node = EPOCH_US * US + draw(0, 1000 * SECOND);
    return model;
}

GROUP(properties, "properties", fresh, NULL)

TEST(properties, no_truthful_clock_within_its_rate_is_ever_found_to_be_set)
{
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        struct model model = some_model(seed);

        for (int i = 0; i < READINGS; i++) {
            int64_t offset;

            pass(&model, some_time(60 * SECOND));
            ck_assert_msg(model_read(&model) == RL_CLOCK_STEADY, "seed %" PRIu64 ", reading %d", seed, i);
            offset = model.node - model.now;
            ck_assert_msg(watched.low_ns <= offset && offset <= watched.high_ns,
                          "seed %" PRIu64 ", reading %d: the truth is outside", seed, i);
        }
    }
}

/* How wide the old interval is when the next reading comes, and that reading itself, is what a step may hide in. */
static int64_t hiding_place(const struct model *model, int64_t low, int64_t high, struct rl_instant at, int64_t sent)
{
    int64_t passed = model->now - at.ns;
    int64_t in_flight = model->now - sent;
    uint32_t rate = (uint32_t)(INT64_C(1000000) * model->ppm / (1000000 - model->ppm)) + 1;
    int64_t widened = scale(passed, rate, 1000000) + 1;
    int64_t own = in_flight + scale(in_flight, rate, 1000000) + 1 + US;

    return high - low + 2 * widened + own;
}

/* One more reading, with a step of the clock just before it; returns the finding and the widest step that may hide. */
static enum rl_clock_finding read_after_step(struct model *model, int64_t extra, int sign, int64_t *ret_step)
{
    struct model rehearsal = *model;
    struct rl_node_clock before = watched;
    uint64_t luck = state;

    model_read(&rehearsal);
    *ret_step = hiding_place(&rehearsal, before.low_ns, before.high_ns, before.at, model->now) + extra;
    watched = before;
    state = luck;
    model->node += sign * *ret_step;
    return model_read(model);
}

TEST(properties, every_step_wider_than_what_may_hide_it_is_found_and_its_size_bounded)
{
    for (uint64_t seed = 1; seed <= RUNS * 4; seed++) {
        struct model model = some_model(seed);
        int sign = seed % 2 ? 1 : -1;
        int64_t step;

        for (int64_t i = draw(1, 30); i > 0; i--) {
            pass(&model, some_time(60 * SECOND));
            ck_assert_int_eq(model_read(&model), RL_CLOCK_STEADY);
        }
        pass(&model, some_time(60 * SECOND));
        ck_assert_msg(read_after_step(&model, draw(1, 1000), sign, &step) ==
                          (sign > 0 ? RL_CLOCK_FORWARD : RL_CLOCK_BACKWARD),
                      "seed %" PRIu64 ": a step of %" PRId64 " ns was not found", seed, step);
        if (sign > 0)
            ck_assert_int_ge(watched.last_step.ns, step);
        else
            ck_assert_int_ge(watched.last_step.ns, -step);
        ck_assert_int_eq(model_read(&model), RL_CLOCK_STEADY);
    }
}

SUITE("node_clock")
