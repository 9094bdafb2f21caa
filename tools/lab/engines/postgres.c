/* PostgreSQL: session-level advisory locks, a connection for each hold, as the manual has it ("Explicit Locking",
 * Advisory Locks): held until released or until the session ends. There is no lease: the server frees the lock when it
 * sees that the client's connection has ended. Waiters are served in their order. */
#include <errno.h>
#include <libpq-fe.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "sessions.h"

#define CHECK_MS 200
#define MARGIN_MS 1000 /* after which a server that should have refused is taken for hung */
#define NOT_AVAILABLE "55P03" /* lock_timeout has passed */

static char target[256];

static void end(struct session *session)
{
    if (!session)
        return;
    if (session->connection)
        PQfinish(session->connection);
    free(session);
}

/* The server ends a session that has not answered for ttl_ms at the level of TCP, and so does the client: the nearest
 * to a lease that there is. */
static struct session *connect_new(const struct engine_hold *hold)
{
    struct session *session = calloc(1, sizeof *session);
    char options[512];

    if (!session)
        return NULL;
    snprintf(options, sizeof options,
             "%s connect_timeout=2 tcp_user_timeout=%lld keepalives_idle=1 keepalives_interval=1 "
             "options='-c tcp_user_timeout=%lld -c tcp_keepalives_idle=1 -c tcp_keepalives_interval=1'",
             target, (long long)hold->ttl_ms, (long long)hold->ttl_ms);
    session->connection = PQconnectdb(options);
    if (PQstatus(session->connection) == CONNECTION_OK)
        return session;
    engine_say("%s", PQerrorMessage(session->connection));
    end(session);
    return NULL;
}

/* The last of the results of what was sent; NULL if they have not come in time: the server may hang. */
static PGresult *collect(PGconn *connection, int64_t timeout_ms)
{
    int64_t deadline_ns = engine_now_ns() + timeout_ms * 1000000;
    PGresult *last = NULL;

    for (;;) {
        PGresult *result;

        while (PQisBusy(connection)) {
            struct pollfd ready = {.fd = PQsocket(connection), .events = POLLIN};
            int64_t left_ms = (deadline_ns - engine_now_ns()) / 1000000;

            if (left_ms <= 0 || (poll(&ready, 1, (int)left_ms) < 0 && errno != EINTR) ||
                (ready.revents && !PQconsumeInput(connection))) {
                engine_say("%s", left_ms <= 0 ? "the server does not answer" : PQerrorMessage(connection));
                PQclear(last);
                return NULL;
            }
        }
        result = PQgetResult(connection);
        if (!result)
            return last;
        PQclear(last);
        last = result;
    }
}

/* Statements with the key in them, as one text. NULL: no answer. */
static PGresult *run(PGconn *connection, const char *before, const char *key, const char *after, int64_t timeout_ms)
{
    char *literal = PQescapeLiteral(connection, key, strlen(key));
    char *text = NULL;
    PGresult *result = NULL;

    if (literal && asprintf(&text, "%s%s%s", before, literal, after) > 0) {
        if (PQsendQuery(connection, text))
            result = collect(connection, timeout_ms);
        else
            engine_say("%s", PQerrorMessage(connection));
        free(text);
    }
    PQfreemem(literal);
    return result;
}

static enum engine_verdict judge(const PGresult *result)
{
    const char *state;

    if (!result)
        return ENGINE_UNREACHABLE;
    if (PQresultStatus(result) == PGRES_TUPLES_OK)
        return ENGINE_ACQUIRED;
    engine_say("%s", PQresultErrorMessage(result));
    state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (state && strcmp(state, NOT_AVAILABLE) == 0)
        return ENGINE_HELD;
    return state ? ENGINE_ERROR : ENGINE_UNREACHABLE;
}

static enum engine_verdict acquire_with(struct session *session, struct engine_hold *hold)
{
    char before[128];
    PGresult *result;
    enum engine_verdict verdict;

    snprintf(before, sizeof before, "SET lock_timeout = %lld; SELECT pg_advisory_lock(hashtextextended(",
             (long long)(hold->timeout_ms > 0 ? hold->timeout_ms : 1));
    result = run(session->connection, before, hold->key, ", 0))", hold->timeout_ms + MARGIN_MS);
    verdict = judge(result);
    PQclear(result);
    return verdict;
}

/* A session that was idle may have ended meanwhile: then another one is tried. */
static enum engine_verdict acquire(struct engine_hold *hold)
{
    struct session *session = session_take_idle();
    enum engine_verdict verdict = session ? acquire_with(session, hold) : ENGINE_UNREACHABLE;

    if (verdict == ENGINE_UNREACHABLE && (!session || PQstatus(session->connection) == CONNECTION_BAD)) {
        end(session);
        session = connect_new(hold);
        verdict = session ? acquire_with(session, hold) : ENGINE_UNREACHABLE;
    }
    if (verdict == ENGINE_ACQUIRED) {
        hold->state = session;
        engine_renew_every(hold, CHECK_MS);
    } else if (verdict == ENGINE_HELD) {
        session_give_back(session);
    } else {
        end(session);
    }
    return verdict;
}

static bool has_ended(struct session *session)
{
    return !PQconsumeInput(session->connection);
}

static void check(struct engine_hold *hold)
{
    session_check(hold, has_ended);
}

/* A session that does not confirm is closed, which frees the lock as soon as the server sees it. */
static enum engine_release release(struct engine_hold *hold)
{
    struct session *session = hold->state;
    bool ended = session->ended;
    PGresult *result = ended ? NULL
                             : run(session->connection, "SELECT pg_advisory_unlock(hashtextextended(", hold->key,
                                   ", 0))", hold->ttl_ms);
    bool answered = result && PQresultStatus(result) == PGRES_TUPLES_OK;
    bool freed = answered && strcmp(PQgetvalue(result, 0, 0), "t") == 0;

    PQclear(result);
    hold->state = NULL;
    if (answered)
        session_give_back(session);
    else
        end(session);
    return freed ? ENGINE_RELEASED : answered || ended ? ENGINE_LOST : ENGINE_UNCONFIRMED;
}

/* Of several nodes libpq takes the first that lets it in: only one can be given out as PostgreSQL here. */
static bool open_target(const struct engine_settings *settings)
{
    char host[100];
    const char *port = session_host_and_port(settings, host, sizeof host);

    snprintf(target, sizeof target, "host=%s port=%s user=postgres dbname=postgres", host, port ? port : "5432");
    return true;
}

int main(void)
{
    return session_engine_main((struct engine){.name = "postgres", .version = ENGINE_VERSION, .can = "fifo",
                                               .open = open_target, .acquire = acquire, .release = release,
                                               .renew = check});
}
