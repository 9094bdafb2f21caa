#include "blocking/holder.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/blocking.h>

#include "util/hash.h"

static struct rl_holder_part *part_at(struct rl_table_node *node)
{
    return RL_CONTAINER_OF(node, struct rl_holder_part, node);
}

static uint64_t hash_of_lock(struct rl_table_node *node)
{
    return rl_hash_address(part_at(node)->lock);
}

void rl_holders_init(struct rl_holders *holders)
{
    rl_list_init(&holders->all);
    rl_table_init(&holders->by_lock, hash_of_lock);
    rl_list_init(&holders->stale);
}

void rl_holders_fini(struct rl_holders *holders)
{
    assert(rl_list_empty(&holders->all) && holders->by_lock.count == 0 && rl_list_empty(&holders->stale));
    rl_table_fini(&holders->by_lock);
}

/* --- Life ------------------------------------------------------------------------------------------------------- */

void rl_holder_init(struct rl_holder *holder, const struct rl_holder_kind *kind, rl_alarm_fn on_alarm)
{
    holder->kind = kind;
    holder->on_alarm = on_alarm;
    rl_bound_init(&holder->bound);
    rl_list_init(&holder->link);
    rl_list_init(&holder->stale);
}

int rl_holder_begin(struct rl_holder *holder, struct rl_holders *holders, struct redlock_client *client,
                    const struct rl_request *request)
{
    int status = REDLOCK_E_NOMEM;

    assert(!rl_holder_exists(holder));
    holder->parts = calloc(holder->kind->max_parts, sizeof *holder->parts);
    if (holder->parts)
        status = holder->kind->create(holder, client, request);
    if (status < 0) {
        free(holder->parts);
        holder->parts = NULL;
        return status;
    }
    holder->holders = holders;
    rl_list_append(&holders->all, &holder->link);
    rl_holder_update_parts(holder);
    return 0;
}

static void remove_parts(struct rl_holder *holder)
{
    while (holder->n_parts)
        rl_table_remove(&holder->holders->by_lock, &holder->parts[--holder->n_parts].node);
}

void rl_holder_update_parts(struct rl_holder *holder)
{
    const struct redlock_lock *lock;

    remove_parts(holder);
    while ((lock = holder->kind->part(holder, holder->n_parts))) {
        struct rl_holder_part *part = &holder->parts[holder->n_parts++];

        assert(holder->n_parts <= holder->kind->max_parts);
        part->holder = holder;
        part->lock = lock;
        rl_table_add(&holder->holders->by_lock, &part->node);
    }
}

void rl_holder_end(struct rl_holder *holder)
{
    assert(rl_holder_exists(holder));
    remove_parts(holder);
    free(holder->parts);
    holder->parts = NULL;
    holder->handle = NULL;
    rl_list_remove(&holder->link);
    rl_holder_publish(holder);
}

bool rl_holder_exists(const struct rl_holder *holder)
{
    return holder->handle;
}

struct rl_holder *rl_holders_next(const struct rl_holders *holders, const struct rl_holder *holder)
{
    struct rl_list *next = holder ? holder->link.next : holders->all.next;

    return next == &holders->all ? NULL : RL_CONTAINER_OF(next, struct rl_holder, link);
}

int rl_holder_ask(struct rl_holder *holder, struct rl_request *request)
{
    int (*ask)(struct rl_holder *, struct rl_request *) = holder->kind->ask[request->what];
    int status = ask ? ask(holder, request) : REDLOCK_E_SET;

    if (holder->may_be_held || request->what == RL_ADOPT)
        rl_holder_publish(holder);
    return status;
}

/* --- Publication ------------------------------------------------------------------------------------------------ */

void rl_holder_publish(struct rl_holder *holder)
{
    struct rl_clock before = {0};
    struct rl_bound_hold hold = {0};
    int64_t remaining_ns = 0;

    if (rl_holder_exists(holder)) {
        rl_clock_init(&before);
        remaining_ns = holder->kind->remaining_ns(holder, &hold);
    }
    rl_list_remove(&holder->stale);
    holder->may_be_held = remaining_ns > 0;
    rl_bound_publish(&holder->bound, &before, remaining_ns, hold);
}

void rl_holders_publish_stale(struct rl_holders *holders)
{
    while (!rl_list_empty(&holders->stale))
        rl_holder_publish(RL_CONTAINER_OF(holders->stale.next, struct rl_holder, stale));
}

void rl_holders_publish_all(struct rl_holders *holders)
{
    for (struct rl_holder *holder = rl_holders_next(holders, NULL); holder; holder = rl_holders_next(holders, holder))
        rl_holder_publish(holder);
}

