/* Latches, for threads that wait for a callback. */
#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/latch.h>

#include "blocking/result.h"
#include "blocking/service.h"

/* Kept by its owner and by the calls in progress. */
struct redlock_service_latch {
    atomic_uint references;
    struct redlock_service *service;
    struct redlock_latch *latch; /* of the loop's owner, and gone with the client; NULL: destroyed */
};

static void ref(struct redlock_service_latch *latch)
{
    atomic_fetch_add_explicit(&latch->references, 1, memory_order_relaxed);
}

static void unref(struct redlock_service_latch *latch)
{
    struct redlock_service *service = latch->service;
    unsigned was = atomic_fetch_sub_explicit(&latch->references, 1, memory_order_acq_rel);

    assert(was > 0);
    if (was != 1)
        return;
    free(latch);
    rl_service_unref(service);
}

static int check(const struct redlock_service_latch *latch)
{
    return latch ? rl_service_check(latch->service) : REDLOCK_E_ARGUMENT;
}

/* The loop's owner. */
static bool exists(const struct redlock_service_latch *latch)
{
    return latch->service->client && latch->latch;
}

/* --- Results that outlive their callback ------------------------------------------------------------------------ */

static size_t size_of(const struct redlock_latch_result *result)
{
    size_t size = strlen(result->why) + 1;

    for (size_t i = 0; i < result->n_arrived; i++)
        size += strlen(result->arrived[i]) + 1;
    for (size_t i = 0; i < result->n_nodes; i++)
        size += strlen(result->nodes[i].name) + strlen(result->nodes[i].detail) + 2;
    return size;
}

/* Struct, nodes, names and texts in one block. NULL: no memory. */
static struct redlock_latch_result *copy_of(const struct redlock_latch_result *result)
{
    size_t nodes_size = result->n_nodes * sizeof *result->nodes;
    size_t names_size = result->n_arrived * sizeof *result->arrived;
    struct redlock_latch_result *copy = malloc(sizeof *copy + nodes_size + names_size + size_of(result));
    struct redlock_latch_node *nodes;
    const char **names;
    char *texts;

    if (!copy)
        return NULL;
    nodes = (struct redlock_latch_node *)(copy + 1);
    names = (const char **)(nodes + result->n_nodes);
    texts = (char *)(names + result->n_arrived);
    *copy = *result;
    copy->nodes = nodes;
    copy->arrived = names;
    copy->why = rl_result_copy_text(result->why, &texts);
    for (size_t i = 0; i < result->n_arrived; i++)
        names[i] = rl_result_copy_text(result->arrived[i], &texts);
    for (size_t i = 0; i < result->n_nodes; i++) {
        nodes[i] = result->nodes[i];
        nodes[i].name = rl_result_copy_text(result->nodes[i].name, &texts);
        nodes[i].detail = rl_result_copy_text(result->nodes[i].detail, &texts);
    }
    return copy;
}

void redlock_latch_result_free(struct redlock_latch_result *result)
{
    free(result);
}

/* --- Life ------------------------------------------------------------------------------------------------------- */

struct creation {
    struct redlock_service_latch *latch;
    const void *name;
    size_t name_size;
    uint32_t parties;
    uint64_t generation;
    const char *party;
    const struct redlock_latch_options *options;
};

static int create(void *argument)
{
    const struct creation *creation = argument;
    struct redlock_service_latch *latch = creation->latch;

    if (!latch->service->client)
        return REDLOCK_E_CLOSING;
    return redlock_latch_create(latch->service->client, creation->name, creation->name_size, creation->parties,
                                creation->generation, creation->party, creation->options, &latch->latch);
}

int redlock_service_latch_create(struct redlock_service *service, const void *name, size_t name_size,
                                 uint32_t parties, uint64_t generation, const char *party,
                                 const struct redlock_latch_options *options,
                                 struct redlock_service_latch **ret_latch)
{
    struct creation creation = {.name = name, .name_size = name_size, .parties = parties, .generation = generation,
                                .party = party, .options = options};
    int status = ret_latch ? rl_service_check(service) : REDLOCK_E_ARGUMENT;

