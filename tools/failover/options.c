#include "options.h"

#include <string.h>

#include "failover.h"
#include "options/message.h"
#include "options/parse.h"
#include "shared.h"

static const char help[] =
    "Usage: redlock failover [OPTION...] SCENARIO...\n"
    "       redlock failover [OPTION...] --all\n"
    "\n"
    "Does to masters what happens to masters, while clients lock, and tells for how long\n"
    "nobody could, and whether there was ever a second holder.\n"
    "\n"
    "Start here; five masters of its own are started and removed again:\n"
    "  redlock failover kill-2 --html report.html\n"
    "\n"
    "What happens in a scenario: several client processes ask for locks at a fixed rate,\n"
    "each request at its appointed time whether or not the last one was answered (an open\n"
    "loop: an outage is not hidden by waiting for it). Besides they compete for one leader\n"
    "lock. After a while without a fault it is injected, later it is taken away. A referee\n"
    "process compares all holds, checks every fencing token and a file of counters that\n"
    "holders increment, and looks at the masters past the library.\n"
    "\n"
    "  --list               the scenarios, and what each of them does\n"
    "  --all                all of them, in about three minutes\n"
    "\n"
    "Masters:\n"
    "  --masters N          start so many of our own (5)\n"
    "  --persistence MODE   of these: none (default), everysec, always\n"
    "  -n, --nodes A,B,...  use running masters instead. Only keys that begin with\n"
    "                       'failover:' are touched there\n"
    "  --fault-hook CMD     how to do faults to those: it is run without a shell as\n"
    "                       CMD kill|start|hang|resume N with N = 1 for the first of the\n"
    "                       list. Scenarios that need no such fault go without\n"
    "  --node URL           one of them; repeat it for each\n"
    "\n"
    "Load:\n"
    "  --rate N             requests a second, of all clients together (400)\n"
    "  --clients N          client processes (4)\n"
    "  --deadline DUR       how long a request may try (500ms)\n"
    "  --phase DUR          time before, during and after the fault, each; longer where a\n"
    "                       quarantine or ttl has to pass (2500ms)\n"
    "  -t, --ttl DUR        of the locks (1s)\n"
    "  --max-ttl DUR        largest ttl of the deployment: a master that has lost its\n"
    "                       memory stays out for this and one second more (2s)\n"
    "  --seed N             of everything that is random (1)\n"
    "\n"
    "Output: a progress line and a table; besides\n"
    "  --html FILE          one self-contained page, with pictures\n"
    "  --json FILE          everything, for programs\n"
    "  --csv FILE           a line for each 100 ms of each scenario\n"
    "  --hgrm FILE          latencies as an HdrHistogram percentile table\n"
    "  -q, --quiet          no progress line\n"
    "  --max-unavailable DUR  longest time for which nobody may be able to lock\n"
    "\n"
    "On a machine that does other things as well: chrt -r 2 redlock failover ...\n"
    "A duration is a number and its unit: 500ms, 1.5s, 2m.\n"
    "\n"
    "Exit status: 0 all is well; 1 a promise was broken (two holders, a fencing token that\n"
    "did not grow, a lock taken away from its holder, a key left behind); 2 unavailable for\n"
    "longer than --max-unavailable; 125 wrong options, or it could not be measured.\n";

#define SCENARIO_WORD "[SCENARIO]"

enum { FO_LEAST_MASTERS = 3 };

static const char *const persistence_words[] = {
    [MASTERS_VOLATILE] = "none", [MASTERS_EVERYSEC] = "everysec", [MASTERS_ALWAYS] = "always", NULL};

static int complain(const char *what, const char *detail)
{
    cli_error("failover", "%s%s", what, detail);
    cli_usage("failover");
    return FO_OWN_ERROR;
}

static int take_names(struct fo_options *options, const char *const *names)
{
    bool any = options->all || options->list;

    for (size_t i = 0; i < FO_SCENARIOS && names[i]; i++) {
        int found = fo_scenario_find(names[i]);

        if (found < 0)
            return complain("there is no scenario (see --list) ", names[i]);
        options->wanted[found] = any = true;
    }
    for (size_t i = 0; options->all && i < FO_SCENARIOS; i++)
        options->wanted[i] = true;
    return any ? -1 : complain("name a scenario, or use --all; see --list", "");
}

