#include "world.h"

#include <poll.h>
#include <string.h>
#include <time.h>

struct world world;

void world_open(size_t n)
{
    static const struct redlock_key_class key_class = {"k", "keys"};

    memset(&world, 0, sizeof world);
    redlock_options_init(&world.options);
    world.options.key_classes = &key_class;
    world.options.n_key_classes = 1;
    world.options.profile = REDLOCK_PROFILE_CLASSIC; /* unless a test says otherwise */
    world.base = event_base_new();
    ck_assert_ptr_nonnull(world.base);
    world.n = n;
    for (size_t i = 0; i < n; i++) {
        world.toys[i] = toy_create();
        world.urls[i] = world.toys[i]->url;
    }
}

void world_three(void)
{
    world_open(3);
}

void world_close(void)
{
    redlock_client_destroy(world.client);
    if (world.base)
        event_base_free(world.base);
    for (size_t i = 0; i < world.n; i++)
        toy_destroy(world.toys[i]);
    memset(&world, 0, sizeof world);
}

static size_t watch_masters(struct pollfd *fds)
{
    size_t n = 0;

    for (size_t i = 0; i < world.n; i++) {
        const struct toy *toy = world.toys[i];

        fds[n++] = (struct pollfd){.fd = toy->listener, .events = POLLIN};
        for (size_t j = 0; j < TOY_CONNS; j++) {
            if (toy->conns[j].fd >= 0 && !toy->deaf)
                fds[n++] = (struct pollfd){.fd = toy->conns[j].fd, .events = POLLIN};
        }
    }
    return n;
}

void world_step(void)
{
    struct pollfd fds[REDLOCK_MAX_MASTERS * (TOY_CONNS + 1)];
    bool busy = false;

    event_base_loop(world.base, EVLOOP_NONBLOCK);
    for (size_t i = 0; i < world.n; i++)
        busy |= toy_step(world.toys[i]);
    if (!busy)
        poll(fds, watch_masters(fds), 1);
}

void world_steps(unsigned n)
{
    while (n-- > 0)
        world_step();
}

void world_wait(bool (*condition)(void *argument), void *argument, const char *what)
{
    time_t end = time(NULL) + SUITE_PATIENCE_S;

    while (!condition(argument)) {
        ck_assert_msg(time(NULL) < end, "waited in vain for %s", what);
        world_step();
    }
}

static bool has_called(void *argument)
{
    return ((const struct outcome *)argument)->calls > 0;
}

void world_wait_outcome(const struct outcome *outcome)
{
    world_wait(has_called, (void *)(uintptr_t)outcome, "a callback");
}

struct link_request {
    struct redlock_client *client;
    size_t node;
    enum redlock_link link;
};

static bool has_link(void *argument)
{
    const struct link_request *request = argument;
    struct redlock_node_stats stats;

    ck_assert_int_eq(redlock_client_node_stats(request->client, request->node, &stats, sizeof stats), 0);
    return stats.link == request->link;
}

/* Says why, if it waits in vain. */
void world_wait_link(struct redlock_client *client, size_t node, enum redlock_link link)
{
    struct link_request request = {client, node, link};
    struct redlock_node_stats stats = {0};
    char what[300];
    time_t end = time(NULL) + SUITE_PATIENCE_S;

    while (!has_link(&request) && time(NULL) < end)
        world_step();
    if (has_link(&request))
        return;
    redlock_client_node_stats(client, node, &stats, sizeof stats);
    snprintf(what, sizeof what, "%s is %s and not %s: %s", stats.name, redlock_link_name(stats.link),
             redlock_link_name(link), stats.last_error);
    ck_abort_msg("%s", what);
}

static bool is_clean(void *argument)
{
    struct redlock_client *client = argument;
    struct redlock_node_stats node;
    struct redlock_stats stats;

    ck_assert_int_eq(redlock_client_stats(client, &stats, sizeof stats), 0);
    if (stats.pending_rollbacks)
        return false;
    for (size_t i = 0; i < redlock_client_node_count(client); i++) {
        ck_assert_int_eq(redlock_client_node_stats(client, i, &node, sizeof node), 0);
        if (node.pending)
            return false;
    }
    return true;
}

void world_wait_clean(struct redlock_client *client)
{
    world_wait(is_clean, client, "a client without pending rollbacks");
}

struct redlock_client *world_client(void)
{
    struct redlock_client *client = NULL;
    struct redlock_error error = {0};
    int status = redlock_client_create(world.base, world.urls, world.n, &world.options, &client, &error);

    ck_assert_msg(status == 0, "%s", error.text);
    return client;
}

void world_connect(void)
{
    world.client = world_client();
    for (size_t i = 0; i < world.n; i++)
        world_wait_link(world.client, i, REDLOCK_LINK_READY);
}

struct redlock_lock *world_lock(struct redlock_client *client, const char *key)
{
    struct redlock_lock *lock = NULL;

    ck_assert_int_eq(redlock_lock_create(client, key, strlen(key), &lock), 0);
    return lock;
}

/* With retries: on a loaded machine a short node_timeout may pass. */
struct redlock_lock *world_hold(struct redlock_client *client, const char *key)
{
    struct redlock_lock *lock = world_lock(client, key);
    struct redlock_acquire_options request;
    struct outcome outcome = {0};

    redlock_acquire_options_init(&request);
    request.timeout_ms = SUITE_PATIENCE_S * 1000;
    ck_assert_int_eq(redlock_acquire(lock, &request, outcome_record, &outcome), 0);
    world_wait_outcome(&outcome);
    outcome_expect(&outcome, REDLOCK_OK);
    world_wait_clean(client);
    return lock;
}

size_t world_count(void)
{
    size_t count = 0;

    for (size_t i = 0; i < world.n; i++)
        count += toy_count(world.toys[i]);
    return count;
}
