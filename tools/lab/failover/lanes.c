#include "lanes.h"

#include <stdlib.h>
#include <string.h>

#include <redlock/observe.h>

/* --- Masters ----------------------------------------------------------------------------------------------------- */

static bool add_span(struct fo_outcome *outcome, struct fo_span span)
{
    struct fo_span *more;

    if (span.to_ns <= span.from_ns)
        return true;
    more = reallocarray(outcome->spans, outcome->n_spans + 1, sizeof *more);
    if (!more)
        return false;
    outcome->spans = more;
    outcome->spans[outcome->n_spans++] = span;
    return true;
}

static bool is_meeting(const struct fo_record *record, uint32_t node, int64_t after_ns)
{
    return record->kind == FO_LINK && record->node == node && record->detail == REDLOCK_LINK_READY &&
           record->at_ns > after_ns;
}

/* When the first of the clients was connected to it again; INT64_MAX: none was. */
static int64_t met_ns(const struct fo_shared *shared, uint32_t node, int64_t after_ns)
{
    int64_t first_ns = INT64_MAX;

    for (uint32_t i = 0; i < shared->clients; i++)
        for (uint32_t j = 0; j < atomic_load(&shared->journals[i].n); j++) {
            const struct fo_record *record = &shared->journals[i].records[j];

            if (is_meeting(record, node, after_ns) && record->at_ns < first_ns)
                first_ns = record->at_ns;
        }
    return first_ns;
}

/* A master that has been started is of no use to anybody before a client has met it. A client may be faster than the
 * mark of the start: what counts is that it came after the master's end. */
static bool add_state(struct fo_outcome *outcome, const struct fo_run *run, struct fo_span span, int64_t down_ns)
{
    if (span.state == FO_UP && down_ns >= 0 && !run->options->engine) {
        struct fo_span unmet = span;
        int64_t met_at_ns = met_ns(run->shared, span.node, run->course.start_ns + down_ns) - run->course.start_ns;

        unmet.state = FO_UNMET;
        unmet.to_ns = met_at_ns < span.from_ns ? span.from_ns : met_at_ns < span.to_ns ? met_at_ns : span.to_ns;
        span.from_ns = unmet.to_ns;
        if (!add_span(outcome, unmet))
            return false;
    }
    return add_span(outcome, span);
}

/* What was done to it, one state after the other. */
static bool add_states(struct fo_outcome *outcome, const struct fo_run *run, uint32_t node)
{
    const struct fo_course *course = &run->course;
    struct fo_span span = {.node = node, .state = FO_UP};
    int64_t down_ns = -1; /* since when it was down before this state */

    for (uint32_t i = 0; i < course->n_marks; i++) {
        if (course->marks[i].node != node)
            continue;
        span.to_ns = course->marks[i].at_ns - course->start_ns;
        if (!add_state(outcome, run, span, down_ns))
            return false;
        down_ns = span.state == FO_DOWN ? span.from_ns : -1;
        span = (struct fo_span){.from_ns = span.to_ns, .node = node, .state = course->marks[i].state};
    }
    span.to_ns = outcome->end_ns;
    return add_state(outcome, run, span, down_ns);
}

struct view {
    int64_t at_ns;
    uint32_t client;
    bool votes;
};

static int by_time(const void *left, const void *right)
{
    const struct view *a = left, *b = right;

    return (a->at_ns > b->at_ns) - (a->at_ns < b->at_ns);
}

/* All clients' views of one master's standing, in order. */
static struct view *views_of(const struct fo_run *run, uint32_t node, size_t *ret_n)
{
    const struct fo_shared *shared = run->shared;
    size_t room = 0;
    struct view *views;

    *ret_n = 0;
    for (uint32_t i = 0; i < shared->clients; i++)
        room += atomic_load(&shared->journals[i].n);
    views = calloc(room + 1, sizeof *views);
    for (uint32_t i = 0; views && i < shared->clients; i++)
        for (uint32_t j = 0; j < atomic_load(&shared->journals[i].n); j++) {
            const struct fo_record *record = &shared->journals[i].records[j];

            if (record->kind == FO_STANDING && record->node == node && record->at_ns > run->course.start_ns)
                views[(*ret_n)++] = (struct view){record->at_ns, i, record->detail == REDLOCK_STANDING_VOTES};
        }
    if (views)
        qsort(views, *ret_n, sizeof *views, by_time);
    return views;
}

/* While any client knows that it must not vote. */
static bool add_quarantines(struct fo_outcome *outcome, const struct fo_run *run, uint32_t node)
{
    bool barred[FO_MAX_CLIENTS] = {false};
    uint32_t n_barred = 0;
    int64_t since_ns = 0;
    size_t n;
    struct view *views = views_of(run, node, &n);
    bool ok = views != NULL;

    for (size_t i = 0; ok && i < n; i++) {
        int64_t at_ns = views[i].at_ns - run->course.start_ns;

        if (barred[views[i].client] == !views[i].votes)
            continue;
        barred[views[i].client] = !views[i].votes;
        if (!views[i].votes && n_barred++ == 0)
            since_ns = at_ns;
        else if (views[i].votes && --n_barred == 0)
            ok = add_span(outcome, (struct fo_span){since_ns, at_ns, node, FO_UP, true});
    }
    if (ok && n_barred)
        ok = add_span(outcome, (struct fo_span){since_ns, outcome->end_ns, node, FO_UP, true});
    free(views);
    return ok;
}

/* --- Leaders ----------------------------------------------------------------------------------------------------- */

