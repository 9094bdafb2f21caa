#include "options.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

const char usage[] =
    "usage: sim --seed N [-v | --minimize] [options of worlds]\n"
    "       sim --seeds A..B [--jobs N] [--coverage] [--keep-going] [options of worlds]\n"
    "       sim --story FILE [--record | --expect-violation]\n"
    "       sim --mutants [--seed N] [--jobs N] [--budget N]\n"
    "options of worlds:\n"
    "  --unsafe-restarts  classic, and they come back at once: violations are to be expected\n"
    "  --permits          semaphores in all worlds\n"
    "  --sets             sets of locks in all worlds\n"
    "  --elections        candidates in all worlds\n"
    "  --looks            somebody looks at keys in all worlds\n"
    "  --latches          parties meet at a latch in all worlds\n"
    "  --mixed            clients have different max_ttl\n"
    "  --members          the list of masters changes\n"
    "  --cohorts          waiters of one client form cohorts in all worlds\n"
    "  --calm             crowds that wait for one key, and nothing goes wrong\n"
    "  --classic          no markers and epoch checks: masters that lost their keys stay away for the longest ttl\n"
    "  --clock-steps      masters' clocks may be set\n"
    "  --standstills      clocks of clients and of masters may stand still\n"
    "  --moved-names      names may lead to other masters, and no memory is lost\n"
    "  --without FAULT    never this kind of fault (repeat for more; --faults lists them)\n"
    "  --clients N, --handles N, --duration MS   at most so much\n"
    "  --mutant NAME      with a planted bug (sim-mutants only)\n"
    "--budget leaves out the planted bugs that may need more worlds than that\n"
    "exit status: 0 nothing found, 1 an oracle was violated, 2 usage\n";

enum {
    OPTION_SEED = 256,
    OPTION_SEEDS,
    OPTION_JOBS,
    OPTION_COVERAGE,
    OPTION_KEEP_GOING,
    OPTION_MINIMIZE,
    OPTION_STORY,
    OPTION_RECORD,
    OPTION_MUTANTS,
    OPTION_MUTANT,
    OPTION_BUDGET,
    OPTION_UNSAFE,
    OPTION_CLASSIC,
    OPTION_CALM,
    OPTION_PERMITS,
    OPTION_SETS,
    OPTION_ELECTIONS,
    OPTION_LOOKS,
    OPTION_LATCHES,
    OPTION_MIXED,
    OPTION_COHORTS,
    OPTION_MEMBERS,
    OPTION_STEPS,
    OPTION_NAMES,
    OPTION_STANDSTILLS,
    OPTION_WITHOUT,
    OPTION_CLIENTS,
    OPTION_HANDLES,
    OPTION_DURATION,
    OPTION_FAULTS,
    OPTION_EXPECT,
};

static const struct option long_options[] = {
    {"seed", required_argument, NULL, OPTION_SEED},
    {"seeds", required_argument, NULL, OPTION_SEEDS},
    {"jobs", required_argument, NULL, OPTION_JOBS},
    {"coverage", no_argument, NULL, OPTION_COVERAGE},
    {"keep-going", no_argument, NULL, OPTION_KEEP_GOING},
    {"minimize", no_argument, NULL, OPTION_MINIMIZE},
    {"story", required_argument, NULL, OPTION_STORY},
    {"record", no_argument, NULL, OPTION_RECORD},
    {"mutants", no_argument, NULL, OPTION_MUTANTS},
    {"mutant", required_argument, NULL, OPTION_MUTANT},
    {"budget", required_argument, NULL, OPTION_BUDGET},
    {"unsafe-restarts", no_argument, NULL, OPTION_UNSAFE},
    {"calm", no_argument, NULL, OPTION_CALM},
    {"permits", no_argument, NULL, OPTION_PERMITS},
    {"sets", no_argument, NULL, OPTION_SETS},
    {"elections", no_argument, NULL, OPTION_ELECTIONS},
    {"looks", no_argument, NULL, OPTION_LOOKS},
    {"latches", no_argument, NULL, OPTION_LATCHES},
    {"mixed", no_argument, NULL, OPTION_MIXED},
    {"members", no_argument, NULL, OPTION_MEMBERS},
    {"cohorts", no_argument, NULL, OPTION_COHORTS},
    {"classic", no_argument, NULL, OPTION_CLASSIC},
    {"clock-steps", no_argument, NULL, OPTION_STEPS},
    {"moved-names", no_argument, NULL, OPTION_NAMES},
    {"standstills", no_argument, NULL, OPTION_STANDSTILLS},
    {"without", required_argument, NULL, OPTION_WITHOUT},
    {"clients", required_argument, NULL, OPTION_CLIENTS},
    {"handles", required_argument, NULL, OPTION_HANDLES},
    {"duration", required_argument, NULL, OPTION_DURATION},
    {"faults", no_argument, NULL, OPTION_FAULTS},
    {"expect-violation", no_argument, NULL, OPTION_EXPECT},
    {0},
};

static bool fail(const char *what, const char *value)
{
    fprintf(stderr, "sim: %s: %s\n", what, value);
    return false;
}

