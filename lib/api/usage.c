#include "api/usage.h"

#include <stdlib.h>
#include <string.h>

#include "api/call.h"
#include "api/handle.h"
#include "api/lock_state.h"
#include "engine/handle.h"
#include "host/lock.h"

#define OTHER "other"

struct rl_class_prefix {
    char *text;
    size_t size;
    char *name;
    uint8_t number; /* of its class */
};

/* --- Classes of keys ---------------------------------------------------------------------------------------------- */

/* The class with this name, which several prefixes may have. */
static uint8_t class_named(struct rl_usage *usage, const char *name)
{
    size_t i = 0;

    while (i < usage->n_classes && strcmp(usage->classes[i].name, name) != 0)
        i++;
    if (i == usage->n_classes)
        usage->classes[usage->n_classes++].name = name;
    return (uint8_t)i;
}

static bool add_prefix(struct rl_usage *usage, const struct redlock_key_class *given)
{
    struct rl_class_prefix *prefix = &usage->prefixes[usage->n_prefixes++];

    prefix->text = strdup(given->prefix);
    prefix->name = strdup(given->name);
    if (!prefix->text || !prefix->name)
        return false;
    prefix->size = strlen(prefix->text);
    prefix->number = class_named(usage, prefix->name);
    return true;
}

bool rl_usage_init(struct rl_usage *usage, const struct redlock_options *options)
{
    size_t n = options->n_key_classes;
    bool complete;

    usage->classes = calloc(n + 1, sizeof usage->classes[0]);
    usage->prefixes = calloc(n + 1, sizeof usage->prefixes[0]);
    complete = usage->classes && usage->prefixes;
    if (complete)
        class_named(usage, OTHER);
    for (size_t i = 0; complete && i < n; i++)
        complete = add_prefix(usage, &options->key_classes[i]);
    return complete;
}

void rl_usage_fini(struct rl_usage *usage)
{
    for (size_t i = 0; i < usage->n_prefixes; i++) {
        free(usage->prefixes[i].text);
        free(usage->prefixes[i].name);
    }
    free(usage->prefixes);
    free(usage->classes);
}

uint8_t rl_usage_class(const struct rl_usage *usage, const void *key, size_t size)
{
    const struct rl_class_prefix *longest = NULL;

    for (size_t i = 0; i < usage->n_prefixes; i++) {
        const struct rl_class_prefix *prefix = &usage->prefixes[i];

        if (prefix->size <= size && memcmp(key, prefix->text, prefix->size) == 0 &&
            (!longest || prefix->size > longest->size))
            longest = prefix;
    }
    return longest ? longest->number : 0;
}

/* --- What becomes of locks ---------------------------------------------------------------------------------------- */

static struct redlock_class_stats *class_of(const struct redlock_lock *lock)
{
    return &rl_client_of(lock)->usage.classes[lock->object.key_class];
}

/* A deadline is no reason: that is what kept the lock from being acquired until then. */
static void count(struct redlock_class_stats *stats, int status)
{
    stats->acquired += status == REDLOCK_OK;
    stats->held += status == REDLOCK_HELD;
    stats->no_quorum += status == REDLOCK_NO_QUORUM;
    stats->too_slow += status == REDLOCK_TOO_SLOW;
    stats->canceled += status == REDLOCK_CANCELED;
    stats->client += status < REDLOCK_CANCELED;
}

void rl_usage_acquired(const struct redlock_lock *lock, const struct rl_call *call)
{
    struct redlock_client *client = rl_client_of(lock);
    const struct rl_host_call *host = lock->host.call;

    count(class_of(lock), call->status == REDLOCK_DEADLINE ? call->cause : call->status);
    if (call->status >= REDLOCK_CANCELED)
        rl_histogram_add(&client->usage.acquisitions[-call->status], rl_until(call->started, client->host.now));
    if (host->request.wait != RL_WAIT_SPIN && host->entry.enqueued)
        rl_histogram_add(&client->usage.waits, rl_until(host->entry.entered, client->host.now));
}

/* Of a release that is not pending the beginning of the hold takes the place of its own: a program may hold a hundred
 * thousand locks. */
void rl_usage_begin_hold(struct redlock_lock *lock)
{
    lock->release.started = lock->host.host->now;
}

static void end_hold(const struct redlock_lock *lock)
{
    rl_histogram_add(&rl_client_of(lock)->usage.holds, rl_until(lock->release.started, lock->host.host->now));
}

void rl_usage_end_hold(const struct redlock_lock *lock)
{
    if (!rl_lock_is_held(&lock->host.core))
        return;
    rl_host_read_clock(lock->host.host);
    end_hold(lock);
}

void rl_usage_lost(const struct redlock_lock *lock)
{
    struct redlock_class_stats *stats = class_of(lock);
    enum rl_loss loss = (enum rl_loss)lock->host.core.loss;

    stats->lost_expired += loss == RL_LOSS_EXPIRED;
    stats->lost_unreachable += loss == RL_LOSS_UNREACHABLE;
    stats->lost_refused += loss == RL_LOSS_REFUSED;
    stats->lost_clock_step += loss == RL_LOSS_CLOCK_STEP;
    stats->lost_hold_limit += loss == RL_LOSS_HOLD_LIMIT;
    end_hold(lock);
}
