/* Calls whose callers wait until the lead has made them. */
#include "blocking/service.h"

struct rl_notification {
    struct rl_post post;
    struct redlock_service *service;
    int (*fn)(void *argument);
    void *argument;
    bool on_thread;
    int status;
    struct rl_waiter waiter;
};

static void run(struct rl_post *post)
{
    struct rl_notification *call = RL_CONTAINER_OF(post, struct rl_notification, post);

    if (call->on_thread && !rl_lead_on_thread(call->service, post))
        return;
    call->status = call->fn(call->argument);
    rl_lead_tell(call->service, &call->waiter);
}

/* There is no end to the wait: what the function is to write to is on the caller's stack. */
static int ask(struct redlock_service *service, struct rl_notification *call)
{
    if (rl_service_is_own_thread(service))
        return call->fn(call->argument);
    call->service = service;
    call->post.run = run;
    if (rl_lead_ask(service, &call->post, &call->waiter, RL_WAIT_FOREVER) == RL_ASKED_CLOSED)
        return REDLOCK_E_CLOSING;
    return call->status;
}

int rl_notification(struct redlock_service *service, int (*fn)(void *argument), void *argument)
{
    return ask(service, &(struct rl_notification){.fn = fn, .argument = argument});
}

int rl_call_on_thread(struct redlock_service *service, int (*fn)(void *argument), void *argument)
{
    return ask(service, &(struct rl_notification){.fn = fn, .argument = argument, .on_thread = true});
}
