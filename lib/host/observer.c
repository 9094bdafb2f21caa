#include "host/observer.h"

#include "host/host.h"
#include "host/leader.h"
#include "util/mutant.h"

static void arm(struct rl_observer *observer, struct rl_instant at)
{
    observer->due = at;
    rl_transport_arm(&observer->host->transport, &observer->timer, at);
}

static void look_soon(struct rl_observer *observer)
{
    struct rl_instant earliest = rl_after(observer->latest, rl_ms(RL_OBSERVER_PAUSE_MS));
    struct rl_instant at = rl_later(observer->host->now, earliest);

    if (rl_before(at, observer->due))
        arm(observer, at);
}

/* Of all that one is told while it looks, the look may have shown the latest. */
static void tell(struct rl_observer *observer, uint64_t term)
{
    if (term <= observer->term)
        return;
    if (!observer->looking)
        look_soon(observer);
    else if (term > observer->told && !RL_MUTANT(TOLD_IN_VAIN))
        observer->told = term;
}

/* Where there is no room for a channel more, or no memory, that is tried again before each look. */
static void listen(struct rl_observer *observer)
{
    unsigned char name[RL_LEADER_CHANNEL_BYTES];
    struct rl_slice channel = rl_leader_channel(observer->host, observer->key, name);

    rl_waiters_listen(observer->host);
    if (!observer->subscribed && observer->host->waiters.listens)
        observer->subscribed = rl_transport_subscribe(&observer->host->transport, channel) == 0;
}

static void on_timer(struct rl_timer *timer, struct rl_instant now)
{
    struct rl_observer *observer = RL_CONTAINER_OF(timer, struct rl_observer, timer);

    (void)now;
    if (observer->looking)
        return;
    observer->latest = rl_host_read_clock(observer->host);
    observer->due = RL_NEVER;
    observer->told = 0;
    listen(observer);
    observer->looking = observer->look(observer);
    if (!observer->looking)
        arm(observer, rl_after(observer->latest, observer->interval));
}

void rl_observer_looked(struct rl_observer *observer, bool known, uint64_t term)
{
    observer->looking = false;
    if (rl_list_empty(&observer->link))
        return;
    observer->known = known;
    observer->term = term;
    observer->due = RL_NEVER;
    if (observer->told > term)
        look_soon(observer);
    else
        arm(observer, rl_after(observer->host->now, observer->interval));
}

/* --- What the masters tell -------------------------------------------------------------------------------------- */

static void tell_all(struct rl_host *host, struct rl_slice channel, uint64_t term)
{
    unsigned char name[RL_LEADER_CHANNEL_BYTES];

    for (struct rl_list *at = host->observers.next; at != &host->observers; at = at->next) {
        struct rl_observer *observer = RL_CONTAINER_OF(at, struct rl_observer, link);

        if (rl_slice_equals(rl_leader_channel(host, observer->key, name), channel))
            tell(observer, term);
    }
}

void rl_observers_message(struct rl_host *host, struct rl_slice channel, struct rl_slice payload)
{
    struct rl_leader leader;

    if (rl_leader_said(payload, &leader) && !RL_MUTANT(LEADER_UNHEARD))
        tell_all(host, channel, leader.term);
}

void rl_observers_subscribed(struct rl_host *host, struct rl_slice channel)
{
    if (!RL_MUTANT(ENTERED_UNHEARD))
        tell_all(host, channel, UINT64_MAX);
}

void rl_observers_ready(struct rl_host *host)
{
    for (struct rl_list *at = host->observers.next; at != &host->observers; at = at->next) {
        struct rl_observer *observer = RL_CONTAINER_OF(at, struct rl_observer, link);

        if (!observer->known && !RL_MUTANT(READY_UNHEARD))
            tell(observer, UINT64_MAX);
    }
}

/* --- Life ------------------------------------------------------------------------------------------------------- */

void rl_observer_init(struct rl_observer *observer, struct rl_host *host, const struct rl_key *key,
                      bool (*look)(struct rl_observer *observer))
{
    *observer = (struct rl_observer){.host = host, .key = key, .look = look, .latest = RL_LONG_AGO, .due = RL_NEVER};
    rl_list_init(&observer->link);
    rl_timer_init(&observer->timer, on_timer);
}

void rl_observer_start(struct rl_observer *observer, struct rl_span interval)
{
    observer->interval = interval;
    observer->known = false;
    observer->term = 0;
    rl_list_append(&observer->host->observers, &observer->link);
    listen(observer);
    arm(observer, rl_host_read_clock(observer->host));
}

void rl_observer_stop(struct rl_observer *observer, bool in_child)
{
    unsigned char name[RL_LEADER_CHANNEL_BYTES];

    rl_list_remove(&observer->link);
    rl_transport_disarm(&observer->host->transport, &observer->timer);
    if (observer->subscribed && !in_child)
        rl_transport_unsubscribe(&observer->host->transport,
                                 rl_leader_channel(observer->host, observer->key, name));
    observer->subscribed = false;
}
