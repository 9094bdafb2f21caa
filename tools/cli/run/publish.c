#include "cli/run/publish.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/hold.h"
#include "cli/run/metrics.h"
#include "cli/run/notify.h"
#include "cli/run/outlet.h"
#include "cli/run/report.h"

/* So long a pipe may be full before the next state is left out; a file is waited for as long as it takes. */
enum { PATIENCE_MS = 1000 };

/* --- The threads ------------------------------------------------------------------------------------------------- */

/* No text: the file is to go, if it is still the one that was written. */
static int write_file(void *data, const char *text, size_t size)
{
    struct run_file *file = data;

    if (text != NULL)
        return file_out_put(&file->out, text, size, PATIENCE_MS);
    file_out_remove(&file->out);
    return 0;
}

static void on_written(void *data)
{
    struct run_file *file = data;
    int error = outlet_error(file->outlet);

    if (error == 0 || file->failed)
        return;
    file->failed = true;
    run_report(file->run, RUN_LEVEL_ERROR, "not-written", NULL, "cannot write '%s': %s", file->out.path,
               file_out_reason(error));
}

/* --- Open and close ---------------------------------------------------------------------------------------------- */

/* Two that are written into, such as a terminal, may well be the same. */
static bool replace_each_other(const struct file_out *one, const struct file_out *other)
{
    return one->path != NULL && other->path != NULL && one->target.kind == FILE_REGULAR &&
           other->target.kind == FILE_REGULAR && strcmp(one->target.path, other->target.path) == 0;
}

static bool open_file(struct run *run, struct run_file *file, const char *path, enum file_rights rights)
{
    file->run = run;
    if (path == NULL)
        return true;
    if (!file_out_open(&file->out, "run", path, rights))
        return false;
    file->outlet = outlet_open(run->session.base, OUTLET_LATEST, write_file, on_written, file);
    if (file->outlet == NULL)
        cli_error("run", "the system refuses a thread: %s", strerror(errno));
    return file->outlet != NULL;
}

bool run_publish_open(struct run *run)
{
    const struct run_options *options = run->options;

    if (!open_file(run, &run->lock_file, options->lock_file, FILE_SECRET) ||
        !open_file(run, &run->metrics_file, options->metrics_file, FILE_PUBLIC))
        return false;
    if (!replace_each_other(&run->lock_file.out, &run->metrics_file.out))
        return true;
    cli_error("run", "--lock-file and --metrics-file are the same file, '%s'", run->metrics_file.out.target.path);
    return false;
}

static bool close_file(struct run_file *file, int patience_ms)
{
    if (file->outlet != NULL) {
        bool written = outlet_drain(file->outlet, patience_ms);

        if (written)
            on_written(file);
        else
            run_report(file->run, RUN_LEVEL_WARNING, "not-written", NULL,
                       "'%s' is not up to date: writing it takes too long", file->out.path);
        if (!outlet_close(file->outlet))
            return false;
    }
    file->outlet = NULL;
    file_out_close(&file->out);
    return true;
}

bool run_publish_close(struct run *run, int patience_ms)
{
    bool closed = close_file(&run->lock_file, patience_ms);

    return close_file(&run->metrics_file, closed ? patience_ms : 0) && closed;
}

/* --- What is published ------------------------------------------------------------------------------------------- */

typedef void (*print_fn)(const struct run *run, FILE *out, const char *state);

static void put(struct run_file *file, print_fn print, const char *state)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = file->outlet != NULL && !file->failed ? open_memstream(&text, &size) : NULL;

    if (out == NULL)
        return;
    print(file->run, out, state);
    if (fclose(out) == 0)
        outlet_put(file->outlet, text, size);
    else
        free(text);
}

static void print_lock(const struct run *run, FILE *out, const char *state)
{
    struct hold hold;

    hold_describe(&hold, &run->grip, run->options->ttl_ms, grip_nodes_ok(&run->grip),
                  run->options->common.masters.count);
    hold.valid_until = run->valid_until;
    snprintf(hold.state, sizeof(hold.state), "%s", state);
    hold_print(out, &hold);
    hold_fini(&hold);
}

static void print_metrics(const struct run *run, FILE *out, const char *state)
{
    bool held = strcmp(state, "held") == 0;
    struct metrics metrics = {
        .keys = &run->options->wanted.keys,
        .held = held,
        .remaining_ms = held ? grip_remaining_ms(&run->grip) : 0,
        .acquire_us = run->acquire_us,
    };

    metrics_print(out, &metrics, run->client);
}

void run_publish(struct run *run, const char *state)
{
    put(&run->lock_file, print_lock, state);
    put(&run->metrics_file, print_metrics, state);
    if (strcmp(state, "held") == 0)
        run_notify("STATUS=held %u/%zu, %lld s left", grip_nodes_ok(&run->grip), run->options->common.masters.count,
                   (long long)grip_remaining_ms(&run->grip) / 1000);
    else
        run_notify("STATUS=%s", state);
}

static bool are_written(const struct session *session, void *data)
{
    const struct run *run = data;

    (void)session;
    return (run->lock_file.outlet == NULL || outlet_is_idle(run->lock_file.outlet)) &&
           (run->metrics_file.outlet == NULL || outlet_is_idle(run->metrics_file.outlet));
}

bool run_publish_first(struct run *run)
{
    bool written;

    run_publish(run, "held");
    written = session_run_until(&run->session, are_written, run, run->options->ttl_ms);
    for (struct run_file *file = &run->lock_file; file != NULL;
         file = file == &run->lock_file ? &run->metrics_file : NULL) {
        if (file->outlet != NULL && outlet_is_idle(file->outlet))
            on_written(file);
        else if (file->outlet != NULL && run->session.caught == 0)
            run_report(run, RUN_LEVEL_ERROR, "not-written", NULL, "cannot write '%s': it takes too long",
                       file->out.path);
    }
    return written && !run->lock_file.failed && !run->metrics_file.failed;
}

void run_unpublish(struct run *run)
{
    if (run->lock_file.outlet != NULL)
        outlet_put(run->lock_file.outlet, NULL, 0);
    put(&run->metrics_file, print_metrics, "released");
}
