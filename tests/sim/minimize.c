/* Makes a failing world simpler, as long as the same oracle is violated: fewer faults, clients, handles, less time.
 * The streams of random numbers are independent, so taking one thing away leaves the rest much as it was. */
#include <inttypes.h>
#include <string.h>

#include "run.h"
#include "world.h"

struct failure {
    struct lua_host *lua;
    uint64_t seed;
    char oracle[24];
    char text[400];
    unsigned tries;
};

static void name_oracle(const char *text, char *ret_oracle, size_t size)
{
    size_t length = strcspn(text, ",");

    snprintf(ret_oracle, size, "%.*s", (int)length, text);
}

/* NULL if there is none. */
static const char *violation_of(const struct failure *failure, const struct plan_options *options)
{
    static struct tally tally;
    const struct sweep sweep = {.first = failure->seed, .last = failure->seed, .worlds = *options, .jobs = 1,
                                .quiet = true};

    run_sweep(failure->lua, &sweep, &tally);
    return tally.violations ? tally.first_violation : NULL;
}

static bool still_fails(struct failure *failure, const struct plan_options *options)
{
    const char *text = violation_of(failure, options);
    char oracle[24];

    failure->tries++;
    if (!text)
        return false;
    name_oracle(text, oracle, sizeof oracle);
    if (strcmp(oracle, failure->oracle) != 0)
        return false;
    memcpy(failure->text, text, sizeof failure->text);
    return true;
}

static bool try_options(struct failure *failure, struct plan_options *options, struct plan_options simpler)
{
    if (!still_fails(failure, &simpler))
        return false;
    *options = simpler;
    return true;
}

static void fewer_faults(struct failure *failure, struct plan_options *options, uint32_t present)
{
    for (unsigned i = 0; i < FAULT_COUNT; i++) {
        struct plan_options simpler = *options;

        simpler.forbidden |= UINT32_C(1) << i;
        if (present >> i & 1u)
            try_options(failure, options, simpler);
    }
    options->forbidden &= present;
}

static void fewer_actors(struct failure *failure, struct plan_options *options)
{
    struct plan_options simpler = *options;

    for (uint8_t n = 1; n < MAX_CLIENTS; n++) {
        simpler.max_clients = n;
        if (try_options(failure, options, simpler))
            break;
    }
    simpler = *options;
    for (uint8_t n = 1; n < MAX_HANDLES; n++) {
        simpler.max_handles = n;
        if (try_options(failure, options, simpler))
            break;
    }
}

static void less_time(struct failure *failure, struct plan_options *options, int64_t duration_ns)
{
    for (int64_t cut = duration_ns / 2; cut > RL_NS_PER_MS; cut /= 2) {
        struct plan_options simpler = *options;

        simpler.max_duration_ns = (duration_ns - cut) / RL_NS_PER_MS * RL_NS_PER_MS;
        if (try_options(failure, options, simpler))
            duration_ns = simpler.max_duration_ns;
    }
}

void minimize(struct lua_host *lua, uint64_t seed, struct plan_options options)
{
    static struct plan plan;
    struct failure failure = {.lua = lua, .seed = seed};
    const char *text = violation_of(&failure, &options);

    if (!text) {
        printf("world %" PRIu64 " violates nothing\n", seed);
        return;
    }
    memcpy(failure.text, text, sizeof failure.text);
    name_oracle(text, failure.oracle, sizeof failure.oracle);
    plan_draw(&plan, seed, &options);
    fewer_actors(&failure, &options);
    fewer_faults(&failure, &options, plan.faults);
    less_time(&failure, &options, plan.duration_ns);
    fewer_actors(&failure, &options);
    printf("after %u tries: %s\n  replay: sim --seed %" PRIu64 "%s -v\n", failure.tries, failure.text, seed,
           run_options_text(&options));
}
