#include "report_html.h"

#include <string.h>

#include "html.h"
#include "html_charts.h"
#include "html_lanes.h"
#include "lab/load/html.h"
#include "page/page.h"

#define CELL 16

/* --- Head -------------------------------------------------------------------------------------------------------- */

static void tile(FILE *out, uint64_t n, const char *text)
{
    fprintf(out, "<div class=\"tile%s\"><b>%llu</b><span>%s</span></div>\n", n ? " bad" : "",
            (unsigned long long)n, text);
}

static void tiles(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome)
{
    struct fo_broken broken[FO_PROMISES];
    size_t n;

    n = fo_report_broken(&report->verdict, broken);
    for (size_t i = 0; i < n; i++)
        tile(out, broken[i].n, broken[i].text);
}

/* --- All scenarios ----------------------------------------------------------------------------------------------- */

static void duration_cell(FILE *out, const char *label, int64_t ns)
{
    char cell[CELL];

    fprintf(out, "<td data-l=\"%s\">%s</td>", label, fo_html_duration(ns, cell, CELL));
}

static int64_t p99(const struct fo_phase_figures *phase)
{
    return phase->latency.count ? (int64_t)histogram_quantile(&phase->latency, 0.99) : -1;
}

static void summary_row(FILE *out, const struct fo_outcome *outcome)
{
    const char *name = outcome->scenario->name;

    if (*outcome->skipped) {
        fprintf(out, "<tr><td><b>%s</b></td><td class=\"wrap\" colspan=\"8\">not run: ", name);
        load_html_text(out, outcome->skipped);
        fputs("</td></tr>\n", out);
        return;
    }
    fprintf(out, "<tr><td><a href=\"#%s\"><b>%s</b></a></td>", name, name);
    duration_cell(out, "unavailable", outcome->outage.longest_ns);
    duration_cell(out, "detected", outcome->detect_ns);
    duration_cell(out, "back", fo_is_healed(outcome) ? outcome->recover_ns : -1);
    duration_cell(out, "takeover", outcome->takeover_ns);
    duration_cell(out, "p99 before", p99(&outcome->phases[FO_BEFORE]));
    duration_cell(out, "p99 during", p99(&outcome->phases[FO_DURING]));
    fprintf(out, "<td data-l=\"refused\">%llu</td><td><span class=\"chip %s\">%s</span></td></tr>\n",
            (unsigned long long)(fo_refused(&outcome->phases[FO_DURING]) + fo_refused(&outcome->phases[FO_AFTER])),
            fo_html_class(outcome), fo_report_word(outcome));
}

static void summary(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome)
{
    for (size_t i = 0; i < report->n; i++)
        summary_row(out, report->outcomes[i]);
}

/* --- One scenario ------------------------------------------------------------------------------------------------ */

static void fact(FILE *out, int64_t ns, const char *text)
{
    char cell[CELL];

    if (ns >= 0)
        fprintf(out, "<div><b>%s</b><span>%s</span></div>\n", fo_html_duration(ns, cell, CELL), text);
}

static void facts(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome)
{
    fact(out, outcome->outage.longest_ns, "nobody could lock, at a stretch");
    if (outcome->outage.stretches > 1)
        fact(out, outcome->outage.total_ns, "in all, stretches above 5 ms");
    fact(out, outcome->control.longest_ns, "the same before the fault");
    fact(out, outcome->stall_ns, "a processor had no time for us");
    fact(out, outcome->detect_ns, "until every client knew");
    if (fo_is_healed(outcome)) {
        fact(out, outcome->recover_ns, "from the end of the fault to the next lock");
        fact(out, outcome->strength_ns, "... until every master votes again");
    }
    fact(out, outcome->takeover_ns, "until the next leader");
    fact(out, outcome->takeover_theory_ns, "when the lock had run out");
}

/* A text with a capital and a full stop. */
static void sentence(FILE *out, const char *text)
{
    putc(*text >= 'a' && *text <= 'z' ? *text - 'a' + 'A' : *text, out);
    load_html_text(out, text + 1);
    putc('.', out);
}

static void text(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome)
{
    sentence(out, outcome->scenario->text);
}

static void goal(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome)
{
    if (!outcome->goal.applies)
        return;
    fputs("<p class=\"soft small\">", out);
    sentence(out, outcome->goal.text);
    fputs("</p>", out);
}

static void broken(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome)
{
    struct fo_broken counts[FO_PROMISES];
    size_t n;

    if (!fo_verdict_violations(&outcome->verdict))
        return;
    n = fo_report_broken(&outcome->verdict, counts);
    fputs("<p class=\"alarm\">Here promises were broken:", out);
    for (size_t i = 0; i < n; i++)
        if (counts[i].n)
            fprintf(out, " <b>%llu</b> %s.", (unsigned long long)counts[i].n, counts[i].text);
    fputs("</p>", out);
}

