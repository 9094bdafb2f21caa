/* PostgreSQL and MariaDB, in which both records are one table. The guards are tools/fencing/postgresql.sql and
 * mysql.sql. Each process speaks to the server by the server's own command-line client, one line for a question and one
 * for its answer: so no program is linked to a client library for this alone. */
#include "resource.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/load/process.h"
#include "page/page.h"

#define MOST_ARGUMENTS 16
#define LINE_SIZE 64
#define END "end" /* what a client is asked to say behind everything else */
#define ASK_END "SELECT '" END "';\n"

static const char *const names[FO_STORE_RECORDS] = {[FO_GUARDED] = "guarded", [FO_UNGUARDED] = "unguarded"};

/* In what the two differ. */
struct dialect {
    const char *package; /* of the client */
    void (*arguments)(const char *url, const char *arguments[MOST_ARGUMENTS]);
    const char *create;  /* once, before the guard */
    const char *guard;
    const char *schema;  /* ... and behind it */
    const char *begin;   /* in each process */
    const char *call;    /* of what the schema calls store */
};

static void postgres_arguments(const char *url, const char *arguments[MOST_ARGUMENTS])
{
    const char *const all[MOST_ARGUMENTS] = {"psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", url};

    memcpy(arguments, all, sizeof all);
}

static const struct dialect postgres = {
    .package = "postgresql-client",
    .arguments = postgres_arguments,
    .create = "",
    .guard = FO_GUARD_POSTGRES,
    .schema =
        "CREATE TABLE stored (id bigserial PRIMARY KEY, record text NOT NULL, turn bigint NOT NULL);\n"
        "CREATE FUNCTION store(fenced boolean, kept text, token bigint, said bigint) RETURNS text LANGUAGE plpgsql\n"
        "AS $$ BEGIN\n"
        "    IF fenced THEN PERFORM redlock_fence('leader', token); END IF;\n"
        "    INSERT INTO stored (record, turn) VALUES (kept, said);\n"
        "    RETURN 'stored';\n"
        "EXCEPTION WHEN raise_exception THEN\n"
        "    RETURN 'refused';\n"
        "END $$;\n",
    .begin = "",
    .call = "SELECT",
};

static void mariadb_arguments(const char *url, const char *arguments[MOST_ARGUMENTS])
{
    const char *const all[MOST_ARGUMENTS] = {"mariadb", "--no-defaults", "-N",     "-B", "-n", "--protocol=tcp",
                                             "-h",      "127.0.0.1",     "-uroot", "-P", strrchr(url, ':') + 1};

    memcpy(arguments, all, sizeof all);
}

static const struct dialect mariadb = {
    .package = "mariadb-client",
    .arguments = mariadb_arguments,
    .create = "CREATE DATABASE store;\nUSE store;\n",
    .guard = FO_GUARD_MARIADB,
    .schema =
        "CREATE TABLE stored (id bigint AUTO_INCREMENT PRIMARY KEY, record varchar(16) NOT NULL,\n"
        "                     turn bigint unsigned NOT NULL) ENGINE = InnoDB;\n"
        "DELIMITER //\n"
        "CREATE PROCEDURE store(fenced boolean, kept varchar(16), token bigint unsigned, said bigint unsigned)\n"
        "BEGIN\n"
        "    DECLARE EXIT HANDLER FOR SQLSTATE '45000' BEGIN ROLLBACK; SELECT 'refused'; END;\n"
        "    START TRANSACTION;\n"
        "    IF fenced THEN CALL redlock_fence('leader', token); END IF;\n"
        "    INSERT INTO stored (record, turn) VALUES (kept, said);\n"
        "    COMMIT;\n"
        "    SELECT 'stored';\n"
        "END //\n"
        "DELIMITER ;\n",
    .begin = "USE store;\n",
    .call = "CALL",
};

/* --- The client --------------------------------------------------------------------------------------------------- */

struct connection {
    const struct dialect *dialect;
    const char *url;
    int ends[2]; /* ours, and the one that is the client's standard input and output */
    FILE *answers;
    pid_t client;
};

static int be_client(void *data, int control)
{
    const struct connection *connection = data;
    const char *arguments[MOST_ARGUMENTS];
    char *words[MOST_ARGUMENTS]; /* as execvp() has them, which changes none */

    dup2(connection->ends[1], STDIN_FILENO);
    dup2(connection->ends[1], STDOUT_FILENO);
    connection->dialect->arguments(connection->url, arguments);
    memcpy(words, arguments, sizeof words);
    execvp(words[0], words);
    perror(words[0]);
    return 127;
}

static bool tell(const struct connection *connection, const char *text)
{
    size_t left = strlen(text);

    while (left > 0) {
        ssize_t n = send(connection->ends[0], text, left, MSG_NOSIGNAL);

        if (n <= 0)
            return false;
        text += n;
        left -= (size_t)n;
    }
    return true;
}

