/* At most three converters at a time, on all machines together: a semaphore. Each has a number of its own while it
 * works, which names its work directory.
 *
 *     permits URL... */
#include <pthread.h>
#include <redlock/blocking.h>
#include <stdio.h>

#define PERMITS 3
#define IMAGES 7

struct image {
    struct redlock_service *service;
    int number;
    int status;
};

static int convert(struct image *image, struct redlock_mutex *permit)
{
    int32_t slot = -1;
    int status = redlock_mutex_slot(permit, &slot);

    if (status == 0)
        printf("image %d is converted in /tmp/converter.%d\n", image->number, (int)slot);
    return status;
}

/* A permit each: the handle is the one that holds it. */
static void *work(void *argument)
{
    struct image *image = argument;
    struct redlock_mutex *permit;

    image->status = redlock_mutex_create_permit(image->service, REDLOCK_KEY("converters"), PERMITS, &permit);
    if (image->status < 0)
        return NULL;
    image->status = redlock_mutex_lock(permit, 30000);
    if (image->status == REDLOCK_OK) {
        image->status = convert(image, permit);
        redlock_mutex_unlock(permit);
    }
    redlock_mutex_destroy(permit);
    return NULL;
}

int main(int argc, char **argv)
{
    struct redlock_service *service;
    struct image images[IMAGES];
    pthread_t threads[IMAGES];
    struct redlock_error error;
    int failed = 0;

    if (redlock_service_create((const char *const *)argv + 1, (size_t)argc - 1, NULL, &service, &error) < 0)
        return fprintf(stderr, "%s\n", error.text), 1;
    for (int i = 0; i < IMAGES; i++) {
        images[i] = (struct image){service, i + 1, 0};
        if (pthread_create(&threads[i], NULL, work, &images[i]) != 0)
            return 1;
    }
    for (int i = 0; i < IMAGES; i++) {
        pthread_join(threads[i], NULL);
        if (images[i].status != REDLOCK_OK)
            fprintf(stderr, "image %d: %s\n", images[i].number, redlock_strerror(images[i].status));
        failed += images[i].status != REDLOCK_OK;
    }
    redlock_service_shutdown(service, 1000);
    redlock_service_destroy(service);
    return failed != 0;
}
