/* Calls whose callers wait until the service's thread has made them. */
#include "blocking/service.h"

static void run(struct rl_post *post)
{
    struct rl_call *call = RL_CONTAINER_OF(post, struct rl_call, post);

    call->status = call->fn(call->argument);
    rl_waiter_tell(&call->waiter);
}

/* There is no end to the wait: what the function is to write to is on the caller's stack. */
int rl_call(struct redlock_service *service, int (*fn)(void *argument), void *argument)
{
    struct rl_call call = {.post = {.run = run}, .fn = fn, .argument = argument};

    if (rl_service_is_own_thread(service))
        return fn(argument);
    rl_waiter_reset(&call.waiter);
    rl_service_ref(service);
    if (rl_inbox_push(&service->inbox, &call.post))
        rl_waiter_wait(&call.waiter, RL_WAIT_FOREVER);
    else
        call.status = REDLOCK_E_CLOSING;
    rl_service_unref(service);
    return call.status;
}