bool rl_holder_mark_stale(struct rl_holder *holder)
{
    if (!holder->may_be_held || !rl_list_empty(&holder->stale))
        return false;
    rl_list_append(&holder->holders->stale, &holder->stale);
    return true;
}

bool rl_holders_mark_lock_stale(struct rl_holders *holders, const struct redlock_lock *lock)
{
    bool any = false;

    if (lock) {
        struct rl_table_node *node = rl_table_chain(&holders->by_lock, rl_hash_address(lock));

        while (node && part_at(node)->lock != lock)
            node = node->next;
        return node && rl_holder_mark_stale(part_at(node)->holder);
    }
    for (struct rl_holder *holder = rl_holders_next(holders, NULL); holder; holder = rl_holders_next(holders, holder))
        any = rl_holder_mark_stale(holder) || any;
    return any;
}

/* How a kind answers what it is asked. */
#define ANSWER(name, call)                                                      \
    static int name(struct rl_holder *holder, struct rl_request *request)       \
    {                                                                           \
        (void)request;                                                          \
        return call;                                                            \
    }

/* --- A lock ----------------------------------------------------------------------------------------------------- */

static void on_lock_done(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct rl_request *request = user_data;

    request->done(request, result);
}

static void on_lock_alarm(struct redlock_lock *lock, const struct redlock_alarm *alarm, void *user_data)
{
    struct rl_holder *holder = user_data;

    holder->on_alarm(holder, alarm);
}

static int create_lock(struct rl_holder *holder, struct redlock_client *client, const struct rl_request *request)
{
    int status;

    if (request->limit)
        status = redlock_permit_create(client, request->key, request->size, request->limit, &holder->lock);
    else
        status = redlock_lock_create(client, request->key, request->size, &holder->lock);
    if (status == 0)
        redlock_lock_watch(holder->lock, on_lock_alarm, holder);
    return status;
}

static void destroy_lock(void *handle)
{
    redlock_lock_destroy(handle);
}

static const struct redlock_lock *part_of_lock(const struct rl_holder *holder, size_t i)
{
    return i == 0 ? holder->lock : NULL;
}

static enum redlock_state state_of_lock(const struct rl_holder *holder)
{
    return redlock_state(holder->lock);
}

static int64_t remaining_of_lock(const struct rl_holder *holder, struct rl_bound_hold *ret_hold)
{
    *ret_hold = (struct rl_bound_hold){redlock_lock_fence(holder->lock), redlock_lock_mode(holder->lock)};
    return redlock_remaining_ns(holder->lock);
}

ANSWER(acquire_lock, redlock_acquire(holder->lock, request->options, on_lock_done, request))
ANSWER(extend_lock, redlock_extend(holder->lock, request->ttl_ms, on_lock_done, request))
ANSWER(convert_lock, redlock_convert(holder->lock, request->mode, request->timeout_ms, on_lock_done, request))
ANSWER(release_lock, redlock_release(holder->lock, on_lock_done, request))
ANSWER(release_token, redlock_release_token(holder->lock, request->token, on_lock_done, request))
ANSWER(release_permit, redlock_release_permit(holder->lock, request->slot, request->token, on_lock_done, request))
ANSWER(cancel_lock, redlock_cancel(holder->lock))
ANSWER(detach_lock, redlock_lock_detach(holder->lock))
ANSWER(export_lock, redlock_lock_export(holder->lock, request->ret, request->size))
ANSWER(adopt_lock, redlock_lock_adopt(holder->lock, request->options, request->text))

static int copy_token(struct rl_holder *holder, struct rl_request *request)
{
    const char *token = redlock_lock_token(holder->lock);

    if (strlen(token) >= request->size)
        return REDLOCK_E_LIMIT;
    memcpy(request->ret, token, strlen(token) + 1);
    return 0;
}

static int read_slot(struct rl_holder *holder, struct rl_request *request)
{
    *(int32_t *)request->ret = redlock_lock_slot(holder->lock);
    return 0;
}

static int read_mode(struct rl_holder *holder, struct rl_request *request)
{
    *(enum redlock_mode *)request->ret = redlock_lock_mode(holder->lock);
    return 0;
}

const struct rl_holder_kind rl_lock_holder = {
    .max_parts = 1,
    .create = create_lock,
    .destroy = destroy_lock,
    .part = part_of_lock,
    .state = state_of_lock,
    .remaining_ns = remaining_of_lock,
    .ask = {
        [RL_ACQUIRE] = acquire_lock,
        [RL_EXTEND] = extend_lock,
        [RL_CONVERT] = convert_lock,
        [RL_RELEASE] = release_lock,
        [RL_RELEASE_TOKEN] = release_token,
        [RL_RELEASE_PERMIT] = release_permit,
        [RL_CANCEL] = cancel_lock,
        [RL_DETACH] = detach_lock,
        [RL_EXPORT] = export_lock,
        [RL_ADOPT] = adopt_lock,
        [RL_TOKEN] = copy_token,
        [RL_SLOT] = read_slot,
        [RL_MODE] = read_mode,
    },
};

