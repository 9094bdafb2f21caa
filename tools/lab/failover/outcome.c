#include "outcome.h"

#include <stdio.h>
#include <stdlib.h>

#include "evidence.h"
#include "figures.h"
#include "goals.h"
#include "lanes.h"

static void copy_course(struct fo_outcome *outcome, const struct fo_run *run)
{
    const struct fo_course *course = &run->course;
    int64_t start_ns = course->start_ns;

    outcome->fault_ns = course->fault_ns - start_ns;
    outcome->faulted_ns = course->faulted_ns - start_ns;
    outcome->heal_ns = course->heal_ns - start_ns;
    outcome->healed_ns = course->healed_ns - start_ns;
    outcome->end_ns = course->end_ns - start_ns;
    outcome->phases[FO_BEFORE].to_ns = outcome->phases[FO_DURING].from_ns = outcome->fault_ns;
    outcome->phases[FO_DURING].to_ns = outcome->phases[FO_AFTER].from_ns = outcome->heal_ns;
    outcome->phases[FO_AFTER].to_ns = outcome->end_ns;
}

static void copy_meters(struct fo_outcome *outcome, const struct fo_shared *shared)
{
    outcome->verdict = shared->verdict;
    outcome->version = shared->version;
    for (uint32_t i = 0; i < shared->clients; i++) {
        outcome->cpu_s += shared->meters[i].cpu_s;
        for (int phase = 0; phase < FO_PHASES; phase++) {
            outcome->phases[phase].commands += shared->meters[i].commands[phase];
            outcome->phases[phase].locks += shared->meters[i].acquired[phase];
        }
    }
}

struct fo_outcome *fo_outcome_of(const struct fo_run *run)
{
    struct fo_outcome *outcome = calloc(1, sizeof *outcome);

    if (!outcome)
        return NULL;
    outcome->scenario = run->scenario;
    outcome->n_masters = (uint32_t)run->cluster.n;
    outcome->clients = run->options->clients;
    outcome->victim = run->course.victim;
    copy_course(outcome, run);
    copy_meters(outcome, run->shared);
    if (!fo_gather(outcome, run) || !fo_lanes(outcome, run) || !fo_evidence(outcome, run)) {
        fo_outcome_free(outcome);
        return NULL;
    }
    fo_times(outcome, run);
    if (run->options->engine)
        masters_server_version(run->cluster.own, 0, outcome->version.server, sizeof outcome->version.server);
    else
        fo_judge_goal(outcome, run->options);
    return outcome;
}

struct fo_outcome *fo_outcome_skipped(const struct fo_scenario *scenario, const char *why)
{
    struct fo_outcome *outcome = calloc(1, sizeof *outcome);

    if (!outcome)
        return NULL;
    outcome->scenario = scenario;
    snprintf(outcome->skipped, sizeof outcome->skipped, "%s", why);
    return outcome;
}

void fo_outcome_free(struct fo_outcome *outcome)
{
    if (!outcome)
        return;
    free(outcome->buckets);
    free(outcome->spans);
    free(outcome->terms);
    free(outcome);
}

bool fo_is_healed(const struct fo_outcome *outcome)
{
    enum fo_fault fault = outcome->scenario->fault;

    return fault == FO_KILL || fault == FO_HANG || fault == FO_PART || fault == FO_LOSE_REPLIES;
}

double fo_rate(const struct fo_phase_figures *phase)
{
    int64_t lasted_ns = phase->to_ns - phase->from_ns;

    return lasted_ns > 0 ? (double)phase->acquired * 1e9 / (double)lasted_ns : 0;
}

double fo_commands_per_lock(const struct fo_phase_figures *phase)
{
    return phase->locks ? (double)phase->commands / (double)phase->locks : 0;
}

uint64_t fo_refused(const struct fo_phase_figures *phase)
{
    uint64_t sum = 0;

    for (int i = 0; i < FO_REFUSALS; i++)
        sum += phase->refused[i];
    return sum;
}

const char *fo_refusal_name(enum fo_refusal refusal)
{
    static const char *const names[] = {"held", "no_quorum", "too_slow", "unanswered", "other"};

    return names[refusal];
}

const char *fo_refusal_text(enum fo_refusal refusal)
{
    static const char *const texts[] = {"held by another", "no quorum", "too slow", "no answer in time", "other"};

    return texts[refusal];
}

const char *fo_phase_name(enum fo_phase phase)
{
    static const char *const names[] = {"before", "during", "after"};

    return names[phase];
}
