#include "host/host.h"

#include <stdlib.h>
#include <string.h>

#include <redlock/status.h>

#include "host/answers.h"
#include "host/effects.h"
#include "host/latch.h"
#include "host/notifications.h"
#include "host/election.h"
#include "host/quorum_read.h"
#include "host/trust/epoch_check.h"
#include "host/trust/handshake.h"
#include "host/trust/view.h"
#include "host/commands.h"

/* --- What the transport tells ----------------------------------------------------------------------------------- */

static void on_reply(void *ctx, unsigned node, const struct rl_tag *tag, const struct rl_reply *reply,
                     struct rl_instant now)
{
    struct rl_host *host = ctx;

    host->now = now;
    host->answers[node]++;
    rl_script_answered(host, node, (enum rl_script)tag->script, tag->sent, reply);
    if (!tag->owner) {
        rl_trust_reply(host, node, tag, reply, now);
        rl_host_run(host);
    } else if (tag->step == RL_TAG_BATCH) {
        rl_batch_answered(host, node, tag, reply, now);
    } else if (tag->step == RL_TAG_QUORUM_READ) {
        rl_quorum_read_replied(tag->owner, node, tag, reply);
    } else {
        rl_host_replied(host, node, tag, reply, now);
    }
}

static void on_dropped(void *ctx, unsigned node, const struct rl_tag *tag, bool surely_unsent,
                       struct rl_instant now)
{
    struct rl_host *host = ctx;
    struct rl_answer answer = {surely_unsent ? RL_FAILED : RL_UNKNOWN, RL_DETAIL_DISCONNECTED, 0};

    host->now = now;
    if (!tag->owner)
        return; /* what an epoch check or a recheck was to show fails with the link */
    if (tag->step == RL_TAG_BATCH)
        rl_batch_dropped(host, node, tag, answer);
    else if (tag->step == RL_TAG_QUORUM_READ)
        rl_quorum_read_dropped(tag->owner, node);
    else
        rl_host_ended(host, node, tag, answer, RL_NO_LATENCY);
}

/* The first connection to this master has come, or has failed. */
static void joined(struct rl_host *host, unsigned node, struct rl_instant now)
{
    for (struct rl_list *at = host->locks.next; at != &host->locks; at = at->next)
        rl_lock_joined(&host->engine, &RL_CONTAINER_OF(at, struct rl_host_lock, link)->core, now, node);
    rl_quorum_reads_link(host, node);
}

static void on_link(void *ctx, unsigned node, enum rl_link link, const char *why, struct rl_instant now)
{
    struct rl_host *host = ctx;
    bool first = host->engine.votes.links[node] == RL_LINK_JOINING;

    host->now = now;
    host->sink->link(host, node, link, why);
    rl_batch_flush(host);
    rl_engine_link(&host->engine, now, node, link);
    if (first)
        joined(host, node, now);
    if (link == RL_LINK_DOWN) {
        rl_scripts_forget(host, node);
        rl_trust_end_greeting(host, node, false, now);
    }
    if (link == RL_LINK_LATE)
        rl_trust_greeting_is_late(host, node, now);
    else
        rl_quorum_reads_link(host, node);
    if (link == RL_LINK_READY) {
        rl_notifications_ask_again(host, node, now);
        rl_latches_check(host);
        rl_observers_ready(host);
    }
    rl_host_run(host);
}

static bool on_greeted(void *ctx, const struct rl_greeting_answer *answer, const char **ret_why)
{
    struct rl_host *host = ctx;
    bool usable;

    host->now = answer->now;
    usable = rl_trust_greeted(host, answer, ret_why);
    rl_host_run(host);
    return usable;
}

const struct rl_transport_sink rl_host_events = {
    .link = on_link,
    .reply = on_reply,
    .dropped = on_dropped,
    .listening = rl_notifications_listening,
    .subscribed = rl_notifications_subscribed,
    .message = rl_notifications_message,
    .greet = rl_trust_greet,
    .greeted = on_greeted,
};

/* --- Time ------------------------------------------------------------------------------------------------------- */

/* A reply that has arrived already must be seen before a deadline decides: once for each wake-up. */
static void drain(struct rl_host *host, struct rl_instant now)
{
    if (host->drained.ns == now.ns)
        return;
    host->drained = now;
    rl_transport_read_now(&host->transport);
}

