/* What masters say of entries in wait queues, by notifications and beside the vote in answers to ENQUEUE
 * (engine/wait.c, rules 7). */
#include "host/notifications.h"

#include "engine/answer.h"
#include "engine/refresh.h"
#include "engine/wait.h"
#include "host/effects.h"
#include "host/claims.h"
#include "host/host.h"
#include "host/latch.h"
#include "host/election.h"
#include "host/trust/admission.h"
#include "host/trust/node_clock.h"
#include "kinds/wait_queue.h"

static void read_clock(struct rl_host *host, unsigned node, uint64_t time_us, struct rl_instant sent,
                       struct rl_instant now)
{
    if (host->engine.votes.admissions[node].epoch_checked && time_us <= INT64_MAX)
        rl_trust_read_clock(host, node, (int64_t)time_us, sent, now);
}

static void report_hand_off(struct rl_host *host, unsigned node, const struct rl_claim *claim)
{
    const struct rl_vote_report vote = {.lock = rl_host_owner(rl_host_claim_lock(claim)), .claim = claim,
                                 .step = RL_STEP_ENQUEUE, .answer = {RL_GRANTED, RL_DETAIL_NONE, 0},
                                 .latency_us = RL_NO_LATENCY};

    host->sink->vote(host, node, &vote);
}

/* As in an epoch check, a step of the clock comes first: votes that the step makes worthless must not count. */
static void take_notification(struct rl_host *host, unsigned node, struct rl_claim *claim,
                              const struct rl_notification *notification, struct rl_instant now)
{
    uint64_t before = host->engine.votes.counters.hand_offs;
    struct rl_instant sent;

    if (rl_engine_notification_sent(claim, notification, &sent))
        read_clock(host, node, notification->time_us, sent, now);
    if (notification->fence)
        rl_counter_note(claim, notification->fence);
    rl_engine_notified(&host->engine, now, claim, node, notification);
    if (host->engine.votes.counters.hand_offs > before)
        report_hand_off(host, node, claim);
    rl_host_run(host);
}

void rl_notifications_message(void *ctx, unsigned node, struct rl_slice channel, struct rl_slice payload,
                              struct rl_instant now)
{
    struct rl_host *host = ctx;
    struct rl_slice value;
    struct rl_slice incarnation;
    struct rl_notification notification;
    struct rl_claim *claim;
    struct rl_host_lock *lock;

    host->now = now;
    if (!rl_slice_is(channel, host->waiters.channel)) {
        rl_observers_message(host, channel, payload);
        return;
    }
    if (rl_latch_notification(payload, &value)) {
        rl_latches_message(host, value);
        return;
    }
    if (!rl_notification_read(payload, &value, &incarnation, &notification))
        return;
    claim = rl_waiters_find(&host->waiters, value);
    if (!claim)
        return;
    lock = rl_host_claim_lock(claim);
    if (notification.kind == RL_TOLD_LOOK && rl_hooks_of(lock)->told) {
        if (rl_hooks_of(lock)->told(lock, notification.fence))
            rl_host_rearm(lock);
        rl_host_run(host);
    } else if (rl_notification_counts(&notification, incarnation, rl_trust_incarnation(host, node))) {
        take_notification(host, node, claim, &notification, now);
    }
}

void rl_notifications_entry(struct rl_host *host, unsigned node, const struct rl_tag *tag,
                             const struct rl_reply *reply, struct rl_instant now)
{
    struct rl_entry_report report;

    if (!rl_queue_entry_report(reply, &report))
        return;
    read_clock(host, node, report.time_us, tag->sent, now);
    rl_engine_queued(now, tag->owner, tag->round, node, &report);
}

/* --- Masters that can be asked again ---------------------------------------------------------------------------- */

void rl_notifications_ask_again(struct rl_host *host, unsigned node, struct rl_instant now)
{
    if (!host->waiters.claims.count)
        return;
    for (struct rl_list *at = host->locks.next; at != &host->locks; at = at->next)
        rl_lock_ask_again(&host->engine, &RL_CONTAINER_OF(at, struct rl_host_lock, link)->core, now, node);
}

/* Messages from before it listened have been missed. */
void rl_notifications_listening(void *ctx, unsigned node, bool on, const char *why, struct rl_instant now)
{
    struct rl_host *host = ctx;

    host->now = now;
    host->sink->listening(host, node, on, why);
    if (on) {
        rl_notifications_ask_again(host, node, now);
        rl_latches_check(host);
    }
    rl_host_run(host);
}

/* A master that refuses a channel listens all the same: its observers look at intervals. */
void rl_notifications_subscribed(void *ctx, unsigned node, struct rl_slice channel, bool on, const char *why,
                                 struct rl_instant now)
{
    struct rl_host *host = ctx;

    host->now = now;
    if (on)
        rl_observers_subscribed(host, channel);
    else
        host->sink->listening(host, node, true, why);
}
