#include "cli/run/metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <redlock/metrics.h>
#include <redlock/redlock.h>

#include "cli/hold.h"
#include "cli/lock_spec.h"
#include "cli/notify.h"
#include "cli/run/outlet.h"
#include "cli/run/report.h"
#include "options/message.h"
#include "options/option.h"

enum {
    SHOWN_KEY_SIZE = REDLOCK_MAX_KEY_BYTES * 4 + 1,
    REST_SIZE = (MOST_NAMED_BYTES * 4) + CLI_MOST_TEXTS + 32, /* other keys, line breaks, how many there are besides */
    US_PER_MS = 1000,
    US_PER_S = 1000000,
};

#define RUN_SUCCESS "run_success_time_seconds"

struct page {
    FILE *out;
    const struct metrics *metrics;
    char key[SHOWN_KEY_SIZE + REST_SIZE]; /* UTF-8; keys are lines of it, since they may have blanks */
};

static void print_head(const struct page *page, const char *name, const char *kind, const char *text)
{
    fprintf(page->out, "# HELP redlock_%s %s.\n# TYPE redlock_%s %s\n", name, text, name, kind);
}

/* All of a sample but its number. `more` is another label, or empty. */
static void print_sample(const struct page *page, const char *name, const char *more)
{
    fprintf(page->out, "redlock_%s{key=\"", name);
    for (const char *at = page->key; *at != '\0'; at++) {
        if (*at == '\\' || *at == '"' || *at == '\n')
            putc('\\', page->out);
        putc(*at == '\n' ? 'n' : *at, page->out);
    }
    fprintf(page->out, "\"%s} ", more);
}

/* No floating point number, which would be written as in the user's country. */
static void print_seconds(const struct page *page, int64_t us)
{
    fprintf(page->out, "%" PRId64 ".%06" PRId64 "\n", us / US_PER_S, us % US_PER_S);
}

static void print_lock(const struct page *page)
{
    int64_t remaining_ms = page->metrics->remaining_ms;

    print_head(page, "held", "gauge", "1 while the lock is held");
    print_sample(page, "held", "");
    fprintf(page->out, "%d\n", page->metrics->held);
    print_head(page, "run_acquire_seconds", "gauge", "How long all locks of the command have taken together");
    print_sample(page, "run_acquire_seconds", "");
    print_seconds(page, page->metrics->acquire_us);
    print_head(page, "remaining_seconds", "gauge", "Proven validity left when this was written");
    print_sample(page, "remaining_seconds", "");
    print_seconds(page, remaining_ms > 0 ? remaining_ms * US_PER_MS : 0);
}

/* Without memory there is nothing of the client in the file, this time. */
static void print_client(const struct page *page, const struct redlock_client *client)
{
    const struct redlock_metric_label label = {"key", page->key};
    size_t length;
    char *text = cli_metrics(client, &label, 1, &length);

    if (text)
        fwrite(text, 1, length, page->out);
    free(text);
}

/* Each sample repeats the label, so it is short: the first key, others that are short, and how many there are besides.
 * No line break of a key is left. */
static void put_keys(const struct cli_texts *keys, char *text, size_t size)
{
    char key[SHOWN_KEY_SIZE];
    size_t length = 0, n = lock_spec_named(keys);

    for (size_t i = 0; i < n; i++) {
        shown(keys->items[i], key, sizeof key);
        length += (size_t)snprintf(text + length, size - length, "%s%s", i > 0 ? "\n" : "", key);
    }
    if (n < keys->n)
        snprintf(text + length, size - length, "\nand %zu more", keys->n - n);
}

/* What is known of a job by its time: those that are 0 have not been yet. */
static void print_run(const struct page *page)
{
    const struct metrics *metrics = page->metrics;
    const struct {
        const char *name, *text;
        int64_t at_s;
    } times[] = {{"run_start_time_seconds", "When the command began, since 1970", metrics->start_s},
                 {"run_end_time_seconds", "When it ended", metrics->end_s},
                 {RUN_SUCCESS, "When a command last ended with exit code 0", metrics->success_s}};

    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        if (times[i].at_s == 0)
            continue;
        print_head(page, times[i].name, "gauge", times[i].text);
        print_sample(page, times[i].name, "");
        fprintf(page->out, "%" PRId64 "\n", times[i].at_s);
    }
    if (metrics->end_s == 0)
        return;
    print_head(page, "run_exit_code", "gauge", "The exit code of redlock run; the command's, if it has one");
    print_sample(page, "run_exit_code", "");
    fprintf(page->out, "%d\n", metrics->exit_code);
}

void metrics_print(FILE *out, const struct metrics *metrics, const struct redlock_client *client)
{
    struct page page = {.out = out, .metrics = metrics};

    put_keys(metrics->keys, page.key, sizeof page.key);
    print_lock(&page);
    print_run(&page);
    print_client(&page, client);
}

/* --- How the lock stands, for the command, a service manager and a monitoring system ------------------------------ */

/* So long a pipe may be full before the next state is left out; a file is waited for as long as it takes. */
enum { PATIENCE_MS = 1000 };

/* --- The threads ------------------------------------------------------------------------------------------------- */

