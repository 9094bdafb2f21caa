#include "cli/demo/handle.h"

enum { TTL_MS = 10000 };

static void on_end(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct demo_handle *handle = user_data;

    (void)lock;
    handle->ended = true;
    handle->status = result->status;
    handle->elapsed_us = result->elapsed_us;
}

static bool has_ended(const struct session *session, void *data)
{
    (void)session;
    return ((const struct demo_handle *)data)->ended;
}

static bool is_in_queue(const struct session *session, void *data)
{
    (void)session;
    return redlock_state(((const struct demo_handle *)data)->lock) == REDLOCK_STATE_WAITING;
}

int demo_handle_start(struct demo_handle *handle, enum redlock_mode mode, int64_t timeout_ms)
{
    struct redlock_acquire_options options;

    redlock_acquire_options_init(&options);
    options.mode = mode;
    options.ttl_ms = TTL_MS;
    options.timeout_ms = timeout_ms;
    handle->ended = false;
    return redlock_acquire(handle->lock, &options, on_end, handle);
}

int demo_handle_convert(struct demo_handle *handle, enum redlock_mode mode)
{
    handle->ended = false;
    return redlock_convert(handle->lock, mode, DEMO_PATIENCE_MS, on_end, handle);
}

int demo_handle_await(struct demo *demo, struct demo_handle *handle, int started)
{
    if (started != REDLOCK_OK)
        return started;
    return session_run_until(&demo->session, has_ended, handle, DEMO_PATIENCE_MS) ? handle->status : REDLOCK_CANCELED;
}

int demo_handle_acquire(struct demo *demo, struct demo_handle *handle, enum redlock_mode mode, int64_t timeout_ms)
{
    return demo_handle_await(demo, handle, demo_handle_start(handle, mode, timeout_ms));
}

int demo_handle_release(struct demo *demo, struct demo_handle *handle)
{
    handle->ended = false;
    return demo_handle_await(demo, handle, redlock_release(handle->lock, on_end, handle));
}

bool demo_handle_is_queued(struct demo *demo, struct demo_handle *handle, struct redlock_client *client)
{
    return session_run_until(&demo->session, is_in_queue, handle, DEMO_PATIENCE_MS) &&
           demo_wait_quiet(demo, client, demo->n);
}