/* Of one scenario, or of all. */
static void store(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome)
{
    char text[FO_STORE_TEXT];

    if (!*fo_report_store(report, outcome ? &outcome->verdict : &report->verdict, text))
        return;
    fputs("<p class=\"soft small\">", out);
    sentence(out, text);
    fputs("</p>", out);
}

static void scenario(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome)
{
    const struct fo_html_slot slots[] = {
        {"name", .text = outcome->scenario->name},
        {"class", .text = fo_html_class(outcome)},
        {"word", .text = fo_report_word(outcome)},
        {"text", .write = text},
        {"story", .text = outcome->scenario->story},
        {"goal", .write = goal},
        {"broken promises", .write = broken},
        {"store", .write = store},
        {"facts", .write = facts},
        {"throughput", .write = fo_html_throughput},
        {"latency", .write = fo_html_latency},
        {"masters", .write = fo_html_masters},
        {"never two", .text = outcome->verdict.double_holds ? "" : ": never two at a time"},
        {"holders", .write = fo_html_holders},
        {"axis", .write = fo_html_axis},
        {"key", .write = fo_html_key},
        {"phases", .write = fo_html_phases},
    };

    fo_html_fill(out, FO_SCENARIO_HTML, slots, sizeof slots / sizeof slots[0], report, outcome);
}

static void scenarios(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome)
{
    for (size_t i = 0; i < report->n; i++)
        if (!*report->outcomes[i]->skipped)
            scenario(out, report, report->outcomes[i]);
}

/* --- The rest ---------------------------------------------------------------------------------------------------- */

static void entry(FILE *out, const char *name, const char *text)
{
    fprintf(out, "<dt>%s</dt><dd>", name);
    load_html_text(out, text);
    fputs("</dd>\n", out);
}

static void settings(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome)
{
    const struct fo_environment *e = &report->environment;
    const struct fo_options *o = report->options;
    char text[512], trip[CELL];

    snprintf(text, sizeof text, "%s%s", e->subject, o->engine ? "" : ", guarded profile, fenced locks");
    entry(out, o->engine ? "engine" : "library", text);
    snprintf(text, sizeof text, "%u, %s, %s%s; fsync %s", e->masters, e->server,
             o->masters.count ? "running ones (--nodes)" : "started for each scenario, TCP on loopback",
             fo_options_have_tls(o) ? ", TLS" : "",
             *e->fsync ? e->fsync : "unknown");
    entry(out, "masters", text);
    snprintf(text, sizeof text, "%s, median before the fault", fo_html_duration(e->trip_ns, trip, sizeof trip));
    entry(out, "round trip", text);
    snprintf(text, sizeof text, "%u client processes, %u requests a second in an open loop, deadline %u ms; "
             "phases of at least %u ms", o->clients, o->rate, o->deadline_ms, o->phase_ms);
    entry(out, "load", text);
    if (o->engine)
        snprintf(text, sizeof text, "ttl %u ms", o->ttl_ms);
    else
        snprintf(text, sizeof text, "ttl %u ms; largest of the deployment %u ms, so a master without its memory waits "
                 "%u ms", o->ttl_ms, o->max_ttl_ms, o->max_ttl_ms + 1000);
    entry(out, "locks", text);
    snprintf(text, sizeof text, "%s, %ld processors, %s, scheduling %s", e->cpu, e->processors, e->kernel,
             e->scheduling);
    entry(out, "machine", text);
    snprintf(text, sizeof text, "%u", o->seed);
    entry(out, "seed", text);
}

static void style(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome)
{
    fputs(FO_REPORT_CSS, out);
}

void fo_report_html(FILE *out, const struct fo_report *report)
{
    const struct fo_verdict *verdict = &report->verdict;
    const char *title = fo_verdict_violations(verdict) ? "Promises were broken"
                                                       : "No second holder, whatever was done to the masters";
    char count[32], seconds[32];
    const struct fo_html_slot slots[] = {
        {"style", .write = style},
        {"title", .text = title},
        {"subject", .text = report->environment.subject},
        {"date", .text = report->environment.date},
        {"scenario count", .text = count},
        {"seconds", .text = seconds},
        {"acquired", .number = verdict->acquired},
        {"writes", .number = verdict->writes},
        {"probes", .number = verdict->probes},
        {"tiles", .write = tiles},
        {"late refused", .number = verdict->late_refused},
        {"late acquired", .number = verdict->late_acquired},
        {"store", .write = store},
        {"overview", .write = fo_html_overview},
        {"summary", .write = summary},
        {"scenarios", .write = scenarios},
        {"settings", .write = settings},
    };

    snprintf(count, sizeof count, "%zu scenario%s", report->n, report->n == 1 ? "" : "s");
    snprintf(seconds, sizeof seconds, "%.0f", (double)report->lasted_ns / 1e9);
    fo_html_fill(out, FO_REPORT_HTML, slots, sizeof slots / sizeof slots[0], report, NULL);
}
