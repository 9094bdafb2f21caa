#include "html.h"

#include <math.h>
#include <string.h>

#include "lab/load/html.h"

#define CELL 16

/* --- The parts of the page, filled in: tools/lab/failover/page ---------------------------------------------------- */

const char *fo_html_duration(int64_t ns, char *buffer, size_t size)
{
    char plain[16];
    size_t length = strlen(fo_duration(ns, plain, sizeof plain));

    if (length > 3 && strcmp(plain + length - 3, " us") == 0)
        snprintf(buffer, size, "%.*s\u00b5s", (int)length - 2, plain);
    else
        snprintf(buffer, size, "%s", plain);
    return buffer;
}

static const struct fo_html_slot *find(const struct fo_html_slot *slots, size_t n, const char *name, size_t length)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(slots[i].name) == length && memcmp(slots[i].name, name, length) == 0)
            return &slots[i];
    return NULL;
}

static void fill(FILE *out, const struct fo_html_slot *slot, const struct fo_report *report,
                 const struct fo_outcome *outcome)
{
    if (slot->write)
        slot->write(out, report, outcome);
    else if (slot->text)
        load_html_text(out, slot->text);
    else
        fprintf(out, "%llu", (unsigned long long)slot->number);
}

/* A mark that has no slot stays in the page, where the tests look for one. */
void fo_html_fill(FILE *out, const char *part, const struct fo_html_slot *slots, size_t n,
                  const struct fo_report *report, const struct fo_outcome *outcome)
{
    const char *mark;

    while ((mark = strstr(part, "{{"))) {
        const char *end = strstr(mark, "}}");
        const struct fo_html_slot *slot = end ? find(slots, n, mark + 2, (size_t)(end - mark - 2)) : NULL;

        fwrite(part, 1, (size_t)(mark - part), out);
        if (slot)
            fill(out, slot, report, outcome);
        else
            fputs("{{", out);
        part = slot ? end + 2 : mark + 2;
    }
    fputs(part, out);
}

/* --- The figures of one scenario, and the picture that compares all of them --------------------------------------- */

const char *fo_html_class(const struct fo_outcome *outcome)
{
    if (fo_verdict_violations(&outcome->verdict))
        return "bad";
    if (outcome->goal.applies && !outcome->goal.met)
        return "so-so";
    return "good";
}

static void quantile(FILE *out, const struct histogram *histogram, double q, const char *label)
{
    char cell[CELL];

    fprintf(out, "<td data-l=\"%s\">%s</td>", label,
            fo_html_duration(histogram->count ? (int64_t)histogram_quantile(histogram, q) : -1, cell, CELL));
}

static void reasons(FILE *out, const struct fo_phase_figures *phase)
{
    bool first = true;

    for (int i = 0; i < FO_REFUSALS; i++) {
        if (!phase->refused[i])
            continue;
        fprintf(out, "%s%llu %s", first ? "" : ", ", (unsigned long long)phase->refused[i],
                fo_refusal_text((enum fo_refusal)i));
        first = false;
    }
    if (first)
        putc('0', out);
}

static void phase_row(FILE *out, const struct fo_phase_figures *phase, const char *name)
{
    fprintf(out, "<tr><td><b>%s</b></td><td data-l=\"asked for\">%llu</td><td data-l=\"acquired\">%llu</td>"
            "<td data-l=\"per second\">%.0f</td>", name, (unsigned long long)phase->offered,
            (unsigned long long)phase->acquired, fo_rate(phase));
    quantile(out, &phase->latency, 0.5, "p50");
    quantile(out, &phase->latency, 0.99, "p99");
    quantile(out, &phase->latency, 0.999, "p99.9");
    quantile(out, &phase->latency, 1, "max");
    fputs("<td class=\"wrap\" data-l=\"refused\">", out);
    reasons(out, phase);
    fprintf(out, "</td><td data-l=\"commands/lock\">%.1f</td></tr>\n", fo_commands_per_lock(phase));
}

void fo_html_phases(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome)
{
    for (int i = 0; i < FO_PHASES; i++)
        phase_row(out, &outcome->phases[i], fo_phase_name((enum fo_phase)i));
}

/* From 0.1 ms to 100 s. */
static double log_percent(int64_t ns)
{
    double at = (log10((double)(ns > 100000 ? ns : 100000)) - 5) / 6 * 100;

    return at > 100 ? 100 : at;
}

#define TICKS 7

/* On a phone there is no room for the labels of the first and of every other decade. */
static void overview_axis(FILE *out)
{
    static const char *const texts[TICKS] = {"0.1 ms", "1 ms", "10 ms", "100 ms", "1 s", "10 s", "100 s"};

    fputs("<span></span><svg height=\"18\">", out);
    for (int i = 0; i < TICKS; i++)
        fprintf(out, "<text class=\"tick%s\" x=\"%.2f%%\" y=\"13\" text-anchor=\"%s\">%s</text>",
                i % 2 || i == 0 ? " more" : "", 100.0 * i / (TICKS - 1),
                i == 0 ? "start" : i == TICKS - 1 ? "end" : "middle", texts[i]);
    fputs("</svg><span></span>\n", out);
}

/* They reach over the gaps between the rows. */
static void overview_grid(FILE *out)
{
    for (int i = 0; i < TICKS; i++)
        fprintf(out, "<line class=\"grid\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"-3\" y2=\"21\"/>",
                100.0 * i / (TICKS - 1), 100.0 * i / (TICKS - 1));
}

static void overview_row(FILE *out, const struct fo_outcome *outcome)
{
    char cell[CELL];
    double width = log_percent(outcome->outage.longest_ns);

    fo_html_duration(outcome->outage.longest_ns, cell, CELL);
    fprintf(out, "<span><a href=\"#%s\">%s</a></span><svg height=\"18\" role=\"img\" "
            "aria-label=\"unavailable for %s\">", outcome->scenario->name, outcome->scenario->name, cell);
    overview_grid(out);
    fputs("<rect class=\"base\" width=\"100%\" y=\"8.5\" height=\"1\"/>", out);
    fprintf(out, "<rect class=\"bar %s\" y=\"3\" height=\"12\" rx=\"2\" width=\"%.2f%%\"/>", fo_html_class(outcome),
            width > 0.5 ? width : 0.5);
    fprintf(out, "<line class=\"limit\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"0\" y2=\"18\"/></svg><span>%s</span>\n",
            log_percent(5000000), log_percent(5000000), cell);
}

void fo_html_overview(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome)
{
    for (size_t i = 0; i < report->n; i++)
        if (!*report->outcomes[i]->skipped)
            overview_row(out, report->outcomes[i]);
    overview_axis(out);
}
