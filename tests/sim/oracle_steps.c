/* What is promised when masters' clocks are set forward (protocol 5.6).
 *
 * A client learns of a step by the readings of TIME behind its commands, and by nothing else. So
 *
 *   - a holder that has not read the clock since cannot know: its validity is overstated, and that is excused;
 *   - once it has read every clock that was set, it is not any more;
 *   - a client that knew the clock before the step reads it again behind each vote, and from then on votes of that
 *     master do not count for it for as long as a key may live: it never becomes a second holder, whether the first one
 *     has noticed or not.
 *   - A client that did not know the clock cannot see the step (protocol section 8): for the longest ttl from then on
 *     it may become a second holder.
 *
 * All that up to the precision of the readings. A step that is smaller than what the readings leave open cannot be told
 * from a slow reply; that is the slack of each client, in sum. A clock that is set both ways between two readings hides
 * the way forward; worlds in which clocks are set back too are excused, and those without epoch checks, which read no
 * clocks. */
#include <string.h>

#include "world.h"

/* How much of this step can stay hidden from a client until keys that were set before it have ended: what its readings
 * so far leave open. A slow reading may hide more, but then the vote before it is as late. */
static int64_t may_hide(const struct world *world, const struct client *client, unsigned master, int64_t by)
{
    const struct rl_node_clock *clock = &client->host.trust.nodes[master].clock;
    int64_t now = clockwork_read(&client->clock, world->now);
    int64_t span = now - clock->at.ns + rl_ms(world->plan.max_ttl_ms).ns;
    int64_t open = clock->high_ns - clock->low_ns +
                   3 * (span / 1000 * client->host.engine.votes.config.drift.ppm / 1000);

    return by < open ? by : open;
}

void steps_on_step(struct world *world, unsigned master, int64_t by)
{
    if (by <= 0) {
        world->stepped_back = true;
        world->set_back_by -= by;
        return;
    }
    world->last_step = world->now;
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        struct client *client = &world->clients[c];
        const struct rl_node_clock *clock = &client->host.trust.nodes[master].clock;

        if (!client->alive || clock->at.ns == RL_LONG_AGO.ns) {
            client->blind_until = world->now + 2 * rl_ms(world->plan.max_ttl_ms).ns;
            continue;
        }
        client->unseen_steps |= UINT32_C(1) << master;
        client->steps[master] += by;
        client->hidden += may_hide(world, client, master, by);
    }
}

/* A step that this reading does not show must have been smaller than what the reading, and those before it, leave
 * open. What is noticed is known as precisely as that. */
void steps_on_reading(struct world *world, struct client *client, unsigned master, enum rl_clock_finding finding,
                      struct rl_instant sent, int64_t uncertainty)
{
    uint32_t bit = UINT32_C(1) << master;

    if (!(client->unseen_steps & bit))
        return;
    /* Perhaps taken before the latest step: it shows what came before that, or hides so much. */
    if (world->now - 2 * rl_until(sent, client->host.now).ns <= world->last_step) {
        client->steps[master] = finding == RL_CLOCK_STEADY ? client->steps[master] - uncertainty : 0;
        client->step_slack += uncertainty;
        return;
    }
    if (finding == RL_CLOCK_STEADY && client->steps[master] > uncertainty && !world->stepped_back)
        world_violation(world, "steps", "%s does not notice that the clock of %s was set forward by %.3f ms",
                        name_of_client(client->index), name_of_master(master), (double)client->steps[master] / 1e6);
    client->step_slack += uncertainty;
    client->unseen_steps &= ~bit;
    client->steps[master] = 0;
    client->read_at = client_true_now(client);
}

void steps_on_start(struct world *world, struct client *client)
{
    client->unseen_steps = 0;
    client->read_at = 0;
    memset(client->steps, 0, sizeof client->steps);
    client->step_slack = 0;
    client->hidden = 0;
    client->blind_until = world->last_step + 2 * rl_ms(world->plan.max_ttl_ms).ns;
}

/* A turn may reach into the future, and what is read there is not known before. */
bool steps_all_seen(const struct world *world, const struct client *client)
{
    return world->plan.guarded && !world->stepped_back && !client->unseen_steps && client->read_at <= world->now &&
           client->blind_until < world->now;
}

/* A handle that adopts a lock holds it as the one that has acquired it. */
void steps_on_accept(struct world *world, const struct client *client, struct box *box)
{
    box->accepted = client_true_now(client);
    box->knowing = world->plan.guarded && client->blind_until < world->now;
}

static int64_t slack_of(const struct client *client)
{
    return client->hidden < client->step_slack ? client->hidden : client->step_slack;
}

bool steps_excuse(const struct world *world, const struct box *a, const struct box *b, int64_t from, int64_t until)
{
    const struct box *maker_a = box_maker(&world->boxes, a->id);
    const struct box *maker_b = box_maker(&world->boxes, b->id);
    const struct box *later = maker_a->accepted > maker_b->accepted ? maker_a : maker_b;

    if (!a->excused && !b->excused)
        return false;
    return !later->knowing || world->stepped_back || until - from <= slack_of(&world->clients[later->client]);
}
