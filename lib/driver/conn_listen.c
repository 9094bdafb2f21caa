/* IMPLEMENTATION NOTES
 *
 * - Nothing is owed on it most of the time, and a peer that has vanished looks like one that has nothing to say. So a
 *   PING breaks each longer silence; when it stays unanswered the connection is made anew.
 * - Answers come in the order of the questions, with messages between them. An error names no channel: which one was
 *   refused only the order tells.
 * - A connection becomes READY with the client's own channel. The others follow, each by itself: it may be refused. */
#include "driver/conn_listen.h"

#include <stdio.h>
#include <string.h>

#include "codec/classify.h"
#include "codec/command.h"
#include "driver/shared.h"
#include "driver/conn_auth.h"
#include "driver/conn.h"
#include "driver/conn_handshake.h"

static bool is_news(const struct rl_conn *conn, enum rl_link link, const char *why)
{
    if (link == RL_LINK_READY || conn->link == RL_LINK_READY)
        return conn->link != link;
    return strcmp(conn->listening.told, why) != 0;
}

/* What a master may owe. */
enum owed {
    OWES_PONG,
    OWES_SUBSCRIBED,   /* for one of the further channels, the tag's owner ... */
    OWES_UNSUBSCRIBED,
    OWES_LEFT,         /* for all channels, before it authenticates again ... */
    OWES_AUTH,
    OWES_ENTERED,      /* ... and, behind that, for the client's own channel */
};

static bool is_owed(const struct rl_conn *conn)
{
    return rl_in_flight_count(&conn->listening.owed);
}

static uint32_t bit_of(const struct rl_conn *conn)
{
    return UINT32_C(1) << conn->node;
}

/* The master knows nothing of the further channels: there is a new connection or none, or it has left them. */
static void forget_channels(struct rl_conn *conn)
{
    struct rl_channels *channels = &conn->shared->channels;
    struct rl_list *next;

    for (struct rl_list *at = channels->all.next; at != &channels->all; at = next) {
        struct rl_channel *channel = RL_CONTAINER_OF(at, struct rl_channel, link);

        next = at->next;
        channel->entered &= ~bit_of(conn);
        channel->asked &= ~bit_of(conn);
        channel->refused &= ~bit_of(conn);
        rl_channels_drop(channels, channel);
    }
}

/* A reason that stays the same over many attempts is told once. */
static void set_link(struct rl_conn *conn, enum rl_link link, const char *why, struct rl_instant now)
{
    const struct rl_transport_sink *sink = &conn->shared->sink;
    bool news = is_news(conn, link, why);

    conn->link = link;
    if (link != RL_LINK_READY)
        forget_channels(conn);
    if (!news)
        return;
    snprintf(conn->listening.told, sizeof conn->listening.told, "%s", why);
    if (sink->listening)
        sink->listening(sink->ctx, conn->node, link == RL_LINK_READY, conn->listening.told, now);
    rl_shared_wake(conn->shared);
}

/* --- Silence --------------------------------------------------------------------------------------------------- */

/* Counted from a PING that could not be sent, too. */
static struct rl_instant ping_due(const struct rl_conn *conn)
{
    struct rl_span patience = {conn->shared->config.stall_timeout.ns / 2};

    return rl_after(rl_later(conn->last_received, conn->listening.asked), patience);
}

/* Any byte behind the question shows that the peer lives, a long line of messages before the answer included. */
static struct rl_instant stall_deadline(const struct rl_conn *conn)
{
    return rl_after(rl_later(conn->last_received, conn->listening.asked), conn->shared->config.stall_timeout);
}

/* The time of the answer that is awaited, or else of the next PING. */
static struct rl_instant due(const struct rl_conn *conn)
{
    return is_owed(conn) ? stall_deadline(conn) : ping_due(conn);
}

static bool is_overdue(const struct rl_conn *conn, struct rl_instant now)
{
    return !rl_before(now, due(conn));
}

