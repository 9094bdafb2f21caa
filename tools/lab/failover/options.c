#include "options.h"

#include <redlock/options.h>
#include <string.h>

#include "failover.h"
#include "options/message.h"
#include "options/parse.h"
#include "shared.h"

static const char help[] =
    "Usage: redlock-lab failover [OPTION...] SCENARIO...\n"
    "       redlock-lab failover [OPTION...] --all\n"
    "\n"
    "Injects faults into masters while clients lock, and reports for how long nobody\n"
    "could lock, and whether there was ever a second holder.\n"
    "\n"
    "Start here; five masters of its own are started and removed again:\n"
    "  redlock-lab failover kill-2 --html report.html\n"
    "\n"
    "In a scenario, several client processes ask for locks at a fixed rate. Each\n"
    "request is made at its appointed time, whether or not the last one was answered,\n"
    "so an outage is not hidden by waiting for its end (an open loop). The clients\n"
    "also compete for one leader lock. After a while the fault is injected, and later\n"
    "it is removed. A referee process compares all holds, checks every fencing token\n"
    "and a file of counters that holders increment, and asks the masters directly.\n"
    "\n"
    "  --list               list the scenarios, and what each of them does\n"
    "  --all                run those that are not only for comparing lock systems,\n"
    "                       in about two and a half minutes\n"
    "\n"
    "Other lock systems, see redlock-lab-failover(1):\n"
    "  --engine NAME[@SYSTEM][:defaults][,...]\n"
    "                       put these engine programs to the test instead; 'redlock'\n"
    "                       is this library, ':defaults' the ttl of the library in\n"
    "                       question instead of --ttl. More than one: as --compare\n"
    "  --compare            all systems that are found here, or those of --engine, by\n"
    "                       all scenarios that make sense, or those named: one report\n"
    "\n";

static const char help_options[] =
    "Masters:\n"
    "  --masters N          start N masters for the run (5)\n"
    "  --persistence MODE   their persistence: none (default), everysec, always\n"
    "  --tls                reach them by TLS, with certificates made for the run\n"
    "  -n, --nodes A,B,...  use running masters instead. Only keys that begin with\n"
    "                       'failover:' are changed there\n"
    "  --fault-hook CMD     how to inject faults into running masters: CMD is called\n"
    "                       without a shell as CMD kill|start|hang|resume N, where N\n"
    "                       is 1 for the first of the list. Without it, only\n"
    "                       scenarios that need no such fault are run\n"
    "  --node URL           one running master; repeat it for each\n"
    CLI_REACH_HELP
    "\n"
    "A store, which the run starts as well:\n"
    "  --resource KIND      redis, postgres, mariadb or file. Leaders write to it,\n"
    "                       each time with and without a guard of tools/fencing: how\n"
    "                       many late writes did the guard refuse, and how many were\n"
    "                       stored without it?\n"
    "\n"
    "Load:\n"
    "  --rate N             requests a second of all clients together (400)\n"
    "  --clients N          client processes (4)\n"
    "  --deadline DUR       how long a request may try (500ms)\n"
    "  --phase DUR          time before, during and after the fault, each (2500ms);\n"
    "                       longer where a quarantine or a ttl must pass\n"
    "  -t, --ttl DUR        ttl of the locks (1s)\n"
    "  --max-ttl DUR        largest ttl of the deployment: a master that has lost its\n"
    "                       memory does not vote for so long and a second (2s)\n"
    "  --seed N             seed of the random numbers (1)\n"
    "\n"
    "Output, besides a progress line and a table:\n"
    "  --html FILE          a self-contained page with charts\n"
    "  --json FILE          all results, for programs\n"
    "  --csv FILE           a line for each 100 ms of each scenario\n"
    "  --hgrm FILE          latencies as an HdrHistogram percentile table\n"
    "  --markdown FILE      of several systems: the matrix as a table for a document\n"
    "  -q, --quiet          no progress line\n"
    "  --max-unavailable DUR\n"
    "                       longest time for which nobody may be able to lock\n"
    "\n"
    "On a machine that has other work: chrt -r 2 redlock-lab failover ...\n"
    "A duration is a number and its unit: 500ms, 1.5s, 2m.\n"
    "\n"
    "Exit status: 0 no promise was broken; 1 a promise was broken: two holders at a\n"
    "time, a fencing token that did not grow, a lock taken away from its holder, a\n"
    "key left behind, or a late write that the guard of --resource let pass; 2 nobody\n"
    "could lock for longer than --max-unavailable; 3 an engine failed; 125 wrong\n"
    "options, or it could not be measured.\n"
    "With --compare, 1 and 2 are about this library alone.\n";

