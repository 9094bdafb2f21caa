/* MariaDB: GET_LOCK, a connection for each hold, as the manual has it: held until RELEASE_LOCK or until the session
 * ends. There is no lease: the server frees the lock when it sees that the client's connection has ended. */
#include <mysql.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "engine.h"
#include "sessions.h"

#define CHECK_MS 200
#define MARGIN_S 2
#define KEY_MAX 64 /* of a lock's name, as the manual says */

static char host[100];
static unsigned port = 3306;

static void end(struct session *session)
{
    if (!session)
        return;
    mysql_close(session->connection);
    free(session);
}

static struct session *connect_new(void)
{
    struct session *session = calloc(1, sizeof *session);
    unsigned connect_s = 2;

    if (!session)
        return NULL;
    session->connection = mysql_init(NULL);
    mysql_options(session->connection, MYSQL_OPT_CONNECT_TIMEOUT, &connect_s);
    mysql_options(session->connection, MYSQL_OPT_READ_TIMEOUT, &connect_s);
    if (mysql_real_connect(session->connection, host, "root", NULL, NULL, port, NULL, 0))
        return session;
    engine_say("%s", mysql_error(session->connection));
    end(session);
    return NULL;
}

enum question {
    GET,
    RELEASE,
};

/* The answer to a question whose answer is a number or NULL: -1 for no answer, 2 for NULL. */
static int ask(struct session *session, enum question question, const char *key, int64_t timeout_ms)
{
    unsigned patience_s = (unsigned)(timeout_ms / 1000) + MARGIN_S;
    char name[2 * KEY_MAX + 1], text[512];
    MYSQL_RES *result;
    MYSQL_ROW row;
    int answer;

    mysql_real_escape_string(session->connection, name, key, (unsigned long)strlen(key));
    if (question == GET)
        snprintf(text, sizeof text, "SELECT GET_LOCK('%s', %.3f)", name, (double)timeout_ms / 1000);
    else
        snprintf(text, sizeof text, "SELECT RELEASE_LOCK('%s')", name);
    mysql_optionsv(session->connection, MYSQL_OPT_READ_TIMEOUT, &patience_s);
    result = mysql_query(session->connection, text) == 0 ? mysql_store_result(session->connection) : NULL;
    if (!result) {
        engine_say("%s", mysql_error(session->connection));
        return -1;
    }
    row = mysql_fetch_row(result);
    answer = row && row[0] ? (int)strtol(row[0], NULL, 10) : 2;
    mysql_free_result(result);
    return answer;
}

static bool is_dead(struct session *session)
{
    return mysql_errno(session->connection) != 0;
}

/* A session that was idle may have ended meanwhile: then another one is tried. */
static enum engine_verdict acquire(struct engine_hold *hold)
{
    struct session *session;
    int answer = -1;

    if (strlen(hold->key) > KEY_MAX) {
        engine_say("a lock's name may have %d bytes", KEY_MAX);
        return ENGINE_ERROR;
    }
    session = session_take_idle();
    if (session)
        answer = ask(session, GET, hold->key, hold->timeout_ms);
    if (answer < 0) {
        end(session);
        session = connect_new();
        if (!session)
            return ENGINE_UNREACHABLE;
        answer = ask(session, GET, hold->key, hold->timeout_ms);
    }
    if (answer == 1) {
        hold->state = session;
        engine_renew_every(hold, CHECK_MS);
        return ENGINE_ACQUIRED;
    }
    if (answer < 0 || is_dead(session))
        end(session);
    else
        session_give_back(session);
    return answer == 0 ? ENGINE_HELD : answer < 0 ? ENGINE_UNREACHABLE : ENGINE_ERROR;
}

/* Nothing is to be read while nothing was asked. */
static bool has_ended(struct session *session)
{
    char byte;

    return recv(mysql_get_socket(session->connection), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
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
    int answer = ended ? -1 : ask(session, RELEASE, hold->key, hold->ttl_ms);

    hold->state = NULL;
    if (answer >= 0)
        session_give_back(session);
    else
        end(session);
    return answer == 1 ? ENGINE_RELEASED : answer >= 0 || ended ? ENGINE_LOST : ENGINE_UNCONFIRMED;
}

static bool open_target(const struct engine_settings *settings)
{
    const char *digits = session_host_and_port(settings, host, sizeof host);

    mysql_library_init(0, NULL, NULL);
    if (digits)
        port = (unsigned)strtoul(digits, NULL, 10);
    return true;
}

int main(void)
{
    return session_engine_main((struct engine){.name = "mariadb", .version = ENGINE_VERSION, .can = "-",
                                               .open = open_target, .acquire = acquire, .release = release,
                                               .renew = check});
}
