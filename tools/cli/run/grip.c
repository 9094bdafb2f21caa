#include "cli/run/grip.h"

#include <string.h>

#include "cli/permit.h"

static size_t index_of(const struct grip *grip, const struct redlock_lock *lock)
{
    size_t i = 0;

    while (i < grip->n && grip->locks[i] != lock)
        i++;
    return i;
}

/* The part of the set that has this key. */
static const struct redlock_lock *part_with_key(const struct redlock_set *set, const char *key)
{
    for (size_t part = 0; part < redlock_set_size(set); part++) {
        const struct redlock_lock *lock = redlock_set_lock(set, part);
        size_t size;
        const char *other = redlock_lock_key(lock, &size);

        if (size == strlen(key) && memcmp(other, key, size) == 0)
            return lock;
    }
    return NULL;
}

/* When one is lost the others are held until the command has ended. */
static int create_empty(struct grip *grip, struct redlock_client *client)
{
    int status = redlock_set_create(client, &grip->set);

    return status == 0 ? redlock_set_keep_rest(grip->set, 1) : status;
}

static int create_set(struct grip *grip, struct redlock_client *client)
{
    const struct cli_texts *keys = &grip->options->keys;
    int status = create_empty(grip, client);

    for (size_t i = 0; i < keys->n && status == 0; i++)
        status = redlock_set_add(grip->set, keys->items[i], strlen(keys->items[i]));
    for (size_t i = 0; i < keys->n && status == 0; i++)
        grip->locks[i] = part_with_key(grip->set, keys->items[i]);
    grip->n = keys->n;
    return status;
}

static int create_permits(struct grip *grip, struct redlock_client *client)
{
    const struct run_options *options = grip->options;
    const char *key = options->keys.items[0];
    int status = create_empty(grip, client);

    if (status == 0)
        status = redlock_set_add_permits(grip->set, key, strlen(key), options->n_permits, options->permits);
    for (size_t i = 0; i < options->n_permits && status == 0; i++)
        grip->locks[i] = redlock_set_lock(grip->set, i);
    grip->n = options->n_permits;
    return status;
}

int grip_create(struct grip *grip, struct redlock_client *client, const struct run_options *options)
{
    int status;

    *grip = (struct grip){.options = options};
    if (options->keys.n > 1)
        return create_set(grip, client);
    if (options->n_permits > 1)
        return create_permits(grip, client);
    grip->n = 1;
    status = cli_lock_create(client, options->keys.items[0], options->permits, &grip->lock);
    grip->locks[0] = grip->lock;
    return status;
}

int grip_acquire(struct grip *grip, struct session *session, const struct redlock_acquire_options *request)
{
    if (grip->set != NULL)
        return session_set_acquire_whole(session, grip->set, request);
    return session_acquire_whole(session, grip->lock, request);
}

int grip_release(struct grip *grip, struct session *session)
{
    if (grip->set != NULL)
        return session_set_release(session, grip->set);
    return session_release(session, grip->lock);
}

void grip_cancel(struct grip *grip)
{
    if (grip->set != NULL)
        redlock_set_cancel(grip->set);
    else
        redlock_cancel(grip->lock);
}

static const char *key_of_part(const struct grip *grip, size_t part)
{
    const struct cli_texts *keys = &grip->options->keys;

    return keys->items[keys->n > 1 ? index_of(grip, redlock_set_lock(grip->set, part)) : 0];
}

const char *grip_decisive_key(const struct grip *grip, const struct outcome *outcome)
{
    if (grip->options->keys.n == 1 || outcome->part >= redlock_set_size(grip->set))
        return NULL;
    return key_of_part(grip, outcome->part);
}

bool grip_observe(struct grip *grip, const struct redlock_event *event)
{
    size_t key;

    if (event->lock == NULL || (event->type != REDLOCK_EVENT_ACQUIRED && event->type != REDLOCK_EVENT_EXTENDED &&
                                event->type != REDLOCK_EVENT_RENEWED))
        return false;
    key = index_of(grip, event->lock);
    if (key == grip->n)
        return false;
    grip->nodes_ok[key] = 0;
    for (size_t i = 0; i < event->n_nodes; i++)
        grip->nodes_ok[key] += event->nodes[i].valid_for_ms > 0;
    return true;
}

static void on_alarm(struct redlock_lock *lock, const struct redlock_alarm *alarm, void *data)
{
    const struct grip *grip = data;

    grip->watch(grip->options->keys.items[0], alarm, grip->watch_data);
}

static void on_set_alarm(struct redlock_set *set, size_t part, const struct redlock_alarm *alarm, void *data)
{
    const struct grip *grip = data;

    grip->watch(key_of_part(grip, part), alarm, grip->watch_data);
}

void grip_watch(struct grip *grip, grip_watch_fn watch, void *data)
{
    grip->watch = watch;
    grip->watch_data = data;
    if (grip->set != NULL)
        redlock_set_watch(grip->set, watch != NULL ? on_set_alarm : NULL, grip);
    else
        redlock_lock_watch(grip->lock, watch != NULL ? on_alarm : NULL, grip);
}

int64_t grip_remaining_ns(const struct grip *grip)
{
    return grip->set != NULL ? redlock_set_remaining_ns(grip->set) : redlock_remaining_ns(grip->lock);
}

int64_t grip_remaining_ms(const struct grip *grip)
{
    return grip->set != NULL ? redlock_set_remaining_ms(grip->set) : redlock_remaining_ms(grip->lock);
}

unsigned grip_nodes_ok(const struct grip *grip)
{
    unsigned least = grip->nodes_ok[0];

    for (size_t i = 1; i < grip->n; i++)
        if (grip->nodes_ok[i] < least)
            least = grip->nodes_ok[i];
    return least;
}