static bool parse_number(const char *text, uint64_t max, uint64_t *ret_value)
{
    char *end;
    unsigned long long value = strtoull(text, &end, 10);

    if (end == text || *end || value > max)
        return fail("not a number in range", text);
    *ret_value = value;
    return true;
}

static bool parse_range(const char *text, struct sweep *sweep)
{
    uint64_t first;
    uint64_t last;
    int end = 0;

    if (sscanf(text, "%" SCNu64 "..%" SCNu64 "%n", &first, &last, &end) != 2 || text[end] || last < first)
        return fail("not a range A..B", text);
    sweep->first = first;
    sweep->last = last;
    return true;
}

static bool forbid(const char *name, uint32_t *forbidden)
{
    for (unsigned i = 0; i < FAULT_COUNT; i++) {
        if (strcmp(name, fault_names[i]) == 0) {
            *forbidden |= UINT32_C(1) << i;
            return true;
        }
    }
    return fail("no such fault", name);
}

static bool list_faults(void)
{
    for (unsigned i = 0; i < FAULT_COUNT; i++)
        printf("%-16s %s\n", fault_names[i], fault_texts[i]);
    exit(0);
}

static bool take_option_of_worlds(int option, const char *value, struct plan_options *worlds)
{
    uint64_t number = 0;

    switch (option) {
    case OPTION_UNSAFE:
        worlds->unsafe_restarts = true;
        return true;
    case OPTION_CALM:
        worlds->calm = true;
        return true;
    case OPTION_PERMITS:
        worlds->permits = true;
        return true;
    case OPTION_SETS:
        worlds->sets = true;
        return true;
    case OPTION_ELECTIONS:
        worlds->elections = true;
        return true;
    case OPTION_LOOKS:
        worlds->looks = true;
        return true;
    case OPTION_LATCHES:
        worlds->latches = true;
        return true;
    case OPTION_MIXED:
        worlds->mixed = true;
        return true;
    case OPTION_COHORTS:
        worlds->cohorts = true;
        return true;
    case OPTION_MEMBERS:
        worlds->members = true;
        return true;
    case OPTION_CLASSIC:
        worlds->classic = true;
        return true;
    case OPTION_STEPS:
        worlds->clock_steps = true;
        return true;
    case OPTION_NAMES:
        worlds->moved_names = true;
        return true;
    case OPTION_STANDSTILLS:
        worlds->standstills = true;
        return true;
    case OPTION_WITHOUT:
        return forbid(value, &worlds->forbidden);
    case OPTION_CLIENTS:
        worlds->max_clients = (uint8_t)(parse_number(value, MAX_CLIENTS, &number) ? number : 0);
        return number > 0;
    case OPTION_HANDLES:
        worlds->max_handles = (uint8_t)(parse_number(value, MAX_HANDLES, &number) ? number : 0);
        return number > 0;
    case OPTION_DURATION:
        worlds->max_duration_ns = parse_number(value, 86400000, &number) ? (int64_t)number * RL_NS_PER_MS : 0;
        return number > 0;
    case OPTION_FAULTS:
        return list_faults();
    default:
        return false;
    }
}

static bool take_seed(const char *value, struct request *request)
{
    request->have_range = true;
    if (!parse_number(value, UINT64_MAX, &request->sweep.first))
        return false;
    request->sweep.last = request->sweep.first;
    return true;
}

static bool take_option(int option, const char *value, struct request *request)
{
    uint64_t number = 0;

    switch (option) {
    case OPTION_SEED:
        return take_seed(value, request);
    case OPTION_SEEDS:
        request->have_range = true;
        return parse_range(value, &request->sweep);
    case OPTION_JOBS:
        request->sweep.jobs = (unsigned)(parse_number(value, MOST_JOBS, &number) ? number : 0);
        return number > 0;
    case OPTION_MUTANT:
        request->mutant = mutant_by_name(value);
        return request->mutant ? true : fail("no such planted bug", value);
    case OPTION_BUDGET:
        return parse_number(value, UINT64_MAX, &request->budget);
    case OPTION_STORY:
        request->story = value;
        return true;
    case 'v':
        return request->verbose = true;
    case OPTION_COVERAGE:
        return request->coverage = true;
    case OPTION_KEEP_GOING:
        request->sweep.stop_at_first = false;
        return true;
    case OPTION_MINIMIZE:
        return request->minimize = true;
    case OPTION_RECORD:
        return request->record = true;
    case OPTION_MUTANTS:
        return request->mutants = true;
    case OPTION_EXPECT:
        return request->expect_violation = request->sweep.quiet = true;
    default:
        return take_option_of_worlds(option, value, &request->sweep.worlds);
    }
}

bool parse_options(int argc, char **argv, struct request *request)
{
    int option;

    while ((option = getopt_long(argc, argv, "v", long_options, NULL)) != -1) {
        if (option == '?' || !take_option(option, optarg, request))
            return false;
    }
    if (request->mutants && request->mutant)
        return fail("--mutants looks for all planted bugs", "--mutant");
    return optind == argc;
}
