#include "conduct.h"

#include <stdio.h>
#include <string.h>

#include "inject.h"
#include "lab/load/declare.h"
#include "lab/load/message.h"
#include "worker.h"

#define NS_PER_MS INT64_C(1000000)
#define LEAD_MS 50

/* A prefix of its own for each run: nothing of the past can be in the way, and nobody else's locks are touched. */
static void name_prefix(struct fo_run *run)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(run->prefix, sizeof run->prefix, "failover:%llx:",
             (unsigned long long)now.tv_sec * 1000 + (unsigned long long)now.tv_nsec / 1000000);
    if (!run->options->engine)
        run->shared->token_base = (uint64_t)now.tv_sec * 1000000 - UINT64_C(3600000000);
}

/* These masters have never been asked for a lock with this prefix. */
static bool declare_new(struct fo_run *run)
{
    struct redlock_options options;
    char why[LOAD_REASON_SIZE] = "";

    fo_worker_options(run->options, &run->cluster.tls, run->prefix, &options);
    return load_declare(&options, run->cluster.client_urls, run->cluster.n_first, why) || fo_run_fail(run, "%s", why);
}

static bool prepare(struct fo_run *run)
{
    for (uint32_t i = 0; i < FO_MAX_CLIENTS; i++)
        run->controls[i] = -1;
    run->course.victim = FO_NOBODY;
    run->shared = fo_shared_create(run->options->clients);
    if (!run->shared)
        return fo_run_fail(run, "out of memory");
    name_prefix(run);
    if (!fo_cluster_open(&run->cluster, run->options, run->scenario))
        return fo_run_fail(run, "%s", run->cluster.why);
    if (!fo_resource_open(&run->resource, run->options->resource, run->why, sizeof run->why))
        return false;
    if ((!run->options->engine && !declare_new(run)) || !fo_run_spawn_witnesses(run))
        return false;
    for (uint32_t i = 0; i < run->options->clients; i++)
        if (!fo_run_spawn(run, i))
            return false;
    return fo_run_attend(run, fo_now_ns() + FO_READY_MS * NS_PER_MS, true);
}

static void start_load(struct fo_run *run)
{
    run->course.start_ns = run->shared->start_ns = fo_now_ns() + LEAD_MS * NS_PER_MS;
    for (uint32_t i = 0; i < run->options->clients; i++)
        load_send(run->controls[i], LOAD_START, 0);
}

static void enter(struct fo_run *run, enum fo_phase phase)
{
    atomic_store(&run->shared->phase, (uint32_t)phase);
}

static bool lead(struct fo_run *run)
{
    struct fo_phases phases =
        fo_scenario_phases(run->scenario, run->cluster.n, run->options->phase_ms, run->options->ttl_ms,
                           fo_options_quarantine_ms(run->options, run->scenario->fault));
    struct fo_course *course = &run->course;

    start_load(run);
    if (!fo_run_attend(run, course->start_ns + phases.before_ms * NS_PER_MS, false) || !fo_run_get_ready(run))
        return false;
    enter(run, FO_DURING);
    course->fault_ns = fo_now_ns();
    if (!fo_run_inject(run))
        return false;
    course->faulted_ns = fo_now_ns();
    if (!fo_run_attend(run, course->fault_ns + phases.during_ms * NS_PER_MS, false))
        return false;
    enter(run, FO_AFTER);
    course->heal_ns = fo_now_ns();
    if (!fo_run_heal(run))
        return false;
    course->healed_ns = fo_now_ns();
    if (!fo_run_attend(run, course->healed_ns + phases.after_ms * NS_PER_MS, false))
        return false;
    course->end_ns = fo_now_ns();
    return true;
}

bool fo_conduct(struct fo_run *run)
{
    return prepare(run) && lead(run) && fo_run_finish(run);
}

void fo_conduct_fini(struct fo_run *run)
{
    if (run->shared) {
        fo_run_end_processes(run);
        fo_resource_close(&run->resource);
        fo_cluster_close(&run->cluster);
    }
    fo_shared_destroy(run->shared);
    run->shared = NULL;
}
