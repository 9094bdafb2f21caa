/* The loss alarm of handles that share a key, and of permits: by a watch, and by a queue. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "service_rig.h"

enum kind { READER, PERMIT, KINDS };

/* Where the first of each kind has its lock: both readers, but one of the two permits. */
static const char *const keys[KINDS] = {[READER] = "book", [PERMIT] = "pool#0"};

static void open_five(void)
{
    world_open(5);
}

static void quick_to_give_up(struct redlock_options *options, void *data)
{
    options->node_timeout_ms = 100;
    options->backoff_max_ms = 100;
}

static void open_quick(void)
{
    world_open_with(5, quick_to_give_up, NULL);
}

static struct redlock_mutex *make(enum kind kind)
{
    struct redlock_mutex *mutex;

    if (kind == READER)
        return world_new_mutex(keys[READER]);
    ck_assert_int_eq(redlock_mutex_create_permit(world.service, "pool", 4, 2, &mutex), 0);
    return world_keep(mutex);
}

static void hold(struct redlock_mutex *mutex, enum kind kind, struct redlock_acquire_options request)
{
    request.mode = kind == READER ? REDLOCK_SHARED : REDLOCK_EXCLUSIVE;
    ck_assert_int_eq(redlock_mutex_acquire(mutex, &request, NULL), REDLOCK_OK);
}

static void expect_lost(struct watcher *watcher, enum redlock_loss loss)
{
    watcher_wait_lost(watcher);
    ck_assert_int_eq(watcher->lost, 1);
    ck_assert_int_eq(watcher->loss, loss);
    ck_assert_int_eq(watcher->remaining_ns, 0);
}

static void expect_next(struct redlock_queue *queue, const struct redlock_mutex *mutex, enum redlock_alarm_kind alarm)
{
    struct redlock_completion *completion;

    ck_assert_int_eq(redlock_queue_next(queue, PATIENCE_MS, &completion), 0);
    ck_assert_int_eq(completion->kind, REDLOCK_COMPLETION_ALARM);
    ck_assert_int_eq(completion->alarm, alarm);
    ck_assert_ptr_eq(completion->mutex, mutex);
    ck_assert_int_eq(completion->loss,
                     alarm == REDLOCK_ALARM_LOST ? REDLOCK_LOSS_UNREACHABLE : REDLOCK_LOSS_NONE);
    ck_assert_msg(strstr(completion->result->why, completion->result->nodes[0].name), "%s",
                  completion->result->why);
    redlock_completion_free(completion);
}

GROUP(silent, "silent masters", open_quick, world_close)

/* Of each kind two are held: one with a watch, and one whose alarms go to a queue. */
TEST(silent, silent_masters_first_bring_a_warning_and_then_the_alarm)
{
    struct redlock_acquire_options request = rig_request(4500, PATIENCE_MS);
    struct redlock_mutex *watching[KINDS], *queueing[KINDS];
    struct redlock_queue *queues[KINDS];
    struct watcher watchers[KINDS] = {{0}};

    request.renew_ms = 500;
    request.at_risk_ms = 3000;
    for (enum kind i = READER; i < KINDS; i++) {
        ck_assert_int_eq(redlock_queue_create(world.service, &queues[i]), 0);
        watching[i] = make(i);
        queueing[i] = make(i);
        ck_assert_int_eq(redlock_mutex_watch(watching[i], watcher_on_alarm, &watchers[i]), 0);
        ck_assert_int_eq(redlock_mutex_watch_queue(queueing[i], queues[i], NULL), 0);
        hold(watching[i], i, request);
        hold(queueing[i], i, request);
    }
    rig_hang_masters(&world.rig, 0x1f);
    for (enum kind i = READER; i < KINDS; i++) {
        expect_next(queues[i], queueing[i], REDLOCK_ALARM_AT_RISK);
        expect_next(queues[i], queueing[i], REDLOCK_ALARM_LOST);
        expect_lost(&watchers[i], REDLOCK_LOSS_UNREACHABLE);
        ck_assert_int_eq(watchers[i].at_risk, 1);
        ck_assert_int_eq(redlock_mutex_remaining_ns(queueing[i]), 0);
        ck_assert_int_eq(redlock_mutex_unlock(watching[i]), REDLOCK_LOST);
        redlock_queue_destroy(queues[i]);
    }
}

static const struct {
    uint32_t renew_ms, max_hold_ms;
    const char *why;
} early[] = {{2500, 0, "the next renewal is not due yet"},
             {2500, 1000, "the hold limit has ended the renewals"},
             {REDLOCK_NO_RENEWAL, 0, "nothing renews it"}};

GROUP(gone, "keys that are gone", open_five, world_close)

/* All masters have done what they were asked for. */
TESTS(gone, a_warning_before_any_renewal_blames_none, 0, sizeof early / sizeof *early)
{
    struct redlock_acquire_options request = rig_request(4500, PATIENCE_MS);
    struct redlock_mutex *mutex = make(READER);
    struct redlock_completion *completion;
    struct redlock_queue *queue;

    request.renew_ms = early[_i].renew_ms;
    request.max_hold_ms = early[_i].max_hold_ms;
    request.at_risk_ms = 4000;
    ck_assert_int_eq(redlock_queue_create(world.service, &queue), 0);
    ck_assert_int_eq(redlock_mutex_watch_queue(mutex, queue, NULL), 0);
    hold(mutex, READER, request);
    ck_assert_int_eq(redlock_queue_next(queue, PATIENCE_MS, &completion), 0);
    ck_assert_int_eq(completion->alarm, REDLOCK_ALARM_AT_RISK);
    ck_assert_str_eq(completion->result->why, early[_i].why);
    redlock_completion_free(completion);
    redlock_queue_destroy(queue);
}

static bool has_slot(struct redlock_mutex *permit, int32_t wanted)
{
    int32_t slot = -1;

    ck_assert_int_eq(redlock_mutex_slot(permit, &slot), 0);
    return slot == wanted;
}

/* A renewal finds out, well before the deadline: both readers have lost the key, but only one permit its slot. */
TESTS(gone, what_the_masters_have_given_to_another_is_lost_at_once, 0, KINDS)
{
    struct redlock_acquire_options request = rig_request(60000, PATIENCE_MS);
    enum kind kind = (enum kind)_i;
    struct redlock_mutex *mutexes[2] = {make(kind), make(kind)};
    struct watcher watchers[2] = {{0}};

    request.renew_ms = 100;
    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(redlock_mutex_watch(mutexes[i], watcher_on_alarm, &watchers[i]), 0);
        hold(mutexes[i], kind, request);
    }
    for (size_t i = 0; i < 3; i++)
        rig_occupy(&world.rig, i, keys[kind]);
    for (size_t i = 0; i < 2; i++) {
        if (kind == READER || has_slot(mutexes[i], 0))
            expect_lost(&watchers[i], REDLOCK_LOSS_REFUSED);
    }
    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(watchers[i].at_risk, 0);
        ck_assert_int_eq(redlock_mutex_unlock(mutexes[i]), watchers[i].lost ? REDLOCK_LOST : REDLOCK_OK);
        world_destroy(mutexes[i]);
    }
    ck_assert_int_eq(watchers[0].lost + watchers[1].lost, kind == READER ? 2 : 1);
}

SUITE_WITH_SERVER("alarms")