/* --- Questions -------------------------------------------------------------------------------------------------- */

/* To be called before the question is appended to `out`. */
static bool reserve(struct rl_conn *conn, struct rl_instant now)
{
    if (!is_owed(conn))
        conn->listening.asked = now;
    return rl_in_flight_reserve(&conn->listening.owed);
}

/* Notes which answer the bytes that were appended since `before` will get. */
static void owe(struct rl_conn *conn, enum owed what, struct rl_channel *channel, size_t before)
{
    const struct rl_tag tag = {.owner = channel, .step = (uint8_t)what};

    rl_in_flight_push(&conn->listening.owed, &tag, conn->queued);
    conn->queued += rl_bytes_length(&conn->out) - before;
    rl_timers_arm(&conn->shared->timers, &conn->watch, due(conn));
    rl_conn_mark_dirty(conn);
}

static bool ask(struct rl_conn *conn, enum owed what, const struct rl_slice *words, size_t n_words,
                struct rl_channel *channel, struct rl_instant now)
{
    size_t before = rl_bytes_length(&conn->out);

    if (!reserve(conn, now) || !rl_words_encode(words, n_words, &conn->out))
        return false;
    owe(conn, what, channel, before);
    return true;
}

/* Without memory for it nothing is owed, and the next one comes in its time. */
static void ping(struct rl_conn *conn, struct rl_instant now)
{
    const struct rl_slice word = rl_slice_of("PING");

    ask(conn, OWES_PONG, &word, 1, NULL, now);
}

static bool watch_silence(struct rl_conn *conn, struct rl_instant now)
{
    if (is_overdue(conn, now) && is_owed(conn)) {
        rl_conn_set_error_silent(conn);
        return false;
    }
    if (is_overdue(conn, now))
        ping(conn, now);
    rl_timers_arm(&conn->shared->timers, &conn->watch, due(conn));
    return true;
}

/* Another answer than this command may have. */
static bool give_up(struct rl_conn *conn, const char *command, const struct rl_reply *reply)
{
    if (reply->root.type == RL_REPLY_ERROR)
        rl_auth_set_error(conn, command, reply->root.text);
    else
        rl_conn_set_error(conn, "neither a message nor the answer to %s", command);
    return false;
}

/* --- Further channels ------------------------------------------------------------------------------------------- */

/* Asks for what is wanted. false: no memory, and the error is set. */
static bool update(struct rl_conn *conn, struct rl_channel *channel, struct rl_instant now)
{
    bool wanted = channel->users > 0;
    const char *name = wanted ? "SUBSCRIBE" : "UNSUBSCRIBE";
    struct rl_slice words[] = {rl_slice_of(name), rl_channel_name(channel)};

    if (wanted == (bool)(channel->entered & bit_of(conn)) || ((channel->asked | channel->refused) & bit_of(conn)))
        return true;
    if (!ask(conn, wanted ? OWES_SUBSCRIBED : OWES_UNSUBSCRIBED, words, 2, channel, now)) {
        rl_conn_set_error(conn, "%s: no memory", name);
        return false;
    }
    channel->asked |= bit_of(conn);
    channel->entered |= bit_of(conn);
    return true;
}

static bool update_all(struct rl_conn *conn, struct rl_instant now)
{
    const struct rl_channels *channels = &conn->shared->channels;
    bool usable = true;

    for (struct rl_list *at = channels->all.next; at != &channels->all && usable; at = at->next)
        usable = update(conn, RL_CONTAINER_OF(at, struct rl_channel, link), now);
    return usable;
}

void rl_listener_update(struct rl_conn *conn, struct rl_channel *channel)
{
    if (rl_conn_is_usable(conn) && !conn->listening.away && !update(conn, channel, rl_shared_now(conn->shared)))
        rl_conn_fail(conn);
}

