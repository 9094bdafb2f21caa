#include "referee_process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/probe.h"
#include "counter.h"
#include "referee.h"
#include "worker.h"

#define NS_PER_MS INT64_C(1000000)
#define PERIOD_MS 20
#define PROBE_EVERY 5      /* periods */
#define JUDGE_EVERY 10
#define SETTLED_MS 300     /* a journal's writer is at most so far behind, if it is not stopped */
#define PROBE_TIMEOUT_MS 200
#define FRESH_MS 30        /* so long all masters' answers to an acquisition may take to be written down */
#define MARGIN_MS 250
#define LEAK_MARGIN_MS 400 /* beyond the ttl: masters look for expired keys ten times a second */

struct desk {
    const struct fo_watch *watch;
    struct fo_referee referee;
    struct fo_verdict verdict;
    bool crash_seen[FO_MAX_CLIENTS];
};

static void sleep_ms(int64_t ms)
{
    nanosleep(&(struct timespec){(time_t)(ms / 1000), (long)(ms % 1000 * NS_PER_MS)}, NULL);
}

static void read_all(struct desk *desk)
{
    const struct fo_shared *shared = desk->watch->shared;

    fo_referee_read(&desk->referee, shared);
    for (uint32_t i = 0; i < shared->clients; i++) {
        int64_t crashed_ns = atomic_load(&shared->crashed_ns[i]);

        if (crashed_ns && !desk->crash_seen[i]) {
            fo_referee_crash(&desk->referee, i, crashed_ns);
            desk->crash_seen[i] = true;
        }
    }
}

static void full_key(const struct desk *desk, uint32_t key, char *ret_name, size_t size)
{
    char name[FO_KEY_SIZE];

    fo_key_name(key, name);
    snprintf(ret_name, size, "%s%s", desk->watch->prefix, name);
}

/* The holder has not let go, and was valid all the time: then each master that had granted it, and to which nothing was
 * done, must have had its value. */
static void compare(struct desk *desk, const struct fo_hold *held, const struct probe *probes)
{
    uint32_t touched = atomic_load(&desk->watch->shared->touched);

    for (size_t i = 0; i < desk->watch->n_urls; i++) {
        bool due = held->nodes >> i & 1 && !(touched >> i & 1) && probes[i].answered;

        desk->verdict.probes += due;
        desk->verdict.foreign_releases += due && (!probes[i].exists || strcmp(probes[i].value, held->token) != 0);
    }
}

static void probe_leader(struct desk *desk)
{
    const struct fo_hold *found = fo_referee_holder(&desk->referee, FO_LEADER_KEY, fo_now_ns() + MARGIN_MS * NS_PER_MS);
    const struct probe_masters masters = {desk->watch->urls, desk->watch->n_urls, PROBE_TIMEOUT_MS,
                                          desk->watch->tls, NULL, NULL};
    struct probe probes[REDLOCK_MAX_MASTERS];
    struct fo_hold held;
    char key[REDLOCK_MAX_KEY_BYTES];
    int64_t asked_ns = fo_now_ns();

    if (!found || found->from_ns > asked_ns - FRESH_MS * NS_PER_MS)
        return;
    held = *found; /* reading may move it */
    full_key(desk, FO_LEADER_KEY, key, sizeof key);
    probe_key(&masters, key, probes);
    if (fo_now_ns() > held.until_ns)
        return;
    read_all(desk);
    found = fo_referee_holder(&desk->referee, FO_LEADER_KEY, fo_now_ns());
    if (found && found->from_ns == held.from_ns && found->client == held.client)
        compare(desk, &held, probes);
}

static void publish(struct desk *desk, int64_t before_ns)
{
    fo_referee_judge(&desk->referee, before_ns, &desk->verdict);
    desk->watch->shared->verdict = desk->verdict;
}

/* How many keys there still are; -1 if a master does not answer. */
static int count_keys(const struct desk *desk)
{
    const struct probe_masters masters = {desk->watch->urls, desk->watch->n_urls, 5 * PROBE_TIMEOUT_MS,
                                          desk->watch->tls, NULL, NULL};
    struct probe probes[REDLOCK_MAX_MASTERS];
    char key[REDLOCK_MAX_KEY_BYTES];
    int n = 0;

    for (uint32_t i = 0; i < FO_ALL_KEYS; i++) {
        full_key(desk, i, key, sizeof key);
        probe_key(&masters, key, probes);
        for (size_t j = 0; j < desk->watch->n_urls; j++) {
            if (!probes[j].answered)
                return -1;
            n += probes[j].exists;
        }
    }
    return n;
}

