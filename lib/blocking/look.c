/* A look at a key, by a thread that waits for it. */
#include <stdlib.h>
#include <string.h>

#include <redlock/look.h>

#include "blocking/service.h"

/* --- Results that outlive their callback ------------------------------------------------------------------------ */

static size_t size_of(const struct redlock_look_result *result)
{
    size_t size = strlen(result->why) + 1;

    for (size_t i = 0; i < result->n_values; i++)
        size += result->values[i].value_size + 1;
    for (size_t i = 0; i < result->n_waiters; i++)
        size += result->waiters[i].value_size + 1;
    for (size_t i = 0; i < result->n_nodes; i++)
        size += strlen(result->nodes[i].name) + strlen(result->nodes[i].detail) + 2;
    return size;
}

/* With a 0 behind it. */
static const char *copy(const char *bytes, size_t size, char **at)
{
    char *made = *at;

    if (size)
        memcpy(made, bytes, size);
    made[size] = '\0';
    *at += size + 1;
    return made;
}

static void copy_values(struct redlock_look_value *to, const struct redlock_look_value *from, size_t n, char **texts)
{
    for (size_t i = 0; i < n; i++) {
        to[i] = from[i];
        to[i].value = copy(from[i].value, from[i].value_size, texts);
    }
}

static struct redlock_look_result *copy_of(const struct redlock_look_result *result)
{
    size_t values_size = (result->n_values + result->n_waiters) * sizeof(struct redlock_look_value);
    size_t nodes_size = result->n_nodes * sizeof(struct redlock_look_node);
    struct redlock_look_result *made = malloc(sizeof *made + values_size + nodes_size + size_of(result));
    struct redlock_look_value *values = (struct redlock_look_value *)(made + 1);
    struct redlock_look_node *nodes = (struct redlock_look_node *)(values + result->n_values + result->n_waiters);
    char *texts = (char *)(nodes + result->n_nodes);

    if (!made)
        return NULL;
    *made = *result;
    made->values = values;
    made->waiters = values + result->n_values;
    made->nodes = nodes;
    copy_values(values, result->values, result->n_values, &texts);
    copy_values(values + result->n_values, result->waiters, result->n_waiters, &texts);
    for (size_t i = 0; i < result->n_nodes; i++) {
        nodes[i] = result->nodes[i];
        nodes[i].name = copy(result->nodes[i].name, strlen(result->nodes[i].name), &texts);
        nodes[i].detail = copy(result->nodes[i].detail, strlen(result->nodes[i].detail), &texts);
    }
    made->why = copy(result->why, strlen(result->why), &texts);
    return made;
}

void redlock_look_result_free(struct redlock_look_result *result)
{
    free(result);
}

/* --- Calls ------------------------------------------------------------------------------------------------------ */

/* On the stack of the thread that waits, which does so until the callback has run. */
struct call {
    struct rl_post post;
    struct redlock_service *service;
    const void *key;
    size_t key_size;
    struct redlock_look_result *result;
    int status;
    struct rl_waiter waiter;
};

static void on_look(struct redlock_client *client, const struct redlock_look_result *result, void *user_data)
{
    struct call *call = user_data;

    call->result = copy_of(result);
    call->status = call->result ? result->status : REDLOCK_E_NOMEM;
    rl_loop_tell(&call->service->loop, &call->waiter);
    (void)client;
}

static void begin(struct rl_post *post)
{
    struct call *call = RL_CONTAINER_OF(post, struct call, post);
    struct redlock_service *service = call->service;

    rl_loop_follow(&service->loop, &call->waiter);
    call->status = service->client ? redlock_look(service->client, call->key, call->key_size, on_look, call)
                                   : REDLOCK_E_CLOSING;
    if (call->status < 0)
        rl_loop_tell(&service->loop, &call->waiter);
}

int redlock_service_look(struct redlock_service *service, const void *key, size_t key_size,
                         struct redlock_look_result **ret_result)
{
    struct call call = {.post = {.run = begin}, .service = service, .key = key, .key_size = key_size};
    int status = ret_result ? rl_service_check(service) : REDLOCK_E_ARGUMENT;

    if (ret_result)
        *ret_result = NULL;
    if (status < 0)
        return status;
    if (rl_loop_is_own_thread(&service->loop))
        return REDLOCK_E_OWN_THREAD;
    if (rl_service_ask(service, &call.post, &call.waiter, RL_WAIT_FOREVER) == RL_ASKED_CLOSED)
        return REDLOCK_E_CLOSING;
    *ret_result = call.result;
    return call.status;
}
