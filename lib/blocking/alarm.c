#include "blocking/alarm.h"

#include "blocking/job.h"
#include "blocking/mutex.h"
#include "blocking/result.h"
#include "blocking/service.h"

/* --- By way of a queue ------------------------------------------------------------------------------------------ */

/* Any thread. */
static void take_completion(struct rl_queue_entry *entry, struct redlock_completion *ret_completion)
{
    struct rl_alarm_entry *own = RL_CONTAINER_OF(entry, struct rl_alarm_entry, entry);
    struct redlock_mutex *mutex = own->mutex;

    *ret_completion = (struct redlock_completion){
        .kind = REDLOCK_COMPLETION_ALARM,
        .status = own->alarm == REDLOCK_ALARM_LOST ? REDLOCK_LOST : 0,
        .mutex = rl_mutex_living(mutex),
        .user_data = entry->user_data,
        .alarm = own->alarm,
        .loss = own->loss,
        .result = own->evidence,
    };
    atomic_store(&own->waiting, false);
    rl_mutex_unref(mutex);
}

/* What the alarm says of masters, as a result of its own; NULL without memory. */
static struct redlock_result *copy_evidence(const struct redlock_alarm *alarm)
{
    const struct redlock_result evidence = {.op = REDLOCK_OP_EXTEND,
                                            .status = alarm->kind == REDLOCK_ALARM_LOST ? REDLOCK_LOST : 0,
                                            .remaining_ms = alarm->remaining_ms,
                                            .n_nodes = alarm->n_nodes,
                                            .nodes = alarm->nodes,
                                            .loss = alarm->loss,
                                            .why = alarm->why};

    return rl_result_copy(&rl_lock_result_form, &evidence);
}

static void put(struct redlock_mutex *mutex, const struct redlock_alarm *alarm)
{
    struct rl_alarm_entry *own = &mutex->watch.entries[alarm->kind == REDLOCK_ALARM_LOST];

    if (atomic_exchange(&own->waiting, true))
        return;
    own->entry = (struct rl_queue_entry){.take = take_completion, .user_data = mutex->watch.user_data};
    own->mutex = mutex;
    own->alarm = alarm->kind;
    own->loss = alarm->loss;
    own->evidence = copy_evidence(alarm);
    rl_list_init(&own->entry.link);
    rl_mutex_ref(mutex);
    rl_queue_put(mutex->watch.queue, &own->entry);
}

/* --- By a call of the watch ------------------------------------------------------------------------------------- */

/* As the client does it: the program is not told of a warning that has come true, nor of the end of a hold that has
 * been followed by another. */
static bool is_still_true(const struct redlock_mutex *mutex, enum redlock_alarm_kind kind)
{
    enum redlock_state state = mutex->holder.kind->state(&mutex->holder);

    if (kind == REDLOCK_ALARM_LOST)
        return state == REDLOCK_STATE_LOST;
    return state == REDLOCK_STATE_HELD || state == REDLOCK_STATE_EXTENDING;
}

/* The watch may have gone meanwhile, or a queue may have taken its place. The watch may destroy the mutex. */
static void tell_late(struct rl_post *post)
{
    struct rl_late_alarm *late = RL_CONTAINER_OF(post, struct rl_late_alarm, post);
    struct redlock_mutex *mutex = late->mutex;
    struct redlock_result *evidence = late->evidence;
    struct redlock_alarm alarm = late->alarm;

    if (!rl_loop_move_to_thread(&mutex->service->loop, post))
        return;
    late->pending = false;
    late->evidence = NULL;
    if (rl_holder_exists(&mutex->holder) && is_still_true(mutex, alarm.kind)) {
        if (mutex->watch.queue)
            put(mutex, &alarm);
        else if (mutex->watch.fn)
            mutex->watch.fn(mutex, &alarm, mutex->watch.user_data);
    }
    redlock_result_free(evidence);
    rl_mutex_unref(mutex);
}

/* Without memory the alarm has no nodes, but it is told. */
static void put_off(struct redlock_mutex *mutex, const struct redlock_alarm *alarm)
{
    struct rl_late_alarm *late = &mutex->watch.late[alarm->kind == REDLOCK_ALARM_LOST];

    redlock_result_free(late->evidence);
    late->evidence = copy_evidence(alarm);
    late->alarm = *alarm;
    late->alarm.n_nodes = late->evidence ? alarm->n_nodes : 0;
    late->alarm.nodes = late->evidence ? late->evidence->nodes : NULL;
    late->alarm.why = late->evidence ? late->evidence->why : redlock_strerror(REDLOCK_E_NOMEM);
    if (late->pending)
        return;
    late->pending = true;
    late->mutex = mutex;
    late->post.run = tell_late;
    rl_mutex_ref(mutex);
    rl_loop_move_to_thread(&mutex->service->loop, &late->post);
}

/* The watch may destroy the mutex: nothing of it is used afterwards. */
void rl_watch_tell(struct rl_holder *holder, const struct redlock_alarm *alarm)
{
    struct redlock_mutex *mutex = RL_CONTAINER_OF(holder, struct redlock_mutex, holder);

    rl_holder_publish(holder);
    if (mutex->watch.queue)
        put(mutex, alarm);
    else if (!mutex->watch.fn)
        return;
    else if (rl_loop_is_own_thread(&mutex->service->loop))
        mutex->watch.fn(mutex, alarm, mutex->watch.user_data);
    else
        put_off(mutex, alarm);
}

/* --- Beginning and end of a watch ------------------------------------------------------------------------------- */

void rl_watch_drop(struct rl_watch *watch)
{
    watch->fn = NULL;
    if (watch->queue)
        rl_queue_unref(watch->queue);
    watch->queue = NULL;
}

struct request {
    struct redlock_mutex *mutex;
    redlock_mutex_watch_fn fn;
    struct redlock_queue *queue;
    void *user_data;
};

static int do_watch(void *argument)
{
    const struct request *request = argument;
    struct rl_watch *watch = &request->mutex->watch;

    if (!rl_holder_exists(&request->mutex->holder))
        return REDLOCK_E_CLOSING;
    rl_watch_drop(watch);
    watch->fn = request->fn;
    watch->user_data = request->user_data;
    watch->queue = request->queue;
    if (watch->queue)
        rl_queue_ref(watch->queue);
    return 0;
}

int redlock_mutex_watch(struct redlock_mutex *mutex, redlock_mutex_watch_fn watch, void *user_data)
{
    return rl_mutex_call(mutex, do_watch, &(struct request){.mutex = mutex, .fn = watch, .user_data = user_data});
}

int redlock_mutex_watch_queue(struct redlock_mutex *mutex, struct redlock_queue *queue, void *user_data)
{
    struct request request = {.mutex = mutex, .queue = queue, .user_data = user_data};
    int status = rl_mutex_check(mutex);

    if (status == 0 && queue && !rl_queue_fits(queue, mutex->service))
        status = REDLOCK_E_ARGUMENT;
    return status < 0 ? status : rl_mutex_call(mutex, do_watch, &request);
}
