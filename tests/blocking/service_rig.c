#include "service_rig.h"

#include <check.h>
#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOOK_AGAIN_MS 2

struct world world;

struct redlock_service *world_new_service(void)
{
    struct redlock_service *service = NULL;
    struct redlock_error error = {0};
    int status = redlock_service_create(world.rig.urls, world.rig.n, &world.rig.options, &service, &error);

    ck_assert_msg(status == 0, "%s: %s", redlock_status_name(status), error.text);
    world.rig.options.join = REDLOCK_JOIN_VOTE;
    return service;
}

static bool is_connected(void *argument)
{
    for (size_t i = 0; i < world.rig.n; i++) {
        struct redlock_node_stats stats;

        ck_assert_int_eq(redlock_service_node_stats(world.service, i, &stats, sizeof stats), 0);
        if (stats.link != REDLOCK_LINK_READY)
            return false;
    }
    return true;
}

void world_open_with(size_t n, void (*tune)(struct redlock_options *options, void *), void *data)
{
    memset(&world, 0, sizeof world);
    rig_start_masters(&world.rig, n, NULL);
    if (tune)
        tune(&world.rig.options, data);
    world.service = world_new_service();
    world_wait(is_connected, NULL, "the service to be connected to all masters");
}

void world_open(size_t n)
{
    world_open_with(n, NULL, NULL);
}

void world_three(void)
{
    world_open(3);
}

void world_close(void)
{
    while (world.n_mutexes)
        redlock_mutex_destroy(world.mutexes[--world.n_mutexes]);
    free(world.mutexes);
    redlock_service_destroy(world.service);
    rig_close(&world.rig);
}

/* Watches destroy mutexes, too, on the service's thread. */
static pthread_mutex_t keeping = PTHREAD_MUTEX_INITIALIZER;

struct redlock_mutex *world_keep(struct redlock_mutex *mutex)
{
    pthread_mutex_lock(&keeping);
    world.mutexes = realloc(world.mutexes, (world.n_mutexes + 1) * sizeof *world.mutexes);
    ck_assert_ptr_nonnull(world.mutexes);
    world.mutexes[world.n_mutexes++] = mutex;
    pthread_mutex_unlock(&keeping);
    return mutex;
}

void world_destroy(struct redlock_mutex *mutex)
{
    size_t i = 0;

    pthread_mutex_lock(&keeping);
    while (i < world.n_mutexes && world.mutexes[i] != mutex)
        i++;
    ck_assert_uint_lt(i, world.n_mutexes);
    memmove(&world.mutexes[i], &world.mutexes[i + 1], (--world.n_mutexes - i) * sizeof *world.mutexes);
    pthread_mutex_unlock(&keeping);
    redlock_mutex_destroy(mutex);
}

struct redlock_mutex *world_new_mutex(const char *key)
{
    struct redlock_mutex *mutex = NULL;

    ck_assert_int_eq(redlock_mutex_create(world.service, key, strlen(key), &mutex), 0);
    return world_keep(mutex);
}

struct redlock_mutex *world_new_set(struct redlock_service *service, const char *letters)
{
    struct redlock_mutex *mutex = NULL;

    ck_assert_int_eq(redlock_mutex_create_set(service, &mutex), 0);
    for (const char *letter = letters; *letter; letter++)
        ck_assert_int_eq(redlock_mutex_add(mutex, letter, 1), 0);
    return world_keep(mutex);
}

static struct redlock_mutex *hold(const char *key, struct redlock_acquire_options request)
{
    struct redlock_mutex *mutex = world_new_mutex(key);

    ck_assert_int_eq(redlock_mutex_acquire(mutex, &request, NULL), REDLOCK_OK);
    return mutex;
}

struct redlock_mutex *world_hold(const char *key, uint32_t ttl_ms)
{
    return hold(key, rig_request(ttl_ms, PATIENCE_MS));
}

struct redlock_mutex *world_hold_lease(const char *key, uint32_t ttl_ms)
{
    return hold(key, rig_lease(ttl_ms, PATIENCE_MS));
}

struct redlock_stats world_stats(struct redlock_service *service)
{
    struct redlock_stats stats;

    ck_assert_int_eq(redlock_service_stats(service, &stats, sizeof stats), 0);
    return stats;
}

/* --- Waiting ---------------------------------------------------------------------------------------------------- */

void world_wait(bool (*condition)(void *argument), void *argument, const char *what)
{
    int64_t give_up = rig_now_ms() + SUITE_PATIENCE_S * 1000;

    while (!condition(argument)) {
        ck_assert_msg(rig_now_ms() < give_up, "waited %d s in vain for %s", SUITE_PATIENCE_S, what);
        poll(NULL, 0, LOOK_AGAIN_MS);
    }
}

struct count_request {
    struct redlock_service *service;
    uint64_t n;
};

static bool has_acquires(void *argument)
{
    const struct count_request *request = argument;

    return world_stats(request->service).acquires >= request->n;
}

void world_wait_acquires(struct redlock_service *service, uint64_t n)
{
    world_wait(has_acquires, &(struct count_request){service, n}, "acquisitions to be begun");
}

static bool has_lost(void *argument)
{
    const struct count_request *request = argument;

    return world_stats(request->service).lost >= request->n;
}

