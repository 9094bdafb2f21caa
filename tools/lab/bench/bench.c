#include <stdio.h>

#include "bench.h"
#include "cli/file_out.h"
#include "comparison.h"
#include "measure.h"
#include "options/message.h"
#include "report.h"
#include "report_html.h"
#include "table.h"

enum { MEASURED = 0, BROKEN = 1, NOT_MEASURED = 3, PATIENCE_MS = 10000 };

static int fail(const char *reason)
{
    cli_error("bench", "%s", *reason ? reason : "cannot write the results");
    return NOT_MEASURED;
}

static bool write_page(struct file_out *page, const struct bench_options *options, const struct bench_servers *servers,
                       const struct bench_measurement *m)
{
    FILE *out = file_out_begin(page);

    if (out)
        bench_report_html(out, options, servers->n, m);
    return out && file_out_end(page, PATIENCE_MS);
}

static int report(const struct bench_options *options, const struct bench_servers *servers,
                  const struct bench_measurement *m, struct file_out *page)
{
    bool written;

    if (options->json)
        bench_report_json(stdout, options, servers->n, m);
    else
        bench_report_text(stdout, options, servers->n, m);
    written = !page->path || write_page(page, options, servers, m);
    if (bench_measurement_broken(options->scenario, m))
        return BROKEN;
    if (fflush(stdout) != 0)
        return fail("");
    return written ? MEASURED : NOT_MEASURED;
}

static int run_table(const struct bench_options *options, struct bench_servers *servers)
{
    char reason[LOAD_REASON_SIZE] = "";
    bool broken;

    if (!bench_table(stdout, options, servers, &broken, reason))
        return fail(reason);
    return broken ? BROKEN : MEASURED;
}

static int run_one(const struct bench_options *options, struct bench_servers *servers, struct file_out *page)
{
    char reason[LOAD_REASON_SIZE] = "";
    struct bench_measurement *m = bench_measure(options, servers, reason);
    int exit_code = m ? report(options, servers, m, page) : fail(reason);

    bench_measurement_free(m);
    return exit_code;
}

static int start_and_run(struct bench_options *options, struct file_out *page)
{
    struct bench_servers servers;
    const char *why;
    int exit_code = NOT_MEASURED;

    if (bench_servers_start(&servers, options, &why)) {
        if (options->tls)
            options->masters.tls.ca = servers.ca;
        exit_code = options->table ? run_table(options, &servers) : run_one(options, &servers, page);
    } else {
        cli_error("bench", "%s", why);
    }
    bench_servers_stop(&servers);
    return exit_code;
}

/* The page's file is opened before anything is measured that could not be written. */
static int measure(struct bench_options *options)
{
    struct file_out page = {0};
    int exit_code = NOT_MEASURED;

    if (!options->html || file_out_open(&page, "bench", options->html, FILE_PUBLIC))
        exit_code = start_and_run(options, &page);
    file_out_close(&page);
    return exit_code;
}

/* Each lock system has servers of its own. */
static int compare(const struct bench_options *options)
{
    char reason[LOAD_REASON_SIZE] = "";
    bool broken;

    if (bench_comparison(stdout, options, &broken, reason) && fflush(stdout) == 0)
        return broken ? BROKEN : MEASURED;
    return fail(reason);
}

int bench_main(int argc, char **argv)
{
    struct bench_options options;
    int exit_code = bench_options_parse(&options, argc, argv);

    if (exit_code < 0)
        exit_code = options.engines || options.compare ? compare(&options) : measure(&options);
    bench_options_free(&options);
    return exit_code;
}
