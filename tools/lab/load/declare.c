#include "declare.h"

#include <stdio.h>

#include <event2/event.h>

#define DECLARE_TIMEOUT_S 10

/* A master that cannot be reached is told from one that may not vote. */
static const char *complaint(const struct redlock_node_info *node)
{
    if (node->link != REDLOCK_LINK_READY && node->link != REDLOCK_LINK_LATE)
        return node->last_error;
    return node->fault_text;
}

void load_complaints(const struct redlock_client *client, char *ret_text, size_t size)
{
    size_t used = 0;

    *ret_text = '\0';
    for (size_t i = 0; i < redlock_client_node_count(client) && used < size; i++) {
        struct redlock_node_info node;
        const char *text = "";

        if (redlock_client_node_info(client, i, &node, sizeof node) == REDLOCK_OK)
            text = complaint(&node);
        if (*text)
            used += (size_t)snprintf(ret_text + used, size - used, "; %s: %s", node.name, text);
    }
}

struct declaration {
    struct event_base *base;
    uint32_t voting; /* masks of masters */
    uint32_t all;
};

static void on_event(const struct redlock_event *event, void *user_data)
{
    struct declaration *declaration = user_data;

    if (event->type != REDLOCK_EVENT_STANDING || event->standing != REDLOCK_STANDING_VOTES)
        return;
    declaration->voting |= UINT32_C(1) << event->node;
    if (declaration->voting == declaration->all)
        event_base_loopbreak(declaration->base);
}

static bool declare(struct declaration *declaration, const struct redlock_options *options, const char *const *urls,
                    size_t n, char *ret_reason)
{
    const struct timeval limit = {DECLARE_TIMEOUT_S, 0};
    struct redlock_client *client;
    struct redlock_error error;
    char text[LOAD_REASON_SIZE - 80];

    if (redlock_client_create(declaration->base, urls, n, options, &client, &error) != REDLOCK_OK) {
        snprintf(ret_reason, LOAD_REASON_SIZE, "%s", error.text);
        return false;
    }
    event_base_loopexit(declaration->base, &limit);
    event_base_dispatch(declaration->base);
    load_complaints(client, text, sizeof text);
    redlock_client_destroy(client);
    if (declaration->voting == declaration->all)
        return true;
    snprintf(ret_reason, LOAD_REASON_SIZE, "the new masters do not vote%s", text);
    return false;
}

bool load_declare(const struct redlock_options *options, const char *const *urls, size_t n,
                   char ret_reason[LOAD_REASON_SIZE])
{
    struct declaration declaration = {.base = event_base_new(), .all = (UINT32_C(1) << n) - 1};
    struct redlock_options own = *options;
    bool ok;

    if (!declaration.base) {
        snprintf(ret_reason, LOAD_REASON_SIZE, "no event loop");
        return false;
    }
    own.join = REDLOCK_JOIN_DECLARE;
    own.on_event = on_event;
    own.event_data = &declaration;
    ok = declare(&declaration, &own, urls, n, ret_reason);
    event_base_free(declaration.base);
    return ok;
}
