#include "pool.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#define MAX_THREADS 4096
#define STACK_SIZE ((size_t)512 * 1024)

struct job {
    struct job *next;
    void (*run)(void *user_data);
    void *user_data;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_job = PTHREAD_COND_INITIALIZER;
static struct job *first;
static struct job **last = &first;
static unsigned waiting_jobs;
static unsigned idle_threads;
static unsigned threads;

static struct job take(void)
{
    struct job *node = first;
    struct job job = *node;

    first = node->next;
    if (!first)
        last = &first;
    waiting_jobs--;
    free(node);
    return job;
}

static void *work(void *user_data)
{
    pthread_mutex_lock(&lock);
    for (;;) {
        struct job job;

        idle_threads++;
        while (!first)
            pthread_cond_wait(&has_job, &lock);
        idle_threads--;
        job = take();
        pthread_mutex_unlock(&lock);
        job.run(job.user_data);
        pthread_mutex_lock(&lock);
    }
    return NULL;
}

static bool add_thread(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    bool added;

    if (threads >= MAX_THREADS || pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    added = pthread_create(&thread, &attributes, work, NULL) == 0;
    pthread_attr_destroy(&attributes);
    threads += added;
    return added;
}

/* A new thread counts as idle only once it has come; until then a burst of jobs may make some more than it needs. */
bool pool_run(void (*run)(void *user_data), void *user_data)
{
    struct job *job = malloc(sizeof *job);
    bool taken;

    if (!job)
        return false;
    *job = (struct job){.run = run, .user_data = user_data};
    pthread_mutex_lock(&lock);
    taken = waiting_jobs < idle_threads || add_thread();
    if (taken) {
        *last = job;
        last = &job->next;
        waiting_jobs++;
        pthread_cond_signal(&has_job);
    }
    pthread_mutex_unlock(&lock);
    if (!taken)
        free(job);
    return taken;
}
