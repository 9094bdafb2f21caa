/* Nothing is owed on it most of the time, and a peer that has vanished looks like one that has nothing to say. So a
 * PING breaks each longer silence; when it stays unanswered the connection is made anew. */
#include "driver/conn_listen.h"

#include <stdio.h>
#include <string.h>

#include "codec/command.h"
#include "driver/conn_auth.h"
#include "driver/conn_io.h"
#include "driver/conn_reauth.h"
#include "driver/conn_setup.h"

static bool is_news(const struct rl_conn *conn, enum rl_link link, const char *why)
{
    if (link == RL_LINK_READY || conn->link == RL_LINK_READY)
        return conn->link != link;
    return strcmp(conn->listening.told, why) != 0;
}

/* A reason that stays the same over many attempts is told once. */
static void set_link(struct rl_conn *conn, enum rl_link link, const char *why, struct rl_instant now)
{
    const struct rl_transport_sink *sink = &conn->shared->sink;
    bool news = is_news(conn, link, why);

    conn->link = link;
    if (!news)
        return;
    snprintf(conn->listening.told, sizeof(conn->listening.told), "%s", why);
    if (sink->listening)
        sink->listening(sink->ctx, conn->node, link == RL_LINK_READY, conn->listening.told, now);
    rl_shared_wake(conn->shared);
}

/* --- Silence --------------------------------------------------------------------------------------------------- */

static void arm_watch(struct rl_conn *conn, struct rl_instant at)
{
    rl_timers_arm(&conn->shared->timers, &conn->watch, at);
}

/* Counted from a PING that could not be sent, too. */
static struct rl_instant ping_due(const struct rl_conn *conn)
{
    struct rl_span patience = {conn->shared->config.stall_timeout.ns / 2};

    return rl_after(rl_later(conn->last_received, conn->listening.pinged), patience);
}

/* Any byte behind the PING shows that the peer lives, a long line of messages before the answer included. */
static struct rl_instant stall_deadline(const struct rl_conn *conn)
{
    return rl_after(rl_later(conn->last_received, conn->listening.pinged), conn->shared->config.stall_timeout);
}

/* Without memory for it nothing is owed, and the next one comes in its time. */
static void ping(struct rl_conn *conn, struct rl_instant now)
{
    const struct rl_slice word = rl_slice_of("PING");
    size_t before = rl_bytes_length(&conn->out);

    conn->listening.pinged = now;
    conn->listening.ping_start = conn->queued;
    conn->listening.owes_pong = rl_words_encode(&word, 1, &conn->out);
    conn->queued += rl_bytes_length(&conn->out) - before;
    rl_conn_mark_dirty(conn);
}

static bool is_owed(const struct rl_conn *conn)
{
    return conn->listening.owes_pong || conn->listening.relisten != RL_RELISTEN_NOT;
}

/* What is waited for, or else the next PING. */
static struct rl_instant due(const struct rl_conn *conn)
{
    return is_owed(conn) ? stall_deadline(conn) : ping_due(conn);
}

static bool is_overdue(const struct rl_conn *conn, struct rl_instant now)
{
    return !rl_before(now, due(conn));
}

static bool watch_silence(struct rl_conn *conn, struct rl_instant now)
{
    if (is_overdue(conn, now) && is_owed(conn)) {
        rl_conn_set_error_silent(conn);
        return false;
    }
    if (is_overdue(conn, now))
        ping(conn, now);
    arm_watch(conn, due(conn));
    return true;
}

/* --- Messages -------------------------------------------------------------------------------------------------- */

static bool take_message(struct rl_conn *conn, const struct rl_reply *reply, struct rl_instant now)
{
    const struct rl_transport_sink *sink = &conn->shared->sink;
    struct rl_slice payload = reply->elements[2].text;

    if (!rl_reply_item_is(&reply->elements[1], conn->shared->channel)) {
        rl_conn_set_error(conn, "a message on a channel that was not subscribed to");
        return false;
    }
    if (payload.size > RL_MESSAGE_MAX_BYTES) {
        rl_conn_set_error(conn, "a message of %zu bytes, more than %d", payload.size, RL_MESSAGE_MAX_BYTES);
        return false;
    }
    conn->proved = true;
    conn->stats.messages++;
    if (sink->message)
        sink->message(sink->ctx, conn->node, payload, now);
    return true;
}

