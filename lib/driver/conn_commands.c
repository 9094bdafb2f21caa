#include "driver/conn_commands.h"

#include <assert.h>

#include "codec/classify.h"
#include "driver/conn_auth.h"
#include "driver/conn.h"
#include "driver/conn_handshake.h"

static void set_link(struct rl_conn *conn, enum rl_link link, const char *why, struct rl_instant now)
{
    const struct rl_transport_sink *sink = &conn->shared->sink;

    if (conn->link == link)
        return;
    conn->link = link;
    sink->link(sink->ctx, conn->node, link, why, now);
    rl_shared_wake(conn->shared);
}

/* --- Overdue replies ------------------------------------------------------------------------------------------- */

static struct rl_span node_timeout(const struct rl_conn *conn)
{
    return conn->shared->config.node_timeout;
}

/* When the oldest command becomes overdue. */
static struct rl_instant late_at(const struct rl_conn *conn)
{
    return rl_after(rl_in_flight_front(&conn->in_flight)->tag.sent, node_timeout(conn));
}

static bool is_overdue(const struct rl_conn *conn, struct rl_instant now)
{
    return rl_in_flight_count(&conn->in_flight) && !rl_before(now, late_at(conn));
}

/* Silent since the latest byte or, if that is later, since the oldest command was sent. */
static struct rl_instant stall_deadline(const struct rl_conn *conn)
{
    struct rl_instant since = rl_later(conn->last_received, rl_in_flight_front(&conn->in_flight)->tag.sent);

    return rl_after(since, conn->shared->config.stall_timeout);
}

/* The watch is armed for the oldest command when there was none, and then moves itself from one oldest to the next:
 * arming it for each command would cost more than all the rest of sending. Left from earlier commands it may be armed
 * for a time before this one's; that does no harm. */
static void start_watch(struct rl_conn *conn)
{
    if (!rl_timer_armed(&conn->watch) || rl_before(late_at(conn), conn->watch.at))
        rl_timers_arm(&conn->shared->timers, &conn->watch, late_at(conn));
}

void rl_commands_update_link(struct rl_conn *conn, struct rl_instant now)
{
    assert(conn->state == RL_CONN_READY);
    if (is_overdue(conn, now)) {
        set_link(conn, RL_LINK_LATE, "replies are overdue", now);
        return;
    }
    if (rl_in_flight_count(&conn->in_flight))
        start_watch(conn);
    set_link(conn, RL_LINK_READY, "", now);
}

/* Leaves one of: nothing pending, watch not armed; young commands only, watch armed for the oldest; LATE, watch armed
 * for the stall. */
static bool watch_replies(struct rl_conn *conn, struct rl_instant now)
{
    rl_commands_update_link(conn, now);
    if (!rl_in_flight_count(&conn->in_flight))
        return true;
    if (!rl_before(now, stall_deadline(conn))) {
        rl_conn_set_error_silent(conn);
        return false;
    }
    if (is_overdue(conn, now))
        rl_timers_arm(&conn->shared->timers, &conn->watch, stall_deadline(conn));
    return true;
}

/* --- Commands and replies -------------------------------------------------------------------------------------- */

bool rl_commands_send(struct rl_conn *conn, const struct rl_bytes *command, enum rl_sending how,
                      const struct rl_tag *tag)
{
    size_t size = rl_bytes_length(command);

    if (!rl_conn_is_usable(conn))
        return false;
    if (how == RL_SENDING_CLAIM && rl_bytes_length(&conn->out) > conn->shared->config.max_buffer_bytes)
        return false;
    if (!rl_in_flight_reserve(&conn->in_flight) || !rl_bytes_append(&conn->out, rl_bytes_front(command), size))
        return false;
    rl_in_flight_push(&conn->in_flight, tag, conn->queued);
    if (rl_in_flight_count(&conn->in_flight) == 1)
        start_watch(conn);
    conn->queued += size;
    conn->stats.commands++;
    rl_conn_mark_dirty(conn);
    return true;
}

/* The owner of a command of the connection's own: its AUTH. */
static const char own;

static bool is_own(const struct rl_in_flight_entry *entry)
{
    return entry->tag.owner == &own;
}

static bool authenticate(struct rl_conn *conn, struct rl_instant now)
{
    const struct rl_tag tag = {.owner = (void *)(uintptr_t)&own, .sent = now};
    size_t before = rl_bytes_length(&conn->out);

    if (!rl_in_flight_reserve(&conn->in_flight) || rl_auth_write(conn, &conn->out) < 0)
        return false;
    rl_in_flight_push(&conn->in_flight, &tag, conn->queued);
    if (rl_in_flight_count(&conn->in_flight) == 1)
        start_watch(conn);
    conn->queued += rl_bytes_length(&conn->out) - before;
    rl_conn_mark_dirty(conn);
    return true;
}

/* Whatever the command was, the master does not serve this connection any more. */
static bool is_shut_out(const struct rl_reply *reply)
{
    return reply->root.type == RL_REPLY_ERROR && rl_classify_error(reply->root.text) == RL_DETAIL_NOAUTH;
}

static bool deliver(struct rl_conn *conn, const struct rl_reply *reply, struct rl_instant now)
{
    const struct rl_transport_sink *sink = &conn->shared->sink;
    bool shut_out = is_shut_out(reply);
    struct rl_in_flight_entry entry;

    /* Not even one to a command that waits to be written: it cannot be meant. */
    if (!rl_in_flight_count(&conn->in_flight) || rl_in_flight_front(&conn->in_flight)->start >= conn->written) {
        rl_conn_set_error(conn, "a reply that belongs to no command");
        return false;
    }
    entry = rl_in_flight_pop(&conn->in_flight);
    if (is_own(&entry))
        return rl_reauth_reply(conn, reply, now);
    if (shut_out) {
        rl_auth_refused(conn);
        rl_auth_set_error(conn, "a command", reply->root.text);
    }
    conn->proved = !shut_out;
    conn->stats.replies++;
    conn->stats.last_latency_ns = rl_until(entry.tag.sent, now).ns;
    rl_histogram_add(&conn->stats.latencies, rl_until(entry.tag.sent, now));
    sink->reply(sink->ctx, conn->node, &entry.tag, reply, now);
    return !shut_out;
}

void rl_commands_drop(struct rl_conn *conn, struct rl_instant now)
{
    const struct rl_transport_sink *sink = &conn->shared->sink;

    assert(conn->state == RL_CONN_WAITING);
    while (rl_in_flight_count(&conn->in_flight)) {
        struct rl_in_flight_entry entry = rl_in_flight_pop(&conn->in_flight);

        if (!is_own(&entry))
            sink->dropped(sink->ctx, conn->node, &entry.tag, entry.start >= conn->written, now);
    }
    rl_shared_wake(conn->shared);
}

const struct rl_conn_role rl_role_commands = {
    .setup = &rl_setup_commands,
    .greets = true,
    .first_link = RL_LINK_JOINING,
    .set_link = set_link,
    .authenticate = authenticate,
    .deliver = deliver,
    .is_overdue = is_overdue,
    .watch = watch_replies,
};
