#include "held_rig.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "watch.h"

static const char *const names[HELD_KINDS] = {
    [HELD_MUTEX] = "mutex",     [HELD_READERS] = "readers", [HELD_UPGRADEABLE] = "upgradeable",
    [HELD_PERMITS] = "permits", [HELD_SET] = "set",         [HELD_LEADERSHIP] = "leader",
};

const char *held_key(enum held_kind kind)
{
    return kind == HELD_PERMITS ? "permits#0" : names[kind];
}

/* --- What is told ------------------------------------------------------------------------------------------------- */

static void note_loss(struct held *held, int64_t now_ns, enum redlock_loss loss, int64_t remaining_ns)
{
    held->lost++;
    held->loss = loss;
    held->remaining_ns = remaining_ns;
    held->lost_at_ns = now_ns;
}

static void note_risk(struct held *held, int64_t remaining_ms)
{
    held->at_risk++;
    held->at_risk_ms = remaining_ms;
}

static void on_alarm(struct redlock_lock *lock, const struct redlock_alarm *alarm, void *user_data)
{
    int64_t now_ns = watch_now_ns();

    if (alarm->kind == REDLOCK_ALARM_LOST)
        note_loss(user_data, now_ns, alarm->loss, redlock_remaining_ns(lock));
    else
        note_risk(user_data, alarm->remaining_ms);
}

static void on_set_alarm(struct redlock_set *set, size_t part, const struct redlock_alarm *alarm, void *user_data)
{
    int64_t now_ns = watch_now_ns();

    ck_assert_uint_lt(part, redlock_set_size(set));
    if (alarm->kind == REDLOCK_ALARM_LOST)
        note_loss(user_data, now_ns, alarm->loss, redlock_set_remaining_ns(set));
    else
        note_risk(user_data, alarm->remaining_ms);
}

static void on_election(struct redlock_election *election, const struct redlock_election_event *event, void *user_data)
{
    int64_t now_ns = watch_now_ns();
    struct held *held = user_data;

    if (event->kind == REDLOCK_ELECTION_LOST)
        note_loss(held, now_ns, event->loss, redlock_election_remaining_ns(election));
    else if (event->kind == REDLOCK_ELECTION_AT_RISK)
        note_risk(held, event->remaining_ms);
    else
        held->elected += event->kind == REDLOCK_ELECTION_ELECTED;
}

/* --- Taking ------------------------------------------------------------------------------------------------------- */

static void hold(struct held *held, struct redlock_lock *lock, const struct redlock_acquire_options *request)
{
    ck_assert_uint_lt(held->n_locks, HELD_MAX_LOCKS);
    held->locks[held->n_locks++] = lock;
    ck_assert_int_eq(redlock_lock_watch(lock, on_alarm, held), 0);
    rig_hold_lock(held->rig, lock, request);
}

static void hold_in_mode(struct held *held, enum redlock_mode mode, const struct redlock_acquire_options *request)
{
    struct redlock_acquire_options in_mode = *request;

    in_mode.mode = mode;
    hold(held, rig_new_lock(held->rig->client, held_key(held->kind)), &in_mode);
}

static struct redlock_lock *new_permit(struct redlock_client *client)
{
    const char *name = names[HELD_PERMITS];
    struct redlock_lock *permit;

    ck_assert_int_eq(redlock_permit_create(client, name, strlen(name), 2, &permit), 0);
    return permit;
}

static void hold_permits(struct held *held, const struct redlock_acquire_options *request)
{
    for (unsigned i = 0; i < 2; i++)
        hold(held, new_permit(held->rig->client), request);
}

static void on_set_end(struct redlock_set *set, const struct redlock_set_result *result, void *user_data)
{
    *(int *)user_data = result->status;
}

static bool has_ended(void *status)
{
    return *(const int *)status != -1;
}

static bool is_too_late(int status)
{
    return status == REDLOCK_NO_QUORUM || status == REDLOCK_TOO_SLOW;
}

static void hold_set(struct held *held, const struct redlock_acquire_options *request)
{
    const char *name = names[HELD_SET];
    int status;
    int again = RIG_LATE_ATTEMPTS;

    ck_assert_int_eq(redlock_set_create(held->rig->client, &held->set), 0);
    ck_assert_int_eq(redlock_set_add(held->set, name, strlen(name)), 0);
    ck_assert_int_eq(redlock_set_add_permit(held->set, "beside", 6, 2), 0);
    ck_assert_int_eq(redlock_set_watch(held->set, on_set_alarm, held), 0);
    do {
        status = -1;
        ck_assert_int_eq(redlock_set_acquire(held->set, request, on_set_end, &status), 0);
        rig_wait(held->rig, has_ended, &status, "a set");
    } while (is_too_late(status) && again-- > 0);
    ck_assert_int_eq(status, REDLOCK_OK);
}