void world_wait_lost(struct redlock_service *service, uint64_t n)
{
    world_wait(has_lost, &(struct count_request){service, n}, "locks to be lost");
}

size_t world_count(const char *key)
{
    return masters_count_key(world.rig.masters, key);
}

static bool is_absent(void *argument)
{
    const char *const *key = argument;

    return world_count(*key) == 0;
}

void world_wait_absent(const char *key)
{
    world_wait(is_absent, &key, "the key to be gone from all masters");
}

/* --- Threads ---------------------------------------------------------------------------------------------------- */

static void *call(void *argument)
{
    struct caller *caller = argument;
    int64_t began_ms = rig_now_ms();

    caller->status = redlock_mutex_acquire(caller->mutex, &caller->options, NULL);
    caller->elapsed_ms = rig_now_ms() - began_ms;
    return NULL;
}

static bool is_a_services_thread(const char *task)
{
    char path[64];
    char name[32] = "";
    FILE *file;

    snprintf(path, sizeof path, "/proc/self/task/%.16s/comm", task);
    file = fopen(path, "r");
    if (!file)
        return false;
    if (!fgets(name, sizeof name, file))
        name[0] = '\0';
    fclose(file);
    return strcmp(name, "redlock\n") == 0;
}

long world_service_thread(void)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *task;
    long thread = 0;

    ck_assert_ptr_nonnull(tasks);
    while ((task = readdir(tasks))) {
        if (!is_a_services_thread(task->d_name))
            continue;
        ck_assert_int_eq(thread, 0);
        thread = strtol(task->d_name, NULL, 10);
    }
    closedir(tasks);
    ck_assert_int_ne(thread, 0);
    return thread;
}

void watcher_on_alarm(struct redlock_mutex *mutex, const struct redlock_alarm *alarm, void *user_data)
{
    struct watcher *watcher = user_data;

    if (alarm->kind == REDLOCK_ALARM_AT_RISK) {
        atomic_fetch_add(&watcher->at_risk, 1);
        return;
    }
    watcher->loss = alarm->loss;
    watcher->remaining_ns = redlock_mutex_remaining_ns(mutex);
    if (watcher->destroys)
        world_destroy(mutex);
    atomic_fetch_add(&watcher->lost, 1);
}

static bool was_lost(void *argument)
{
    return atomic_load(&((struct watcher *)argument)->lost) > 0;
}

void watcher_wait_lost(struct watcher *watcher)
{
    world_wait(was_lost, watcher, "the loss of a lock");
}

void caller_start(struct caller *caller, struct redlock_mutex *mutex, int64_t timeout_ms)
{
    memset(caller, 0, sizeof *caller);
    caller->mutex = mutex;
    caller->options = rig_request(10000, timeout_ms);
    ck_assert_int_eq(pthread_create(&caller->thread, NULL, call, caller), 0);
}

int caller_join(struct caller *caller)
{
    ck_assert_int_eq(pthread_join(caller->thread, NULL), 0);
    return caller->status;
}

static void *keep_busy(void *argument)
{
    struct busy *busy = argument;

    for (;;) {
        if (atomic_load(&busy->stop))
            return NULL;
        if (redlock_mutex_lock(busy->mutex, PATIENCE_MS) != REDLOCK_OK ||
            redlock_mutex_unlock(busy->mutex) != REDLOCK_OK)
            atomic_fetch_add(&busy->failed, 1);
        atomic_fetch_add(&busy->done, 1);
        pthread_testcancel();
    }
}

void busy_start(struct busy *busy, const char *key)
{
    memset(busy, 0, sizeof *busy);
    busy->mutex = world_new_mutex(key);
    ck_assert_int_eq(pthread_create(&busy->thread, NULL, keep_busy, busy), 0);
}

static bool has_done_some(void *argument)
{
    struct busy *busy = argument;

    return atomic_load(&busy->done) > 20;
}

void busy_wait(struct busy *busy)
{
    world_wait(has_done_some, busy, "some locks of a thread");
}

void busy_stop(struct busy *busy)
{
    atomic_store(&busy->stop, true);
    pthread_join(busy->thread, NULL);
    ck_assert_int_eq(busy->failed, 0);
}

static void stay(struct redlock_client *client, void *user_data)
{
    struct plug *plug = user_data;

    sem_post(&plug->plugged);
    while (sem_wait(&plug->let_go) != 0)
        continue;
}

static void *hold_up(void *argument)
{
    struct plug *plug = argument;

    redlock_service_run(plug->service, stay, plug);
    return NULL;
}

void plug_in(struct plug *plug, struct redlock_service *service)
{
    plug->service = service;
    sem_init(&plug->plugged, 0, 0);
    sem_init(&plug->let_go, 0, 0);
    ck_assert_int_eq(pthread_create(&plug->thread, NULL, hold_up, plug), 0);
    while (sem_wait(&plug->plugged) != 0)
        continue;
}

void plug_out(struct plug *plug)
{
    sem_post(&plug->let_go);
    ck_assert_int_eq(pthread_join(plug->thread, NULL), 0);
    sem_destroy(&plug->plugged);
    sem_destroy(&plug->let_go);
}