/* No text: the file is to go, if it is still the one that was written. */
static int write_file(void *data, const char *text, size_t size)
{
    struct run_file *file = data;

    if (text)
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
    return one->path && other->path && one->target.kind == FILE_REGULAR &&
           other->target.kind == FILE_REGULAR && strcmp(one->target.path, other->target.path) == 0;
}

static bool open_file(struct run *run, struct run_file *file, const char *path, enum file_rights rights)
{
    file->run = run;
    if (!path)
        return true;
    if (!file_out_open(&file->out, "run", path, rights))
        return false;
    file->outlet = outlet_open(run->session.base, OUTLET_LATEST, write_file, on_written, file);
    if (!file->outlet)
        cli_error("run", "the system refuses a thread: %s", strerror(errno));
    return file->outlet != NULL;
}

/* It stays while later commands fail, so it is taken from the file of the one before. */
static int64_t last_success_s(const char *path)
{
    FILE *file = path ? fopen(path, "re") : NULL;
    char *line = NULL;
    size_t size = 0;
    int64_t at_s = 0;

    while (file && at_s == 0 && getline(&line, &size, file) > 0) {
        const char *number = strrchr(line, ' ');

        if (number && strncmp(line, "redlock_" RUN_SUCCESS "{", sizeof "redlock_" RUN_SUCCESS) == 0)
            at_s = strtoll(number, NULL, 10);
    }
    free(line);
    if (file)
        fclose(file);
    return at_s;
}

bool run_publish_open(struct run *run)
{
    const struct run_options *options = run->options;

    if (!open_file(run, &run->lock_file, options->lock_file, FILE_SECRET) ||
        !open_file(run, &run->metrics_file, options->metrics_file, FILE_PUBLIC))
        return false;
    if (run->metrics_file.out.target.kind == FILE_REGULAR)
        run->success_s = last_success_s(options->metrics_file);
    if (!replace_each_other(&run->lock_file.out, &run->metrics_file.out))
        return true;
    cli_error("run", "--lock-file and --metrics-file are the same file, '%s'", run->metrics_file.out.target.path);
    return false;
}

static bool close_file(struct run_file *file, int patience_ms)
{
    if (file->outlet) {
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
    FILE *out = file->outlet && !file->failed ? open_memstream(&text, &size) : NULL;

    if (!out)
        return;
    print(file->run, out, state);
    if (fclose(out) == 0)
        outlet_put(file->outlet, text, size);
    else
        free(text);
}

static void print_lock_file(const struct run *run, FILE *out, const char *state)
{
    struct hold hold;

    hold_describe(&hold, &run->locks, run->options->ttl_ms, locks_nodes_ok(&run->locks));
    hold.valid_until = run->valid_until;
    snprintf(hold.state, sizeof hold.state, "%s", state);
    hold_print(out, &hold);
    hold_fini(&hold);
}

static void print_metrics(const struct run *run, FILE *out, const char *state)
{
    bool held = strcmp(state, "held") == 0;
    struct metrics metrics = {
        .keys = &run->options->spec.keys,
        .held = held,
        .remaining_ms = held ? locks_remaining_ms(&run->locks) : 0,
        .acquire_us = run->acquire_us,
        .start_s = run->start_s,
        .end_s = run->end_s,
        .success_s = run->success_s,
        .exit_code = run->exit_code,
    };

    metrics_print(out, &metrics, run->client);
}

void run_publish(struct run *run, const char *state)
{
    put(&run->lock_file, print_lock_file, state);
    put(&run->metrics_file, print_metrics, state);
    if (strcmp(state, "held") == 0)
        notify_send("STATUS=held %u/%zu, %lld s left", locks_nodes_ok(&run->locks), locks_masters(&run->locks).n,
                   (long long)locks_remaining_ms(&run->locks) / 1000);
    else
        notify_send("STATUS=%s", state);
}

static bool are_written(const struct session *session, void *data)
{
    const struct run *run = data;

    return (!run->lock_file.outlet || outlet_is_idle(run->lock_file.outlet)) &&
           (!run->metrics_file.outlet || outlet_is_idle(run->metrics_file.outlet));
}

bool run_publish_first(struct run *run)
{
    bool written;

    run->start_s = time(NULL);
    run_publish(run, "held");
    written = session_run_until(&run->session, are_written, run, run->options->ttl_ms);
    for (struct run_file *file = &run->lock_file; file;
         file = file == &run->lock_file ? &run->metrics_file : NULL) {
        if (file->outlet && outlet_is_idle(file->outlet))
            on_written(file);
        else if (file->outlet && run->session.caught == 0)
            run_report(run, RUN_LEVEL_ERROR, "not-written", NULL, "cannot write '%s': it takes too long",
                       file->out.path);
    }
    return written && !run->lock_file.failed && !run->metrics_file.failed;
}

void run_unpublish(struct run *run, int exit_code)
{
    run->end_s = run->start_s > 0 ? time(NULL) : 0;
    run->exit_code = exit_code;
    if (run->end_s > 0 && exit_code == 0)
        run->success_s = run->end_s;
    if (run->lock_file.outlet)
        outlet_put(run->lock_file.outlet, NULL, 0);
    put(&run->metrics_file, print_metrics, "released");
}
