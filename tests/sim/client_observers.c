/* Observers of leaders: when they look is the host's (host/election.c), and so is the look; this file is in the place
 * of lib/api/election.c. */
#include "client_observers.h"

#include <stdlib.h>
#include <string.h>

#include "world.h"

static void on_done(struct rl_look *look)
{
    RL_CONTAINER_OF(look, struct client_observer, look)->over = true;
}

static bool look(struct rl_observer *core)
{
    struct client_observer *observer = RL_CONTAINER_OF(core, struct client_observer, core);
    struct client *client = RL_CONTAINER_OF(core->host, struct client, host);

    if (client->host.closing)
        return false;
    observer->began = client_true_now(client);
    observer_on_look(client->world, client);
    if (!rl_look_start(&client->host, &observer->look, observer->name, on_done))
        abort();
    return true;
}

void client_observe(struct client *client, uint8_t key, struct rl_span interval)
{
    struct client_observer *observer = &client->observer;

    TRACE(client->world, name_of_client(client->index), "observes %s", name_of_key(key));
    *observer = (struct client_observer){.key = key, .told_at = INT64_MAX, .elected_at = INT64_MAX};
    observer->name = rl_key_create((struct rl_slice){"", 0}, name_of_key(key), strlen(name_of_key(key)));
    rl_observer_init(&observer->core, &client->host, observer->name, look);
    rl_observer_start(&observer->core, interval);
}

/* What it is told of, and what it has missed, is nobody's affair between the two. */
static void start_anew(struct client *client)
{
    struct client_observer *observer = &client->observer;

    rl_observer_stop(&observer->core, false);
    observer->told_at = INT64_MAX;
    observer->elected_at = INT64_MAX;
    rl_observer_start(&observer->core, observer->core.interval);
}

static struct rl_leader leader_of(const struct rl_look_picture *picture)
{
    struct rl_leader leader = {0};

    for (size_t i = 0; picture->verdict == RL_LOOK_EXCLUSIVE && i < picture->n_holders; i++)
        rl_leader_see(&leader, picture->values[i].mode, picture->values[i].value, picture->values[i].counter);
    return leader;
}

void client_deliver_observation(struct client *client)
{
    static struct rl_look_picture picture;
    struct client_observer *observer = &client->observer;
    struct world *world = client->world;
    struct rl_leader leader;

    if (!observer->name || !observer->over)
        return;
    observer->over = false;
    if (!rl_look_picture(&observer->look, &picture))
        abort();
    leader = leader_of(&picture);
    rl_look_fini(&observer->look);
    rl_observer_looked(&observer->core, picture.verdict != RL_LOOK_UNKNOWN, leader.term);
    if (!rl_leader_is(&leader, &observer->seen))
        TRACE(world, name_of_client(client->index), "knows the leader of %s: term %llu", name_of_key(observer->key),
              (unsigned long long)leader.term);
    observer->seen = leader;
    observer_on_looked(world, client, leader.term);
    if (!world->plan.calm && !world->story && rng_chance(&world->observers, 30))
        start_anew(client);
}

void client_end_observer(struct client *client)
{
    struct client_observer *observer = &client->observer;

    if (observer->name && observer->core.looking)
        rl_look_fini(&observer->look);
    rl_key_unref(observer->name);
    *observer = (struct client_observer){0};
}
