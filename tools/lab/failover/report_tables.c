/* For other programs' plots: a line for each 100 ms, and latencies in HdrHistogram's form of a percentile table. */
#include <math.h>

#include "report.h"

static void cell(FILE *out, int64_t ns)
{
    if (ns < 0)
        putc(',', out);
    else
        fprintf(out, ",%.3f", (double)ns / 1e6);
}

static enum fo_phase phase_of(const struct fo_outcome *outcome, int64_t at_ns)
{
    return at_ns < outcome->fault_ns ? FO_BEFORE : at_ns < outcome->heal_ns ? FO_DURING : FO_AFTER;
}

static uint32_t voting(const struct fo_outcome *outcome, int64_t at_ns)
{
    uint32_t not = 0;

    for (size_t i = 0; i < outcome->n_spans; i++) {
        const struct fo_span *span = &outcome->spans[i];
        bool bad = span->quarantined || (span->state != FO_UP && span->state != FO_STEPPED && span->state != FO_LATE);

        if (bad && span->from_ns <= at_ns && at_ns < span->to_ns)
            not |= UINT32_C(1) << span->node;
    }
    return outcome->n_masters - (uint32_t)__builtin_popcount(not);
}

void fo_report_csv(FILE *out, const struct fo_report *report)
{
    fputs("scenario,time_s,phase,offered,acquired,refused,p50_ms,p99_ms,max_ms,stall_ms,masters_voting\n", out);
    for (size_t i = 0; i < report->n; i++) {
        const struct fo_outcome *outcome = report->outcomes[i];

        for (size_t j = 0; j < outcome->n_buckets; j++) {
            const struct fo_bucket *bucket = &outcome->buckets[j];
            int64_t at_ns = (int64_t)j * FO_BUCKET_NS;

            fprintf(out, "%s,%.1f,%s,%u,%u,%u", outcome->scenario->name, (double)at_ns / 1e9,
                    fo_phase_name(phase_of(outcome, at_ns)), bucket->offered, bucket->acquired, bucket->refused);
            cell(out, bucket->p50_ns);
            cell(out, bucket->p99_ns);
            cell(out, bucket->max_ns);
            cell(out, bucket->stall_ns);
            fprintf(out, ",%u\n", voting(outcome, at_ns));
        }
    }
}

/* Half of what is left, five steps each, as HdrHistogram does. */
#define TICKS_PER_HALVING 5

static void percentile(FILE *out, const struct histogram *histogram, double q)
{
    uint64_t rank = (uint64_t)ceil(q * (double)histogram->count);

    fprintf(out, "%12.3f %14.12f %10llu", (double)histogram_quantile(histogram, q) / 1e6, q,
            (unsigned long long)(rank > 0 ? rank : 1));
    if (q < 1)
        fprintf(out, " %14.2f", 1 / (1 - q));
    putc('\n', out);
}

static void print_histogram(FILE *out, const struct histogram *histogram)
{
    fputs("       Value     Percentile TotalCount 1/(1-Percentile)\n\n", out);
    for (double left = 1; histogram->count && left * (double)histogram->count >= 1; left /= 2)
        for (int tick = 0; tick < TICKS_PER_HALVING; tick++)
            percentile(out, histogram, 1 - left + left / 2 * tick / TICKS_PER_HALVING);
    if (histogram->count)
        percentile(out, histogram, 1);
    fprintf(out, "#[Mean    = %12.3f, Max            = %12.3f]\n#[Total count    = %12llu]\n",
            histogram_mean(histogram) / 1e6, (double)histogram->max / 1e6, (unsigned long long)histogram->count);
}

/* One table for each scenario and phase; a plotter of one table takes the lines from one "# " to the next. */
void fo_report_hgrm(FILE *out, const struct fo_report *report)
{
    for (size_t i = 0; i < report->n; i++)
        for (int phase = 0; phase < FO_PHASES && !*report->outcomes[i]->skipped; phase++) {
            fprintf(out, "# %s, %s; milliseconds from the intended start\n", report->outcomes[i]->scenario->name,
                    fo_phase_name((enum fo_phase)phase));
            print_histogram(out, &report->outcomes[i]->phases[phase].latency);
        }
}
