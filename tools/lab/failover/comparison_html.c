#include "comparison_html.h"

#include <string.h>

#include "html.h"
#include "html_charts.h"
#include "html_lanes.h"
#include "lab/load/html.h"
#include "page/page.h"

#define CELL 16

/* What the functions of a page are called with says nothing of where in a comparison they are. */
static const struct fo_comparison *comparison;
static const struct fo_entry *entry;

/* --- The matrix -------------------------------------------------------------------------------------------------- */

static void heads(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome)
{
    for (int i = 0; i < FO_SCENARIOS; i++)
        if (comparison->options->wanted[i])
            fprintf(out, "<th title=\"%s\">%s</th>", fo_scenarios[i].text, fo_scenarios[i].name);
}

/* "redis-py@sentinel" and a scenario make one name for a link. */
static void put_anchor(FILE *out, const struct fo_entry *of, const struct fo_scenario *scenario)
{
    for (const char *c = of->contestant->label; *c; c++)
        putc(strchr("@.:/", *c) ? '-' : *c, out);
    fprintf(out, "--%s", scenario->name);
}

static void count(FILE *out, uint64_t n, const char *what)
{
    if (n)
        fprintf(out, "<span>%s: %llu</span>", what, (unsigned long long)n);
}

static bool keeps_a_stopped_holders_lock(const struct fo_entry *of, const struct fo_outcome *outcome)
{
    return outcome->scenario->fault == FO_PAUSE && !engine_contestant_is_library(of->contestant) &&
           !(of->contestant->hello.can & RUNNER_LEASE);
}

static void cell(FILE *out, const struct fo_entry *of, const struct fo_scenario *scenario)
{
    const struct fo_outcome *outcome = fo_entry_outcome(of, scenario);
    const char *broken_promise = outcome ? fo_broken_promise(&outcome->verdict) : "";
    char text[CELL];

    if (!outcome || *outcome->skipped) {
        fprintf(out, "<td class=\"none\" data-l=\"%s\"><span>", scenario->name);
        load_html_text(out, outcome ? outcome->skipped : "not run");
        fputs("</span></td>", out);
        return;
    }
    fprintf(out, "<td data-l=\"%s\"><a class=\"%s\" href=\"#", scenario->name, fo_cell_class(of, outcome));
    put_anchor(out, of, scenario);
    fo_html_duration(outcome->outage.longest_ns, text, CELL);
    fprintf(out, "\"><b>%s</b>", *broken_promise ? broken_promise : text);
    count(out, outcome->verdict.double_holds, "locks");
    count(out, outcome->verdict.fence_regressions, "bad tokens");
    count(out, fo_double_writes(&outcome->verdict), "bad writes");
    if (*broken_promise)
        fprintf(out, "<span>nobody could lock: %s</span>", text);
    if (outcome->takeover_ns >= 0)
        fprintf(out, "<span>next %s</span>", fo_html_duration(outcome->takeover_ns, text, CELL));
    else if (keeps_a_stopped_holders_lock(of, outcome))
        fputs("<span>no lease: keeps its lock</span>", out);
    count(out, fo_refused(&outcome->phases[FO_DURING]) + fo_refused(&outcome->phases[FO_AFTER]), "refused");
    fputs("</a></td>", out);
}

static void rows(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome)
{
    for (size_t i = 0; i < comparison->n; i++) {
        const struct fo_entry *of = &comparison->entries[i];

        fprintf(out, "<tr><td><b>%s</b></td>", of->contestant->label);
        for (int j = 0; j < FO_SCENARIOS; j++)
            if (comparison->options->wanted[j] && !*of->contestant->skipped)
                cell(out, of, &fo_scenarios[j]);
        if (*of->contestant->skipped) {
            fprintf(out, "<td class=\"none\" colspan=\"%d\"><span>not run: ", FO_SCENARIOS);
            load_html_text(out, of->contestant->skipped);
            fputs("</span></td>", out);
        }
        fputs("</tr>\n", out);
    }
}

/* --- What a cell opens ------------------------------------------------------------------------------------------- */

static void anchor(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome)
{
    put_anchor(out, entry, outcome->scenario);
}