static bool is_about(const struct rl_reply *reply, const char *word, struct rl_slice channel)
{
    return reply->root.type == RL_REPLY_ARRAY && reply->n_elements == 3 &&
           rl_reply_item_is(&reply->elements[0], word) && reply->elements[1].type == RL_REPLY_STRING &&
           rl_slice_equals(reply->elements[1].text, channel) &&
           reply->elements[2].type == RL_REPLY_INTEGER;
}

static void tell_subscribed(struct rl_conn *conn, const struct rl_channel *channel, bool on, struct rl_instant now)
{
    const struct rl_transport_sink *sink = &conn->shared->sink;

    if (sink->subscribed && channel->users)
        sink->subscribed(sink->ctx, conn->node, rl_channel_name(channel), on, on ? "" : conn->last_error, now);
}

/* A refusal of the channel will not be otherwise soon. Any other error ends the connection. */
static bool is_refusal(const struct rl_reply *reply)
{
    enum rl_detail why = reply->root.type == RL_REPLY_ERROR ? rl_classify_error(reply->root.text) : RL_DETAIL_NONE;

    return why == RL_DETAIL_NOPERM || why == RL_DETAIL_UNKNOWN_COMMAND;
}

/* The channel is kept, and nothing more is asked, until the sink has been told: until then it counts as asked. */
static bool take_subscription(struct rl_conn *conn, struct rl_channel *channel, bool enters,
                              const struct rl_reply *reply, struct rl_instant now)
{
    const char *command = enters ? "SUBSCRIBE" : "UNSUBSCRIBE";
    bool refused = is_refusal(reply);
    bool usable;

    if (!refused && !is_about(reply, enters ? "subscribe" : "unsubscribe", rl_channel_name(channel)))
        return give_up(conn, command, reply);
    if (refused) {
        channel->refused |= bit_of(conn);
        rl_auth_set_error(conn, command, reply->root.text);
    }
    if (enters == refused)
        channel->entered &= ~bit_of(conn);
    if (enters)
        tell_subscribed(conn, channel, !refused, now);
    channel->asked &= ~bit_of(conn);
    usable = conn->listening.away || update(conn, channel, now);
    rl_channels_drop(&conn->shared->channels, channel);
    return usable;
}

/* --- Messages -------------------------------------------------------------------------------------------------- */

/* On a channel that nobody wants any more messages come until the master has answered. */
static bool take_message(struct rl_conn *conn, const struct rl_reply *reply, struct rl_instant now)
{
    const struct rl_transport_sink *sink = &conn->shared->sink;
    struct rl_slice name = reply->elements[1].text;
    struct rl_slice payload = reply->elements[2].text;
    bool own = rl_reply_item_is(&reply->elements[1], conn->shared->channel);
    const struct rl_channel *channel = NULL;

    if (!own && reply->elements[1].type == RL_REPLY_STRING)
        channel = rl_channels_find(&conn->shared->channels, name);
    if (!own && !(channel && channel->entered & bit_of(conn))) {
        rl_conn_set_error(conn, "a message on a channel that was not subscribed to");
        return false;
    }
    if (payload.size > RL_MESSAGE_MAX_BYTES) {
        rl_conn_set_error(conn, "a message of %zu bytes, more than %d", payload.size, RL_MESSAGE_MAX_BYTES);
        return false;
    }
    conn->proved = true;
    conn->stats.messages++;
    if (sink->message && (own || channel->users))
        sink->message(sink->ctx, conn->node, name, payload, now);
    return true;
}

static bool is_message(const struct rl_reply *reply)
{
    return reply->root.type == RL_REPLY_ARRAY && reply->n_elements == 3 &&
           rl_reply_item_is(&reply->elements[0], "message") && reply->elements[2].type == RL_REPLY_STRING;
}

/* --- Authentication -------------------------------------------------------------------------------------------- */

/* A subscriber cannot authenticate: it leaves all channels, and enters them again. A message that is published in
 * between is missed, as any message may be. */
