#include "driver/conn_auth.h"

#include <assert.h>
#include <string.h>

#include "codec/classify.h"
#include "codec/command.h"

bool rl_auth_asks(const struct rl_conn *conn)
{
    return conn->shared->config.credentials.ask && !conn->master->password;
}

static enum rl_credentials_need need_of(const struct rl_conn *conn)
{
    if (conn->auth.refused)
        return RL_CREDENTIALS_REFUSED;
    return conn->state == RL_CONN_READY ? RL_CREDENTIALS_EXPIRING : RL_CREDENTIALS_CONNECTING;
}

bool rl_auth_ask(struct rl_conn *conn)
{
    enum rl_credentials_need need = need_of(conn);

    assert(!conn->auth.request);
    conn->auth.request = rl_credentials_ask(conn->shared, conn->node, need);
    if (!conn->auth.request)
        rl_conn_set_error(conn, "credentials: no memory");
    return conn->auth.request;
}

bool rl_auth_is_answered(const struct rl_conn *conn)
{
    return conn->auth.request && rl_credentials_answered(conn->auth.request);
}

bool rl_auth_take(struct rl_conn *conn)
{
    struct redlock_credentials_request *request = conn->auth.request;
    char why[RL_CREDENTIALS_WHY_MAX];

    conn->auth.request = NULL;
    rl_credentials_fini(&conn->auth.given);
    if (rl_credentials_take(request, &conn->auth.given, why)) {
        conn->auth.refused = false;
        return true;
    }
    rl_conn_set_error(conn, "credentials: %s", why);
    return false;
}

void rl_auth_cancel(struct rl_conn *conn)
{
    if (conn->auth.request)
        rl_credentials_end(conn->auth.request);
    conn->auth.request = NULL;
}

static const char *password_of(const struct rl_conn *conn)
{
    return conn->master->password ? conn->master->password : conn->auth.given.password;
}

int rl_auth_write(const struct rl_conn *conn, struct rl_bytes *out)
{
    const char *user = conn->auth.given.user ? conn->auth.given.user : conn->master->user;
    const char *password = password_of(conn);
    struct rl_slice words[3];
    size_t n = 0;

    if (!password)
        return 0;
    words[n++] = rl_slice_of("AUTH");
    if (user)
        words[n++] = rl_slice_of(user);
    words[n++] = rl_slice_of(password);
    rl_bytes_keep_secret(out);
    return rl_words_encode(words, n, out) ? 1 : -1;
}

void rl_auth_refused(struct rl_conn *conn)
{
    conn->auth.refused = true;
}

bool rl_auth_may_hold_password(struct rl_conn *conn, struct rl_slice text)
{
    const char *password = password_of(conn);

    if (!password || !*password)
        return false;
    if (rl_classify_error(text) != RL_DETAIL_UNKNOWN_COMMAND &&
        !memmem(text.data, text.size, password, strlen(password)))
        return false;
    conn->auth.echoed = true;
    return true;
}

void rl_auth_set_error(struct rl_conn *conn, const char *name, struct rl_slice text)
{
    if (rl_auth_may_hold_password(conn, text))
        rl_conn_set_error(conn, "%s: refused with an error text that may hold the password", name);
    else
        rl_conn_set_error(conn, "%s: %.*s", name, (int)text.size, (const char *)text.data);
}

void rl_auth_done(struct rl_conn *conn)
{
    rl_credentials_fini(&conn->auth.given);
}

void rl_auth_forget(struct rl_conn *conn)
{
    rl_auth_cancel(conn);
    rl_credentials_fini(&conn->auth.given);
    if (!conn->auth.echoed)
        return;
    conn->auth.echoed = false;
    if (conn->reader)
        rl_reply_reader_wipe(conn->reader);
    explicit_bzero(conn->shared->read_buffer, RL_READ_BYTES);
}

/* IMPLEMENTATION NOTES
 *
 * - The program is asked when a quarter of the time is left, so that it may fail and be asked again, at a quarter of
 *   what is left then, and so on. An answer is waited for as long as a connection may take to open.
 * - A connection for which there are no other credentials goes on after the end of those it has: it is the master that
 *   decides. What went wrong is the connection's latest error meanwhile. A master that does not serve it any more
 *   answers NOAUTH or hangs up, and a new connection is made.
 * - A refused AUTH ends the connection: who it was is not known any more. */

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
