/* A write to SQLite that is safe even when its author has been stopped for longer than the lock is valid: the lock's
 * fencing token goes with it, and the guard of tools/fencing/sqlite.sql refuses a token smaller than the largest one
 * it has seen.
 *
 *     sqlite3 shop.db <../fencing/sqlite.sql
 *     sqlite3 shop.db 'CREATE TABLE orders (id INTEGER PRIMARY KEY, state TEXT)'
 *     fenced_sqlite shop.db paid redis://10.0.0.1 redis://10.0.0.2 redis://10.0.0.3 */
#include <inttypes.h>
#include <redlock/blocking.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One statement, with ?1 and ?2 where it has them. */
static int run(sqlite3 *db, const char *sql, sqlite3_int64 token, const char *state)
{
    sqlite3_stmt *statement = NULL;
    int status = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);

    if (strstr(sql, "?1"))
        sqlite3_bind_int64(statement, 1, token);
    if (strstr(sql, "?2"))
        sqlite3_bind_text(statement, 2, state, -1, SQLITE_STATIC);
    if (status == SQLITE_OK)
        status = sqlite3_step(statement);
    if (status != SQLITE_DONE)
        fprintf(stderr, "not written: %s\n", sqlite3_errmsg(db));
    sqlite3_finalize(statement);
    return status == SQLITE_DONE ? 0 : -1;
}

/* The first error is the end: the guard has rolled back, and a write after that would be outside of any transaction. */
static int store(sqlite3 *db, sqlite3_int64 token, const char *state)
{
    static const char *const steps[] = {
        "BEGIN IMMEDIATE",
        "INSERT INTO redlock_fences VALUES ('orders', ?1) ON CONFLICT (resource) DO UPDATE SET token = excluded.token",
        "INSERT INTO orders VALUES (7, ?2) ON CONFLICT (id) DO UPDATE SET state = excluded.state",
        "COMMIT"};

    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        if (run(db, steps[i], token, state) < 0)
            return -1;
    printf("token %" PRId64 ": order 7 is %s\n", (int64_t)token, state);
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
    sqlite3 *db = NULL;
    int status;

    if (argc < 4)
        return fprintf(stderr, "usage: fenced_sqlite FILE STATE URL...\n"), 2;
    if (sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        return fprintf(stderr, "%s: %s\n", argv[1], sqlite3_errmsg(db)), sqlite3_close(db), 1;
    sqlite3_busy_timeout(db, 1000);
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
        status = store(db, old ? strtoll(old, NULL, 10) : (sqlite3_int64)redlock_mutex_fence(mutex), argv[2]);
    redlock_result_free(result);
    redlock_mutex_destroy(mutex);
    redlock_service_shutdown(service, 1000);
    redlock_service_destroy(service);
    sqlite3_close(db);
    return status != REDLOCK_OK;
}
