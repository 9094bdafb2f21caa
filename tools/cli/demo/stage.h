/* Before the first act: masters, unless the user has named some, and two clients. After the last: all of it away. */
#ifndef CLI_DEMO_STAGE_H
#define CLI_DEMO_STAGE_H

#include "cli/demo/demo.h"
#include "cli/session.h"

/* --- Lock cycles, one after the other, and how long the acquisitions took. */

struct cycles {
    size_t count;
    size_t failed;
    int64_t p50_us;
    int64_t p99_us;
    int64_t longest_release_us;
    size_t slow_releases; /* that took at least slow_us */
};

/* Acquires (one attempt) and releases `count` times; stops early after a signal. False: out of memory. */
bool cycles_run(struct session *session, struct redlock_lock *lock, size_t count, int64_t slow_us,
                struct cycles *ret_cycles);

/* --- A handle for a key, in an act where several are at work at the same time. */

enum { DEMO_PATIENCE_MS = 10000 };

struct demo_handle {
    struct redlock_lock *lock;
    bool ended; /* its latest operation, and how */
    int status;
    int64_t elapsed_us;
};

/* Each starts an operation, and returns what the call has returned. */
int demo_handle_start(struct demo_handle *handle, enum redlock_mode mode, int64_t timeout_ms);
int demo_handle_convert(struct demo_handle *handle, enum redlock_mode mode);

/* Waits for the end of an operation. `started` is what the call that began it has returned. */
int demo_handle_await(struct demo *demo, struct demo_handle *handle, int started);

/* Start one, and wait for its end. */
int demo_handle_acquire(struct demo *demo, struct demo_handle *handle, enum redlock_mode mode, int64_t timeout_ms);
int demo_handle_release(struct demo *demo, struct demo_handle *handle);

/* Waits until the handle is in the queue, which is then known to all masters. */
bool demo_handle_is_queued(struct demo *demo, struct demo_handle *handle, struct redlock_client *client);

#endif