/* What makes no sense as an experiment. */
static int check(const struct fo_options *options)
{
    if (options->n_masters < FO_LEAST_MASTERS)
        return complain("--nodes must name 3 masters or more", "");
    if (options->ttl_ms > options->max_ttl_ms)
        return complain("--ttl must be at most --max-ttl, which is 2s unless it is given", "");
    if (options->hook && options->masters.count == 0)
        return complain("--fault-hook is for masters that --nodes names", "");
    return -1;
}

static void set_defaults(struct fo_options *options)
{
    *options = (struct fo_options){
        .n_masters = 5,
        .clients = 4,
        .rate = 400,
        .phase_ms = 2500,
        .ttl_ms = 1000,
        .max_ttl_ms = 2000,
        .deadline_ms = 500,
        .seed = 1,
        .max_unavailable_ms = UINT32_MAX,
    };
}

static int parse(struct fo_options *options, uint32_t *ret_persistence, const char **ret_names, int argc, char **argv)
{
    const struct cli_option table[] = {
        {.name = "list", .flag = &options->list},
        {.name = "all", .flag = &options->all},
        {.name = "masters", .number = &options->n_masters, .least = FO_LEAST_MASTERS, .most = MASTERS_MAX},
        {.name = "persistence", .choice = ret_persistence, .words = persistence_words},
        {.name = "node", .node = &options->masters},
        {.name = "nodes", .letter = 'n', .node_list = &options->masters},
        {.name = "fault-hook", .file = &options->hook},
        {.name = "rate", .number = &options->rate, .least = 10, .most = 20000},
        {.name = "clients", .number = &options->clients, .least = 2, .most = FO_MAX_CLIENTS},
        {.name = "deadline", .duration_ms = &options->deadline_ms, .least = 1, .most = 60000},
        {.name = "phase", .duration_ms = &options->phase_ms, .least = 200, .most = 600000},
        {.name = "ttl", .letter = 't', .duration_ms = &options->ttl_ms, .least = 100, .most = 60000},
        {.name = "max-ttl", .duration_ms = &options->max_ttl_ms, .least = 100, .most = 60000},
        {.name = "seed", .number = &options->seed},
        {.name = "html", .file = &options->html},
        {.name = "json", .file = &options->json},
        {.name = "csv", .file = &options->csv},
        {.name = "hgrm", .file = &options->hgrm},
        {.name = "quiet", .letter = 'q', .flag = &options->quiet},
        {.name = "max-unavailable", .duration_ms = &options->max_unavailable_ms},
        {0},
    };
    const char *operands[FO_SCENARIOS + 1] = {NULL};
    const char *words[FO_SCENARIOS + 1] = {NULL};
    const struct cli_command command = {.name = "failover", .help = help, .options = table, .operands = operands,
                                        .operand_words = words};

    for (size_t i = 0; i < FO_SCENARIOS; i++) {
        operands[i] = SCENARIO_WORD;
        words[i] = fo_scenarios[i].name;
    }
    return cli_parse(&command, argc, argv, ret_names);
}

int fo_options_parse(struct fo_options *options, int argc, char **argv)
{
    const char *names[FO_SCENARIOS + 1] = {NULL};
    uint32_t persistence = MASTERS_VOLATILE;
    int code;

    set_defaults(options);
    code = parse(options, &persistence, names, argc, argv);
    if (code >= 0)
        return code == 0 ? FO_OK : FO_OWN_ERROR;
    options->persistence = (enum masters_persistence)persistence;
    options->persistence_name = persistence_words[persistence];
    if (options->masters.count > 0)
        options->n_masters = (uint32_t)options->masters.count;
    code = take_names(options, names);
    return code >= 0 ? code : check(options);
}

void fo_options_free(struct fo_options *options)
{
    cli_masters_fini(&options->masters);
}

int64_t fo_options_step_ns(const struct fo_options *options)
{
    return INT64_C(1000000000) / options->rate;
}

uint32_t fo_options_quarantine_ms(const struct fo_options *options, enum fo_fault fault)
{
    bool durable = options->masters.count == 0 && options->persistence == MASTERS_ALWAYS;
    bool restarts = fault == FO_KILL || fault == FO_ROLL;

    if (fault != FO_EMPTY && fault != FO_STEP && !(restarts && !durable))
        return 0;
    return options->max_ttl_ms + 1000;
}
