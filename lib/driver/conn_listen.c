/* The role of the second connection to a master: it listens on the driver's channel.
 *
 * Nothing is owed on it most of the time, and a peer that has vanished looks like one that has nothing to say. So a
 * PING breaks each longer silence; when it stays unanswered the connection is made anew. */
#include <stdio.h>
#include <string.h>

#include "codec/command.h"
#include "driver/conn.h"
#include "util/clock.h"

static bool is_news(const struct rl_conn *conn, enum rl_link link, const char *why)
{
    if (link == RL_LINK_READY || conn->link == RL_LINK_READY)
        return conn->link != link;
    return strcmp(conn->listening.told, why) != 0;
}

/* A reason that stays the same over many attempts is told once. */
static void set_link(struct rl_conn *conn, enum rl_link link, const char *why, struct rl_instant now)
{
    const struct rl_driver_sink *sink = &conn->driver->sink;
    bool news = is_news(conn, link, why);

    conn->link = link;
    if (!news)
        return;
    snprintf(conn->listening.told, sizeof(conn->listening.told), "%s", why);
    if (sink->listening)
        sink->listening(sink->ctx, conn->node, link == RL_LINK_READY, conn->listening.told, now);
    rl_driver_wake(conn->driver);
}

/* --- Silence --------------------------------------------------------------------------------------------------- */

static void arm_watch(struct rl_conn *conn, struct rl_instant at)
{
    rl_timers_arm(&conn->driver->timers, &conn->watch, at);
}

/* Counted from a PING that could not be sent, too. */
static struct rl_instant ping_due(const struct rl_conn *conn)
{
    struct rl_span patience = {conn->driver->config.stall_timeout.ns / 2};

    return rl_after(rl_later(conn->last_received, conn->listening.pinged), patience);
}

/* Any byte behind the PING shows that the peer lives, a long line of messages before the answer included. */
static struct rl_instant stall_deadline(const struct rl_conn *conn)
{
    return rl_after(rl_later(conn->last_received, conn->listening.pinged), conn->driver->config.stall_timeout);
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

/* What breaks the silence may be in the socket already, if it is the loop that was late. */
static void watch_silence(struct rl_conn *conn, struct rl_instant now)
{
    rl_conn_read(conn);
    if (conn->state != RL_CONN_READY || conn->doomed)
        return;
    now = rl_clock_now(conn->driver->config.clock);
    if (conn->listening.owes_pong && !rl_before(now, stall_deadline(conn))) {
        rl_conn_blame_silence(conn);
        rl_conn_close(conn, now);
        return;
    }
    if (!conn->listening.owes_pong && !rl_before(now, ping_due(conn)))
        ping(conn, now);
    arm_watch(conn, conn->listening.owes_pong ? stall_deadline(conn) : ping_due(conn));
}

/* --- Messages -------------------------------------------------------------------------------------------------- */

static bool take_message(struct rl_conn *conn, const struct rl_reply *reply, struct rl_instant now)
{
    const struct rl_driver_sink *sink = &conn->driver->sink;
    struct rl_slice payload = reply->elements[2].text;

    if (!rl_reply_item_is(&reply->elements[1], conn->driver->channel)) {
        rl_conn_blame(conn, "a message on a channel that was not subscribed to");
        return false;
    }
    if (payload.size > RL_MESSAGE_MAX_BYTES) {
        rl_conn_blame(conn, "a message of %zu bytes, more than %d", payload.size, RL_MESSAGE_MAX_BYTES);
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

static bool deliver(struct rl_conn *conn, const struct rl_reply *reply, struct rl_instant now)
{
    if (is_message(reply))
        return take_message(conn, reply, now);
    if (!is_pong(conn, reply)) {
        rl_conn_blame(conn, "neither a message nor an answer to PING");
        return false;
    }
    conn->listening.owes_pong = false;
    conn->proved = true;
    return true;
}

static bool begin(struct rl_conn *conn, struct rl_instant now)
{
    conn->listening.owes_pong = false;
    conn->listening.pinged = RL_LONG_AGO;
    arm_watch(conn, ping_due(conn));
    rl_conn_become_ready(conn, now);
    return true;
}

const struct rl_conn_role rl_role_listener = {
    .setup = &rl_setup_listener,
    .begin = begin,
    .first_link = RL_LINK_DOWN,
    .set_link = set_link,
    .deliver = deliver,
    .watch = watch_silence,
};
