#include "blocking/service.h"

#include <assert.h>
#include <stdlib.h>

#include "util/thread.h"

int rl_service_check(const struct redlock_service *service)
{
    if (!service)
        return REDLOCK_E_ARGUMENT;
    return service->fork_generation == rl_fork_generation() ? 0 : REDLOCK_E_FORKED;
}

void rl_service_ref(struct redlock_service *service)
{
    unsigned was = atomic_fetch_add_explicit(&service->references, 1, memory_order_relaxed);

    assert(was > 0);
    (void)was;
}

/* To close is a point of cancellation, and the service would never be freed. */
void rl_service_unref(struct redlock_service *service)
{
    unsigned was = atomic_fetch_sub_explicit(&service->references, 1, memory_order_acq_rel);
    int cancelable;

    assert(was > 0);
    if (was != 1)
        return;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable);
    rl_turn_fini(&service->loop.turn);
    pthread_setcancelstate(cancelable, NULL);
    free(service);
}
