#include "change.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <event2/event.h>
#include <redlock/members.h>

#include "lab/load/process.h"
#include "worker.h"

#define NS_PER_MS INT64_C(1000000)
#define PATIENCE_MS 60000

/* --- The operator's process --------------------------------------------------------------------------------------- */

struct operator {
    struct fo_run *run;
    struct event_base *base;
    bool done;
};

static bool has_name(const char *url, const char *name)
{
    const char *host = strstr(url, "://");

    host = host ? host + strlen("://") : url;
    return strncmp(host, name, strcspn(name, "/")) == 0;
}

static uint32_t members_of(const struct fo_cluster *cluster, const struct redlock_member_list *list)
{
    uint32_t members = 0;

    for (size_t i = 0; i < list->n; i++)
        for (size_t node = 0; node < cluster->n; node++)
            members |= has_name(cluster->urls[node], list->names[i]) ? UINT32_C(1) << node : 0;
    return members;
}

/* Clients follow from here on. */
static void note_list(struct fo_run *run, const struct redlock_member_list *list)
{
    struct fo_lists *lists = &run->shared->lists;
    uint32_t n = atomic_load(&lists->n), members = members_of(&run->cluster, list);

    if (n == FO_LISTS || (n > 0 && lists->at[n - 1].members == members))
        return;
    lists->at[n].at_ns = fo_now_ns();
    lists->at[n].members = members;
    atomic_store(&lists->n, n + 1);
}

static void on_change(struct redlock_client *client, const struct redlock_change_report *report, void *user_data)
{
    struct operator *operator = user_data;

    if (report->stage == REDLOCK_CHANGE_STANDING)
        note_list(operator->run, &report->lists[0]);
    if (report->stage == REDLOCK_CHANGE_STOPPED)
        snprintf(operator->run->shared->lists.why, sizeof operator->run->shared->lists.why, "%s", report->why);
    operator->done = report->stage == REDLOCK_CHANGE_DONE;
    if (report->status != REDLOCK_OK || report->stage >= REDLOCK_CHANGE_DONE)
        event_base_loopbreak(operator->base);
}

/* The new ones take the places of those that leave, or come last. */
static size_t goal_of(const struct fo_run *run, const char *urls[MASTERS_MAX])
{
    const struct fo_cluster *cluster = &run->cluster;
    size_t n = run->scenario->growing ? cluster->n : cluster->n_first;

    for (size_t i = 0; i < n; i++)
        urls[i] = cluster->urls[i];
    for (size_t i = n; i < cluster->n; i++)
        urls[i - n] = cluster->urls[i];
    return n;
}

static int operate(void *data, int control)
{
    struct operator operator = {.run = data, .base = event_base_new()};
    const char *urls[MASTERS_MAX];
    struct redlock_change_options change;
    struct redlock_options options;
    struct redlock_client *client;
    struct redlock_error error;

    fo_worker_options(operator.run->options, &operator.run->cluster.tls, operator.run->prefix, &options);
    redlock_change_options_init(&change);
    change.masters = urls;
    change.n_masters = goal_of(operator.run, urls);
    if (!operator.base ||
        redlock_client_create(operator.base, operator.run->cluster.urls, operator.run->cluster.n_first, &options,
                              &client, &error) != 0 ||
        redlock_change_members(client, &change, on_change, &operator, &error) != 0) {
        snprintf(operator.run->shared->lists.why, sizeof operator.run->shared->lists.why, "%s", error.text);
        return 1;
    }
    event_base_dispatch(operator.base);
    redlock_client_destroy(client);
    event_base_free(operator.base);
    return operator.done ? 0 : 1;
}

/* --- The conductor ------------------------------------------------------------------------------------------------ */

static void mark_at(struct fo_run *run, int64_t at_ns, size_t node, enum fo_state state)
{
    struct fo_course *course = &run->course;

    if (course->n_marks < FO_MAX_MARKS)
        course->marks[course->n_marks++] = (struct fo_mark){at_ns, (uint32_t)node, state};
}

static void mark_lists(struct fo_run *run, uint32_t dead)
{
    const struct fo_lists *lists = &run->shared->lists;
    uint32_t before = (UINT32_C(1) << run->cluster.n_first) - 1;

    for (uint32_t i = 0; i < atomic_load(&lists->n); i++) {
        uint32_t changed = (before ^ lists->at[i].members) & ~dead;

        before = lists->at[i].members;
        for (size_t node = 0; node < run->cluster.n; node++)
            if (changed >> node & 1)
                mark_at(run, lists->at[i].at_ns, node, before >> node & 1 ? FO_UP : FO_AWAY);
    }
}

static bool has_ended(pid_t pid, int *ret_status)
{
    return waitpid(pid, ret_status, WNOHANG) == pid;
}

bool fo_change(struct fo_run *run)
{
    int64_t give_up_ns = fo_now_ns() + (PATIENCE_MS + 4 * (int64_t)run->options->max_ttl_ms) * NS_PER_MS;
    uint32_t dead = (UINT32_C(1) << run->course.n_targets) - 1;
    int status = -1;
    pid_t pid;

    for (size_t node = run->cluster.n_first; node < run->cluster.n; node++)
        mark_at(run, run->course.start_ns, node, FO_AWAY);
    pid = load_spawn_alone(operate, run);
    if (pid < 0)
        return fo_run_fail(run, "no process for the operator");
    while (!has_ended(pid, &status))
        if (fo_now_ns() > give_up_ns || !fo_run_attend(run, fo_now_ns() + 10 * NS_PER_MS, false))
            return fo_run_fail(run, "the change of the masters does not end");
    mark_lists(run, dead);
    return status == 0 || fo_run_fail(run, "the masters are not changed: %s", run->shared->lists.why);
}