static bool add_terms(struct fo_outcome *outcome, const struct fo_run *run)
{
    struct fo_referee *referee = fo_referee_replay(run->shared);

    if (!referee)
        return false;
    outcome->terms = calloc(referee->n + 1, sizeof *outcome->terms);
    for (size_t i = 0; outcome->terms && i < referee->n; i++) {
        struct fo_hold *term = &outcome->terms[outcome->n_terms];

        if (referee->holds[i].key != FO_LEADER_KEY)
            continue;
        *term = referee->holds[i];
        term->from_ns -= run->course.start_ns;
        term->until_ns -= run->course.start_ns;
        outcome->n_terms++;
    }
    fo_referee_fini(referee);
    free(referee);
    return outcome->terms != NULL;
}

const char *fo_state_name(const struct fo_span *span)
{
    static const char *const names[] = {"up", "down", "hung", "cut off", "slow", "mute", "clock set", "no member",
                                        "started, not met"};

    return span->quarantined ? "quarantine" : names[span->state];
}

bool fo_lanes(struct fo_outcome *outcome, const struct fo_run *run)
{
    for (uint32_t node = 0; node < outcome->n_masters; node++)
        if (!add_states(outcome, run, node) || !add_quarantines(outcome, run, node))
            return false;
    return add_terms(outcome, run);
}

/* --- Times ------------------------------------------------------------------------------------------------------- */

static bool is_notice(const struct fo_record *record)
{
    if (record->kind == FO_LINK)
        return record->detail != REDLOCK_LINK_READY;
    return record->kind == FO_CLOCK || (record->kind == FO_STANDING && record->detail != REDLOCK_STANDING_VOTES);
}

/* When this client first saw that something is wrong with this master; -1: never. */
static int64_t noticed_ns(const struct fo_run *run, uint32_t client, uint32_t node)
{
    const struct fo_journal *journal = &run->shared->journals[client];

    for (uint32_t i = 0; i < atomic_load(&journal->n); i++)
        if (journal->records[i].node == node && journal->records[i].at_ns >= run->course.fault_ns &&
            is_notice(&journal->records[i]))
            return journal->records[i].at_ns;
    return -1;
}

/* The last of all clients for the last of the masters it was done to. */
static int64_t detect_ns(const struct fo_run *run)
{
    int64_t last_ns = -1;

    for (uint32_t i = 0; i < run->course.n_targets; i++)
        for (uint32_t client = 0; client < run->shared->clients; client++) {
            int64_t at_ns = noticed_ns(run, client, run->course.targets[i]);

            if (at_ns > last_ns)
                last_ns = at_ns;
        }
    return last_ns < 0 ? -1 : last_ns - run->course.fault_ns;
}

/* After the last change for the better, if every client ends up with every master. */
static int64_t strength_ns(const struct fo_run *run)
{
    int64_t last_ns = run->course.healed_ns;

    for (uint32_t client = 0; client < run->shared->clients; client++) {
        const struct fo_journal *journal = &run->shared->journals[client];
        bool linked[MASTERS_MAX], votes[MASTERS_MAX];

        memset(linked, true, sizeof linked);
        memset(votes, true, sizeof votes);
        for (uint32_t i = 0; i < atomic_load(&journal->n) && journal->records[i].at_ns <= run->course.end_ns; i++) {
            const struct fo_record *record = &journal->records[i];

            if (record->kind == FO_LINK)
                linked[record->node] = record->detail == REDLOCK_LINK_READY;
            else if (record->kind == FO_STANDING)
                votes[record->node] = record->detail == REDLOCK_STANDING_VOTES;
            else
                continue;
            if (record->at_ns > last_ns)
                last_ns = record->at_ns;
        }
        for (size_t node = 0; node < run->cluster.n; node++)
            if (fo_is_member(run, node) && (!linked[node] || !votes[node]))
                return -1;
    }
    return last_ns - run->course.healed_ns;
}

/* When the keys ran out: the validity that a record tells of, and the drift that the library has taken off it: a
 * hundredth of the ttl and 2 ms. A lock that was handed off has a shorter ttl, so the drift goes by what was left. */
static int64_t ran_out_ns(const struct fo_record *record, bool has_drift)
{
    int64_t left_ns = record->until_ns - record->at_ns;

    return record->until_ns + (has_drift ? left_ns / 100 + 2 * INT64_C(1000000) : 0);
}

/* The first term of somebody else, and when the victim's keys ran out. */
static void take_over(struct fo_outcome *outcome, const struct fo_run *run)
{
    int64_t victim_ns = run->course.victim_ns - run->course.start_ns;

    outcome->takeover_ns = outcome->takeover_theory_ns = -1;
    for (size_t i = 0; i < outcome->n_terms && outcome->victim != FO_NOBODY; i++) {
        const struct fo_hold *term = &outcome->terms[i];
        int64_t after_ns = term->from_ns - victim_ns;

        if (term->client != outcome->victim && after_ns > 0 &&
            (outcome->takeover_ns < 0 || after_ns < outcome->takeover_ns))
            outcome->takeover_ns = after_ns;
    }
    if (outcome->victim == FO_NOBODY)
        return;
    for (uint32_t i = 0; i < atomic_load(&run->shared->journals[outcome->victim].n); i++) {
        const struct fo_record *record = &run->shared->journals[outcome->victim].records[i];

        if (record->key == FO_LEADER_KEY && (record->kind == FO_ACQUIRED || record->kind == FO_RENEWED) &&
            record->at_ns <= run->course.victim_ns)
            outcome->takeover_theory_ns = ran_out_ns(record, !run->options->engine) - run->course.victim_ns;
    }
}

void fo_times(struct fo_outcome *outcome, const struct fo_run *run)
{
    outcome->detect_ns = detect_ns(run);
    outcome->strength_ns = run->options->engine ? -1 : strength_ns(run);
    take_over(outcome, run);
}
