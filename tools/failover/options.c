#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failover.h"
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
    "  --nodes A,B,...      use running masters instead. Only keys that begin with\n"
    "                       'failover:' are touched there\n"
    "  --fault-hook CMD     how to do faults to those: it is run without a shell as\n"
    "                       CMD kill|start|hang|resume N with N = 1 for the first of the\n"
    "                       list. Scenarios that need no such fault go without\n"
    "\n"
    "Load:\n"
    "  --rate N             requests a second, of all clients together (400)\n"
    "  --clients N          client processes (4)\n"
    "  --deadline DUR       how long a request may try (500ms)\n"
    "  --phase DUR          time before, during and after the fault, each; longer where a\n"
    "                       quarantine or ttl has to pass (2500ms; a number is seconds)\n"
    "  --ttl DUR            of the locks (1s)\n"
    "  --max-ttl DUR        largest ttl of the deployment: a master that has lost its\n"
    "                       memory stays out for this and one second more (2s)\n"
    "  --seed N             of everything that is random (1)\n"
    "\n"
    "Output: a progress line and a table; besides\n"
    "  --html FILE          one self-contained page, with pictures\n"
    "  --json FILE          everything, for programs\n"
    "  --csv FILE           a line for each 100 ms of each scenario\n"
    "  --hgrm FILE          latencies as an HdrHistogram percentile table\n"
    "  --quiet              no progress line\n"
    "  --max-unavailable DUR  longest time for which nobody may be able to lock\n"
    "\n"
    "On a machine that does other things as well: chrt -r 2 redlock failover ...\n"
    "Durations are 500ms, 30s, 2m; a plain number is milliseconds, but for --phase.\n"
    "\n"
    "Exit status: 0 all is well; 1 a promise was broken (two holders, a fencing token that\n"
    "did not grow, a lock taken away from its holder, a key left behind); 2 unavailable for\n"
    "longer than --max-unavailable; 125 wrong options, or it could not be measured.\n";

#define SCENARIO_WORD "[SCENARIO]"

static int complain(const char *what, const char *detail)
{
    cli_error("failover", "%s%s", what, detail);
    cli_usage("failover");
    return FO_OWN_ERROR;
}

static bool take_persistence(struct fo_options *options)
{
    static const char *const names[] = {
        [MASTERS_VOLATILE] = "none", [MASTERS_EVERYSEC] = "everysec", [MASTERS_ALWAYS] = "always"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(options->persistence_name, names[i]) == 0) {
            options->persistence = (enum masters_persistence)i;
            return true;
        }
    return false;
}

/* "3" is three seconds, as people mean it; everything else is a duration. */
static bool take_phase(struct fo_options *options, const char *text)
{
    char seconds[24];

    if (strspn(text, "0123456789") == strlen(text) && strlen(text) < sizeof(seconds) - 2) {
        snprintf(seconds, sizeof(seconds), "%ss", text);
        text = seconds;
    }
    return cli_parse_duration(text, &options->phase_ms);
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

/* What the library would refuse, and what makes no sense as an experiment. */
static int check(const struct fo_options *options)
{
    if (options->n_masters < 3 || options->n_masters > MASTERS_MAX)
        return complain("the number of masters must be 3 to 31", "");
    if (options->clients < 2 || options->clients > FO_MAX_CLIENTS)
        return complain("--clients must be 2 to 32", "");
    if (options->rate < 10 || options->rate > 20000)
        return complain("--rate must be 10 to 20000", "");
    if (options->ttl_ms < 100 || options->ttl_ms > options->max_ttl_ms || options->max_ttl_ms > 60000)
        return complain("--ttl must be at least 100ms, and --max-ttl at least that and at most 1m", "");
    if (options->deadline_ms < 1 || options->deadline_ms > 60000)
        return complain("--deadline must be 1ms to 1m", "");
    if (options->phase_ms < 200 || options->phase_ms > 600000)
        return complain("--phase must be 200ms to 10m", "");
    if (options->hook && options->masters.count == 0)
        return complain("--fault-hook is for masters that --nodes names", "");
    return -1;
}

static void set_defaults(struct fo_options *options)
{
    *options = (struct fo_options){
        .n_masters = 5,
        .persistence_name = "none",
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

int fo_options_parse(struct fo_options *options, int argc, char **argv)
{
    const char *phase = "2500ms";
    const struct cli_option table[] = {
        {.name = "list", .flag = &options->list},
        {.name = "all", .flag = &options->all},
        {.name = "masters", .number = &options->n_masters},
        {.name = "persistence", .text = &options->persistence_name},
        {.name = "nodes", .node_list = &options->masters},
        {.name = "fault-hook", .text = &options->hook},
        {.name = "rate", .number = &options->rate},
        {.name = "clients", .number = &options->clients},
        {.name = "deadline", .duration_ms = &options->deadline_ms},
        {.name = "phase", .text = &phase},
        {.name = "ttl", .duration_ms = &options->ttl_ms},
        {.name = "max-ttl", .duration_ms = &options->max_ttl_ms},
        {.name = "seed", .number = &options->seed},
        {.name = "json", .text = &options->json},
        {.name = "csv", .text = &options->csv},
        {.name = "hgrm", .text = &options->hgrm},
        {.name = "html", .text = &options->html},
        {.name = "max-unavailable", .duration_ms = &options->max_unavailable_ms},
        {.name = "quiet", .flag = &options->quiet},
        {.name = NULL},
    };
    const char *names[FO_SCENARIOS + 1] = {NULL}, *operands[FO_SCENARIOS + 1] = {NULL};
    const struct cli_command command = {
        .name = "failover", .help = help, .options = table, .operands = names};
    int code;

    for (size_t i = 0; i < FO_SCENARIOS; i++)
        names[i] = SCENARIO_WORD;
    set_defaults(options);
    code = cli_parse(&command, argc, argv, operands);
    if (code >= 0)
        return code == 0 ? FO_OK : FO_OWN_ERROR;
    if (options->masters.count > 0)
        options->n_masters = (uint32_t)options->masters.count;
    if (!take_persistence(options))
        return complain("--persistence must be none, everysec or always, not ", options->persistence_name);
    if (!take_phase(options, phase))
        return complain("--phase must be seconds or a duration, not ", phase);
    code = take_names(options, operands);
    return code >= 0 ? code : check(options);
}

void fo_options_free(struct fo_options *options)
{
    for (size_t i = 0; i < options->masters.count; i++)
        free(options->masters.owned[i]);
    options->masters.count = 0;
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
