#include "failover.h"

#include <stdlib.h>
#include <string.h>

#include "cli/file_out.h"
#include "comparison.h"
#include "comparison_html.h"
#include "comparison_text.h"
#include "conduct.h"
#include "options/message.h"
#include "progress.h"
#include "report.h"
#include "report_html.h"
#include "report_json.h"
#include "report_text.h"

static bool run_one(struct fo_report *report, const struct fo_scenario *scenario, struct fo_progress *progress)
{
    struct fo_run *run = calloc(1, sizeof *run);
    struct fo_outcome *outcome = NULL;

    if (!run)
        return false;
    run->options = report->options;
    run->scenario = scenario;
    run->progress = fo_progress_show;
    run->user_data = progress;
    if (fo_conduct(run))
        outcome = fo_outcome_of(run);
    fo_progress_end(progress);
    if (!outcome && *run->why && report->options->engine) {
        report->engine_failed = true;
        outcome = fo_outcome_skipped(scenario, run->why);
    }
    if (outcome)
        fo_report_add(report, outcome);
    if (!outcome || *outcome->skipped)
        cli_error("failover", "%s: %s", scenario->name, *run->why ? run->why : "out of memory");
    fo_conduct_fini(run);
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

enum { FILE_JSON, FILE_CSV, FILE_HGRM, FILE_HTML, FILE_MARKDOWN, FILES, PATIENCE_MS = 10000 };

/* The files of the report: one for each form that was asked for. */
struct files {
    struct file_out out[FILES];
    write_fn write[FILES];
};

/* Before minutes are spent on a report that nobody can read. */
static bool open_files(struct files *files, const struct fo_options *options)
{
    const char *const paths[FILES] = {options->json, options->csv, options->hgrm, options->html, options->markdown};

    *files = (struct files){.write = {fo_report_json, fo_report_csv, fo_report_hgrm, fo_report_html}};
    for (size_t i = 0; i < FILES; i++)
        if (paths[i] && !file_out_open(&files->out[i], "failover", paths[i], FILE_PUBLIC))
            return false;
    return true;
}

static bool write_files(struct files *files, const struct fo_report *report)
{
    bool ok = true;

    for (size_t i = 0; i < FILES; i++) {
        FILE *out = files->out[i].path ? file_out_begin(&files->out[i]) : NULL;

        if (out)
            files->write[i](out, report);
        ok = (!files->out[i].path || (out && file_out_end(&files->out[i], PATIENCE_MS))) && ok;
    }
    return ok;
}

static void close_files(struct files *files)
{
    for (size_t i = 0; i < FILES; i++)
        file_out_close(&files->out[i]);
}

static int run(const struct fo_options *options, struct files *files)
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
        code = write_files(files, &report) ? fo_report_exit(&report) : FO_OWN_ERROR;
    }
    fo_report_free(&report);
    return code;
}

/* --- Several lock systems ----------------------------------------------------------------------------------------- */

static bool run_entry(struct fo_entry *entry, const struct fo_options *options)
{
    struct fo_progress progress;

    fo_entry_init(entry, options);
    fo_progress_init(&progress, &entry->options);
    if (!options->quiet)
        fprintf(stderr, "%s%s%s\n", entry->contestant->label, *entry->contestant->skipped ? ": " : "",
                entry->contestant->skipped);
    if (*entry->contestant->skipped)
        return true;
    if (!run_all(&entry->report, &progress))
        return false;
    fo_report_complete(&entry->report);
    return true;
}

static bool write_comparison(struct files *files, const struct fo_comparison *comparison)
{
    static void (*const writers[])(FILE *out, const struct fo_comparison *comparison) = {
        [FILE_JSON] = fo_comparison_json, [FILE_HTML] = fo_comparison_html, [FILE_MARKDOWN] = fo_comparison_markdown};
    bool ok = true;

    for (size_t i = 0; i < FILES; i++) {
        FILE *out = files->out[i].path ? file_out_begin(&files->out[i]) : NULL;

        if (out)
            writers[i](out, comparison);
        ok = (!files->out[i].path || (out && file_out_end(&files->out[i], PATIENCE_MS))) && ok;
    }
    return ok;
}

/* What is broken elsewhere is a finding; what is broken here is a failure. */
static int compare(const struct fo_options *options, const struct engine_contestants *contestants, struct files *files)
{
    struct fo_comparison *comparison = fo_comparison_create(options, contestants);
    struct term term;
    bool ok = comparison != NULL;
    int code = FO_OWN_ERROR;

    term_init(&term, stdout);
    for (size_t i = 0; ok && i < comparison->n; i++)
        ok = run_entry(&comparison->entries[i], options);
    if (ok) {
        fo_comparison_text(&term, comparison);
        code = write_comparison(files, comparison) ? fo_comparison_exit(comparison) : FO_OWN_ERROR;
    }
    fo_comparison_free(comparison);
    return code;
}

static int run_engines(struct fo_options *options, struct files *files)
{
    struct engine_contestants *contestants = calloc(1, sizeof *contestants);
    char why[240] = "out of memory";
    int code = FO_OWN_ERROR;

    if (!contestants || !engine_contestants_find(contestants, options->engines, why, sizeof why))
        cli_error("failover", "%s", why);
    else if (options->compare || contestants->n > 1)
        code = compare(options, contestants, files);
    else {
        fo_options_choose(options, &contestants->list[0]);
        code = run(options, files);
    }
    free(contestants);
    return code;
}

int failover_main(int argc, char **argv)
{
    struct fo_options options;
    struct files files = {0};
    int code = fo_options_parse(&options, argc, argv);
    bool with_engines = code < 0 && (options.engines || options.compare);

    if (code < 0 && options.list) {
        fo_scenario_list(stdout);
        code = FO_OK;
    }
    if (code < 0 && !open_files(&files, &options))
        code = FO_OWN_ERROR;
    if (code < 0)
        code = with_engines ? run_engines(&options, &files) : run(&options, &files);
    close_files(&files);
    fo_options_free(&options);
    return code;
}