static void clues(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome)
{
    if (outcome->n_clues == 0)
        return;
    fputs("<ul class=\"clues\">", out);
    for (size_t i = 0; i < outcome->n_clues; i++) {
        fprintf(out, "<li><b>%+.3f s</b><span>", (double)(outcome->clues[i].at_ns - outcome->fault_ns) / 1e9);
        load_html_text(out, outcome->clues[i].text);
        fputs("</span></li>", out);
    }
    fputs("</ul>", out);
}

static void broken(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome)
{
    if (strcmp(fo_cell_class(entry, outcome), "bad") == 0)
        fprintf(out,
                "<p class=\"alarm\"><b>Locks with two holders at once: %llu; fencing tokens that did not grow: %llu; "
                "writes of two holders: %llu.</b></p>",
                (unsigned long long)outcome->verdict.double_holds,
                (unsigned long long)outcome->verdict.fence_regressions,
                (unsigned long long)fo_double_writes(&outcome->verdict));
}

static void fact(FILE *out, int64_t ns, const char *text)
{
    char shown[CELL];

    if (ns >= 0)
        fprintf(out, "<div><b>%s</b><span>%s</span></div>\n", fo_html_duration(ns, shown, CELL), text);
}

static void facts(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome)
{
    fact(out, outcome->outage.longest_ns, "nobody could lock, at a stretch");
    fact(out, outcome->control.longest_ns, "the same before the fault");
    fact(out, outcome->stall_ns, "a processor had no time for us");
    fact(out, fo_is_healed(outcome) ? outcome->recover_ns : -1, "from the end of the fault to the next lock");
    fact(out, outcome->takeover_ns, "until the next leader");
}

static void timeline(FILE *out, const struct fo_entry *of, const struct fo_outcome *outcome)
{
    const char *word = fo_broken_promise(&outcome->verdict);
    const struct fo_html_slot slots[] = {
        {"anchor", .write = anchor},
        {"system", .text = of->contestant->label},
        {"name", .text = outcome->scenario->name},
        {"class", .text = fo_cell_class(of, outcome)},
        {"word", .text = *word ? word : "one holder at a time"},
        {"text", .text = outcome->scenario->text},
        {"broken promises", .write = broken},
        {"clues", .write = clues},
        {"facts", .write = facts},
        {"throughput", .write = fo_html_throughput},
        {"masters", .write = fo_html_masters},
        {"holders", .write = fo_html_holders},
        {"axis", .write = fo_html_axis},
        {"key", .write = fo_html_key},
    };

    entry = of;
    fo_html_fill(out, FO_TIMELINE_HTML, slots, sizeof slots / sizeof slots[0], &of->report, outcome);
}

static void timelines(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome)
{
    for (size_t i = 0; i < comparison->n; i++)
        for (size_t j = 0; j < comparison->entries[i].report.n; j++)
            if (!*comparison->entries[i].report.outcomes[j]->skipped)
                timeline(out, &comparison->entries[i], comparison->entries[i].report.outcomes[j]);
}

/* --- Beside it --------------------------------------------------------------------------------------------------- */

static void method(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome)
{
    const struct fo_options *options = comparison->options;

    fprintf(out,
            "Each scenario starts fresh servers on this machine. %u client processes ask for locks of %u keys, %u "
            "times a second together, each at its appointed time, whether or not the last one was answered (an open "
            "loop), and give up after %u ms; they hold a lock for as long as one write takes. Besides, all of them "
            "compete for one leader lock, whose holder reads and writes a counter in steps of 10 ms. Every lock has a "
            "ttl, or its system a session timeout, of %u ms, or where its name ends in :defaults the one that its "
            "library uses by itself; each client library is used as its manual recommends. After a while the fault is "
            "injected, and later undone. In a partition relays hold back what clients and servers of the two sides "
            "send each other (connections are accepted all the same); the holder is on the smaller side, with the "
            "server that leads or fewer than half of those that vote; where there is one server, and with ZooKeeper, "
            "whose servers relays cannot part, it is alone. A referee compares the times in which clients believed to "
            "hold a lock, as their libraries told them, and the counter finds writes that another holder's came "
            "between. All processes share one clock and one machine, so that times below some milliseconds are the "
            "machine's.",
            options->clients, FO_KEYS, options->rate, options->deadline_ms, options->ttl_ms);
}

