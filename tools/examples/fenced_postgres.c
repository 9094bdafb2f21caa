/* A write to PostgreSQL that is safe even when its author has been stopped for longer than the lock is valid: the
 * lock's fencing token goes with it, and the guard of tools/fencing/postgresql.sql refuses a token smaller than the
 * largest one it has seen.
 *
 *     psql shop <../fencing/postgresql.sql
 *     psql shop -c 'CREATE TABLE orders (id int PRIMARY KEY, state text)'
 *     fenced_postgres dbname=shop paid redis://10.0.0.1 redis://10.0.0.2 redis://10.0.0.3 */
#include <inttypes.h>
#include <libpq-fe.h>
#include <redlock/blocking.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One statement, with a value for $1 if it has that. */
static int run(PGconn *db, const char *sql, const char *value)
{
    PGresult *done = PQexecParams(db, sql, value ? 1 : 0, NULL, &value, NULL, NULL, 0);
    ExecStatusType status = PQresultStatus(done);

    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        fprintf(stderr, "not written: %s", PQerrorMessage(db));
    PQclear(done);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ? 0 : -1;
}

/* The first error is the end; what the transaction has done by then is rolled back when the connection ends. */
static int store(PGconn *db, uint64_t token, const char *state)
{
    char sent[24];

    snprintf(sent, sizeof sent, "%" PRIu64, token);
    if (run(db, "BEGIN", NULL) < 0 || run(db, "SELECT redlock_fence('orders', $1)", sent) < 0 ||
        run(db, "INSERT INTO orders VALUES (7, $1) ON CONFLICT (id) DO UPDATE SET state = excluded.state", state) < 0 ||
        run(db, "COMMIT", NULL) < 0)
        return -1;
    printf("token %s: order 7 is %s\n", sent, state);
    return 0;
}

int main(int argc, char **argv)
{
    struct redlock_service *service = NULL;
    struct redlock_mutex *mutex = NULL;
    struct redlock_acquire_options options;
    struct redlock_result *result = NULL;
    struct redlock_error error;
    const char *old = getenv("OLD_TOKEN"); /* as of an author who was stopped while another one took over */
    PGconn *db;
    int status;

    if (argc < 4)
        return fprintf(stderr, "usage: fenced_postgres DATABASE STATE URL...\n"), 2;
    db = PQconnectdb(argv[1]);
    if (PQstatus(db) != CONNECTION_OK)
        return fprintf(stderr, "%s", PQerrorMessage(db)), PQfinish(db), 1;
    redlock_acquire_options_init(&options);
    options.timeout_ms = 10000;
    options.fenced = 1;
    status = redlock_service_create((const char *const *)argv + 3, (size_t)argc - 3, NULL, &service, &error);
    if (status == REDLOCK_OK)
        status = redlock_mutex_create(service, "orders", strlen("orders"), &mutex);
    if (status == REDLOCK_OK)
        status = redlock_mutex_acquire(mutex, &options, &result);
    if (status != REDLOCK_OK)
        fprintf(stderr, "not locked: %s\n", result ? result->why : service ? redlock_strerror(status) : error.text);
    else
        status = store(db, old ? strtoull(old, NULL, 10) : redlock_mutex_fence(mutex), argv[2]);
    redlock_result_free(result);
    redlock_mutex_destroy(mutex);
    redlock_service_shutdown(service, 1000);
    redlock_service_destroy(service);
    PQfinish(db);
    return status != REDLOCK_OK;
}
