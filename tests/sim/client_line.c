/* Waiting in line: what lib/api does with places, calls, and masters that are there again. */
#include <string.h>

#include "kinds/wait_queue.h"
#include "world.h"

void client_look_again(struct client *client, unsigned node)
{
    for (unsigned i = 0; i < client->n_handles; i++)
        rl_lock_look_again(&client->engine, &client->handles[i].lock, client->now, node);
    client_pump(client);
}

/* The clock first: a grant of a master whose clock was set does not count (protocol 5.6). */
void client_placed(struct client *client, unsigned node, const struct pending *pending, const struct rl_reply *reply)
{
    struct box *box = box_get(&client->world->boxes, pending->box);
    struct rl_entry_report report;

    if (!rl_queue_entry_report(reply, &report))
        return;
    if (client->engine.votes.admissions[node].epoch_checked)
        client_trust_read_clock(client, node, (int64_t)report.time_us, pending->sent);
    if (report.ticket > client->seen[box->key])
        client->seen[box->key] = report.ticket;
    rl_engine_queued(client->now, box_claim(box), pending->round, node, &report);
}

/* --- Calls -------------------------------------------------------------------------------------------------------- */

static struct box *find(const struct client *client, struct rl_slice value)
{
    struct box *box = box_of_token(&client->world->boxes, value.data, value.size);

    return box && box->client == client->index && box->life == client->life && box->enqueued && !box->disposed ? box
                                                                                                                 : NULL;
}

static struct rl_slice judged(const struct client *client, unsigned node)
{
    const char *incarnation = client->trust[node].incarnation;

    return (struct rl_slice){incarnation,
                             client->engine.votes.admissions[node].epoch_checked ? strlen(incarnation) : 0};
}

static void read_clock(struct client *client, unsigned node, const struct rl_claim *claim,
                       const struct rl_notification *notification)
{
    struct rl_instant sent;

    if (rl_engine_notification_sent(claim, notification, &sent) && client->engine.votes.admissions[node].epoch_checked)
        client_trust_read_clock(client, node, (int64_t)notification->time_us, sent);
}

void client_called(struct client *client, unsigned node, struct rl_slice payload)
{
    struct rl_slice value;
    struct rl_slice incarnation;
    struct rl_notification notification;
    struct box *box = rl_queue_notification(payload, &value, &incarnation, &notification) ? find(client, value) : NULL;

    TRACE(client->world, name_of_client(client->index), "%s calls: %.*s%s", name_of_master(node), (int)payload.size,
          (const char *)payload.data, box ? "" : " (who?)");
    world_count(client->world, COUNTER_CALLS);
    if (!box || !rl_queue_notification_counts(&notification, incarnation, judged(client, node))) {
        world_count(client->world, COUNTER_CALLS_IGNORED);
        return;
    }
    if (!notification.granted && RL_MUTANT(LOWER_UNHEARD))
        return;
    read_clock(client, node, box_claim(box), &notification);
    if (notification.fence > client->seen[box->key])
        client->seen[box->key] = notification.fence;
    rl_engine_notified(&client->engine, client->now, box_claim(box), node, &notification);
    client_watch(client);
    client_pump(client);
}
