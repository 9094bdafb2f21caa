#include "util/fork.h"

#include <pthread.h>
#include <stdatomic.h>

static atomic_uint generation = 1;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void in_child(void)
{
    atomic_fetch_add_explicit(&generation, 1, memory_order_relaxed);
}

static void watch(void)
{
    pthread_atfork(NULL, NULL, in_child);
}

unsigned rl_fork_generation(void)
{
    pthread_once(&once, watch);
    return atomic_load_explicit(&generation, memory_order_relaxed);
}
