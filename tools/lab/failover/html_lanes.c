#include "html_lanes.h"

#include <math.h>
#include <string.h>

#include "lanes.h"

#define LANE 15
#define TICK_HEIGHT 18

/* "+1.2 s", since the fault. */
static void put_since(FILE *out, const struct fo_outcome *outcome, int64_t at_ns)
{
    fprintf(out, "%+.2f s", (double)(at_ns - outcome->fault_ns) / 1e9);
}

double fo_html_x(const struct fo_outcome *outcome, int64_t at_ns)
{
    return outcome->end_ns > 0 ? 100.0 * (double)at_ns / (double)outcome->end_ns : 0;
}

static const char *class_of(const struct fo_span *span)
{
    static const char *const classes[] = {"up", "down", "hung", "cut", "slow", "mute", "clock", "away", "unmet"};

    return span->quarantined ? "quarantine" : classes[span->state];
}

/* For some time in a lane, with the words that are shown for it. */
struct bar {
    const char *class;
    const char *who;
    uint32_t number;
    const char *what;
    int64_t from_ns, to_ns;
};

static void put_bar(FILE *out, const struct fo_outcome *outcome, const struct bar *bar)
{
    double from = fo_html_x(outcome, bar->from_ns);
    double to = fo_html_x(outcome, bar->to_ns < outcome->end_ns ? bar->to_ns : outcome->end_ns);

    fprintf(out, "<rect class=\"%s\" x=\"%.3f%%\" y=\"1\" width=\"%.3f%%\" height=\"%d\">", bar->class,
            from < 0 ? 0 : from, to - from > 0.05 ? to - from : 0.05, LANE - 2);
    fprintf(out, "<title>%s %u: %s, ", bar->who, bar->number, bar->what);
    put_since(out, outcome, bar->from_ns);
    fputs(" to ", out);
    put_since(out, outcome, bar->to_ns);
    fputs("</title></rect>", out);
}

/* Quarantines lie over what was done. */
static void master_lane(FILE *out, const struct fo_outcome *outcome, uint32_t node)
{
    fprintf(out, "<div class=\"row\"><div class=\"lab mid\">m%u</div><svg height=\"%d\">", node + 1, LANE);
    fo_html_grid(out, outcome);
    fo_html_band(out, outcome);
    for (int layer = 0; layer < 2; layer++)
        for (size_t i = 0; i < outcome->n_spans; i++) {
            const struct fo_span *span = &outcome->spans[i];

            if (span->node != node || span->quarantined != (layer == 1))
                continue;
            put_bar(out, outcome, &(struct bar){class_of(span), "master", node + 1, fo_state_name(span), span->from_ns,
                                                span->to_ns});
            if (span->state == FO_STEPPED)
                fprintf(out, "<line class=\"step\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"0\" y2=\"%d\"/>",
                        fo_html_x(outcome, span->from_ns), fo_html_x(outcome, span->from_ns), LANE);
        }
    fputs("</svg></div>\n", out);
}

void fo_html_masters(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome)
{
    for (uint32_t node = 0; node < outcome->n_masters; node++)
        master_lane(out, outcome, node);
}

static void holder_lane(FILE *out, const struct fo_outcome *outcome, uint32_t client)
{
    char class[8];

    snprintf(class, sizeof class, "h%u", client % 8);
    fprintf(out,
            "<div class=\"row\"><div class=\"lab mid\">client %u</div><svg height=\"%d\"><rect class=\"base\" x=\"0\" "
            "y=\"7\" width=\"100%%\" height=\"1\"/>",
            client + 1, LANE);
    fo_html_grid(out, outcome);
    fo_html_band(out, outcome);
    for (size_t i = 0; i < outcome->n_terms; i++) {
        const struct fo_hold *term = &outcome->terms[i];
        double end = fo_html_x(outcome, term->until_ns);

        if (term->client != client || term->from_ns > outcome->end_ns)
            continue;
        put_bar(out, outcome, &(struct bar){class, "client", client + 1,
                                            term->ending == FO_CRASHED ? "leader until it was killed" : "leader",
                                            term->from_ns, term->until_ns});
        if (term->ending == FO_CRASHED || term->ending == FO_GONE)
            fprintf(out, "<line class=\"end\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"0\" y2=\"%d\"/>", end, end, LANE);
    }
    fputs("</svg></div>\n", out);
}

