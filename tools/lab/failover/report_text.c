#include "report_text.h"

#include <math.h>
#include <string.h>

#include "cli/term.h"

#define CELL 16

static void counter(struct term *term, const char *name, uint64_t n)
{
    fputs("  ", term->out);
    term_print(term, n ? TERM_RED : TERM_GREEN, "%llu", (unsigned long long)n);
    fprintf(term->out, " %s\n", name);
}

static void print_safety(struct term *term, const struct fo_report *report)
{
    const struct fo_verdict *verdict = &report->verdict;
    struct fo_broken broken[FO_PROMISES];
    size_t n = fo_report_broken(verdict, broken);
    char store[FO_STORE_TEXT];

    term_print(term, TERM_BOLD, "Safety");
    fprintf(term->out, "  %llu acquisitions, %llu writes, %llu looks at the masters\n",
            (unsigned long long)verdict->acquired, (unsigned long long)verdict->writes,
            (unsigned long long)verdict->probes);
    for (size_t i = 0; i < n; i++)
        counter(term, broken[i].text, broken[i].n);
    fprintf(term->out, "  (writes of former holders that the fence kept out: %llu; grants that came too late to be of "
            "use: %llu)\n",
            (unsigned long long)verdict->late_refused, (unsigned long long)verdict->late_acquired);
    if (*fo_report_store(report, verdict, store))
        fprintf(term->out, "  %s\n", store);
    putc('\n', term->out);
}

static enum term_style style_of(const struct fo_outcome *outcome)
{
    if (fo_verdict_violations(&outcome->verdict))
        return TERM_RED;
    return outcome->goal.applies && !outcome->goal.met ? TERM_YELLOW : TERM_GREEN;
}

static void print_head(struct term *term)
{
    term_print(term, TERM_BOLD, "%-16s %11s %9s %9s %9s %9s %9s %8s %7s\n", "scenario", "unavailable", "detected",
               "back", "all vote", "p50", "p99", "max", "refused");
}

/* Quantiles of all that succeeded from the fault on. */
static struct histogram since_fault(const struct fo_outcome *outcome)
{
    struct histogram sum = outcome->phases[FO_DURING].latency;

    histogram_merge(&sum, &outcome->phases[FO_AFTER].latency);
    return sum;
}

static const char *quantile(const struct histogram *histogram, double q, char *buffer)
{
    return fo_duration(histogram->count ? (int64_t)histogram_quantile(histogram, q) : -1, buffer, CELL);
}

static void print_line(struct term *term, const struct fo_outcome *outcome)
{
    struct histogram all = since_fault(outcome);
    char cells[7][CELL];
    bool healed = fo_is_healed(outcome);

    if (*outcome->skipped) {
        fprintf(term->out, "%-16s not run: %s\n", outcome->scenario->name, outcome->skipped);
        return;
    }
    fprintf(term->out, "%-16s %11s %9s %9s %9s %9s %9s %8s %7llu", outcome->scenario->name,
            fo_duration(outcome->outage.longest_ns, cells[0], CELL), fo_duration(outcome->detect_ns, cells[1], CELL),
            fo_duration(healed ? outcome->recover_ns : -1, cells[2], CELL),
            fo_duration(healed ? outcome->strength_ns : -1, cells[3], CELL), quantile(&all, 0.5, cells[4]),
            quantile(&all, 0.99, cells[5]), quantile(&all, 1, cells[6]),
            (unsigned long long)(fo_refused(&outcome->phases[FO_DURING]) + fo_refused(&outcome->phases[FO_AFTER])));
    term_print(term, style_of(outcome), "  %s\n", fo_report_word(outcome));
}

static void print_goals(struct term *term, const struct fo_report *report)
{
    for (size_t i = 0; i < report->n; i++) {
        const struct fo_outcome *outcome = report->outcomes[i];

        if (outcome->goal.applies)
            fprintf(term->out, "  %-16s %s: %s\n", outcome->scenario->name, fo_report_word(outcome),
                    outcome->goal.text);
        if (fo_report_too_long(report, outcome))
            term_print(term, TERM_RED, "  %-16s unavailable for longer than --max-unavailable\n",
                       outcome->scenario->name);
    }
}

static void print_environment(struct term *term, const struct fo_report *report)
{
    const struct fo_environment *environment = &report->environment;
    const struct fo_options *options = report->options;
    char trip[CELL];

    fprintf(term->out,
            "\n%s, %s; %u master%s by %s%s, fsync %s, round trip %s; %u clients, %u requests/s, "
            "ttl %u ms, max ttl %u ms, deadline %u ms, seed %u; %s, %ld processors, %s.\n",
            environment->subject, environment->date, environment->masters, environment->masters == 1 ? "" : "s",
            environment->server, fo_options_have_tls(options) ? ", TLS" : "",
            *environment->fsync ? environment->fsync : "unknown",
            fo_duration(environment->trip_ns, trip, sizeof trip), options->clients, options->rate, options->ttl_ms,
            options->max_ttl_ms, options->deadline_ms, options->seed, environment->cpu, environment->processors,
            environment->kernel);
}

void fo_report_text(struct term *term, const struct fo_report *report)
{
    putc('\n', term->out);
    print_safety(term, report);
    print_head(term);
    for (size_t i = 0; i < report->n; i++)
        print_line(term, report->outcomes[i]);
    fputs("\nunavailable: longest time without a success, less one step of the schedule. detected: all clients\n"
          "knew. back, all vote: since the fault was undone. Latencies: from the intended start, after the fault.\n\n",
          term->out);
    print_goals(term, report);
    print_environment(term, report);
}

/* --- Tables ------------------------------------------------------------------------------------------------------- */

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
