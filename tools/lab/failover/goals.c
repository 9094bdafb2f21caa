#include "goals.h"

#include <stdio.h>

#define NS_PER_MS 1000000.0
#define LEAST_LIMIT_NS INT64_C(5000000)
#define BACKOFF_MS 1000       /* the library's longest pause between two attempts to connect */
#define PUNCTUAL_MS 20        /* what a timer may be late by on a busy machine */
#define TAKEOVER_MARGIN_MS 250

static double ms(int64_t ns)
{
    return (double)ns / NS_PER_MS;
}

static void judge(struct fo_judged *goal, bool met)
{
    goal->applies = true;
    goal->met = met;
}

/* What the machine does to everybody is no fault of the masters; it is told, not taken off. */
static void unnoticed(struct fo_outcome *outcome)
{
    int trips = outcome->scenario->fault == FO_CHANGE ? 5 : 2; /* a greeting by the new list, and the attempt anew */
    int64_t limit_ns = trips * outcome->trip_ns > LEAST_LIMIT_NS ? trips * outcome->trip_ns : LEAST_LIMIT_NS;
    int64_t longest_ns = outcome->outage.longest_ns;
    char more[64] = "";

    judge(&outcome->goal, longest_ns < limit_ns);
    outcome->goal.disturbed = !outcome->goal.met && longest_ns - outcome->stall_then_ns < limit_ns;
    if (outcome->goal.disturbed)
        snprintf(more, sizeof more, "; a processor had no time for %.1f ms", ms(outcome->stall_then_ns));
    snprintf(outcome->goal.text, sizeof outcome->goal.text, "unavailable for %.1f ms (limit %.1f ms)%s",
             ms(longest_ns), ms(limit_ns), more);
}

static void refused(struct fo_outcome *outcome, const struct fo_options *options)
{
    uint32_t wait_ms = fo_options_quarantine_ms(options, outcome->scenario->fault);
    int64_t since_ns = outcome->scenario->fault == FO_KILL || outcome->scenario->fault == FO_HANG ? outcome->healed_ns
                                                                                              : outcome->faulted_ns;
    int64_t outage_end_ns = outcome->outage.from_ns + outcome->outage.longest_ns + fo_options_step_ns(options);
    double recovered_ms = ms(outage_end_ns - since_ns);
    double longest_ms = ms(outcome->phases[FO_DURING].longest_refusal_ns);
    uint32_t refusal_limit_ms = options->deadline_ms + PUNCTUAL_MS;
    uint32_t recovery_limit_ms = BACKOFF_MS + wait_ms + PUNCTUAL_MS;

    snprintf(outcome->goal.text, sizeof outcome->goal.text,
             "the slowest refusal took %.0f ms (limit %u ms); locks were granted again after %.0f ms (limit %u ms)",
             longest_ms, refusal_limit_ms, recovered_ms > 0 ? recovered_ms : 0, recovery_limit_ms);
    judge(&outcome->goal, longest_ms <= refusal_limit_ms && recovered_ms <= recovery_limit_ms);
}

static void taken_over(struct fo_outcome *outcome)
{
    double after_ms = ms(outcome->takeover_ns), limit_ms = ms(outcome->takeover_theory_ns) + TAKEOVER_MARGIN_MS;

    if (outcome->takeover_ns < 0)
        snprintf(outcome->goal.text, sizeof outcome->goal.text, "no successor (limit %.0f ms)", limit_ms);
    else
        snprintf(outcome->goal.text, sizeof outcome->goal.text,
                 "a successor after %.0f ms (limit %.0f ms: the lock ran out after %.0f ms)", after_ms, limit_ms,
                 ms(outcome->takeover_theory_ns));
    judge(&outcome->goal, outcome->takeover_ns >= 0 && after_ms <= limit_ms);
}

void fo_judge_goal(struct fo_outcome *outcome, const struct fo_options *options)
{
    switch (fo_scenario_goal(outcome->scenario, outcome->n_masters)) {
    case FO_UNNOTICED:
        unnoticed(outcome);
        break;
    case FO_REFUSED:
        refused(outcome, options);
        break;
    case FO_TAKEOVER:
        taken_over(outcome);
        break;
    case FO_NO_GOAL:
        break;
    }
}