static void write_help(FILE *out)
{
    fputs(help, out);
    fputs(help_options, out);
}

#define SCENARIO_WORD "[SCENARIO]"

enum { FO_LEAST_MASTERS = 3, FO_USUAL_MASTERS = 5 };

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
    bool any = options->all || options->list || (options->compare && !names[0]);

    for (size_t i = 0; i < FO_SCENARIOS && names[i]; i++) {
        int found = fo_scenario_find(names[i]);

        if (found < 0)
            return complain("there is no such scenario, see --list: ", names[i]);
        options->wanted[found] = any = true;
    }
    for (size_t i = 0; options->all && i < FO_SCENARIOS; i++)
        options->wanted[i] = !fo_scenarios[i].by_name;
    for (size_t i = 0; options->compare && !options->all && !names[0] && i < FO_SCENARIOS; i++)
        options->wanted[i] = fo_scenarios[i].compared;
    return any ? -1 : complain("name a scenario, or use --all; see --list", "");
}

#define NOT_GIVEN UINT32_MAX

/* What has a default. */
struct given {
    uint32_t n_masters; /* 0: not given */
    uint32_t persistence;
    uint32_t resource;
};

/* The second one would overwrite the first. */
static bool has_one_file_for_two(const struct fo_options *options)
{
    const char *const files[] = {options->html, options->json, options->csv, options->hgrm, options->markdown};

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        for (size_t j = 0; j < i; j++)
            if (files[i] && files[j] && strcmp(files[i], files[j]) == 0)
                return true;
    return false;
}

/* What makes no sense as an experiment. */
static int check(const struct fo_options *options, const struct given *given)
{
    if ((options->engines || options->compare) && (options->masters.count > 0 || options->tls))
        return complain("--engine and --compare start servers of their own: no --nodes, no --tls", "");
    if (options->compare && (options->csv || options->hgrm))
        return complain("several systems have --html, --json and --markdown", "");
    if (options->compare && options->resource != FO_NO_RESOURCE)
        return complain("--resource is for one system: not with --compare", "");
    if (!options->compare && options->markdown)
        return complain("--markdown is for several systems: --compare", "");
    if (has_one_file_for_two(options))
        return complain("two of the reports have the same file", "");
    if (options->masters.count > 0 && (given->n_masters > 0 || given->persistence != NOT_GIVEN))
        return complain("--masters and --persistence are for masters of its own: not with --nodes", "");
    if (options->n_masters < FO_LEAST_MASTERS)
        return complain("--nodes must name 3 masters or more", "");
    if (options->ttl_ms > options->max_ttl_ms)
        return complain("--ttl must be at most --max-ttl, which is 2s unless it is given, and 6s with --compare", "");
    if (options->tls && options->masters.count > 0)
        return complain("--tls is for masters of its own; those of --nodes have it by rediss:// URLs", "");
    if (options->hook && options->masters.count == 0)
        return complain("--fault-hook is for masters that --nodes names", "");
    return -1;
}

/* Load and times have none yet: complete_load(). */
static void set_defaults(struct fo_options *options)
{
    *options = (struct fo_options){.n_masters = FO_USUAL_MASTERS, .seed = 1, .max_unavailable_ms = UINT32_MAX};
}

struct load {
    uint32_t clients, rate, phase_ms, ttl_ms, max_ttl_ms, deadline_ms;
};

static const struct load of_library = {
    .clients = 4, .rate = 400, .phase_ms = 2500, .ttl_ms = 1000, .max_ttl_ms = 2000, .deadline_ms = 500};

/* Longer leases, which outlive the choice of a new leader (Sentinel takes up to 4.5 s); less load, for clients that are
 * slow to start. */
static const struct load of_comparison = {
    .clients = 3, .rate = 150, .phase_ms = 1000, .ttl_ms = 6000, .max_ttl_ms = 6000, .deadline_ms = 1000};

static void complete(uint32_t *number, uint32_t otherwise)
{
    if (*number == 0)
        *number = otherwise;
}

/* None of them may be 0, so those that are were not given. */
static void complete_load(struct fo_options *options)
{
    const struct load *load = options->compare ? &of_comparison : &of_library;

    complete(&options->clients, load->clients);
    complete(&options->rate, load->rate);
    complete(&options->phase_ms, load->phase_ms);
    complete(&options->ttl_ms, load->ttl_ms);
    complete(&options->max_ttl_ms, load->max_ttl_ms);
    complete(&options->deadline_ms, load->deadline_ms);
}

