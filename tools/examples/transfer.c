/* Transfers between accounts: each needs the locks of both, whichever way the money goes. A set takes them all together
 * or not at all, so transfers in opposite directions never wait for each other in a circle.
 *
 *     transfer URL... */
#include <pthread.h>
#include <redlock/blocking.h>
#include <stdio.h>
#include <string.h>

#define TRANSFERS 4

struct transfer {
    const char *from;
    const char *to;
    int status;
};

static struct redlock_service *service;

static int lock(struct redlock_mutex *accounts)
{
    struct redlock_acquire_options options;
    struct redlock_result *result;
    int status;

    redlock_acquire_options_init(&options);
    options.timeout_ms = 10000;
    options.fenced = 1; /* each account has a token of its own, by which it can refuse a late write */
    status = redlock_mutex_acquire(accounts, &options, &result);
    if (status != REDLOCK_OK)
        fprintf(stderr, "not locked: %s\n", result ? result->why : redlock_strerror(status));
    redlock_result_free(result);
    return status;
}

static void move_money(const struct transfer *transfer, struct redlock_mutex *accounts)
{
    struct redlock_part part;

    printf("%s -> %s:", transfer->from, transfer->to);
    for (size_t i = 0; redlock_mutex_part(accounts, i, &part, sizeof part) == 0; i++)
        printf(" %.*s with token %llu", (int)part.key_size, (const char *)part.key, (unsigned long long)part.fence);
    printf(", %lld ms left\n", (long long)redlock_mutex_remaining_ms(accounts));
}

static void *carry_out(void *argument)
{
    struct transfer *transfer = argument;
    struct redlock_mutex *accounts;

    transfer->status = redlock_mutex_create_set(service, &accounts);
    if (transfer->status < 0)
        return NULL;
    transfer->status = redlock_mutex_add(accounts, transfer->from, strlen(transfer->from));
    if (transfer->status == 0)
        transfer->status = redlock_mutex_add(accounts, transfer->to, strlen(transfer->to));
    if (transfer->status == 0)
        transfer->status = lock(accounts);
    if (transfer->status == REDLOCK_OK) {
        move_money(transfer, accounts);
        transfer->status = redlock_mutex_unlock(accounts);
    }
    redlock_mutex_destroy(accounts);
    return NULL;
}

int main(int argc, char **argv)
{
    struct transfer transfers[TRANSFERS] = {{"alice", "bob", 0}, {"bob", "alice", 0}, {"carol", "bob", 0},
                                            {"alice", "carol", 0}};
    pthread_t threads[TRANSFERS];
    struct redlock_error error;
    int failed = 0;

    if (redlock_service_create((const char *const *)argv + 1, (size_t)argc - 1, NULL, &service, &error) < 0)
        return fprintf(stderr, "%s\n", error.text), 1;
    for (int i = 0; i < TRANSFERS; i++) {
        if (pthread_create(&threads[i], NULL, carry_out, &transfers[i]) != 0)
            return 1;
    }
    for (int i = 0; i < TRANSFERS; i++) {
        pthread_join(threads[i], NULL);
        failed += transfers[i].status != REDLOCK_OK;
    }
    redlock_service_shutdown(service, 1000);
    redlock_service_destroy(service);
    return failed != 0;
}
