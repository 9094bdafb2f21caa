/* Threads that share a service and its connections, with a mutex each, take turns at one key.
 *
 *     threads URL... */
#include <pthread.h>
#include <redlock/blocking.h>
#include <stdio.h>

#define THREADS 8
#define TURNS 5

static struct redlock_service *service;
static int counter; /* guarded by the lock alone */

static int lock(struct redlock_mutex *mutex, const char *name)
{
    struct redlock_acquire_options options;
    struct redlock_result *result;
    int status;

    redlock_acquire_options_init(&options);
    options.timeout_ms = 10000;
    status = redlock_mutex_acquire(mutex, &options, &result);
    if (status != REDLOCK_OK)
        fprintf(stderr, "thread %s: not locked: %s\n", name, result ? result->why : redlock_strerror(status));
    redlock_result_free(result);
    return status == REDLOCK_OK;
}

static void *work(void *name)
{
    struct redlock_mutex *mutex;
    int turns = 0;

    if (redlock_mutex_create(service, REDLOCK_KEY("counter"), &mutex) != REDLOCK_OK)
        return NULL;
    while (turns < TURNS && lock(mutex, name)) {
        counter++;
        redlock_mutex_unlock(mutex);
        turns++;
    }
    redlock_mutex_destroy(mutex);
    printf("thread %s: %d turns\n", (const char *)name, turns);
    return NULL;
}

int main(int argc, char **argv)
{
    static char names[THREADS][2];
    pthread_t threads[THREADS];
    struct redlock_error error;

    if (redlock_service_create((const char *const *)argv + 1, (size_t)argc - 1, NULL, &service, &error) < 0)
        return fprintf(stderr, "%s\n", error.text), 1;
    for (int i = 0; i < THREADS; i++) {
        names[i][0] = (char)('A' + i);
        if (pthread_create(&threads[i], NULL, work, names[i]) != 0)
            return 1;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    redlock_service_shutdown(service, 1000);
    redlock_service_destroy(service);
    printf("%d of %d turns\n", counter, THREADS * TURNS);
    return counter != THREADS * TURNS;
}
