/* A program with a loop of its own, here bare epoll: results and alarms come by way of a queue's descriptor. The same
 * descriptor fits libuv (uv_poll_init) and GLib (g_unix_fd_add).
 *
 *     epoll URL... */
#include <redlock/blocking.h>
#include <stdio.h>
#include <sys/epoll.h>

#define LOCKS 3

static int failed;

/* Each key is locked and given back. Returns how many are done with this. */
static int go_on(struct redlock_queue *queue, const struct redlock_completion *completion)
{
    const char *key = completion->user_data;

    if (completion->kind == REDLOCK_COMPLETION_ALARM) {
        printf("%s: %s\n", key, completion->alarm == REDLOCK_ALARM_LOST ? "lost" : "at risk");
        return 0;
    }
    if (completion->status != REDLOCK_OK) {
        fprintf(stderr, "%s: %s\n", key,
                completion->result ? completion->result->why : redlock_strerror(completion->status));
        failed = 1;
        return 1;
    }
    printf("%s: success\n", key);
    if (completion->result && completion->result->op == REDLOCK_OP_ACQUIRE)
        return redlock_mutex_release_async(completion->mutex, queue, completion->user_data) == REDLOCK_OK ? 0 : 1;
    return 1;
}

static int run(struct redlock_queue *queue, int epoll)
{
    struct redlock_completion *completion;
    struct epoll_event event;
    int done = 0;

    while (done < LOCKS && epoll_wait(epoll, &event, 1, 10000) == 1) {
        while (redlock_queue_next(queue, 0, &completion) == REDLOCK_OK) {
            done += go_on(queue, completion);
            redlock_completion_free(completion);
        }
    }
    return done;
}

int main(int argc, char **argv)
{
    static char keys[LOCKS][8] = {"first", "second", "third"};
    struct redlock_mutex *mutexes[LOCKS];
    struct redlock_service *service;
    struct redlock_queue *queue;
    struct redlock_error error;
    struct epoll_event event = {.events = EPOLLIN};
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    int done;

    if (redlock_service_create((const char *const *)argv + 1, (size_t)argc - 1, NULL, &service, &error) < 0)
        return fprintf(stderr, "%s\n", error.text), 1;
    if (redlock_queue_create(service, &queue) < 0 ||
        epoll_ctl(epoll, EPOLL_CTL_ADD, redlock_queue_fd(queue), &event) < 0)
        return fprintf(stderr, "no descriptors\n"), 1;
    for (int i = 0; i < LOCKS; i++) {
        if (redlock_mutex_create(service, keys[i], sizeof keys[i], &mutexes[i]) < 0 ||
            redlock_mutex_watch_queue(mutexes[i], queue, keys[i]) < 0 ||
            redlock_mutex_acquire_async(mutexes[i], NULL, queue, keys[i]) < 0)
            return fprintf(stderr, "no memory\n"), 1;
    }
    done = run(queue, epoll);
    for (int i = 0; i < LOCKS; i++)
        redlock_mutex_destroy(mutexes[i]);
    redlock_service_destroy(service);
    redlock_queue_destroy(queue);
    return failed || done != LOCKS;
}