/* All locks have been given back or have lost their holder. What is left may be there for a ttl, and not longer. */
static bool look_for_leaks(struct desk *desk)
{
    int n = count_keys(desk);

    if (n != 0) {
        sleep_ms(desk->watch->ttl_ms + LEAK_MARGIN_MS);
        n = count_keys(desk);
    }
    if (n < 0) {
        snprintf(desk->watch->shared->errors[FO_MAX_CLIENTS], FO_ERROR_SIZE,
                 "the referee cannot look for keys left behind: a master does not answer");
        return false;
    }
    desk->verdict.leaked_keys = (uint64_t)n;
    return true;
}

/* The file against what the holders say that they have added. A process that was killed between its write and its note
 * leaves one more. */
static void compare_counters(struct desk *desk)
{
    struct fo_shared *shared = desk->watch->shared;
    uint64_t counted = 0, noted = 0, allowed = 0;

    for (uint32_t i = 0; i < FO_ALL_KEYS; i++)
        counted += fo_counter_read(&shared->cells[i]);
    for (uint32_t i = 0; i < shared->clients; i++) {
        noted += atomic_load(&shared->taken[i]);
        allowed += atomic_load(&shared->crashed_ns[i]) != 0;
    }
    if (counted < noted || counted > noted + allowed)
        desk->referee.mixed_writes++;
}

/* One record of the store against what its writers were told. A process that was killed between its write and its note
 * leaves one more. */
static bool read_record(struct desk *desk, struct fo_store *store, enum fo_store_record record, uint64_t crashed)
{
    struct fo_shared *shared = desk->watch->shared;
    struct fo_stored *stored = &desk->verdict.stored[record];
    uint64_t confirmed = atomic_load(&shared->stored[record]);

    if (!fo_store_read(store, record, stored))
        snprintf(shared->errors[FO_MAX_CLIENTS], FO_ERROR_SIZE, "the referee cannot read the store of --resource");
    else if (stored->n < confirmed || stored->n > confirmed + crashed)
        snprintf(shared->errors[FO_MAX_CLIENTS], FO_ERROR_SIZE,
                 "the store of --resource has %llu writes, and has confirmed %llu", (unsigned long long)stored->n,
                 (unsigned long long)confirmed);
    else
        return true;
    return false;
}

static bool read_store(struct desk *desk)
{
    struct fo_shared *shared = desk->watch->shared;
    struct fo_store *store;
    uint64_t crashed = 0;
    bool ok = true;

    if (desk->watch->resource->kind == FO_NO_RESOURCE)
        return true;
    for (uint32_t i = 0; i < shared->clients; i++)
        crashed += atomic_load(&shared->crashed_ns[i]) != 0;
    desk->verdict.guard_refused = atomic_load(&shared->guard_refused);
    store = fo_store_connect(desk->watch->resource, shared->errors[FO_MAX_CLIENTS], FO_ERROR_SIZE);
    for (int i = 0; store && ok && i < FO_STORE_RECORDS; i++)
        ok = read_record(desk, store, (enum fo_store_record)i, crashed);
    fo_store_disconnect(store);
    return store && ok;
}

int fo_referee_process(const struct fo_watch *watch)
{
    struct desk *desk = calloc(1, sizeof *desk);
    bool ok;

    if (!desk)
        return 1;
    desk->watch = watch;
    for (uint64_t period = 0; !atomic_load(&watch->shared->finished); period++) {
        read_all(desk);
        if (period % PROBE_EVERY == 0)
            probe_leader(desk);
        if (period % JUDGE_EVERY == 0)
            publish(desk, fo_now_ns() - SETTLED_MS * NS_PER_MS);
        sleep_ms(PERIOD_MS);
    }
    read_all(desk);
    ok = look_for_leaks(desk) && read_store(desk);
    compare_counters(desk);
    publish(desk, INT64_MAX);
    ok = ok && !desk->referee.out_of_memory;
    fo_referee_fini(&desk->referee);
    free(desk);
    return ok ? 0 : 1;
}