static bool authenticate(struct rl_conn *conn, struct rl_instant now)
{
    const struct rl_slice word = rl_slice_of("UNSUBSCRIBE");
    size_t before;

    conn->listening.away = true;
    if (!ask(conn, OWES_LEFT, &word, 1, NULL, now))
        return false;
    before = rl_bytes_length(&conn->out);
    if (!reserve(conn, now) || rl_auth_write(conn, &conn->out) <= 0)
        return false;
    owe(conn, OWES_AUTH, NULL, before);
    before = rl_bytes_length(&conn->out);
    if (!reserve(conn, now) || rl_setup_write_subscribe(conn, &conn->out) <= 0)
        return false;
    owe(conn, OWES_ENTERED, NULL, before);
    return true;
}

/* One answer for each channel, in any order; the last one says that none is left. */
static bool is_leaving(const struct rl_reply *reply)
{
    return reply->root.type == RL_REPLY_ARRAY && reply->n_elements == 3 &&
           rl_reply_item_is(&reply->elements[0], "unsubscribe") && reply->elements[2].type == RL_REPLY_INTEGER;
}

static bool come_back(struct rl_conn *conn, struct rl_instant now)
{
    conn->listening.away = false;
    forget_channels(conn);
    return update_all(conn, now);
}

/* --- Answers ---------------------------------------------------------------------------------------------------- */

static bool is_pong(const struct rl_reply *reply)
{
    return reply->root.type == RL_REPLY_ARRAY && reply->n_elements == 2 &&
           rl_reply_item_is(&reply->elements[0], "pong") && rl_reply_item_is(&reply->elements[1], "");
}

static bool take_answer(struct rl_conn *conn, const struct rl_tag *owed, const struct rl_reply *reply,
                        struct rl_instant now)
{
    switch ((enum owed)owed->step) {
    case OWES_PONG:
        if (!is_pong(reply))
            return give_up(conn, "PING", reply);
        conn->proved = true;
        return true;
    case OWES_SUBSCRIBED:
    case OWES_UNSUBSCRIBED:
        return take_subscription(conn, owed->owner, owed->step == OWES_SUBSCRIBED, reply, now);
    case OWES_LEFT:
        return is_leaving(reply) || give_up(conn, "UNSUBSCRIBE", reply);
    case OWES_AUTH:
        return rl_reauth_reply(conn, reply, now);
    case OWES_ENTERED:
    default:
        return rl_setup_is_subscribed(conn, reply) ? come_back(conn, now) : give_up(conn, "SUBSCRIBE", reply);
    }
}

/* Not even the answer to what waits to be written: it cannot be meant. */
static bool deliver(struct rl_conn *conn, const struct rl_reply *reply, struct rl_instant now)
{
    struct rl_in_flight *owed = &conn->listening.owed;
    struct rl_in_flight_entry entry;

    if (is_message(reply))
        return take_message(conn, reply, now);
    if (!rl_in_flight_count(owed) || conn->written <= rl_in_flight_front(owed)->start) {
        rl_conn_set_error(conn, "neither a message nor the answer to a command");
        return false;
    }
    entry = *rl_in_flight_front(owed);
    if (entry.tag.step != OWES_LEFT || !is_leaving(reply) || reply->elements[2].integer == 0)
        rl_in_flight_pop(owed);
    return take_answer(conn, &entry.tag, reply, now);
}

static void begin(struct rl_conn *conn)
{
    conn->listening.owed.first = conn->listening.owed.end;
    conn->listening.away = false;
    conn->listening.asked = RL_LONG_AGO;
    rl_timers_arm(&conn->shared->timers, &conn->watch, ping_due(conn));
    if (!update_all(conn, rl_shared_now(conn->shared)))
        rl_conn_fail(conn);
}

const struct rl_conn_role rl_role_listener = {
    .setup = &rl_setup_listener,
    .greets = false,
    .first_link = RL_LINK_DOWN,
    .begin = begin,
    .set_link = set_link,
    .authenticate = authenticate,
    .deliver = deliver,
    .is_overdue = is_overdue,
    .watch = watch_silence,
};
