/* A test's world for the blocking front end: private masters, a service, and threads that wait in its calls. */
#ifndef TESTS_SERVICE_RIG_H
#define TESTS_SERVICE_RIG_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include <redlock/blocking.h>

#include "rig.h"
#include "suite.h"

/* For acquisitions that are to be granted: the machine may be busy. */
#define PATIENCE_MS (SUITE_PATIENCE_S * 1000)

/* ThreadSanitizer does not allow threads in a child of a process that had some. */
#ifdef __SANITIZE_THREAD__
#define CHILDREN_MAY_HAVE_THREADS 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CHILDREN_MAY_HAVE_THREADS 0
#endif
#endif
#ifndef CHILDREN_MAY_HAVE_THREADS
#define CHILDREN_MAY_HAVE_THREADS 1
#endif

struct world {
    struct rig rig; /* masters and options; no client of its own */
    struct redlock_service *service;
    struct redlock_mutex **mutexes; /* in the order in which they were made */
    size_t n_mutexes;
};

extern struct world world; /* of the program; opened and closed around each test */

void world_open(size_t n);
void world_three(void);
/* The same with changed options. */
void world_open_with(size_t n, void (*tune)(struct redlock_options *options, void *), void *data);
void world_close(void);

/* A further service over the same masters. */
struct redlock_service *world_new_service(void);

/* Mutexes; world_close() destroys them. */
struct redlock_mutex *world_new_mutex(const char *key);
/* A mutex of several keys, each of them one letter. */
struct redlock_mutex *world_new_set(struct redlock_service *service, const char *letters);
/* The same, locked for ttl_ms with renewal, or without. */
struct redlock_mutex *world_hold(const char *key, uint32_t ttl_ms);
struct redlock_mutex *world_hold_lease(const char *key, uint32_t ttl_ms);

/* world_close() destroys this one, too; or it is destroyed now. */
struct redlock_mutex *world_keep(struct redlock_mutex *mutex);
void world_destroy(struct redlock_mutex *mutex);

struct redlock_stats world_stats(struct redlock_service *service);

/* Looks again every few milliseconds, without any loop; fails the test after SUITE_PATIENCE_S. */
void world_wait(bool (*condition)(void *argument), void *argument, const char *what);
/* Until so many acquisitions have been begun, or locks have been lost. */
void world_wait_acquires(struct redlock_service *service, uint64_t n);
void world_wait_lost(struct redlock_service *service, uint64_t n);
void world_wait_absent(const char *key);
/* How many masters have the key. */
size_t world_count(const char *key);

/* The service's thread, by its name: asking the service would bind it to that thread. */
long world_service_thread(void);

/* What a mutex's watch has been told: watcher_on_alarm(), whose user_data it is. */
struct watcher {
    atomic_int at_risk;
    atomic_int lost;
    enum redlock_loss loss;
    int64_t remaining_ns; /* when the loss was told */
    bool destroys;        /* the mutex, at the loss */
};

void watcher_on_alarm(struct redlock_mutex *mutex, const struct redlock_alarm *alarm, void *user_data);
void watcher_wait_lost(struct watcher *watcher);

/* A thread in redlock_mutex_acquire(). */
struct caller {
    pthread_t thread;
    struct redlock_mutex *mutex;
    struct redlock_acquire_options options;
    int status;
    int64_t elapsed_ms;
};

void caller_start(struct caller *caller, struct redlock_mutex *mutex, int64_t timeout_ms);
int caller_join(struct caller *caller); /* its status */

/* A thread that locks and unlocks all the time; it may be canceled in between. */
struct busy {
    pthread_t thread;
    struct redlock_mutex *mutex;
    atomic_bool stop;
    atomic_int done;
    atomic_int failed;
};

void busy_start(struct busy *busy, const char *key);
void busy_wait(struct busy *busy); /* until it has done some */
void busy_stop(struct busy *busy);

/* Keeps the service's thread in a function until it is let go. */
struct plug {
    pthread_t thread;
    struct redlock_service *service;
    sem_t plugged;
    sem_t let_go;
};

void plug_in(struct plug *plug, struct redlock_service *service);
void plug_out(struct plug *plug);

#endif
