/* The shortest program: wait for a lock, work, give it back.
 *
 *     blocking URL... */
#include <redlock/blocking.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    struct redlock_acquire_options options;
    struct redlock_service *service;
    struct redlock_mutex *mutex;
    struct redlock_result *result;
    struct redlock_error error;
    int status;

    if (redlock_service_create((const char *const *)argv + 1, (size_t)argc - 1, NULL, &service, &error) < 0)
        return fprintf(stderr, "%s\n", error.text), 1;
    if (redlock_mutex_create(service, REDLOCK_KEY("orders"), &mutex) < 0)
        return fprintf(stderr, "no memory\n"), 1;
    redlock_acquire_options_init(&options);
    options.timeout_ms = 10000;
    status = redlock_mutex_acquire(mutex, &options, &result);
    if (status == REDLOCK_OK) {
        printf("locked, %lld ms left, renewed until it is unlocked\n", (long long)redlock_mutex_remaining_ms(mutex));
        printf("unlock: %s\n", redlock_strerror(redlock_mutex_unlock(mutex)));
    } else {
        fprintf(stderr, "not locked: %s\n", result ? result->why : redlock_strerror(status));
    }
    redlock_result_free(result);
    redlock_mutex_destroy(mutex);
    redlock_service_destroy(service);
    return status != REDLOCK_OK;
}
