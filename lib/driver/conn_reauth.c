/* IMPLEMENTATION NOTES
 *
 * - The program is asked when a quarter of the time is left, so that it may fail and be asked again, at a quarter of
 *   what is left then, and so on. An answer is waited for as long as a connection may take to open.
 * - A connection for which there are no other credentials goes on after the end of those it has: it is the master that
 *   decides. What went wrong is the connection's latest error meanwhile. A master that does not serve it any more
 *   answers NOAUTH or hangs up, and a new connection is made.
 * - A refused AUTH ends the connection: who it was is not known any more. */
#include "driver/conn_reauth.h"

#include "driver/conn_auth.h"

static const struct rl_span shortest_pause = {100 * RL_NS_PER_MS};

static void arm(struct rl_conn *conn, struct rl_instant at)
{
    rl_timers_arm(&conn->shared->timers, &conn->auth.timer, at);
}

static void ask_later(struct rl_conn *conn, struct rl_instant now)
{
    struct rl_instant end = conn->auth.good_until;
    struct rl_span left = rl_until(now, end);
    struct rl_span pause = {left.ns / 4 * 3};

    if (end.ns == RL_NEVER.ns)
        return;
    if (left.ns == 0)
        pause = conn->shared->config.backoff_max;
    if (pause.ns < shortest_pause.ns)
        pause = shortest_pause;
    arm(conn, rl_after(now, pause));
}

static void on_timer(struct rl_timer *timer, struct rl_instant now)
{
    struct rl_conn *conn = RL_CONTAINER_OF(timer, struct rl_conn, auth.timer);
    struct rl_span patience = conn->shared->config.connect_timeout;

    if (!rl_conn_is_usable(conn) || rl_auth_is_answered(conn))
        return;
    if (conn->auth.request) {
        rl_auth_cancel(conn);
        rl_conn_set_error(conn, "credentials: no answer for %lld ms", (long long)(patience.ns / RL_NS_PER_MS));
        ask_later(conn, now);
    } else if (rl_auth_ask(conn)) {
        arm(conn, rl_after(now, patience));
    } else {
        ask_later(conn, now);
    }
}

void rl_reauth_init(struct rl_conn *conn)
{
    conn->auth.given.good_until = RL_NEVER;
    rl_timer_init(&conn->auth.timer, on_timer);
}

void rl_reauth_begin(struct rl_conn *conn, struct rl_instant now)
{
    conn->auth.good_until = conn->auth.given.good_until;
    conn->auth.refused = false;
    rl_auth_done(conn);
    ask_later(conn, now);
}

bool rl_reauth_take(struct rl_conn *conn, struct rl_instant now)
{
    rl_timers_disarm(&conn->shared->timers, &conn->auth.timer);
    if (!rl_auth_take(conn)) {
        ask_later(conn, now);
        return true;
    }
    if (!conn->auth.given.password) {
        rl_reauth_begin(conn, now);
        return true;
    }
    if (conn->role->authenticate(conn, now))
        return true;
    rl_conn_set_error(conn, "AUTH: no memory");
    return false;
}

bool rl_reauth_reply(struct rl_conn *conn, const struct rl_reply *reply, struct rl_instant now)
{
    if (reply->root.type == RL_REPLY_ERROR) {
        rl_auth_refused(conn);
        rl_auth_set_error(conn, "AUTH", reply->root.text);
        return false;
    }
    rl_reauth_begin(conn, now);
    return true;
}
