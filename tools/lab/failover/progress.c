#include "progress.h"

#include <string.h>

#include <redlock/status.h>

#include "report.h"

#define RATE_NS INT64_C(500000000)

void fo_progress_init(struct fo_progress *progress, const struct fo_options *options)
{
    memset(progress, 0, sizeof *progress);
    progress->options = options;
    term_init(&progress->term, stderr);
}

static uint32_t n_wanted(const struct fo_options *options)
{
    uint32_t n = 0;

    for (int i = 0; i < FO_SCENARIOS; i++)
        n += options->wanted[i];
    return n;
}

static void begin(struct fo_progress *progress, const struct fo_run *run)
{
    memset(progress->read, 0, sizeof progress->read);
    progress->run = run;
    progress->acquired = progress->refused = 0;
    progress->since_ns = fo_now_ns();
    progress->rate = 0;
}

static void count(struct fo_progress *progress, const struct fo_shared *shared)
{
    int64_t now_ns = fo_now_ns();

    for (uint32_t i = 0; i < shared->clients; i++) {
        uint32_t n = atomic_load(&shared->journals[i].n);

        for (; progress->read[i] < n; progress->read[i]++) {
            const struct fo_record *record = &shared->journals[i].records[progress->read[i]];

            progress->acquired += record->kind == FO_REQUEST && record->status == REDLOCK_OK;
            progress->refused += record->kind == FO_REQUEST && record->status != REDLOCK_OK;
        }
    }
    if (now_ns - progress->since_ns < RATE_NS)
        return;
    progress->rate = (double)progress->acquired * 1e9 / (double)(now_ns - progress->since_ns);
    progress->acquired = progress->refused = 0;
    progress->since_ns = now_ns;
}

void fo_progress_show(const struct fo_run *run, void *user_data)
{
    struct fo_progress *progress = user_data;
    const struct fo_shared *shared = run->shared;
    struct fo_verdict verdict = shared->verdict;
    double seconds = shared->start_ns ? (double)(fo_now_ns() - shared->start_ns) / 1e9 : 0;

    if (!progress->term.tty || progress->options->quiet)
        return;
    if (progress->run != run || (progress->since_ns && progress->read[0] > atomic_load(&shared->journals[0].n)))
        begin(progress, run);
    count(progress, shared);
    fprintf(progress->term.out, "\r\033[K[%u/%u] %s %.1f s, %s: %.0f locks/s, violations ", progress->number + 1,
            n_wanted(progress->options), run->scenario->name, seconds < 0 ? 0 : seconds,
            fo_phase_name((enum fo_phase)atomic_load(&shared->phase)), progress->rate);
    term_print(&progress->term, fo_verdict_violations(&verdict) ? TERM_RED : TERM_GREEN, "%llu",
               (unsigned long long)fo_verdict_violations(&verdict));
    fflush(progress->term.out);
    progress->painted = true;
}

void fo_progress_end(struct fo_progress *progress)
{
    if (progress->painted)
        fputs("\r\033[K", progress->term.out);
    progress->painted = false;
    progress->run = NULL;
}

void fo_progress_outcome(struct fo_progress *progress, const struct fo_outcome *outcome)
{
    char cell[16];

    progress->number++;
    if (progress->options->quiet)
        return;
    fprintf(progress->term.out, "[%u/%u] %-16s %s, unavailable for %s\n", progress->number,
            n_wanted(progress->options), outcome->scenario->name, fo_report_word(outcome),
            fo_duration(*outcome->skipped ? -1 : outcome->outage.longest_ns, cell, sizeof cell));
    fflush(progress->term.out);
}
