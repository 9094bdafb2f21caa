#include "failover.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "options/message.h"
#include "progress.h"
#include "report.h"

static bool run_one(struct fo_report *report, const struct fo_scenario *scenario, struct fo_progress *progress)
{
    struct fo_run *run = calloc(1, sizeof(*run));
    struct fo_outcome *outcome = NULL;

    if (!run)
        return false;
    run->options = report->options;
    run->scenario = scenario;
    run->progress = fo_progress_show;
    run->user_data = progress;
    if (fo_run(run))
        outcome = fo_outcome_of(run);
    fo_progress_end(progress);
    if (outcome)
        fo_report_add(report, outcome);
    else
        cli_error("failover", "%s: %s", scenario->name, *run->why ? run->why : "out of memory");
    fo_run_fini(run);
    free(run);
    return outcome != NULL;
}

static bool skip(struct fo_report *report, const struct fo_scenario *scenario, const char *why)
{
    struct fo_outcome *outcome = fo_outcome_skipped(scenario, why);

    if (outcome)
        fo_report_add(report, outcome);
    return outcome != NULL;
}

static bool run_all(struct fo_report *report, struct fo_progress *progress)
{
    int64_t began_ns = fo_now_ns();

    for (int i = 0; i < FO_SCENARIOS; i++) {
        const struct fo_scenario *scenario = &fo_scenarios[i];
        const char *why = report->options->wanted[i] ? fo_cluster_obstacle(report->options, scenario) : NULL;

        if (!report->options->wanted[i])
            continue;
        if (!(why ? skip(report, scenario, why) : run_one(report, scenario, progress)))
            return false;
        fo_progress_outcome(progress, report->outcomes[report->n - 1]);
    }
    report->lasted_ns = fo_now_ns() - began_ns;
    return true;
}

typedef void (*write_fn)(FILE *out, const struct fo_report *report);

static bool write_file(const char *path, write_fn write, const struct fo_report *report)
{
    FILE *out;
    bool ok;

    if (!path)
        return true;
    out = fopen(path, "we");
    ok = out != NULL;
    if (out) {
        write(out, report);
        ok = !ferror(out);
        ok = fclose(out) == 0 && ok;
    }
    if (!ok)
        cli_error("failover", "cannot write %s: %s", path, strerror(errno));
    return ok;
}

static bool write_files(const struct fo_report *report)
{
    const struct fo_options *options = report->options;
    bool json = write_file(options->json, fo_report_json, report);
    bool csv = write_file(options->csv, fo_report_csv, report);
    bool hgrm = write_file(options->hgrm, fo_report_hgrm, report);
    bool html = write_file(options->html, fo_report_html, report);

    return json && csv && hgrm && html;
}

static int run(const struct fo_options *options)
{
    struct fo_report report = {.options = options};
    struct fo_progress progress;
    struct term term;
    int code = FO_OWN_ERROR;

    fo_progress_init(&progress, options);
    term_init(&term, stdout);
    if (run_all(&report, &progress)) {
        fo_report_complete(&report);
        fo_report_text(&term, &report);
        code = write_files(&report) ? fo_report_exit(&report) : FO_OWN_ERROR;
    }
    fo_report_free(&report);
    return code;
}

int failover_main(int argc, char **argv)
{
    struct fo_options options;
    int code = fo_options_parse(&options, argc, argv);

    if (code < 0 && options.list) {
        fo_scenario_list(stdout);
        code = FO_OK;
    }
    if (code < 0)
        code = run(&options);
    fo_options_free(&options);
    return code;
}
