#include "watch.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

int64_t watch_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* The clock is read first: what passes in between makes this deadline earlier than the lock's, and a lateness that is
 * measured by it larger, never smaller. */
int64_t watch_deadline_ns(const struct redlock_lock *lock)
{
    int64_t before = watch_now_ns();

    return before + redlock_remaining_ns(lock);
}

void watch_record(struct redlock_lock *lock, const struct redlock_alarm *alarm, void *user_data)
{
    int64_t now_ns = watch_now_ns();
    struct watched *watched = user_data;

    ck_assert(alarm->kind == REDLOCK_ALARM_AT_RISK || alarm->kind == REDLOCK_ALARM_LOST);
    ck_assert_uint_eq(alarm->n_nodes, redlock_client_node_count(redlock_lock_client(lock)));
    if (alarm->kind == REDLOCK_ALARM_AT_RISK) {
        watched->at_risk++;
        watched->at_risk_ms = alarm->remaining_ms;
        snprintf(watched->at_risk_why, sizeof watched->at_risk_why, "%s", alarm->why);
        return;
    }
    watched->lost++;
    watched->loss = alarm->loss;
    snprintf(watched->lost_why, sizeof watched->lost_why, "%s", alarm->why);
    watched->state = redlock_state(lock);
    watched->remaining_ns = redlock_remaining_ns(lock);
    watched->fence = redlock_lock_fence(lock);
    watched->lost_at_ns = now_ns;
}

void watch_start(struct redlock_lock *lock, struct watched *watched)
{
    memset(watched, 0, sizeof *watched);
    ck_assert_int_eq(redlock_lock_watch(lock, watch_record, watched), 0);
}

struct redlock_lock *watch_hold_as(struct rig *rig, const char *key, const struct redlock_acquire_options *request,
                                   struct watched *watched)
{
    struct redlock_lock *lock = rig_new_lock(rig->client, key);

    watch_start(lock, watched);
    rig_hold_lock(rig, lock, request);
    return lock;
}

static bool is_lost(void *argument)
{
    return ((const struct watched *)argument)->lost > 0;
}

void watch_wait_lost(struct rig *rig, struct watched *watched)
{
    rig_wait(rig, is_lost, watched, "the alarm");
}

struct warning_request {
    const struct watched *watched;
    unsigned times;
};

static bool is_at_risk(void *argument)
{
    const struct warning_request *request = argument;

    return request->watched->at_risk >= request->times;
}

void watch_wait_at_risk(struct rig *rig, struct watched *watched, unsigned times)
{
    struct warning_request request = {watched, times};

    rig_wait(rig, is_at_risk, &request, "the warning");
}

void watch_event(const struct redlock_event *event, void *user_data)
{
    struct tally *tally = user_data;

    if ((unsigned)event->type < WATCH_EVENTS)
        tally->n[event->type]++;
    if (event->type == REDLOCK_EVENT_CLOCK && event->node >= 0)
        tally->clock_us[event->node] = event->delay_us;
    if (event->type == REDLOCK_EVENT_LOST)
        snprintf(tally->lost_text, sizeof tally->lost_text, "%s", event->text);
    tally->own_clock += event->type == REDLOCK_EVENT_CLOCK && event->node < 0;
    tally->any_validity += event->type == REDLOCK_EVENT_VALIDITY && !event->lock;
}

void watch_events(struct redlock_options *options, struct tally *tally)
{
    memset(tally, 0, sizeof *tally);
    options->on_event = watch_event;
    options->event_data = tally;
    options->event_types = UINT32_MAX;
}

struct event_request {
    const struct tally *tally;
    enum redlock_event_type type;
    unsigned times;
};

static bool has_happened(void *argument)
{
    const struct event_request *request = argument;

    return request->tally->n[request->type] >= request->times;
}

void watch_wait_event(struct rig *rig, struct tally *tally, enum redlock_event_type type, unsigned times)
{
    struct event_request request = {tally, type, times};
    char what[80];

    snprintf(what, sizeof what, "event \"%s\", %u times", redlock_event_name(type), times);
    rig_wait(rig, has_happened, &request, what);
}

struct redlock_stats watch_stats(const struct redlock_client *client)
{
    struct redlock_stats stats;

    ck_assert_int_eq(redlock_client_stats(client, &stats, sizeof stats), 0);
    return stats;
}

static uint64_t renewals(const struct rig *rig)
{
    struct redlock_stats stats = watch_stats(rig->client);

    return stats.renewals - stats.renewals_failed;
}

struct renewals_request {
    const struct rig *rig;
    uint64_t before;
};

/* More than two have begun since: so the one before the last has succeeded. */
static bool has_renewed(void *argument)
{
    const struct renewals_request *request = argument;

    return renewals(request->rig) > request->before + 2;
}

void watch_wait_renewed(struct rig *rig)
{
    struct renewals_request request = {rig, renewals(rig)};

    rig_wait(rig, has_renewed, &request, "renewals");
}

struct redlock_node_stats watch_node_stats(const struct redlock_client *client, size_t node)
{
    struct redlock_node_stats stats;

    ck_assert_int_eq(redlock_client_node_stats(client, node, &stats, sizeof stats), 0);
    return stats;
}

struct redlock_node_info watch_info(const struct redlock_client *client, size_t node)
{
    struct redlock_node_info info;

    ck_assert_int_eq(redlock_client_node_info(client, node, &info, sizeof info), 0);
    return info;
}
