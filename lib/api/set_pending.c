/* What the operations of a set have in common. */
#include "api/set_pending.h"

#include <stdio.h>

#include "api/handle.h"
#include "api/lifetime.h"
#include "api/lock_state.h"

void rl_set_enter(struct redlock_set *set)
{
    set->depth++;
}

void rl_set_leave(struct redlock_set *set)
{
    if (--set->depth == 0 && set->destroyed)
        rl_client_defer_free(set->client, &set->link);
}

unsigned rl_set_part_of(const struct redlock_set *set, const struct redlock_lock *lock)
{
    unsigned part = 0;

    while (part < set->n && set->parts[part].lock != lock)
        part++;
    return part;
}

void rl_set_start(struct redlock_set *set, struct rl_set_pending *pending, enum redlock_op op, redlock_set_fn cb,
                  void *user_data)
{
    *pending = (struct rl_set_pending){.cb = cb, .user_data = user_data, .op = op, .accepted = true, .part = set->n,
                                       .started = set->client->host.now};
}

/* The pending operation makes room before its callback runs, which may start the next one. */
void rl_set_complete(struct redlock_set *set, struct rl_set_pending *pending, const struct redlock_result *result)
{
    struct rl_set_pending ended = *pending;
    struct redlock_set_result report = {
        .op = ended.op,
        .status = ended.status,
        .cause = ended.cause,
        .elapsed_us = rl_until(ended.started, rl_host_read_clock(&set->client->host)).ns / RL_NS_PER_US,
        .remaining_ms = redlock_set_remaining_ms(set),
        .n_keys = redlock_set_size(set),
        .part = rl_set_place_of(set, ended.part),
        .part_result = result,
        .why = ended.why,
    };

    pending->accepted = false;
    set->client->stats.set_acquired += ended.op == REDLOCK_OP_ACQUIRE && ended.status == REDLOCK_OK;
    if (!ended.cb || rl_client_forked(set->client))
        return;
    set->client->depth++;
    ended.cb(set, &report, ended.user_data);
    set->client->depth--;
}

void rl_set_note(struct rl_set_pending *pending, unsigned part, int status, int cause, const char *why)
{
    pending->part = part;
    pending->status = status;
    pending->cause = cause;
    snprintf(pending->why, sizeof pending->why, "%s", why);
}

static void cancel(struct redlock_set *set, struct rl_set_pending *pending)
{
    if (!pending->accepted)
        return;
    rl_set_note(pending, set->n, REDLOCK_CANCELED, 0, redlock_strerror(REDLOCK_CANCELED));
    rl_set_complete(set, pending, NULL);
}

void rl_set_cancel_all(struct redlock_set *set)
{
    cancel(set, &set->attempt);
    cancel(set, &set->release);
}

void rl_set_give_up(struct redlock_set *set, struct rl_parts parts)
{
    for (unsigned i = 0; i < set->n; i++) {
        if (rl_parts_has(parts, i))
            rl_lock_abandon(set->parts[i].lock);
    }
}

/* The others are given up, unless the program wants to end first what it does under them. The lost one is kept, since
 * it has an alarm and perhaps a result to report. */
void rl_set_lose(struct redlock_set *set, unsigned part)
{
    set->state = REDLOCK_STATE_LOST;
    set->lost_part = part;
    if (set->attempt.accepted)
        rl_set_note(&set->attempt, part, REDLOCK_LOST, 0, redlock_strerror(REDLOCK_LOST));
    if (!set->keeps_rest)
        rl_set_give_up(set, rl_set_rest(&set->core, part));
}

/* While an extension is pending, the loss is left to its alarm: callbacks come from the loop. */
static void notice_loss(struct redlock_set *set)
{
    for (unsigned i = 0; i < set->n; i++) {
        rl_lock_begin(set->parts[i].lock);
        if (set->state == REDLOCK_STATE_HELD && !set->attempt.accepted &&
            set->parts[i].lock->host.core.state == RL_LOCK_LOST)
            rl_set_lose(set, i);
    }
}

int rl_set_check_usable(const struct redlock_set *set)
{
    if (!set)
        return REDLOCK_E_ARGUMENT;
    if (rl_client_forked(set->client))
        return REDLOCK_E_FORKED;
    return set->destroyed ? REDLOCK_E_CLOSING : 0;
}

int rl_set_check(struct redlock_set *set)
{
    int status = rl_set_check_usable(set);

    if (status < 0)
        return status;
    rl_host_read_clock(&set->client->host);
    notice_loss(set);
    return 0;
}

bool rl_set_is_busy(const struct redlock_set *set)
{
    return set->attempt.accepted || set->release.accepted;
}

int rl_set_check_new(struct redlock_set *set)
{
    int status = rl_set_check(set);

    if (status < 0)
        return status;
    if (set->client->host.closing)
        return REDLOCK_E_CLOSING;
    return rl_set_is_busy(set) ? REDLOCK_E_BUSY : 0;
}

void rl_sets_end(struct redlock_client *client)
{
    for (struct rl_list *at = client->sets.next; at != &client->sets; at = at->next) {
        struct redlock_set *set = RL_CONTAINER_OF(at, struct redlock_set, link);

        if (set->state == REDLOCK_STATE_HELD)
            set->state = REDLOCK_STATE_IDLE;
        set->core.canceled = set->state == REDLOCK_STATE_ACQUIRING;
    }
}