/* Without the end of the line; false where there is no further one. */
static bool hear(const struct connection *connection, char ret_line[LINE_SIZE])
{
    if (!fgets(ret_line, LINE_SIZE, connection->answers))
        return false;
    ret_line[strcspn(ret_line, "\n")] = '\0';
    return true;
}

/* That everything before was done: a client ends with the first error, which it has told on standard error. */
static bool hear_end(const struct connection *connection)
{
    char line[LINE_SIZE];

    return hear(connection, line) && strcmp(line, END) == 0;
}

static void disconnect(void *data)
{
    struct connection *connection = data;

    if (connection->answers)
        fclose(connection->answers);
    if (connection->client > 0)
        waitpid(connection->client, NULL, 0);
    free(connection);
}

static struct connection *start_client(const struct dialect *dialect, const struct fo_resource *resource)
{
    struct connection *connection = calloc(1, sizeof *connection);

    if (!connection)
        return NULL;
    connection->dialect = dialect;
    connection->url = resource->url;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, connection->ends) != 0) {
        free(connection);
        return NULL;
    }
    connection->client = load_spawn_alone(be_client, connection);
    close(connection->ends[1]);
    connection->answers = fdopen(connection->ends[0], "r");
    return connection;
}

/* What it is told first, in order, up to NULL. */
static struct connection *begin(const struct dialect *dialect, const struct fo_resource *resource,
                                const char *const *texts, char *ret_why, size_t size)
{
    struct connection *connection = start_client(dialect, resource);
    bool ok = connection && connection->client > 0 && connection->answers;

    for (; ok && *texts; texts++)
        ok = tell(connection, *texts);
    if (ok && tell(connection, ASK_END) && hear_end(connection))
        return connection;
    snprintf(ret_why, size, "the client of the store of --resource has ended; it is in Debian's package %s",
             dialect->package);
    if (connection)
        disconnect(connection);
    return NULL;
}

static const struct dialect *dialect_of(const struct fo_resource *resource)
{
    return resource->kind == FO_RESOURCE_POSTGRES ? &postgres : &mariadb;
}

/* --- What the referee and the leaders want ------------------------------------------------------------------------ */

static bool prepare(struct fo_resource *resource, char *ret_why, size_t size)
{
    const struct dialect *dialect = dialect_of(resource);
    const char *const texts[] = {dialect->create, dialect->guard, "\n", dialect->schema, NULL};
    struct connection *connection = begin(dialect, resource, texts, ret_why, size);

    if (connection)
        disconnect(connection);
    return connection != NULL;
}

static void *connect_to(const struct fo_resource *resource, char *ret_why, size_t size)
{
    const struct dialect *dialect = dialect_of(resource);

    return begin(dialect, resource, (const char *const[]){dialect->begin, NULL}, ret_why, size);
}

static enum fo_answer write_to(void *data, enum fo_store_record record, bool guarded, uint64_t token,
                               uint64_t turn)
{
    const struct connection *connection = data;
    char question[160], line[LINE_SIZE];

    snprintf(question, sizeof question, "%s store(%s, '%s', %llu, %llu);\n", connection->dialect->call,
             guarded ? "true" : "false", names[record], (unsigned long long)token, (unsigned long long)turn);
    if (!tell(connection, question) || !hear(connection, line))
        return FO_STORE_BROKE;
    if (strcmp(line, "stored") == 0)
        return FO_STORE_TOOK;
    return strcmp(line, "refused") == 0 ? FO_STORE_REFUSED : FO_STORE_BROKE;
}

static bool read_all(void *data, enum fo_store_record record, struct fo_stored *ret_stored)
{
    const struct connection *connection = data;
    char question[160], line[LINE_SIZE];

    snprintf(question, sizeof question, "SELECT turn FROM stored WHERE record = '%s' ORDER BY id;\n" ASK_END,
             names[record]);
    if (!tell(connection, question))
        return false;
    while (hear(connection, line)) {
        if (strcmp(line, END) == 0)
            return true;
        fo_stored_take(ret_stored, strtoull(line, NULL, 10));
    }
    return false;
}

const struct fo_resource_type fo_resource_postgres = {.system = MASTERS_POSTGRES,
                                                      .prepare = prepare,
                                                      .connect = connect_to,
                                                      .disconnect = disconnect,
                                                      .write = write_to,
                                                      .read = read_all};

const struct fo_resource_type fo_resource_mariadb = {.system = MASTERS_MARIADB,
                                                     .prepare = prepare,
                                                     .connect = connect_to,
                                                     .disconnect = disconnect,
                                                     .write = write_to,
                                                     .read = read_all};
