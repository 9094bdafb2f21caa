/* Statistics, the event hook, and the translation of the engine's words into public ones. */
#include <string.h>

#include "api/client.h"

bool rl_observed(const struct redlock_client *client)
{
    return client->options.on_event != NULL;
}

/* Node 0 is a master, too: events that name none say so by their type, and get -1 here. */
void rl_observe(struct redlock_client *client, struct redlock_event *event)
{
    if (event->type != REDLOCK_EVENT_NODE && event->type != REDLOCK_EVENT_VOTE)
        event->node = -1;
    event->client = client;
    if (!event->text)
        event->text = "";
    client->options.on_event(event, client->options.event_data);
}

enum redlock_vote rl_public_vote(enum rl_outcome outcome)
{
    static const enum redlock_vote votes[] = {
        [RL_NOT_ASKED] = REDLOCK_VOTE_NONE,  [RL_PENDING] = REDLOCK_VOTE_PENDING,
        [RL_GRANTED] = REDLOCK_VOTE_GRANTED, [RL_REFUSED] = REDLOCK_VOTE_REFUSED,
        [RL_FAILED] = REDLOCK_VOTE_FAILED,   [RL_UNKNOWN] = REDLOCK_VOTE_UNKNOWN,
    };

    return votes[outcome];
}

enum redlock_link rl_public_link(enum rl_link link)
{
    static const enum redlock_link links[] = {
        [RL_LINK_JOINING] = REDLOCK_LINK_JOINING,
        [RL_LINK_READY] = REDLOCK_LINK_READY,
        [RL_LINK_LATE] = REDLOCK_LINK_LATE,
        [RL_LINK_DOWN] = REDLOCK_LINK_DOWN,
    };

    return links[link];
}

enum redlock_op rl_public_op(enum rl_op op)
{
    if (op == RL_OP_ACQUIRE)
        return REDLOCK_OP_ACQUIRE;
    return op == RL_OP_EXTEND ? REDLOCK_OP_EXTEND : REDLOCK_OP_RELEASE;
}

int64_t rl_public_latency_us(uint32_t latency_us)
{
    return latency_us == RL_NO_LATENCY ? -1 : (int64_t)latency_us;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

int redlock_client_stats(const struct redlock_client *client, struct redlock_stats *ret_stats, size_t size)
{
    struct redlock_stats stats;

    if (!client || !ret_stats)
        return REDLOCK_E_ARGUMENT;
    if (rl_client_forked(client))
        return REDLOCK_E_FORKED;
    stats = client->stats;
    stats.attempts = client->engine.counters.attempts;
    stats.rollbacks = client->engine.counters.rollbacks;
    stats.late_grants = client->engine.counters.late_grants;
    stats.debts_paid = client->engine.counters.debts_paid;
    stats.debts_expired = client->engine.counters.debts_expired;
    stats.debts = client->engine.n_debts;
    memcpy(ret_stats, &stats, smaller(size, sizeof stats));
    return 0;
}

static void fill_from_driver(const struct redlock_client *client, unsigned node, struct redlock_node_stats *stats)
{
    struct rl_conn_stats conn;

    rl_driver_node_stats(client->driver, node, &conn);
    stats->name = rl_driver_node_name(client->driver, node);
    stats->link = rl_public_link(client->engine.links[node]);
    stats->commands = conn.commands;
    stats->replies = conn.replies;
    stats->connects = conn.connects;
    stats->disconnects = conn.disconnects;
    stats->bytes_out = conn.bytes_out;
    stats->bytes_in = conn.bytes_in;
    stats->pending = conn.pending;
    stats->unsent_bytes = conn.unsent_bytes;
    stats->last_latency_us = conn.last_latency_ns < 0 ? -1 : conn.last_latency_ns / RL_NS_PER_US;
    stats->last_error = conn.last_error;
}

int redlock_client_node_stats(const struct redlock_client *client, size_t node, struct redlock_node_stats *ret_stats,
                              size_t size)
{
    struct redlock_node_stats stats;

    if (!client || !ret_stats || node >= client->engine.config.n_nodes)
        return REDLOCK_E_ARGUMENT;
    if (rl_client_forked(client))
        return REDLOCK_E_FORKED;
    stats = client->node_stats[node];
    fill_from_driver(client, (unsigned)node, &stats);
    memcpy(ret_stats, &stats, smaller(size, sizeof stats));
    return 0;
}

size_t redlock_client_node_count(const struct redlock_client *client)
{
    return client ? client->engine.config.n_nodes : 0;
}
