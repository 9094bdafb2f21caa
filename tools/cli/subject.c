#include "cli/subject.h"

/* How a kind does what the library has a function for. */
#define DO(type, name, arguments, call) \
    static type name arguments          \
    {                                   \
        return call;                    \
    }

/* --- A lock ------------------------------------------------------------------------------------------------------ */

static void on_lock_done(struct redlock_lock *lock, const struct redlock_result *result, void *data)
{
    const struct subject_sink *sink = data;

    sink->done(result, sink->data);
}

static void on_lock_alarm(struct redlock_lock *lock, const struct redlock_alarm *alarm, void *data)
{
    const struct subject_sink *sink = data;

    sink->alarm(0, alarm, sink->data);
}

DO(int, acquire_lock, (void *lock, const struct redlock_acquire_options *options, struct subject_sink *sink),
   redlock_acquire(lock, options, on_lock_done, sink))
DO(int, extend_lock, (void *lock, uint32_t ttl_ms, struct subject_sink *sink),
   redlock_extend(lock, ttl_ms, on_lock_done, sink))
DO(int, release_lock, (void *lock, struct subject_sink *sink), redlock_release(lock, on_lock_done, sink))
DO(int, watch_lock, (void *lock, struct subject_sink *sink),
   redlock_lock_watch(lock, sink ? on_lock_alarm : NULL, sink))
DO(int, cancel_lock, (void *lock), redlock_cancel(lock))
DO(int, detach_lock, (void *lock), redlock_lock_detach(lock))
DO(int, export_lock, (void *lock, char *ret_text, size_t size), redlock_lock_export(lock, ret_text, size))
DO(int, adopt_lock, (void *lock, const struct redlock_acquire_options *options, const char *text),
   redlock_lock_adopt(lock, options, text))
DO(int64_t, remaining_of_lock, (const void *lock), redlock_remaining_ns(lock))
DO(const struct redlock_lock *, part_of_lock, (const void *lock, size_t i), i == 0 ? lock : NULL)

const struct subject_kind subject_lock = {
    .votes_follow = true,
    .acquire = acquire_lock,
    .extend = extend_lock,
    .release = release_lock,
    .watch = watch_lock,
    .cancel = cancel_lock,
    .detach = detach_lock,
    .export = export_lock,
    .adopt = adopt_lock,
    .remaining_ns = remaining_of_lock,
    .part = part_of_lock,
};

/* --- A set ------------------------------------------------------------------------------------------------------- */

static void on_set_done(struct redlock_set *set, const struct redlock_set_result *result, void *data)
{
    const struct subject_sink *sink = data;
    struct redlock_result whole = {0};

    if (result->part_result)
        whole = *result->part_result;
    whole.status = result->status;
    whole.cause = result->cause;
    whole.elapsed_us = result->elapsed_us;
    whole.remaining_ms = result->remaining_ms;
    whole.why = result->why;
    whole.part = result->part;
    sink->done(&whole, sink->data);
}

static void on_set_alarm(struct redlock_set *set, size_t part, const struct redlock_alarm *alarm, void *data)
{
    const struct subject_sink *sink = data;

    sink->alarm(part, alarm, sink->data);
}

DO(int, acquire_set, (void *set, const struct redlock_acquire_options *options, struct subject_sink *sink),
   redlock_set_acquire(set, options, on_set_done, sink))
DO(int, extend_set, (void *set, uint32_t ttl_ms, struct subject_sink *sink),
   redlock_set_extend(set, ttl_ms, on_set_done, sink))
DO(int, release_set, (void *set, struct subject_sink *sink), redlock_set_release(set, on_set_done, sink))
DO(int, watch_set, (void *set, struct subject_sink *sink),
   redlock_set_watch(set, sink ? on_set_alarm : NULL, sink))
DO(int, cancel_set, (void *set), redlock_set_cancel(set))
DO(int, detach_set, (void *set), redlock_set_detach(set))
DO(int, export_set, (void *set, char *ret_text, size_t size), redlock_set_export(set, ret_text, size))
DO(int, adopt_set, (void *set, const struct redlock_acquire_options *options, const char *text),
   redlock_set_adopt(set, options, text))
DO(int64_t, remaining_of_set, (const void *set), redlock_set_remaining_ns(set))
DO(const struct redlock_lock *, part_of_set, (const void *set, size_t i), redlock_set_lock(set, i))

const struct subject_kind subject_set = {
    .acquire = acquire_set,
    .extend = extend_set,
    .release = release_set,
    .watch = watch_set,
    .cancel = cancel_set,
    .detach = detach_set,
    .export = export_set,
    .adopt = adopt_set,
    .remaining_ns = remaining_of_set,
    .part = part_of_set,
};
