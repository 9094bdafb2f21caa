/* The command: worlds by their seeds, a story, or the hunt for planted bugs. */
#include <inttypes.h>
#include <stdio.h>

#include "simulated/lua_host.h"
#include "options.h"
#include "story.h"

static int run_verbose(struct lua_host *lua, const struct request *request)
{
    static struct tally tally;
    const struct sweep one = {.first = request->sweep.first, .last = request->sweep.first,
                              .worlds = request->sweep.worlds, .jobs = 1, .quiet = true, .trace = stdout};

    run_sweep(lua, &one, &tally);
    if (!tally.violations)
        return 0;
    printf("VIOLATION: %s\n", tally.first_violation);
    return 1;
}

static void print_tally(const struct sweep *sweep, const struct tally *tally)
{
    const uint64_t *counters = tally->coverage.counters;
    double minutes = tally->cpu_seconds / 60;

    printf("worlds %" PRIu64 "..%" PRIu64 "%s: %" PRIu64 " run, %" PRIu64 " violations, %.0f events each, "
           "%.0f worlds a minute of CPU\n",
           sweep->first, sweep->last, run_options_text(&sweep->worlds), tally->worlds, tally->violations,
           tally->worlds ? (double)counters[COUNTER_EVENTS] / (double)tally->worlds : 0.0,
           minutes > 0 ? (double)tally->worlds / minutes : 0.0);
}

static int run_many(struct lua_host *lua, const struct request *request)
{
    static struct tally tally;
    unsigned missing = 0;

    run_sweep(lua, &request->sweep, &tally);
    if (request->coverage)
        missing = coverage_print(&tally.coverage, &request->sweep.worlds, stdout);
    print_tally(&request->sweep, &tally);
    if (request->expect_violation) {
        printf("%s\n", tally.violations ? tally.first_violation : "NOTHING FOUND, though a violation was expected");
        return tally.violations ? 0 : 1;
    }
    if (missing)
        printf("COVERAGE: %u rows at zero\n", missing);
    return tally.violations || missing ? 1 : 0;
}

static int run_story(struct lua_host *lua, const struct request *request)
{
    enum story_aim aim = request->record             ? STORY_RECORD
                         : request->expect_violation ? STORY_EXPECT
                                                     : STORY_CHECK;

    return story_run(lua, request->story, aim) ? 0 : 1;
}

static int serve(struct lua_host *lua, const struct request *request)
{
    mutant_plant(lua, request->mutant);
    if (request->story)
        return run_story(lua, request);
    if (request->mutants) {
        uint64_t first = request->have_range ? request->sweep.first : 1;

        return mutants_hunt(lua, first, request->budget, request->sweep.jobs) ? 0 : 1;
    }
    if (!request->have_range) {
        fputs(usage, stderr);
        return 2;
    }
    if (request->minimize) {
        minimize(lua, request->sweep.first, request->sweep.worlds);
        return 0;
    }
    return request->verbose ? run_verbose(lua, request) : run_many(lua, request);
}

int main(int argc, char **argv)
{
    struct request request = {.sweep = {.jobs = 1, .stop_at_first = true}, .budget = UINT64_MAX};
    struct lua_host *lua;
    int status;

    if (!parse_options(argc, argv, &request)) {
        fputs(usage, stderr);
        return 2;
    }
    lua = lua_host_create();
    status = serve(lua, &request);
    lua_host_destroy(lua);
    return status;
}
