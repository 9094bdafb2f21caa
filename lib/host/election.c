#include "host/election.h"

#include <string.h>

#include "codec/command.h"
#include "host/commands.h"
#include "host/environment.h"
#include "host/host.h"
#include "util/slice.h"

/* The label stands behind the UUID in a value of this library: 36 characters and a colon. */
static void read_label(struct rl_leader *leader, struct rl_slice value)
{
    const size_t begin = RL_UUID_SIZE;
    const char *bytes = value.data;

    if (value.size <= begin || bytes[begin - 1] != ':' || value.size - begin > sizeof leader->label)
        return;
    leader->label_size = value.size - begin;
    memcpy(leader->label, bytes + begin, leader->label_size);
}

/* While the upgradeable holder of a key becomes its exclusive one, both its values may have a quorum. */
void rl_leader_see(struct rl_leader *leader, enum rl_mode mode, struct rl_slice value, uint64_t counter)
{
    if (mode != RL_EXCLUSIVE)
        return;
    *leader = (struct rl_leader){.present = true, .term = counter};
    read_label(leader, value);
}

bool rl_leader_is(const struct rl_leader *leader, const struct rl_leader *other)
{
    return leader->present == other->present && leader->term == other->term &&
           leader->label_size == other->label_size && memcmp(leader->label, other->label, leader->label_size) == 0;
}

/* --- What leaders tell ------------------------------------------------------------------------------------------ */

struct rl_slice rl_leader_channel(const struct rl_host *host, const struct rl_key *key,
                                  unsigned char buffer[RL_LEADER_CHANNEL_BYTES])
{
    return rl_key_name(key, host->trust.prefix_size, RL_LEADER_NAME, buffer);
}

static struct rl_slice write_announcement(uint64_t term, struct rl_slice label,
                                          char buffer[RL_DECIMAL_MAX + 1 + REDLOCK_MAX_LABEL_BYTES])
{
    size_t size = rl_decimal(term, buffer);

    if (label.size) {
        buffer[size++] = ' ';
        memcpy(buffer + size, label.data, label.size);
    }
    return (struct rl_slice){buffer, size + label.size};
}

/* Nothing depends on the answers, or on who is reached: observers look at intervals, too. */
void rl_leader_announce(struct rl_host *host, const struct rl_key *key, uint64_t term, struct rl_slice label)
{
    const struct rl_tag tag = {.sent = host->now, .step = RL_TAG_ANNOUNCEMENT};
    unsigned char channel[RL_LEADER_CHANNEL_BYTES];
    char text[RL_DECIMAL_MAX + 1 + REDLOCK_MAX_LABEL_BYTES];
    const struct rl_slice words[] = {rl_slice_of("PUBLISH"), rl_leader_channel(host, key, channel),
                                     write_announcement(term, label, text)};

    rl_bytes_clear(&host->scratch);
    if (!rl_words_encode(words, 3, &host->scratch))
        return;
    for (unsigned node = 0; node < host->engine.votes.config.n_nodes; node++)
        host->counters.commands += rl_transport_send(&host->transport, node, &host->scratch, RL_SENDING_CLAIM, &tag);
}

static bool read_term(struct rl_slice *rest, uint64_t *ret_term)
{
    const char *digits = rest->data;
    size_t n = rl_decimal_read(digits, rest->size, ret_term);

    *rest = (struct rl_slice){digits + n, rest->size - n};
    return n > 0 && digits[0] != '0';
}

bool rl_leader_said(struct rl_slice payload, struct rl_leader *ret_leader)
{
    struct rl_leader leader = {.present = true};
    const char *label;

    if (!read_term(&payload, &leader.term))
        return false;
    label = payload.data;
    if (payload.size == 1 || payload.size > 1 + sizeof leader.label || (payload.size && label[0] != ' '))
        return false;
    for (size_t i = 1; i < payload.size; i++) {
        if (label[i] <= ' ' || label[i] > '~')
            return false;
        leader.label[leader.label_size++] = label[i];
    }
    *ret_leader = leader;
    return true;
}

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
    else if (term > observer->told)
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

    if (rl_leader_said(payload, &leader))
        tell_all(host, channel, leader.term);
}

void rl_observers_subscribed(struct rl_host *host, struct rl_slice channel)
{
    tell_all(host, channel, UINT64_MAX);
}

void rl_observers_ready(struct rl_host *host)
{
    for (struct rl_list *at = host->observers.next; at != &host->observers; at = at->next) {
        struct rl_observer *observer = RL_CONTAINER_OF(at, struct rl_observer, link);

        if (!observer->known)
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