static bool is_message(const struct rl_reply *reply)
{
    return reply->root.type == RL_REPLY_ARRAY && reply->n_elements == 3 &&
           rl_reply_item_is(&reply->elements[0], "message") && reply->elements[2].type == RL_REPLY_STRING;
}

/* Not even the answer to a PING that waits to be written: it cannot be meant. */
static bool is_pong(const struct rl_conn *conn, const struct rl_reply *reply)
{
    return conn->listening.owes_pong && conn->written > conn->listening.ping_start &&
           reply->root.type == RL_REPLY_ARRAY && reply->n_elements == 2 &&
           rl_reply_item_is(&reply->elements[0], "pong") && rl_reply_item_is(&reply->elements[1], "");
}

/* --- Authentication -------------------------------------------------------------------------------------------- */

static bool write_unsubscribe(const struct rl_conn *conn, struct rl_bytes *out)
{
    struct rl_slice words[] = {rl_slice_of("UNSUBSCRIBE"), rl_slice_of(conn->shared->channel)};

    return rl_words_encode(words, 2, out);
}

/* A subscriber cannot authenticate: it leaves the channel, and enters it again, all in one write. A message that is
 * published in between is missed, as any message may be. */
static bool authenticate(struct rl_conn *conn, struct rl_instant now)
{
    size_t before = rl_bytes_length(&conn->out);
    bool written = write_unsubscribe(conn, &conn->out) && rl_auth_write(conn, &conn->out) > 0 &&
                   rl_setup_write_subscribe(conn, &conn->out) > 0;

    conn->listening.relisten_start = conn->queued;
    conn->queued += rl_bytes_length(&conn->out) - before;
    conn->listening.relisten = RL_RELISTEN_LEAVES;
    conn->listening.pinged = now;
    arm_watch(conn, due(conn));
    rl_conn_mark_dirty(conn);
    return written;
}

static bool has_left(const struct rl_conn *conn, const struct rl_reply *reply)
{
    return reply->root.type == RL_REPLY_ARRAY && reply->n_elements == 3 &&
           rl_reply_item_is(&reply->elements[0], "unsubscribe") &&
           rl_reply_item_is(&reply->elements[1], conn->shared->channel);
}

/* false: the connection is not usable; its error is set. */
static bool take_relisten(struct rl_conn *conn, const struct rl_reply *reply, struct rl_instant now)
{
    enum rl_relisten *relisten = &conn->listening.relisten;
    bool known = false;

    switch (conn->written > conn->listening.relisten_start ? *relisten : RL_RELISTEN_NOT) {
    case RL_RELISTEN_LEAVES:
        if (reply->root.type == RL_REPLY_ERROR) {
            rl_auth_set_error(conn, "UNSUBSCRIBE", reply->root.text);
            return false;
        }
        known = has_left(conn, reply);
        *relisten = RL_RELISTEN_AUTHENTICATES;
        break;
    case RL_RELISTEN_AUTHENTICATES:
        *relisten = RL_RELISTEN_ENTERS;
        return rl_reauth_reply(conn, reply, now);
    case RL_RELISTEN_ENTERS:
        known = rl_setup_is_subscribed(conn, reply);
        *relisten = RL_RELISTEN_NOT;
        if (!known && reply->root.type == RL_REPLY_ERROR) {
            rl_auth_set_error(conn, "SUBSCRIBE", reply->root.text);
            return false;
        }
        break;
    case RL_RELISTEN_NOT:
    default:
        break;
    }
    if (!known)
        rl_conn_set_error(conn, "neither a message nor the answer to a command");
    return known;
}

static bool deliver(struct rl_conn *conn, const struct rl_reply *reply, struct rl_instant now)
{
    if (is_message(reply))
        return take_message(conn, reply, now);
    if (!is_pong(conn, reply))
        return take_relisten(conn, reply, now);
    conn->listening.owes_pong = false;
    conn->proved = true;
    return true;
}

static void begin(struct rl_conn *conn)
{
    conn->listening.owes_pong = false;
    conn->listening.relisten = RL_RELISTEN_NOT;
    conn->listening.pinged = RL_LONG_AGO;
    arm_watch(conn, ping_due(conn));
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
