/* Clients that come and go while helper threads look up their masters' names: for the thread sanitizer above all. */
#include "world.h"

#define CLIENTS 8

static void open_none(void)
{
    world_open(0);
    world.options.backoff_min_ms = 1;
    world.options.backoff_max_ms = 1;
}

/* Port 1 is nobody's. Two names: two threads at a time for each client. */
static struct redlock_client *create(void)
{
    static const char *const urls[] = {"redis://localhost:1", "redis://no-such-host.invalid:1"};
    struct redlock_client *client = NULL;

    ck_assert_int_eq(redlock_client_create(world.base, urls, 2, &world.options, &client, NULL), 0);
    return client;
}

GROUP(names, "names", open_none, world_close)

TEST(names, clients_come_and_go_while_their_names_are_looked_up)
{
    struct redlock_client *clients[CLIENTS] = {NULL};

    for (unsigned i = 0; i < 200; i++) {
        redlock_client_destroy(clients[i % CLIENTS]);
        clients[i % CLIENTS] = create();
        for (unsigned turns = 0; turns < i % 5; turns++)
            event_base_loop(world.base, EVLOOP_NONBLOCK);
    }
    for (unsigned i = 0; i < CLIENTS; i++)
        redlock_client_destroy(clients[i]);
    ck_assert_int_eq(event_base_get_num_events(world.base, EVENT_BASE_COUNT_ADDED), 0);
}

static bool has_tried(void *argument)
{
    struct redlock_node_stats stats;

    ck_assert_int_eq(redlock_client_node_stats(argument, 0, &stats, sizeof stats), 0);
    return stats.disconnects >= 20;
}

TEST(names, a_name_is_looked_up_for_each_attempt)
{
    world.client = create();
    world_wait(has_tried, world.client, "attempts to connect");
}

SUITE("names")
