/* The shortest program: wait for a lock, work, give it back.
 *
 *     blocking URL... */
#include <redlock/blocking.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    struct redlock_service *service;
    struct redlock_mutex *mutex;
    struct redlock_error error;
    int status;

    if (redlock_service_create((const char *const *)argv + 1, (size_t)argc - 1, NULL, &service, &error) < 0)
        return fprintf(stderr, "%s\n", error.text), 1;
    status = redlock_mutex_create(service, "orders", 6, &mutex);
    if (status == REDLOCK_OK)
        status = redlock_mutex_lock(mutex, 10000);
    printf("lock: %s\n", redlock_strerror(status));
    if (status == REDLOCK_OK) {
        printf("%lld ms left, and renewed until it is given back\n", (long long)redlock_mutex_remaining_ms(mutex));
        printf("unlock: %s\n", redlock_strerror(redlock_mutex_unlock(mutex)));
        redlock_mutex_destroy(mutex);
    }
    redlock_service_destroy(service);
    return status != REDLOCK_OK;
}
