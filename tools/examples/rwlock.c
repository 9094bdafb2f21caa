/* A table that many read and few change: readers share the lock, and an updater reads beside them until it has to
 * write.
 *
 *     rwlock URL... */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <redlock/blocking.h>
#include <stdio.h>

#define READERS 4

static struct redlock_service *service;
static pthread_barrier_t all_have_read;
static int price = 100; /* guarded by the lock alone */

/* A handle each: it is the one that holds the lock. */
static int lock(struct redlock_mutex *mutex, const char *who, enum redlock_mode mode)
{
    struct redlock_acquire_options options;
    struct redlock_result *result;
    int status;

    redlock_acquire_options_init(&options);
    options.mode = mode;
    options.timeout_ms = 10000;
    status = redlock_mutex_acquire(mutex, &options, &result);
    if (status != REDLOCK_OK)
        fprintf(stderr, "%s: not locked: %s\n", who, result ? result->why : redlock_strerror(status));
    redlock_result_free(result);
    return status;
}

/* Nobody leaves before all have come: they hold the lock at the same time. */
static void *read_price(void *name)
{
    struct redlock_mutex *mutex = NULL;
    int status = redlock_mutex_create(service, REDLOCK_KEY("prices"), &mutex);

    if (status == REDLOCK_OK)
        status = lock(mutex, name, REDLOCK_SHARED);
    if (status == REDLOCK_OK)
        printf("%s reads %d\n", (const char *)name, price);
    pthread_barrier_wait(&all_have_read);
    redlock_mutex_destroy(mutex); /* unlocks */
    return NULL;
}

/* It waits until the readers have gone, changes the price, and lets readers in again while it looks at the result. */
static int change(struct redlock_mutex *mutex)
{
    int status = redlock_mutex_convert(mutex, REDLOCK_EXCLUSIVE, 10000, NULL);

    if (status != REDLOCK_OK)
        return status;
    printf("the updater raises it to %d\n", ++price);
    status = redlock_mutex_convert(mutex, REDLOCK_SHARED, 0, NULL);
    if (status == REDLOCK_OK)
        printf("the updater reads %d, beside whoever reads\n", price);
    return status;
}

static int update(void)
{
    struct redlock_mutex *mutex = NULL;
    int status = redlock_mutex_create(service, REDLOCK_KEY("prices"), &mutex);

    if (status == REDLOCK_OK)
        status = lock(mutex, "the updater", REDLOCK_UPGRADEABLE);
    if (status == REDLOCK_OK)
        printf("the updater reads %d\n", price);
    pthread_barrier_wait(&all_have_read);
    if (status == REDLOCK_OK) {
        status = change(mutex);
        if (status != REDLOCK_OK)
            fprintf(stderr, "the updater: %s\n", redlock_strerror(status));
    }
    redlock_mutex_destroy(mutex);
    return status;
}

int main(int argc, char **argv)
{
    static char names[READERS][16];
    pthread_t readers[READERS];
    struct redlock_error error;
    int status;

    if (redlock_service_create((const char *const *)argv + 1, (size_t)argc - 1, NULL, &service, &error) < 0)
        return fprintf(stderr, "%s\n", error.text), 1;
    if (pthread_barrier_init(&all_have_read, NULL, READERS + 1) != 0)
        return 1;
    for (int i = 0; i < READERS; i++) {
        snprintf(names[i], sizeof names[i], "reader %d", i + 1);
        if (pthread_create(&readers[i], NULL, read_price, names[i]) != 0)
            return 1;
    }
    status = update();
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    redlock_service_shutdown(service, 1000);
    redlock_service_destroy(service);
    return status != REDLOCK_OK;
}