struct term {
    const struct redlock_election *election;
    uint32_t ttl_ms;
};

/* A leader has the lease of a waiter at first, and its ttl after the first extension. */
static bool leads_for_long(void *argument)
{
    const struct term *term = argument;

    return redlock_election_remaining_ns(term->election) > INT64_C(1000000) * term->ttl_ms / 2;
}

static void hold_leadership(struct held *held, const struct redlock_acquire_options *request)
{
    const char *name = names[HELD_LEADERSHIP];
    struct redlock_election_options options;

    redlock_election_options_init(&options);
    options.ttl_ms = request->ttl_ms;
    options.renew_ms = request->renew_ms;
    options.at_risk_ms = request->at_risk_ms;
    ck_assert_int_eq(redlock_election_create(held->rig->client, name, strlen(name), &held->election), 0);
    ck_assert_int_eq(redlock_election_campaign(held->election, &options, on_election, held), 0);
    rig_wait(held->rig, leads_for_long, &(struct term){held->election, request->ttl_ms}, "a leader");
    held->elected = 1;
    held->at_risk = held->lost = 0;
}

void held_take(struct held *held, struct rig *rig, enum held_kind kind, const struct redlock_acquire_options *request)
{
    struct redlock_acquire_options late = *request;

    *held = (struct held){.rig = rig, .kind = kind};
    if (late.renew_ms == REDLOCK_NO_RENEWAL && (kind == HELD_SET || kind == HELD_LEADERSHIP))
        late.renew_ms = late.ttl_ms / 5 * 3;
    if (kind == HELD_MUTEX)
        hold_in_mode(held, REDLOCK_EXCLUSIVE, request);
    if (kind == HELD_UPGRADEABLE)
        hold_in_mode(held, REDLOCK_UPGRADEABLE, request);
    if (kind == HELD_UPGRADEABLE || kind == HELD_READERS)
        hold_in_mode(held, REDLOCK_SHARED, request);
    if (kind == HELD_READERS)
        hold_in_mode(held, REDLOCK_SHARED, request);
    if (kind == HELD_PERMITS)
        hold_permits(held, request);
    if (kind == HELD_SET)
        hold_set(held, &late);
    if (kind == HELD_LEADERSHIP)
        hold_leadership(held, &late);
    rig_wait_quiet(rig, rig->client);
}

struct redlock_lock *held_rival(struct redlock_client *client, enum held_kind kind)
{
    return kind == HELD_PERMITS ? new_permit(client) : rig_new_lock(client, held_key(kind));
}

/* --- What there is ------------------------------------------------------------------------------------------------ */

unsigned held_losses(const struct held *held)
{
    return held->n_locks ? (unsigned)held->n_locks : 1;
}

unsigned held_warnings(const struct held *held)
{
    return held->set ? (unsigned)redlock_set_size(held->set) : held_losses(held);
}

int64_t held_remaining_ns(const struct held *held)
{
    int64_t least_ns = INT64_MAX;

    if (held->set)
        return redlock_set_remaining_ns(held->set);
    if (held->election)
        return redlock_election_remaining_ns(held->election);
    for (size_t i = 0; i < held->n_locks; i++) {
        int64_t remaining_ns = redlock_remaining_ns(held->locks[i]);

        least_ns = remaining_ns < least_ns ? remaining_ns : least_ns;
    }
    return least_ns;
}

int64_t held_remaining_ms(const struct held *held)
{
    return held_remaining_ns(held) / 1000000;
}

void held_expect_kept(const struct held *held)
{
    ck_assert_int_gt(held_remaining_ns(held), 0);
    ck_assert_uint_eq(held->lost, 0);
    ck_assert_uint_eq(held->elected, held->election ? 1 : 0);
}

struct loss_request {
    const struct held *held;
    unsigned times;
};

static bool has_lost(void *argument)
{
    const struct loss_request *request = argument;

    return request->held->lost >= request->times;
}

void held_wait_lost(struct held *held, unsigned times)
{
    struct loss_request request = {held, times};
    char what[64];

    snprintf(what, sizeof what, "%u losses of kind %s", times, names[held->kind]);
    rig_wait(held->rig, has_lost, &request, what);
}
