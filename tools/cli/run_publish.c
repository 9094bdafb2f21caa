/* How the lock stands, for the command, a service manager and a monitoring system. A place that cannot be written is
 * reported once, and is no reason to stop. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/hold_file.h"
#include "cli/metrics.h"
#include "cli/run.h"
#include "cli/run_notify.h"

static void write_lock_file(const struct run *run, const char *state)
{
    static bool failed;
    struct hold hold = {.fence = redlock_lock_fence(run->lock), .ttl_ms = run->options->ttl_ms,
                        .valid_until = run->valid_until};

    if (run->options->lock_file == NULL || failed)
        return;
    snprintf(hold.state, sizeof(hold.state), "%s", state);
    snprintf(hold.key, sizeof(hold.key), "%s", run->options->key);
    snprintf(hold.token, sizeof(hold.token), "%s", redlock_lock_token(run->lock));
    snprintf(hold.nodes_ok, sizeof(hold.nodes_ok), "%u/%zu", run->nodes_ok, run->options->common.masters.count);
    failed = !hold_write("run", run->options->lock_file, &hold);
}

static void write_metrics(const struct run *run, bool held)
{
    static bool failed;
    struct metrics metrics = {
        .command = "run",
        .path = run->options->metrics_file,
        .key = run->options->key,
        .held = held,
        .remaining_ms = held ? redlock_remaining_ms(run->lock) : 0,
        .acquire_us = &run->acquire_us,
        .acquires = 1,
    };

    if (metrics.path != NULL && !failed)
        failed = !metrics_write(&metrics, run->client);
}

void run_publish(struct run *run, const char *state)
{
    bool held = strcmp(state, "held") == 0;

    write_lock_file(run, state);
    write_metrics(run, held);
    if (held)
        run_notify("STATUS=held %u/%zu, %lld s left", run->nodes_ok, run->options->common.masters.count,
                   (long long)redlock_remaining_ms(run->lock) / 1000);
    else
        run_notify("STATUS=%s", state);
}

void run_unpublish(struct run *run)
{
    if (run->options->lock_file != NULL)
        unlink(run->options->lock_file);
    write_metrics(run, false);
}