static void yes(FILE *out, const char *label, const struct engine_contestant *contestant, unsigned ability)
{
    bool can = engine_contestant_is_library(contestant) || (contestant->hello.can & ability);

    fprintf(out, "<td data-l=\"%s\">%s</td>", label, can ? "yes" : "no");
}

static const char *servers_of(const struct engine_contestant *contestant)
{
    switch (contestant->system) {
    case MASTERS_SENTINEL:
        return "a master, 2 replicas, 3 Sentinels (down after 2 s)";
    case MASTERS_ETCD:
    case MASTERS_ZOOKEEPER:
        return "3 members, data on disk";
    case MASTERS_POSTGRES:
    case MASTERS_MARIADB:
        return "1 server, data on disk";
    case MASTERS_AGENT:
        return "5 masters without persistence, an agent for each of two machines";
    default:
        return "no persistence";
    }
}

static void put_ttl(FILE *out, const struct fo_entry *of)
{
    const struct engine_contestant *contestant = of->contestant;
    bool ours = engine_contestant_is_library(contestant);
    char text[2][CELL];

    if (!ours && !(contestant->hello.can & RUNNER_LEASE))
        return;
    fprintf(out, "; ttl %s", fo_html_duration(of->options.ttl_ms * INT64_C(1000000), text[0], CELL));
    if (ours)
        fprintf(out, ", max ttl %s", fo_html_duration(of->options.max_ttl_ms * INT64_C(1000000), text[1], CELL));
}

static void settings(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome)
{
    for (size_t i = 0; i < comparison->n; i++) {
        const struct engine_contestant *contestant = comparison->entries[i].contestant;
        bool ours = engine_contestant_is_library(contestant);
        uint32_t members = ours ? comparison->options->n_masters : contestant->members;

        fprintf(out, "<tr><td><b>%s</b></td><td data-l=\"client\">", contestant->label);
        load_html_text(out, ours ? comparison->environment.library : contestant->hello.version);
        fputs("</td><td data-l=\"servers\">", out);
        load_html_text(out, comparison->entries[i].report.environment.server);
        fputs("</td><td data-l=\"settings\">", out);
        if (contestant->system == MASTERS_REDIS)
            fprintf(out, "%u independent, ", members);
        fputs(servers_of(contestant), out);
        put_ttl(out, &comparison->entries[i]);
        fputs("</td>", out);
        yes(out, "lease", contestant, RUNNER_LEASE);
        yes(out, "renews", contestant, RUNNER_RENEWAL);
        yes(out, "token", contestant, RUNNER_FENCE);
        yes(out, "in order", contestant, RUNNER_FIFO);
        yes(out, "tells a loss", contestant, RUNNER_ALARM);
        fputs("</tr>\n", out);
    }
}

static void machine(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome)
{
    const struct fo_environment *environment = &comparison->environment;

    load_html_text(out, environment->cpu);
    fprintf(out, ", %ld processors, ", environment->processors);
    load_html_text(out, environment->kernel);
    fprintf(out, ", scheduling %s.", environment->scheduling);
}

static void style(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome)
{
    fputs(FO_REPORT_CSS, out);
}

void fo_comparison_html(FILE *out, const struct fo_comparison *of)
{
    char count[32];
    const struct fo_html_slot slots[] = {
        {"style", .write = style},
        {"title", .text = "Locks compared while their servers fail"},
        {"library", .text = of->environment.library},
        {"date", .text = of->environment.date},
        {"system count", .text = count},
        {"scenario heads", .write = heads},
        {"rows", .write = rows},
        {"timelines", .write = timelines},
        {"method", .write = method},
        {"settings", .write = settings},
        {"machine", .write = machine},
    };

    comparison = of;
    snprintf(count, sizeof count, "%zu lock systems", of->n);
    fo_html_fill(out, FO_COMPARISON_HTML, slots, sizeof slots / sizeof slots[0], NULL, NULL);
}