void fo_html_holders(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome)
{
    for (uint32_t client = 0; client < outcome->clients; client++)
        holder_lane(out, outcome, client);
}

/* --- The time axis ----------------------------------------------------------------------------------------------- */

/* Ticks are at whole seconds before and after the fault, not more than ten. */
static double step_s(const struct fo_outcome *outcome)
{
    double end_s = (double)outcome->end_ns / 1e9;

    return end_s > 40 ? 10 : end_s > 16 ? 5 : end_s > 9 ? 2 : 1;
}

static double first_s(const struct fo_outcome *outcome)
{
    return -floor((double)outcome->fault_ns / 1e9 / step_s(outcome)) * step_s(outcome);
}

static double percent(const struct fo_outcome *outcome, double since_fault_s)
{
    return fo_html_x(outcome, outcome->fault_ns + (int64_t)(since_fault_s * 1e9));
}

static void vertical(FILE *out, double percent)
{
    fprintf(out, "<line class=\"grid\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"0\" y2=\"100%%\"/>", percent, percent);
}

void fo_html_band(FILE *out, const struct fo_outcome *outcome)
{
    double from = fo_html_x(outcome, outcome->fault_ns), to = fo_html_x(outcome, outcome->heal_ns);

    if (outcome->scenario->fault == FO_NO_FAULT)
        return;
    fprintf(out, "<rect class=\"band\" x=\"%.2f%%\" y=\"0\" width=\"%.2f%%\" height=\"100%%\"/>", from, to - from);
    fprintf(out, "<line class=\"edge\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"0\" y2=\"100%%\"/>", from, from);
    fprintf(out, "<line class=\"edge\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"0\" y2=\"100%%\"/>", to, to);
}

void fo_html_grid(FILE *out, const struct fo_outcome *outcome)
{
    for (double at = first_s(outcome); percent(outcome, at) < 100; at += step_s(outcome))
        vertical(out, percent(outcome, at));
    vertical(out, 100);
}

/* The end has its own label, and those that would touch it have none. */
#define END_LABEL_PERCENT 9

void fo_html_axis(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome)
{
    fprintf(out, "<div class=\"row\"><div class=\"lab\"></div><svg height=\"%d\">", TICK_HEIGHT);
    for (double at = first_s(outcome); percent(outcome, at) < 100 - END_LABEL_PERCENT; at += step_s(outcome)) {
        if (percent(outcome, at) < 2)
            continue;
        fprintf(out, "<text class=\"tick\" x=\"%.2f%%\" y=\"13\" text-anchor=\"middle\">", percent(outcome, at));
        if (at > -0.01 && at < 0.01)
            fputs(outcome->scenario->fault == FO_NO_FAULT ? "0" : "fault", out);
        else
            fprintf(out, "%+.0f s", at);
        fputs("</text>", out);
    }
    fprintf(out, "<text class=\"tick\" x=\"100%%\" y=\"13\" text-anchor=\"end\">%+.1f s</text></svg></div>\n",
            (double)(outcome->end_ns - outcome->fault_ns) / 1e9);
}

/* --- What the colours mean --------------------------------------------------------------------------------------- */

static void entry(FILE *out, const char *class, const char *text)
{
    fprintf(out, "<span><svg><rect class=\"%s\" width=\"12\" height=\"12\"/></svg>%s</span>", class, text);
}

/* Only what there is to be seen. */
void fo_html_key(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome)
{
    static const struct fo_span kinds[] = {{.state = FO_UP},  {.state = FO_DOWN}, {.state = FO_HUNG},
                                           {.state = FO_CUT}, {.state = FO_LATE}, {.state = FO_MUTE},
                                           {.state = FO_AWAY}, {.state = FO_UNMET}, {.quarantined = true}};
    static const char *const texts[] = {"votes", "down", "hung", "cut off from some", "slow", "its answers are lost",
                                        "started, not met by any client", "up, but does not vote yet"};

    for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++)
        for (size_t i = 0; i < outcome->n_spans; i++)
            if (strcmp(class_of(&outcome->spans[i]), class_of(&kinds[kind])) == 0) {
                entry(out, class_of(&kinds[kind]), texts[kind]);
                break;
            }
    if (outcome->scenario->fault != FO_NO_FAULT)
        entry(out, "band", "while the fault lasts");
}
