#include "driver/conn_greet.h"

#include <assert.h>

#include "driver/conn_auth.h"
#include "driver/conn_io.h"
#include "driver/conn_setup.h"

static enum rl_handshake begin_round(struct rl_conn *conn, unsigned round, struct rl_instant now)
{
    const struct rl_transport_sink *sink = &conn->shared->sink;
    size_t before = rl_bytes_length(&conn->out);
    int size = sink->greet ? sink->greet(sink->ctx, conn->node, round, &conn->out) : 0;

    if (size < 0) {
        rl_conn_set_error(conn, "handshake: no memory");
        return RL_HANDSHAKE_FAILED;
    }
    if (size == 0)
        return RL_HANDSHAKE_DONE;
    conn->greeting = (struct rl_greeting){
        .round = round, .size = (unsigned)size, .answered = 0, .start = conn->queued, .sent = now};
    conn->queued += rl_bytes_length(&conn->out) - before;
    rl_conn_mark_dirty(conn);
    return RL_HANDSHAKE_GOES_ON;
}

enum rl_handshake rl_greet_begin(struct rl_conn *conn, struct rl_instant now)
{
    enum rl_handshake result = begin_round(conn, 0, now);

    if (result == RL_HANDSHAKE_GOES_ON)
        rl_conn_enter(conn, RL_CONN_GREETING);
    return result;
}

static void set_refused(struct rl_conn *conn, const char *why)
{
    if (rl_auth_may_hold_password(conn, rl_slice_of(why)))
        rl_conn_set_error(conn, "handshake: refused with an error text that may hold the password");
    else
        rl_conn_set_error(conn, "%s", why);
}

static bool greeted(struct rl_conn *conn, const struct rl_reply *reply, struct rl_instant now)
{
    const struct rl_transport_sink *sink = &conn->shared->sink;
    const struct rl_greeting *greeting = &conn->greeting;
    const struct rl_greeting_answer answer = {
        .node = conn->node, .round = greeting->round, .index = greeting->answered, .reply = reply,
        .sent = greeting->sent, .now = now};
    const char *why = "handshake: refused";

    conn->stats.last_latency_ns = rl_until(greeting->sent, now).ns;
    if (!sink->greeted || sink->greeted(sink->ctx, &answer, &why))
        return true;
    set_refused(conn, why);
    return false;
}

enum rl_handshake rl_greet_reply(struct rl_conn *conn, const struct rl_reply *reply, struct rl_instant now)
{
    struct rl_greeting *greeting = &conn->greeting;

    assert(conn->state == RL_CONN_GREETING && greeting->answered < greeting->size);
    if (conn->written <= greeting->start) {
        rl_conn_set_error(conn, "a reply that belongs to no command");
        return RL_HANDSHAKE_FAILED;
    }
    if (reply->root.type == RL_REPLY_ERROR)
        rl_setup_note_refusal(conn, reply->root.text);
    if (!greeted(conn, reply, now))
        return RL_HANDSHAKE_FAILED;
    greeting->answered++;
    return greeting->answered < greeting->size ? RL_HANDSHAKE_GOES_ON : begin_round(conn, greeting->round + 1, now);
}