    if (status < 0)
        return status;
    creation.latch = calloc(1, sizeof *creation.latch);
    if (!creation.latch)
        return REDLOCK_E_NOMEM;
    atomic_init(&creation.latch->references, 1);
    creation.latch->service = service;
    rl_service_ref(service);
    status = rl_service_call(service, create, &creation);
    if (status == 0)
        *ret_latch = creation.latch;
    else
        unref(creation.latch);
    return status;
}

static int destroy(void *argument)
{
    struct redlock_service_latch *latch = argument;

    if (exists(latch))
        redlock_latch_destroy(latch->latch);
    latch->latch = NULL;
    return 0;
}

/* In a forked child nobody else has a reference, since other threads do not exist. */
void redlock_service_latch_destroy(struct redlock_service_latch *latch)
{
    if (!latch)
        return;
    if (check(latch) < 0) {
        free(latch);
        return;
    }
    rl_service_call(latch->service, destroy, latch);
    unref(latch);
}

/* --- Calls ------------------------------------------------------------------------------------------------------ */

typedef int (*operation_fn)(struct redlock_latch *latch, int64_t timeout_ms, redlock_latch_fn cb, void *user_data);

/* On the stack of the thread that waits, which does so until the callback has run. */
struct call {
    struct rl_post post;
    struct redlock_service_latch *latch;
    operation_fn operation;
    int64_t timeout_ms;
    bool wants_result;
    struct redlock_latch_result *result;
    int status;
    struct rl_waiter waiter;
};

static void on_end(struct redlock_latch *core, const struct redlock_latch_result *result, void *user_data)
{
    struct call *call = user_data;

    call->status = result->status;
    if (call->wants_result)
        call->result = copy_of(result);
    rl_loop_tell(&call->latch->service->loop, &call->waiter);
    (void)core;
}

static void begin(struct rl_post *post)
{
    struct call *call = RL_CONTAINER_OF(post, struct call, post);
    struct rl_loop *loop = &call->latch->service->loop;

    rl_loop_follow(loop, &call->waiter);
    call->status = exists(call->latch) ? call->operation(call->latch->latch, call->timeout_ms, on_end, call)
                                       : REDLOCK_E_CLOSING;
    if (call->status < 0)
        rl_loop_tell(loop, &call->waiter);
}

static int wait_for(struct redlock_service_latch *latch, operation_fn operation, int64_t timeout_ms,
                    struct redlock_latch_result **ret_result)
{
    struct call call = {.post = {.run = begin}, .latch = latch, .operation = operation, .timeout_ms = timeout_ms,
                        .wants_result = ret_result != NULL, .status = REDLOCK_E_CLOSING};
    int status = check(latch);

    if (ret_result)
        *ret_result = NULL;
    if (status < 0)
        return status;
    if (rl_loop_is_own_thread(&latch->service->loop))
        return REDLOCK_E_OWN_THREAD;
    ref(latch);
    rl_service_ask(latch->service, &call.post, &call.waiter, RL_WAIT_FOREVER);
    unref(latch);
    if (ret_result)
        *ret_result = call.result;
    return call.status;
}

int redlock_service_latch_arrive(struct redlock_service_latch *latch, int64_t timeout_ms,
                                 struct redlock_latch_result **ret_result)
{
    return wait_for(latch, redlock_latch_arrive, timeout_ms, ret_result);
}

int redlock_service_latch_await(struct redlock_service_latch *latch, int64_t timeout_ms,
                                struct redlock_latch_result **ret_result)
{
    return wait_for(latch, redlock_latch_await, timeout_ms, ret_result);
}

static int cancel(void *argument)
{
    const struct redlock_service_latch *latch = argument;

    return exists(latch) ? redlock_latch_cancel(latch->latch) : REDLOCK_E_CLOSING;
}

int redlock_service_latch_cancel(struct redlock_service_latch *latch)
{
    int status = check(latch);

    if (status < 0)
        return status;
    ref(latch);
    status = rl_service_call(latch->service, cancel, latch);
    unref(latch);
    return status;
}
