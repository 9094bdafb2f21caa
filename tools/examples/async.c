/* The asynchronous interface on the program's own libevent loop: take a lock, look at the votes, give it back.
 *
 *     async URL... */
#include <event2/event.h>
#include <redlock/redlock.h>
#include <stdio.h>

static int locked;

static void on_released(struct redlock_lock *lock, const struct redlock_result *result, void *base)
{
    if (result->status == REDLOCK_OK)
        printf("released\n");
    else
        fprintf(stderr, "not released: %s\n", result->why);
    event_base_loopbreak(base);
    (void)lock;
}

static void on_acquired(struct redlock_lock *lock, const struct redlock_result *result, void *base)
{
    locked = result->status == REDLOCK_OK;
    if (locked)
        printf("locked after %lld us\n", (long long)result->elapsed_us);
    else
        fprintf(stderr, "not locked: %s\n", result->why);
    for (size_t i = 0; i < result->n_nodes; i++)
        printf("  %s: %s %s\n", result->nodes[i].name, redlock_vote_name(result->nodes[i].vote),
               result->nodes[i].detail);
    if (!locked || redlock_release(lock, on_released, base) != REDLOCK_OK)
        event_base_loopbreak(base);
}

int main(int argc, char **argv)
{
    struct event_base *base = event_base_new();
    struct redlock_client *client;
    struct redlock_lock *lock;
    struct redlock_error error;

    if (redlock_client_create(base, (const char *const *)argv + 1, (size_t)argc - 1, NULL, &client, &error) < 0)
        return fprintf(stderr, "%s\n", error.text), 1;
    if (redlock_lock_create(client, REDLOCK_KEY("orders"), &lock) == 0 &&
        redlock_acquire(lock, NULL, on_acquired, base) == 0)
        event_base_dispatch(base);
    redlock_client_destroy(client);
    event_base_free(base);
    return !locked;
}
