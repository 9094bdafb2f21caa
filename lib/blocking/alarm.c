/* The loss alarm on its way to the program: a queue takes it at once, a watch on the service's thread. */
#include "blocking/service.h"

/* As the client does: a warning that has come true is not worth telling, nor the end of a hold that has been followed
 * by another. */
static bool is_still_true(const struct redlock_mutex *mutex, enum redlock_alarm_kind kind)
{
    enum redlock_state state = redlock_state(mutex->lock);

    if (kind == REDLOCK_ALARM_LOST)
        return state == REDLOCK_STATE_LOST;
    return state == REDLOCK_STATE_HELD || state == REDLOCK_STATE_EXTENDING;
}

/* The watch may have gone meanwhile, or a queue taken its place; and it may destroy the mutex. */
static void tell_late(struct rl_post *post)
{
    struct rl_late_alarm *late = RL_CONTAINER_OF(post, struct rl_late_alarm, post);
    struct redlock_mutex *mutex = late->mutex;
    struct redlock_result *evidence = late->evidence;

    if (!rl_lead_on_thread(mutex->service, post))
        return;
    late->pending = false;
    late->evidence = NULL;
    if (is_still_true(mutex, late->alarm.kind)) {
        struct redlock_alarm alarm = late->alarm;

        if (mutex->watch_queue)
            rl_queue_put_alarm(mutex->watch_queue, mutex, &alarm);
        else if (mutex->watch)
            mutex->watch(mutex, &alarm, mutex->watch_data);
    }
    redlock_result_free(evidence);
    rl_mutex_unref(mutex);
}

/* Without memory the masters' part is missing, never the alarm. */
static void put_off(struct redlock_mutex *mutex, const struct redlock_alarm *alarm)
{
    struct rl_late_alarm *late = &mutex->late[alarm->kind == REDLOCK_ALARM_LOST];

    redlock_result_free(late->evidence);
    late->evidence = rl_result_copy(&(struct redlock_result){.n_nodes = alarm->n_nodes, .nodes = alarm->nodes,
                                                              .why = ""});
    late->alarm = *alarm;
    late->alarm.n_nodes = late->evidence ? alarm->n_nodes : 0;
    late->alarm.nodes = late->evidence ? late->evidence->nodes : NULL;
    if (late->pending)
        return;
    late->pending = true;
    late->mutex = mutex;
    late->post.run = tell_late;
    rl_mutex_ref(mutex);
    rl_lead_on_thread(mutex->service, &late->post);
}

/* The watch may destroy the mutex: nothing of it is used afterwards. */
void rl_mutex_on_alarm(struct redlock_lock *lock, const struct redlock_alarm *alarm, void *user_data)
{
    struct redlock_mutex *mutex = user_data;

    rl_mutex_publish(mutex);
    if (mutex->watch_queue)
        rl_queue_put_alarm(mutex->watch_queue, mutex, alarm);
    else if (!rl_service_is_own_thread(mutex->service))
        put_off(mutex, alarm);
    else if (mutex->watch)
        mutex->watch(mutex, alarm, mutex->watch_data);
    (void)lock;
}
