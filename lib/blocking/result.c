#include "blocking/result.h"

#include <stdlib.h>
#include <string.h>

#include <redlock/blocking.h>

#include "blocking/sleepers.h"
#include "util/instant.h"

static size_t texts_size(const struct redlock_result *result)
{
    size_t size = strlen(result->why) + 1;

    for (size_t i = 0; i < result->n_nodes; i++)
        size += strlen(result->nodes[i].name) + strlen(result->nodes[i].detail) + 2;
    return size;
}

const char *rl_result_copy_text(const char *text, char **at)
{
    size_t size = strlen(text) + 1;
    char *copy = memcpy(*at, text, size);

    *at += size;
    return copy;
}

struct redlock_result *rl_result_copy(const struct redlock_result *result)
{
    size_t nodes_size = result->n_nodes * sizeof *result->nodes;
    struct redlock_result *copy = malloc(sizeof *copy + nodes_size + texts_size(result));
    struct redlock_node_result *nodes;
    char *texts;

    if (!copy)
        return NULL;
    nodes = (struct redlock_node_result *)(copy + 1);
    texts = (char *)(nodes + result->n_nodes);
    *copy = *result;
    copy->nodes = nodes;
    copy->why = rl_result_copy_text(result->why, &texts);
    if (nodes_size)
        memcpy(nodes, result->nodes, nodes_size);
    for (size_t i = 0; i < result->n_nodes; i++) {
        nodes[i].name = rl_result_copy_text(result->nodes[i].name, &texts);
        nodes[i].detail = rl_result_copy_text(result->nodes[i].detail, &texts);
    }
    return copy;
}

struct redlock_result *rl_result_too_late(enum redlock_op op, int64_t began_ns)
{
    const struct redlock_result result = {.op = op, .status = REDLOCK_DEADLINE,
                                          .elapsed_us = (rl_monotonic_ns() - began_ns) / RL_NS_PER_US,
                                          .why = redlock_strerror(REDLOCK_DEADLINE)};

    return rl_result_copy(&result);
}

void redlock_result_free(struct redlock_result *result)
{
    free(result);
}
