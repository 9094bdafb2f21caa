#include "cli/run/publish.h"

#include <stdio.h>
#include <string.h>

#include "cli/hold.h"
#include "cli/run/metrics.h"
#include "cli/run/notify.h"

/* Two that are written into, such as a terminal, may well be the same. */
static bool replace_each_other(const struct file_out *one, const struct file_out *other)
{
    return one->path != NULL && other->path != NULL && one->target.kind == FILE_REGULAR &&
           other->target.kind == FILE_REGULAR && strcmp(one->target.path, other->target.path) == 0;
}

bool run_publish_open(struct run *run)
{
    const struct run_options *options = run->options;

    if (options->lock_file != NULL && !file_out_open(&run->lock_file, "run", options->lock_file, FILE_SECRET))
        return false;
    if (options->metrics_file != NULL && !file_out_open(&run->metrics_file, "run", options->metrics_file, FILE_PUBLIC))
        return false;
    if (!replace_each_other(&run->lock_file, &run->metrics_file))
        return true;
    cli_error("run", "--lock-file and --metrics-file are the same file, '%s'", run->metrics_file.target.path);
    return false;
}

void run_publish_close(struct run *run)
{
    file_out_close(&run->lock_file);
    file_out_close(&run->metrics_file);
}

static bool write_lock_file(struct run *run, const char *state)
{
    struct hold hold;

    if (run->lock_file.path == NULL || run->lock_file_failed)
        return true;
    hold_describe(&hold, &run->grip, run->options->ttl_ms, grip_nodes_ok(&run->grip),
                  run->options->common.masters.count);
    hold.valid_until = run->valid_until;
    snprintf(hold.state, sizeof(hold.state), "%s", state);
    run->lock_file_failed = !hold_write(&run->lock_file, &hold, 0);
    hold_fini(&hold);
    return !run->lock_file_failed;
}

static bool write_metrics(struct run *run, bool held)
{
    struct metrics metrics = {
        .keys = &run->options->wanted.keys,
        .held = held,
        .remaining_ms = held ? grip_remaining_ms(&run->grip) : 0,
        .acquire_us = run->acquire_us,
    };

    if (run->metrics_file.path == NULL || run->metrics_failed)
        return true;
    run->metrics_failed = !metrics_write(&metrics, run->client, &run->metrics_file);
    return !run->metrics_failed;
}

bool run_publish(struct run *run, const char *state)
{
    bool held = strcmp(state, "held") == 0;
    bool lock_file = write_lock_file(run, state);
    bool metrics = write_metrics(run, held);

    if (held)
        run_notify("STATUS=held %u/%zu, %lld s left", grip_nodes_ok(&run->grip), run->options->common.masters.count,
                   (long long)grip_remaining_ms(&run->grip) / 1000);
    else
        run_notify("STATUS=%s", state);
    return lock_file && metrics;
}

void run_unpublish(struct run *run)
{
    file_out_remove(&run->lock_file);
    write_metrics(run, false);
}
