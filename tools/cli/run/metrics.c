#include "cli/run/metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/metrics.h>
#include <redlock/redlock.h>

#include "cli/wanted.h"
#include "options/option.h"
#include "options/shown.h"

enum {
    SHOWN_KEY_SIZE = REDLOCK_MAX_KEY_BYTES * 4 + 1,
    REST_SIZE = (MOST_NAMED_BYTES * 4) + CLI_MOST_TEXTS + 32, /* other keys, line breaks, how many there are besides */
    US_PER_MS = 1000,
    US_PER_S = 1000000,
    MORE = 1024,
};

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
    print_head(page, "remaining_seconds", "gauge", "Proven validity left when this was written");
    print_sample(page, "remaining_seconds", "");
    print_seconds(page, remaining_ms > 0 ? remaining_ms * US_PER_MS : 0);
}

static void print_bucket(const struct page *page, const char *bound, int64_t count)
{
    char more[32];

    snprintf(more, sizeof(more), ",le=\"%s\"", bound);
    print_sample(page, "acquire_seconds_bucket", more);
    fprintf(page->out, "%" PRId64 "\n", count);
}

/* Of this one acquisition: one process takes one lock. */
static void print_histogram(const struct page *page)
{
    static const struct {
        const char *text;
        int64_t us;
    } bounds[] = {{"0.001", 1000}, {"0.002", 2000}, {"0.005", 5000}, {"0.01", 10000}, {"0.02", 20000},
                  {"0.05", 50000}, {"0.1", 100000}, {"0.2", 200000}, {"0.5", 500000}, {"1", 1000000},
                  {"2", 2000000}, {"5", 5000000}, {"10", 10000000}, {"30", 30000000}, {"60", 60000000},
                  {"300", 300000000}};

    print_head(page, "acquire_seconds", "histogram", "How long the acquisition of the lock has taken");
    for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++)
        print_bucket(page, bounds[i].text, page->metrics->acquire_us <= bounds[i].us);
    print_bucket(page, "+Inf", 1);
    print_sample(page, "acquire_seconds_sum", "");
    print_seconds(page, page->metrics->acquire_us);
    print_sample(page, "acquire_seconds_count", "");
    fputs("1\n", page->out);
}

/* Without memory there is nothing of the client in the file, this time. */
static void print_client(const struct page *page, const struct redlock_client *client)
{
    const struct redlock_metric_label label = {"key", page->key};
    int length = redlock_client_metrics(client, &label, 1, NULL, 0);
    size_t size = (size_t)length + MORE; /* it may grow between the calls */
    char *text = length >= 0 ? malloc(size) : NULL;

    if (text != NULL)
        length = redlock_client_metrics(client, &label, 1, text, size);
    if (text != NULL && length >= 0 && (size_t)length < size)
        fwrite(text, 1, (size_t)length, page->out);
    free(text);
}

/* Each sample repeats the label, so it is short: the first key, others that are short, and how many there are besides.
 * No line break of a key is left. */
static void put_keys(const struct cli_texts *keys, char *text, size_t size)
{
    char key[SHOWN_KEY_SIZE];
    size_t length = 0, n = wanted_named(keys);

    for (size_t i = 0; i < n; i++) {
        shown(keys->items[i], key, sizeof(key));
        length += (size_t)snprintf(text + length, size - length, "%s%s", i > 0 ? "\n" : "", key);
    }
    if (n < keys->n)
        snprintf(text + length, size - length, "\nand %zu more", keys->n - n);
}

void metrics_print(FILE *out, const struct metrics *metrics, const struct redlock_client *client)
{
    struct page page = {.out = out, .metrics = metrics};

    put_keys(metrics->keys, page.key, sizeof(page.key));
    print_lock(&page);
    print_histogram(&page);
    print_client(&page, client);
}