/* --- A set ------------------------------------------------------------------------------------------------------ */

/* What the masters did is told of the key that decided. */
static void on_set_done(struct redlock_set *set, const struct redlock_set_result *result, void *user_data)
{
    struct rl_request *request = user_data;
    struct redlock_result own = {0};

    if (result->part_result)
        own = *result->part_result;
    own.op = result->op;
    own.status = result->status;
    own.cause = result->cause;
    own.elapsed_us = result->elapsed_us;
    own.remaining_ms = result->remaining_ms;
    own.fence = 0;
    own.why = result->why;
    own.part = result->part;
    request->done(request, &own);
}

static void on_set_alarm(struct redlock_set *set, size_t part, const struct redlock_alarm *alarm, void *user_data)
{
    struct rl_holder *holder = user_data;

    holder->on_alarm(holder, alarm);
}

static int create_set(struct rl_holder *holder, struct redlock_client *client, const struct rl_request *request)
{
    int status = redlock_set_create(client, &holder->set);

    if (status == 0)
        redlock_set_watch(holder->set, on_set_alarm, holder);
    return status;
}

static void destroy_set(void *handle)
{
    redlock_set_destroy(handle);
}

static const struct redlock_lock *part_of_set(const struct rl_holder *holder, size_t i)
{
    return redlock_set_lock(holder->set, i);
}

static enum redlock_state state_of_set(const struct rl_holder *holder)
{
    return redlock_set_state(holder->set);
}

/* Each key has a fencing token and a mode of its own. */
static int64_t remaining_of_set(const struct rl_holder *holder, struct rl_bound_hold *ret_hold)
{
    *ret_hold = (struct rl_bound_hold){0};
    return redlock_set_remaining_ns(holder->set);
}

ANSWER(acquire_set, redlock_set_acquire(holder->set, request->options, on_set_done, request))
ANSWER(extend_set, redlock_set_extend(holder->set, request->ttl_ms, on_set_done, request))
ANSWER(release_set, redlock_set_release(holder->set, on_set_done, request))
ANSWER(cancel_set, redlock_set_cancel(holder->set))
ANSWER(detach_set, redlock_set_detach(holder->set))
ANSWER(export_set, redlock_set_export(holder->set, request->ret, request->size))
ANSWER(adopt_set, redlock_set_adopt(holder->set, request->options, request->text))

static int added(struct rl_holder *holder, int status)
{
    rl_holder_update_parts(holder);
    return status;
}

ANSWER(add, added(holder, redlock_set_add(holder->set, request->key, request->size)))
ANSWER(add_mode, added(holder, redlock_set_add_mode(holder->set, request->key, request->size, request->mode)))
ANSWER(add_permits,
       added(holder, redlock_set_add_permits(holder->set, request->key, request->size, request->n, request->limit)))
ANSWER(keep_rest, redlock_set_keep_rest(holder->set, request->keep))

static int describe_part(struct rl_holder *holder, struct rl_request *request)
{
    const struct redlock_lock *lock = redlock_set_lock(holder->set, request->part);
    struct redlock_part part = {0};

    if (!lock)
        return REDLOCK_E_SET_KEYS;
    part.key = redlock_lock_key(lock, &part.key_size);
    part.fence = redlock_lock_fence(lock);
    part.mode = redlock_lock_mode(lock);
    part.slot = redlock_lock_slot(lock);
    snprintf(part.token, sizeof part.token, "%s", redlock_lock_token(lock));
    memcpy(request->ret, &part, request->size < sizeof part ? request->size : sizeof part);
    return 0;
}

const struct rl_holder_kind rl_set_holder = {
    .max_parts = REDLOCK_MAX_SET_KEYS,
    .create = create_set,
    .destroy = destroy_set,
    .part = part_of_set,
    .state = state_of_set,
    .remaining_ns = remaining_of_set,
    .ask = {
        [RL_ACQUIRE] = acquire_set,
        [RL_EXTEND] = extend_set,
        [RL_RELEASE] = release_set,
        [RL_CANCEL] = cancel_set,
        [RL_DETACH] = detach_set,
        [RL_EXPORT] = export_set,
        [RL_ADOPT] = adopt_set,
        [RL_ADD] = add,
        [RL_ADD_MODE] = add_mode,
        [RL_ADD_PERMITS] = add_permits,
        [RL_KEEP_REST] = keep_rest,
        [RL_PART] = describe_part,
    },
};
