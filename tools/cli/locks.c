#include "cli/locks.h"

#include <string.h>

#include <redlock/members.h>
#include <redlock/semaphore.h>

#include "cli/common.h"

static size_t index_of(const struct locks *locks, const struct redlock_lock *lock)
{
    size_t i = 0;

    while (i < locks->n && locks->handles[i] != lock)
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
static int create_empty(struct locks *locks, struct redlock_client *client, struct redlock_set **ret_set)
{
    int status = redlock_set_create(client, ret_set);

    locks->subject = (struct subject){&subject_set, *ret_set};
    return status == 0 ? redlock_set_keep_rest(*ret_set, 1) : status;
}

static int create_set(struct locks *locks, struct redlock_client *client)
{
    const struct cli_texts *keys = &locks->spec->keys;
    struct redlock_set *set = NULL;
    int status = create_empty(locks, client, &set);

    for (size_t i = 0; i < keys->n && status == 0; i++)
        status = redlock_set_add(set, keys->items[i], strlen(keys->items[i]));
    for (size_t i = 0; i < keys->n && status == 0; i++)
        locks->handles[i] = part_with_key(set, keys->items[i]);
    locks->n = keys->n;
    return status;
}

static int create_permits(struct locks *locks, struct redlock_client *client)
{
    const struct lock_spec *spec = locks->spec;
    const char *key = spec->keys.items[0];
    struct redlock_set *set = NULL;
    int status = create_empty(locks, client, &set);

    if (status == 0)
        status = redlock_set_add_permits(set, key, strlen(key), spec->n_permits, spec->permits);
    for (size_t i = 0; i < spec->n_permits && status == 0; i++)
        locks->handles[i] = redlock_set_lock(set, i);
    locks->n = spec->n_permits;
    return status;
}

static int create_by_agent(struct locks *locks, struct session *session)
{
    locks->n = lock_spec_count(locks->spec);
    agent_lock_init(&locks->agent, session, locks->spec);
    locks->subject = (struct subject){&subject_agent, &locks->agent};
    return REDLOCK_OK;
}

int locks_create(struct locks *locks, struct session *session, const struct lock_spec *spec)
{
    struct redlock_lock *lock = NULL;
    int status;

    *locks = (struct locks){.spec = spec};
    if (session->agent)
        return create_by_agent(locks, session);
    if (spec->keys.n > 1)
        return create_set(locks, session->client);
    if (spec->n_permits > 1)
        return create_permits(locks, session->client);
    locks->n = 1;
    status = cli_lock_create(session->client, spec->keys.items[0], spec->permits, &lock);
    locks->subject = (struct subject){&subject_lock, lock};
    locks->handles[0] = lock;
    return status;
}

int locks_acquire(struct locks *locks, struct session *session, const struct redlock_acquire_options *request)
{
    return session_acquire_whole(session, locks->subject, request);
}

int locks_extend(struct locks *locks, struct session *session, uint32_t ttl_ms)
{
    for (size_t i = 0; i < locks->n; i++)
        locks->votes[i] = (struct locks_votes){0};
    return session_extend_subject(session, locks->subject, ttl_ms);
}

int locks_release(struct locks *locks, struct session *session)
{
    return session_release_subject(session, locks->subject);
}

/* Others whose clocks are late, or that start late, are not to find it free. The masters keep it for the rest, and have
 * as much of it in any case, so nothing depends on their answers; an agent has been told when it was asked. */
bool locks_leave(struct locks *locks, struct session *session, uint32_t left_ms)
{
    locks->agent.keeps = true;
    if (!locks->handles[0])
        return locks_release(locks, session) == REDLOCK_OK;
    locks_extend(locks, session, left_ms);
    return locks_detach(locks) == REDLOCK_OK;
}

void locks_cancel(struct locks *locks)
{
    locks->subject.kind->cancel(locks->subject.handle);
}

const char *locks_key(const struct locks *locks, size_t i)
{
    const struct cli_texts *keys = &locks->spec->keys;

    return keys->items[keys->n > 1 ? i : 0];
}

/* An agent's are counted in the user's order already. */
static const char *key_of_part(const struct locks *locks, size_t part)
{
    const struct subject *subject = &locks->subject;

    return locks_key(locks, subject->kind->part ? index_of(locks, subject->kind->part(subject->handle, part)) : part);
}

struct locks_part locks_part(const struct locks *locks, size_t i)
{
    const struct redlock_lock *lock = locks->handles[i];
    const struct agent_part *part = &locks->agent.parts[i];

    if (!lock)
        return (struct locks_part){part->token, part->fence, part->slot};
    return (struct locks_part){redlock_lock_token(lock), redlock_lock_fence(lock), redlock_lock_slot(lock)};
}

const char *locks_decisive_key(const struct locks *locks, const struct outcome *outcome)
{
    if (locks->spec->keys.n == 1 || outcome->part >= locks->n)
        return NULL;
    return key_of_part(locks, outcome->part);
}

/* A vote that comes behind the majority counts as well. */
static void take_vote(struct locks_votes *votes, const struct redlock_event *event)
{
    if (event->node < 0 || event->vote == REDLOCK_VOTE_PENDING)
        return;
    votes->answered |= UINT32_C(1) << event->node;
    if (event->vote == REDLOCK_VOTE_GRANTED)
        votes->ok |= UINT32_C(1) << event->node;
}

static void take_validity(struct locks_votes *votes, const struct redlock_event *event)
{
    votes->ok = 0;
    for (size_t i = 0; i < event->n_nodes; i++)
        votes->ok |= (uint32_t)(event->nodes[i].valid_for_ms > 0) << i;
}

bool locks_observe(struct locks *locks, const struct redlock_event *event)
{
    size_t i = event->lock ? index_of(locks, event->lock) : locks->n;

    if (i == locks->n)
        return !locks->handles[0] && event->type == REDLOCK_EVENT_RENEWED;
    switch (event->type) {
    case REDLOCK_EVENT_ATTEMPT:
        locks->votes[i] = (struct locks_votes){0};
        return false;
    case REDLOCK_EVENT_VOTE:
        if (event->op != REDLOCK_OP_RELEASE)
            take_vote(&locks->votes[i], event);
        else if (event->node >= 0 && event->vote == REDLOCK_VOTE_REFUSED)
            locks->votes[i].gone |= UINT32_C(1) << event->node;
        return false;
    case REDLOCK_EVENT_ACQUIRED:
    case REDLOCK_EVENT_EXTENDED:
    case REDLOCK_EVENT_RENEWED:
        take_validity(&locks->votes[i], event);
        return true;
    default:
        return false;
    }
}

void locks_on_event(const struct redlock_event *event, void *data)
{
    locks_observe(data, event);
}

static uint32_t members_of(const struct locks *locks)
{
    const struct redlock_client *client = redlock_lock_client(locks->handles[0]);
    struct redlock_node_info info;
    uint32_t members = 0;

    for (size_t i = 0; i < redlock_client_node_count(client); i++)
        if (redlock_client_node_info(client, i, &info, sizeof info) == 0)
            members |= (uint32_t)info.member << i;
    return members;
}

struct locks_masters locks_masters(const struct locks *locks)
{
    struct redlock_view view = {0};

    if (!locks->handles[0])
        return (struct locks_masters){locks->agent.members, locks->agent.quorum};
    redlock_client_view(redlock_lock_client(locks->handles[0]), &view, sizeof view);
    return (struct locks_masters){view.list.n, view.list.quorum};
}

static bool all_answered(const struct session *session, void *data)
{
    const struct locks *locks = data;

    for (size_t i = 0; i < locks->n; i++)
        if (members_of(locks) & ~locks->votes[i].answered)
            return false;
    return true;
}

void locks_settle(struct locks *locks, struct session *session, uint32_t timeout_ms)
{
    if (locks->subject.kind->votes_follow)
        session_settle(session, timeout_ms);
    else if (locks->handles[0])
        session_run_until(session, all_answered, locks, timeout_ms);
}

int locks_detach(struct locks *locks)
{
    return locks->subject.kind->detach(locks->subject.handle);
}

int locks_export(struct locks *locks, char *ret_text, size_t size)
{
    return locks->subject.kind->export(locks->subject.handle, ret_text, size);
}

int locks_adopt(struct locks *locks, const struct redlock_acquire_options *options, const char *text)
{
    return locks->subject.kind->adopt(locks->subject.handle, options, text);
}

static void on_alarm(size_t part, const struct redlock_alarm *alarm, void *data)
{
    const struct locks *locks = data;

    locks->watch(key_of_part(locks, part), alarm, locks->watch_data);
}

void locks_watch(struct locks *locks, locks_watch_fn watch, void *data)
{
    locks->watch = watch;
    locks->watch_data = data;
    locks->alarms = (struct subject_sink){.alarm = on_alarm, .data = locks};
    locks->subject.kind->watch(locks->subject.handle, watch ? &locks->alarms : NULL);
}

int64_t locks_remaining_ns(const struct locks *locks)
{
    return locks->subject.kind->remaining_ns(locks->subject.handle);
}

int64_t locks_remaining_ms(const struct locks *locks)
{
    return locks_remaining_ns(locks) / 1000000;
}

const char *locks_gone_key(const struct locks *locks, unsigned *ret_masters)
{
    struct locks_masters masters = locks_masters(locks);

    *ret_masters = locks->agent.gone;
    if (!locks->handles[0])
        return locks->n == 1 && masters.n - *ret_masters < masters.quorum ? locks_key(locks, 0) : NULL;
    for (size_t i = 0; i < locks->n; i++) {
        *ret_masters = (unsigned)__builtin_popcount(locks->votes[i].gone & members_of(locks));
        if (masters.n - *ret_masters < masters.quorum)
            return locks_key(locks, i);
    }
    return NULL;
}

unsigned locks_nodes_ok(const struct locks *locks)
{
    unsigned least = locks->handles[0] ? REDLOCK_MAX_MASTERS : locks->agent.votes;

    for (size_t i = 0; i < locks->n && locks->handles[i]; i++) {
        unsigned count = (unsigned)__builtin_popcount(locks->votes[i].ok & members_of(locks));

        least = count < least ? count : least;
    }
    return least;
}