static int parse(struct fo_options *options, struct given *ret_given, const char **ret_names, int argc, char **argv)
{
    const struct cli_option table[] = {
        {.name = "list", .flag = &options->list},
        {.name = "all", .flag = &options->all},
        {.name = "compare", .flag = &options->compare},
        {.name = "engine", .text = &options->engines},
        {.name = "masters", .number = &ret_given->n_masters, .least = FO_LEAST_MASTERS, .most = MASTERS_MAX},
        {.name = "persistence", .choice = &ret_given->persistence, .words = persistence_words},
        {.name = "node", .node = &options->masters},
        {.name = "nodes", .letter = 'n', .node_list = &options->masters},
        {.name = "resource", .choice = &ret_given->resource, .words = fo_resource_words},
        {.name = "tls", .flag = &options->tls},
        {.name = "fault-hook", .file = &options->hook},
        CLI_PASSWORD_OPTIONS(&options->masters.password),
        CLI_TLS_OPTIONS(&options->masters.tls),
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
        {.name = "markdown", .file = &options->markdown},
        {.name = "quiet", .letter = 'q', .flag = &options->quiet},
        {.name = "max-unavailable", .duration_ms = &options->max_unavailable_ms},
        {0},
    };
    const char *operands[FO_SCENARIOS + 1] = {NULL};
    const char *words[FO_SCENARIOS + 1] = {NULL};
    const struct cli_command command = {.name = "failover", .write_help = write_help, .options = table,
                                        .operands = operands, .operand_words = words};

    for (size_t i = 0; i < FO_SCENARIOS; i++) {
        operands[i] = SCENARIO_WORD;
        words[i] = fo_scenarios[i].name;
    }
    return cli_parse(&command, argc, argv, ret_names);
}

int fo_options_parse(struct fo_options *options, int argc, char **argv)
{
    const char *names[FO_SCENARIOS + 1] = {NULL};
    struct given given = {.persistence = NOT_GIVEN, .resource = FO_NO_RESOURCE};
    int code;

    set_defaults(options);
    code = parse(options, &given, names, argc, argv);
    if (code >= 0)
        return code == 0 ? FO_OK : FO_OWN_ERROR;
    options->persistence = given.persistence == NOT_GIVEN ? MASTERS_VOLATILE
                                                          : (enum masters_persistence)given.persistence;
    options->resource = (enum fo_resource_kind)given.resource;
    if (given.n_masters > 0)
        options->n_masters = given.n_masters;
    options->compare = options->compare || (options->engines && strchr(options->engines, ','));
    complete_load(options);
    if (options->masters.count > 0)
        options->n_masters = (uint32_t)options->masters.count;
    code = take_names(options, names);
    if (code < 0)
        code = check(options, &given);
    if (code < 0 && (!cli_settle_password("failover", &options->masters) ||
                     !cli_tls_complete("failover", &options->masters.tls, options->masters.urls,
                                       options->masters.count))) {
        cli_usage("failover");
        code = FO_OWN_ERROR;
    }
    return code;
}

void fo_options_free(struct fo_options *options)
{
    cli_masters_fini(&options->masters);
}

bool fo_options_have_tls(const struct fo_options *options)
{
    for (size_t i = 0; i < options->masters.count; i++)
        if (cli_url_has_tls(options->masters.urls[i]))
            return true;
    return options->tls;
}

void fo_options_choose(struct fo_options *options, const struct engine_contestant *contestant)
{
    bool ours = engine_contestant_is_library(contestant);
    struct redlock_acquire_options acquire;
    struct redlock_options library;

    options->engine = ours ? NULL : contestant;
    if (!contestant->defaults)
        return;
    redlock_acquire_options_init(&acquire);
    redlock_options_init(&library);
    options->ttl_ms = ours ? acquire.ttl_ms : contestant->hello.ttl_ms;
    options->max_ttl_ms = ours || contestant->system == MASTERS_AGENT ? library.max_ttl_ms : contestant->hello.ttl_ms;
}

int64_t fo_options_step_ns(const struct fo_options *options)
{
    return INT64_C(1000000000) / options->rate;
}

uint32_t fo_options_quarantine_ms(const struct fo_options *options, enum fo_fault fault)
{
    bool durable = options->masters.count == 0 && options->persistence == MASTERS_ALWAYS;
    bool restarts = fault == FO_KILL || fault == FO_ROLL;

    if (options->engine && options->engine->system != MASTERS_AGENT)
        return 0;
    if (fault != FO_EMPTY && fault != FO_STEP && !(restarts && !durable))
        return 0;
    return options->max_ttl_ms + 1000;
}
