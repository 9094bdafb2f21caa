/* A stranger's program: takes a lock on the given masters and gives it back. */
#include <event2/event.h>
#include <redlock/redlock.h>
#include <stdio.h>
#include <string.h>

static int failures = 2; /* one for each callback that must say OK */

static void on_released(struct redlock_lock *lock, const struct redlock_result *result, void *base)
{
    (void)lock;
    failures -= result->status == REDLOCK_OK;
    event_base_loopbreak(base);
}

static void on_acquired(struct redlock_lock *lock, const struct redlock_result *result, void *base)
{
    failures -= result->status == REDLOCK_OK;
    if (redlock_release(lock, on_released, base) != 0)
        event_base_loopbreak(base);
}

/* consumer VERSION URL... */
int main(int argc, char **argv)
{
    struct event_base *base = event_base_new();
    struct redlock_options options;
    struct redlock_client *client;
    struct redlock_lock *lock;
    struct redlock_error error;

    if (argc < 3 || strcmp(redlock_version(), argv[1]) != 0 || redlock_version_num() != REDLOCK_VERSION_NUM) {
        fprintf(stderr, "version %s, header %s\n", redlock_version(), REDLOCK_VERSION);
        return 1;
    }
    redlock_options_init(&options);
    options.join = REDLOCK_JOIN_DECLARE; /* fresh masters, started for this program */
    if (redlock_client_create(base, (const char *const *)argv + 2, (size_t)argc - 2, &options, &client, &error) != 0) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    if (redlock_lock_create(client, "consumer", 8, &lock) == 0 && redlock_acquire(lock, NULL, on_acquired, base) == 0)
        event_base_dispatch(base);
    redlock_client_destroy(client);
    event_base_free(base);
    return failures;
}
