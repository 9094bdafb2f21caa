/* Observers (rule 13.2). Whoever is told of a term that is larger than the one it knows, may have missed that, or could
 * not see who leads and has a master again, looks as soon as a look that is under way lets it. Where nothing goes
 * wrong it has looked a few messages after an election, however long its interval is. */
#include "host/election.h"
#include "listener.h"
#include "world.h"

/* A look that is under way awaits first connections, and then the master that was connected last, for its time. */
static int64_t look_patience(const struct world *world)
{
    int64_t timeout = world->plan.config.node_timeout.ns;

    return world->plan.connect_timeout.ns + 3 * timeout + timeout / 10 + 2 * rl_ms(RL_OBSERVER_PAUSE_MS).ns +
           4 * world->plan.timer_slack_ns;
}

static int64_t election_patience(const struct world *world)
{
    return idle_trips(world, 4) + 2 * rl_ms(RL_OBSERVER_PAUSE_MS).ns;
}

static void check_time(struct world *world, const struct client *client, int64_t since, int64_t patience,
                       const char *what)
{
    int64_t from = since < client->stopped_until ? client->stopped_until : since;

    if (since != INT64_MAX && world->now - from > patience)
        world_violation(world, "observer", "%s has not looked for %.3f ms after %s; %.3f ms are enough",
                        name_of_client(client->index), (double)(world->now - from) / 1e6, what,
                        (double)patience / 1e6);
}

/* Those that end begin nothing. */
void observer_check(struct world *world, const struct client *client)
{
    const struct client_observer *observer = &client->observer;

    if (!observer->name || client->host.closing || world->phase == PHASE_DRAINING)
        return;
    check_time(world, client, observer->told_at, look_patience(world), "it was told of a leader");
    if (world->phase == PHASE_FAULTS)
        check_time(world, client, observer->elected_at, election_patience(world), "an election");
}

static void note_told(struct world *world, struct client *client, uint64_t term)
{
    struct client_observer *observer = &client->observer;

    world_count(world, COUNTER_OBSERVERS_TOLD);
    if (observer->told_at == INT64_MAX) {
        observer->told_at = client_true_now(client);
        observer->told_term = 0;
    }
    if (term > observer->told_term)
        observer->told_term = term;
}

void observer_on_ready(struct world *world, struct client *client)
{
    if (client->observer.name && !client->observer.core.known)
        note_told(world, client, UINT64_MAX);
}

void observer_on_told(struct world *world, struct client *client, struct rl_slice channel, uint64_t term)
{
    struct client_observer *observer = &client->observer;
    unsigned char name[RL_LEADER_CHANNEL_BYTES];
    struct rl_slice own;

    if (!observer->name || term <= observer->core.term)
        return;
    own = rl_leader_channel(&client->host, observer->name, name);
    if (own.size == channel.size && memcmp(own.data, channel.data, own.size) == 0)
        note_told(world, client, term);
}

void observer_on_look(struct world *world, struct client *client)
{
    observer_check(world, client);
    world_count(world, COUNTER_OBSERVATIONS);
    client->observer.told_at = INT64_MAX;
}

void observer_on_looked(struct world *world, struct client *client, uint64_t term)
{
    struct client_observer *observer = &client->observer;

    observer_check(world, client);
    if (observer->told_at != INT64_MAX && observer->told_term <= term)
        observer->told_at = INT64_MAX;
    if (observer->elected_at == INT64_MAX || (observer->began < observer->elected_at && term < observer->elected_term))
        return;
    world_count(world, COUNTER_LEADERS_KNOWN);
    observer->elected_at = INT64_MAX;
}

/* On all masters, and nothing else has been asked of them meanwhile. */
static bool listens(const struct world *world, const struct client *client, struct rl_slice channel)
{
    uint32_t all = (UINT32_C(1) << world->plan.n_masters) - 1;
    int number = listener_number(client, channel);

    return number > 0 && client->further[number - 1].entered == all && !client->further[number - 1].asked;
}

/* Its look may have found the votes before the leader has: then it need not look again. */
static bool knows(const struct client_observer *observer, uint64_t term)
{
    return observer->core.known && observer->core.term >= term;
}

void observer_on_elected(struct world *world, const struct client *leader, uint8_t key, uint64_t term)
{
    unsigned char name[RL_LEADER_CHANNEL_BYTES];

    for (unsigned c = 0; c < world->plan.n_clients && world->plan.calm && world->phase == PHASE_FAULTS; c++) {
        struct client *client = &world->clients[c];
        struct client_observer *observer = &client->observer;

        if (!client->alive || !observer->name || observer->key != key || client->host.closing ||
            knows(observer, term) || !listens(world, client, rl_leader_channel(&client->host, observer->name, name)))
            continue;
        if (observer->elected_at == INT64_MAX)
            observer->elected_at = client_true_now(leader);
        observer->elected_term = term;
    }
}