void rl_host_tick_alarm(struct rl_host_lock *lock)
{
    struct rl_host *host = lock->host;

    rl_lock_tick_alarm(&host->engine, &lock->core, host->now);
    rl_host_run(host);
}

/* A round that is due before the result of an operation is told comes after it: a round asks the masters anew, and the
 * result shows what they have answered to the operation. */
static bool has_result_to_tell(const struct rl_host_lock *lock)
{
    return lock->call && lock->call->over;
}

/* A new round of renewal believes what the one before it did not. */
void rl_host_tick(struct rl_host_lock *lock)
{
    struct rl_host *host = lock->host;

    if (has_result_to_tell(lock)) {
        rl_host_tick_alarm(lock);
        return;
    }
    host->sink->validity(host, rl_host_owner(lock));
    rl_lock_tick(&host->engine, &lock->core, host->now);
    rl_host_run(host);
}

static void on_lock_timer(struct rl_timer *timer, struct rl_instant now)
{
    struct rl_host_lock *lock = RL_CONTAINER_OF(timer, struct rl_host_lock, timer);
    struct rl_host *host = lock->host;

    drain(host, now);
    rl_host_read_clock(host);
    rl_host_tick(lock);
    rl_host_rearm(lock);
}

static void on_rollback_timer(struct rl_timer *timer, struct rl_instant now)
{
    struct rl_host *host = RL_CONTAINER_OF(timer, struct rl_host, rollback_timer);

    drain(host, now);
    rl_engine_tick(&host->engine, rl_host_read_clock(host));
    rl_host_run(host);
}

static void free_garbage(struct rl_host *host)
{
    while (!rl_list_empty(&host->garbage)) {
        struct rl_list *first = host->garbage.next;

        rl_list_remove(first);
        free(first);
    }
}

void rl_host_end_turn(struct rl_host *host)
{
    do
        rl_host_run(host);
    while (rl_batch_flush(host));
    rl_trust_check_epoch(host);
    free_garbage(host);
}

/* --- Life ------------------------------------------------------------------------------------------------------- */

int rl_host_init(struct rl_host *host, const struct rl_host_config *config)
{
    memset(host, 0, sizeof *host);
    host->options = config->options;
    host->sink = config->sink;
    host->environment = config->environment;
    host->drained = RL_LONG_AGO;
    rl_list_init(&host->locks);
    rl_list_init(&host->reads);
    rl_list_init(&host->latches);
    rl_list_init(&host->observers);
    rl_list_init(&host->garbage);
    rl_timer_init(&host->rollback_timer, on_rollback_timer);
    rl_engine_init(&host->engine, &config->engine);
    rl_batch_init(&host->batching);
    rl_contended_init(&host->contended);
    rl_permits_init(&host->permits, ~config->engine.seed);
    rl_host_read_clock(host);
    if (rl_trust_init(host, config->names) < 0) {
        rl_host_fini(host);
        return REDLOCK_E_NOMEM;
    }
    rl_waiters_init(host);
    return 0;
}

void rl_host_fini(struct rl_host *host)
{
    rl_quorum_reads_fini(host);
    free_garbage(host);
    rl_host_claims_fini(host);
    rl_table_fini(&host->permits.semaphores);
    rl_waiters_fini(host);
    rl_batch_fini(&host->batching);
    rl_trust_fini(host);
    rl_bytes_fini(&host->scratch);
}

void rl_host_add_lock(struct rl_host *host, struct rl_host_lock *lock, struct rl_key *key)
{
    lock->host = host;
    lock->key = key;
    lock->variant = NULL;
    rl_lock_init(&lock->core);
    rl_timer_init(&lock->timer, on_lock_timer);
    rl_list_init(&lock->link);
    rl_list_append(&host->locks, &lock->link);
}

void rl_host_remove_lock(struct rl_host_lock *lock)
{
    const struct rl_hooks *hooks = rl_hooks_of(lock);

    if (hooks->leave)
        hooks->leave(lock);
    rl_list_remove(&lock->link);
    rl_transport_disarm(&lock->host->transport, &lock->timer);
}
