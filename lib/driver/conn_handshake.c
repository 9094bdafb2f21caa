#include "driver/conn_handshake.h"

#include <assert.h>

#include "driver/conn_greet.h"
#include "driver/conn_io.h"
#include "driver/conn_reauth.h"
#include "driver/conn_setup.h"

bool rl_handshake_begin(struct rl_conn *conn)
{
    conn->queued = 0;
    conn->written = 0;
    conn->last_received = RL_LONG_AGO;
    conn->reader = rl_reply_reader_create();
    if (!conn->reader || !rl_setup_begin(conn) || !rl_conn_want_read(conn)) {
        rl_conn_set_error(conn, "handshake: no memory or event");
        return false;
    }
    rl_conn_enter(conn, RL_CONN_SETUP);
    rl_conn_mark_dirty(conn);
    return true;
}

static void become_ready(struct rl_conn *conn, struct rl_instant now)
{
    rl_timers_disarm(&conn->shared->timers, &conn->attempt);
    rl_conn_enter(conn, RL_CONN_READY);
    conn->ready_since = now;
    conn->proved = false;
    conn->stats.connects++;
    rl_reauth_begin(conn, now);
    if (conn->role->begin)
        conn->role->begin(conn);
    conn->role->set_link(conn, RL_LINK_READY, "", now);
}

bool rl_handshake_reply(struct rl_conn *conn, const struct rl_reply *reply, struct rl_instant now)
{
    enum rl_handshake result;

    assert(conn->state == RL_CONN_SETUP || conn->state == RL_CONN_GREETING);
    if (conn->state == RL_CONN_GREETING)
        result = rl_greet_reply(conn, reply, now);
    else
        result = rl_setup_reply(conn, reply);
    if (result == RL_HANDSHAKE_DONE && conn->state == RL_CONN_SETUP && conn->role->greets)
        result = rl_greet_begin(conn, now);
    if (result == RL_HANDSHAKE_DONE)
        become_ready(conn, now);
    return result != RL_HANDSHAKE_FAILED;
}
