#include "cli/grip.h"

#include <string.h>

#include "cli/common.h"

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
static int create_empty(struct grip *grip, struct redlock_client *client, struct redlock_set **ret_set)
{
    int status = redlock_set_create(client, ret_set);

    grip->subject = (struct subject){&subject_set, *ret_set};
    return status == 0 ? redlock_set_keep_rest(*ret_set, 1) : status;
}

static int create_set(struct grip *grip, struct redlock_client *client)
{
    const struct cli_texts *keys = &grip->wanted->keys;
    struct redlock_set *set = NULL;
    int status = create_empty(grip, client, &set);

    for (size_t i = 0; i < keys->n && status == 0; i++)
        status = redlock_set_add(set, keys->items[i], strlen(keys->items[i]));
    for (size_t i = 0; i < keys->n && status == 0; i++)
        grip->locks[i] = part_with_key(set, keys->items[i]);
    grip->n = keys->n;
    return status;
}

static int create_permits(struct grip *grip, struct redlock_client *client)
{
    const struct wanted *wanted = grip->wanted;
    const char *key = wanted->keys.items[0];
    struct redlock_set *set = NULL;
    int status = create_empty(grip, client, &set);

    if (status == 0)
        status = redlock_set_add_permits(set, key, strlen(key), wanted->n_permits, wanted->permits);
    for (size_t i = 0; i < wanted->n_permits && status == 0; i++)
        grip->locks[i] = redlock_set_lock(set, i);
    grip->n = wanted->n_permits;
    return status;
}

int grip_create(struct grip *grip, struct redlock_client *client, const struct wanted *wanted)
{
    struct redlock_lock *lock = NULL;
    int status;

    *grip = (struct grip){.wanted = wanted};
    if (wanted->keys.n > 1)
        return create_set(grip, client);
    if (wanted->n_permits > 1)
        return create_permits(grip, client);
    grip->n = 1;
    status = cli_lock_create(client, wanted->keys.items[0], wanted->permits, &lock);
    grip->subject = (struct subject){&subject_lock, lock};
    grip->locks[0] = lock;
    return status;
}

int grip_acquire(struct grip *grip, struct session *session, const struct redlock_acquire_options *request)
{
    return session_acquire_whole(session, grip->subject, request);
}

int grip_extend(struct grip *grip, struct session *session, uint32_t ttl_ms)
{
    for (size_t i = 0; i < grip->n; i++)
        grip->votes[i] = (struct grip_votes){0};
    return session_extend_subject(session, grip->subject, ttl_ms);
}

int grip_release(struct grip *grip, struct session *session)
{
    return session_release_subject(session, grip->subject);
}

void grip_cancel(struct grip *grip)
{
    grip->subject.kind->cancel(grip->subject.handle);
}

const char *grip_key(const struct grip *grip, size_t i)
{
    const struct cli_texts *keys = &grip->wanted->keys;

    return keys->items[keys->n > 1 ? i : 0];
}

static const char *key_of_part(const struct grip *grip, size_t part)
{
    return grip_key(grip, index_of(grip, grip->subject.kind->part(grip->subject.handle, part)));
}

const char *grip_decisive_key(const struct grip *grip, const struct outcome *outcome)
{
    if (grip->wanted->keys.n == 1 || outcome->part >= grip->n)
        return NULL;
    return key_of_part(grip, outcome->part);
}

/* A vote that comes behind the majority counts as well. */
static void take_vote(struct grip_votes *votes, const struct redlock_event *event)
{
    if (event->node < 0 || event->vote == REDLOCK_VOTE_PENDING)
        return;
    votes->answered |= UINT32_C(1) << event->node;
    if (event->vote == REDLOCK_VOTE_GRANTED)
        votes->ok |= UINT32_C(1) << event->node;
}

static void take_validity(struct grip_votes *votes, const struct redlock_event *event)
{
    votes->ok = 0;
    for (size_t i = 0; i < event->n_nodes; i++)
        votes->ok |= (uint32_t)(event->nodes[i].valid_for_ms > 0) << i;
}

bool grip_observe(struct grip *grip, const struct redlock_event *event)
{
    size_t i = event->lock != NULL ? index_of(grip, event->lock) : grip->n;

    if (i == grip->n)
        return false;
    switch (event->type) {
    case REDLOCK_EVENT_ATTEMPT:
        grip->votes[i] = (struct grip_votes){0};
        return false;
    case REDLOCK_EVENT_VOTE:
        if (event->op != REDLOCK_OP_RELEASE)
            take_vote(&grip->votes[i], event);
        else if (event->node >= 0 && event->vote == REDLOCK_VOTE_REFUSED)
            grip->votes[i].gone |= UINT32_C(1) << event->node;
        return false;
    case REDLOCK_EVENT_ACQUIRED:
    case REDLOCK_EVENT_EXTENDED:
    case REDLOCK_EVENT_RENEWED:
        take_validity(&grip->votes[i], event);
        return true;
    default:
        return false;
    }
}

static bool all_answered(const struct session *session, void *data)
{
    const struct grip *grip = data;
    size_t n_nodes = redlock_client_node_count(redlock_lock_client(grip->locks[0]));

    (void)session;
    for (size_t i = 0; i < grip->n; i++)
        if (grip->votes[i].answered != (UINT32_C(1) << n_nodes) - 1)
            return false;
    return true;
}

void grip_settle(struct grip *grip, struct session *session, uint32_t timeout_ms)
{
    if (grip->subject.kind->votes_follow)
        session_settle(session, timeout_ms);
    else
        session_run_until(session, all_answered, grip, timeout_ms);
}

int grip_detach(struct grip *grip)
{
    return grip->subject.kind->detach(grip->subject.handle);
}

int grip_export(struct grip *grip, char *ret_text, size_t size)
{
    return grip->subject.kind->export(grip->subject.handle, ret_text, size);
}

int grip_adopt(struct grip *grip, const struct redlock_acquire_options *options, const char *text)
{
    return grip->subject.kind->adopt(grip->subject.handle, options, text);
}

static void on_alarm(size_t part, const struct redlock_alarm *alarm, void *data)
{
    const struct grip *grip = data;

    grip->watch(key_of_part(grip, part), alarm, grip->watch_data);
}

void grip_watch(struct grip *grip, grip_watch_fn watch, void *data)
{
    grip->watch = watch;
    grip->watch_data = data;
    grip->alarms = (struct subject_sink){.alarm = on_alarm, .data = grip};
    grip->subject.kind->watch(grip->subject.handle, watch != NULL ? &grip->alarms : NULL);
}

int64_t grip_remaining_ns(const struct grip *grip)
{
    return grip->subject.kind->remaining_ns(grip->subject.handle);
}

int64_t grip_remaining_ms(const struct grip *grip)
{
    return grip_remaining_ns(grip) / 1000000;
}

const char *grip_gone_key(const struct grip *grip, size_t quorum, unsigned *ret_masters)
{
    size_t n_nodes = redlock_client_node_count(redlock_lock_client(grip->locks[0]));

    for (size_t i = 0; i < grip->n; i++) {
        *ret_masters = (unsigned)__builtin_popcount(grip->votes[i].gone);
        if (n_nodes - *ret_masters < quorum)
            return grip_key(grip, i);
    }
    return NULL;
}

unsigned grip_nodes_ok(const struct grip *grip)
{
    unsigned least = REDLOCK_MAX_MASTERS;

    for (size_t i = 0; i < grip->n; i++) {
        unsigned count = (unsigned)__builtin_popcount(grip->votes[i].ok);

        least = count < least ? count : least;
    }
    return least;
}
