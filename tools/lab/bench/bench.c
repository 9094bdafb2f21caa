#include <stdio.h>

#include "bench.h"
#include "comparison.h"
#include "measure.h"
#include "options/message.h"
#include "report.h"
#include "table.h"

enum { MEASURED = 0, BROKEN = 1, NOT_MEASURED = 3 };

static int report(const struct bench_options *options, const struct bench_servers *servers,
                  const struct bench_measurement *m)
{
    if (options->json)
        bench_report_json(stdout, options, servers->n, m);
    else
        bench_report_text(stdout, options, servers->n, m);
    if (bench_measurement_broken(options->scenario, m))
        return BROKEN;
    return fflush(stdout) == 0 ? MEASURED : NOT_MEASURED;
}

static int run_table(const struct bench_options *options, struct bench_servers *servers, char *ret_reason)
{
    bool broken;

    if (!bench_table(stdout, options, servers, &broken, ret_reason))
        return NOT_MEASURED;
    return broken ? BROKEN : MEASURED;
}

static int run_one(const struct bench_options *options, struct bench_servers *servers, char *ret_reason)
{
    struct bench_measurement *m = bench_measure(options, servers, ret_reason);
    int exit_code = m ? report(options, servers, m) : NOT_MEASURED;

    bench_measurement_free(m);
    return exit_code;
}

static int run(const struct bench_options *options, struct bench_servers *servers)
{
    char reason[LOAD_REASON_SIZE] = "";
    int exit_code = options->table ? run_table(options, servers, reason) : run_one(options, servers, reason);

    if (exit_code == NOT_MEASURED)
        cli_error("bench", "%s", *reason ? reason : "cannot write the results");
    return exit_code;
}

static int start_and_run(struct bench_options *options)
{
    struct bench_servers servers;
    const char *why;
    int exit_code = NOT_MEASURED;

    if (bench_servers_start(&servers, options, &why)) {
        if (options->tls)
            options->masters.tls.ca = servers.ca;
        exit_code = run(options, &servers);
    } else {
        cli_error("bench", "%s", why);
    }
    bench_servers_stop(&servers);
    return exit_code;
}

/* Each lock system has servers of its own. */
static int compare(const struct bench_options *options)
{
    char reason[LOAD_REASON_SIZE] = "";
    bool broken;

    if (bench_comparison(stdout, options, &broken, reason) && fflush(stdout) == 0)
        return broken ? BROKEN : MEASURED;
    cli_error("bench", "%s", *reason ? reason : "cannot write the results");
    return NOT_MEASURED;
}

int bench_main(int argc, char **argv)
{
    struct bench_options options;
    int exit_code = bench_options_parse(&options, argc, argv);

    if (exit_code < 0)
        exit_code = options.engines || options.compare ? compare(&options) : start_and_run(&options);
    bench_options_free(&options);
    return exit_code;
}
