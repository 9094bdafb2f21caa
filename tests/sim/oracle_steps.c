/* What is promised when masters' clocks are set forward (rules 6).
 *
 * A client learns of a step by the readings of TIME behind its commands, and by nothing else. So
 *
 *   - a holder that has not read the clock since cannot know: its validity is overstated, and that is excused;
 *   - once it has read every clock that was set, it is not any more;
 *   - a client that knew the clock before the step reads it again behind each vote, and from then on votes of that
 *     master do not count for it for as long as a key may live: it never becomes a second holder, whether the first one
 *     has noticed or not.
 *   - A client that did not know the clock cannot see the step (rules 1): for the longest ttl from then on
 *     it may become a second holder.
 *
 * A client whose machine is paused with its clocks cannot know either until it has read the masters' clocks. What it
 * held is overstated until then. It has to find that it was its own clock, if nothing was on its way and no other clock
 * has moved, and then no master is kept from voting for it. It may not take its own clock to have stood still if it did
 * not, unless a quorum of masters was set forward.
 *
 * A master whose clock nearly stands still is no danger; but who has read such a clock three times, half a second
 * apart, does not count its votes any more.
 *
 * All that up to the precision of the readings. A step that is smaller than what the readings leave open cannot be told
 * from a slow reply; that is the slack of each client, in sum. A clock that is set both ways between two readings hides
 * the way forward; worlds in which clocks are set back too are excused, and those without epoch checks, which read no
 * clocks. */
#include <string.h>

#include "client_host.h"
#include "world.h"

/* What the client knows of this machine's clock; NULL: nothing, or the machine is none of its masters. */
static const struct rl_node_clock *find_clock(const struct client *client, unsigned machine)
{
    unsigned place = client_find_place(client, machine);

    if (place == NO_PLACE || client->host.trust.nodes[place].clock.at.ns == RL_LONG_AGO.ns)
        return NULL;
    return &client->host.trust.nodes[place].clock;
}

/* How much of this step can stay hidden from a client until keys that were set before it have ended: what its readings
 * so far leave open. A slow reading may hide more, but then the vote before it is as late. */
static int64_t may_hide(const struct world *world, const struct client *client, const struct rl_node_clock *clock,
                        int64_t by)
{
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
        const struct rl_node_clock *clock = client->alive ? find_clock(client, master) : NULL;

        client->set_forward |= UINT32_C(1) << master; /* a first reading may be on its way */
        if (!clock) {
            client->blind_until = world->now + 2 * rl_ms(world->plan.max_ttl_ms).ns;
            continue;
        }
        client->must_explain = false;
        client->unseen_steps |= UINT32_C(1) << master;
        client->steps[master] += by;
        client->hidden += may_hide(world, client, clock, by);
    }
}

/* It was one before, and has been forgotten since. */
void steps_on_new_member(struct world *world, struct client *client, unsigned machine)
{
    if (!(client->unseen_steps >> machine & 1u))
        return;
    client->unseen_steps &= ~(UINT32_C(1) << machine);
    client->steps[machine] = 0;
    client->blind_until = world->now + 2 * rl_ms(world->plan.max_ttl_ms).ns;
}

/* --- Clocks that stand still -------------------------------------------------------------------------------------- */

/* A notification may show the time at which it was written, too. */
static bool has_nothing_on_its_way(const struct client *client)
{
    if (client->listens)
        return false;
    for (unsigned place = 0; place < client->n_places; place++) {
        if (client->wires[place].count || client->wires[place].unsent.count)
            return false;
    }
    return true;
}

static void excuse_boxes_of(struct world *world, const struct client *client)
{
    for (uint32_t id = 1; id <= world->boxes.used; id++) {
        if (box_get(&world->boxes, id)->client == client->index)
            box_get(&world->boxes, id)->excused = true;
    }
}

void steps_on_standstill(struct world *world, struct client *client)
{
    /* Not of two that follow each other: readings of the one may show a part of the other. */
    client->must_explain = !client->unseen_steps && !client->stands_apart && has_nothing_on_its_way(client) &&
                           rl_until(client->stood_at, client->host.now).ns > rl_ms(2000).ns;
    client->stood_at = client->host.now;
    world->last_step = world->now;
    client->stands_apart = true;
    client->stood_since = world->now;
    excuse_boxes_of(world, client);
}

void steps_on_wakeup(struct world *world, struct client *client)
{
    int64_t length = world->now - client->stood_since;

    for (unsigned m = 0; m < world->plan.n_masters; m++) {
        const struct rl_node_clock *clock = find_clock(client, m);

        if (!clock) {
            client->blind_until = world->now + 2 * rl_ms(world->plan.max_ttl_ms).ns; /* and may never read it */
            continue;
        }
        client->unseen_steps |= UINT32_C(1) << m;
        client->steps[m] += length;
        client->hidden += may_hide(world, client, clock, length);
    }
    client->stands_apart = client->unseen_steps;
}

/* A step that was hidden may be found long after it was made. */
static unsigned count_set_forward(const struct client *client, uint32_t places)
{
    unsigned count = 0;

    for (unsigned place = 0; place < client->n_places; place++)
        count += (places >> place & 1u) && (client->set_forward >> client->machines[place] & 1u);
    return count;
}

/* A notification that was written meanwhile shows a part: who was not asked since then has the rest to show. */
static void forgive(struct client *client, int64_t most)
{
    for (unsigned m = 0; m < client->world->plan.n_masters; m++) {
        const struct rl_node_clock *clock = find_clock(client, m);

        client->steps[m] = client->steps[m] > most ? client->steps[m] - most : 0;
        if (!client->steps[m] || (clock && rl_before(client->stood_at, clock->asked)))
            client->unseen_steps &= ~(UINT32_C(1) << m);
    }
    client->stands_apart = client->unseen_steps;
}

/* Whoever was not read yet is known as well. What was hidden of a standstill may be found long after it. */
void steps_on_own(struct world *world, struct client *client, uint32_t places, const struct rl_clock_move *move)
{

    world->coverage->standstills_seen++;
    client->step_slack += rl_ms(2).ns + move->most.ns - move->least.ns;
    client->hidden += rl_ms(2).ns + move->most.ns - move->least.ns;
    if (client->stood_at.ns != RL_LONG_AGO.ns) {
        client->must_explain = false;
        client->found_at = client->read_at = client_true_now(client);
        forgive(client, move->most.ns);
    } else if (count_set_forward(client, places) >= client->host.engine.votes.config.quorum) {
        client->blind_until = world->now + 2 * rl_ms(world->plan.max_ttl_ms).ns;
        client->misled = true;
    } else {
        world_violation(world, "steps", "%s takes its own clock to have stood still for %.3f ms",
                        name_of_client(client->index), (double)move->most.ns / 1e6);
    }
}

static bool all_read(const struct client *client, struct rl_instant asked, unsigned *ret_moved)
{
    *ret_moved = 0;
    for (unsigned place = 0; place < client->n_places; place++) {
        const struct rl_node_clock *clock = &client->host.trust.nodes[place].clock;
        const struct rl_clock_move *move = &client->host.engine.votes.moves[place];

        if (client->wires[place].link != RL_LINK_READY || clock->at.ns == RL_LONG_AGO.ns)
            continue;
        /* It was hidden for so long, or the master is known since such a short time, that nobody knows when it was. */
        if (rl_before(client->stood_at, move->from) || !rl_before(clock->first, client->stood_at))
            return false;
        if (!rl_before(move->to, client->stood_at))
            ++*ret_moved;
        else if (rl_before(clock->asked, asked))
            return false;
    }
    return true;
}

/* It has found nothing new at this master, which it does not let vote, and has read all others. */
static void check_explained(struct world *world, const struct client *client, unsigned place)
{
    const struct rl_votes *votes = &client->host.engine.votes;
    size_t needed = votes->config.quorum < 2 ? 2 : votes->config.quorum;
    unsigned count;

    if (client->must_explain && rl_before(client->host.now, votes->stepped_until[place]) &&
        all_read(client, votes->moves[place].to, &count) && count >= needed)
        world_violation(world, "steps", "%s keeps %s from voting, and it was its own clock that stood still",
                        name_of_client(client->index), name_of_place(client, place));
}

void steps_on_rate(struct world *world, unsigned master, int64_t rate)
{
    bool was_slow = world->slow_since[master] != INT64_MAX;

    if (was_slow && rate > NEARLY_STILL)
        world->set_back_by += world->now - world->slow_since[master];
    if (!was_slow || rate > NEARLY_STILL)
        world->slow_since[master] = rate > NEARLY_STILL ? INT64_MAX : world->now;
    for (unsigned c = 0; c < world->plan.n_clients; c++)
        world->clients[c].slow_readings[master] = 0;
}

static void check_slow(struct world *world, struct client *client, unsigned place, struct rl_instant sent)
{
    unsigned master = client->machines[place];
    unsigned *readings = &client->slow_readings[master];
    int64_t apart = rl_until(client->slow_read_at[master], sent).ns;

    if (world->slow_since[master] > client_true_now(client) - rl_until(sent, client->host.now).ns * 2 ||
        (*readings && apart < rl_ms(600).ns))
        return;
    client->slow_read_at[master] = client->host.now;
    if (++*readings > 3 && !(client->host.engine.votes.slow_clocks >> place & 1u))
        world_violation(world, "steps", "%s lets %s vote, whose clock nearly stands still",
                        name_of_client(client->index), name_of_master(master));
}

/* --- Readings ----------------------------------------------------------------------------------------------------- */

/* A step that this reading does not show must have been smaller than what the reading, and those before it, leave
 * open. What is noticed is known as precisely as that. */
void steps_on_reading(struct world *world, struct client *client, unsigned place, enum rl_clock_finding finding,
                      struct rl_instant sent, int64_t uncertainty)
{
    unsigned master = client->machines[place];
    uint32_t bit = UINT32_C(1) << master;

    check_slow(world, client, place, sent);
    if (finding == RL_CLOCK_STEADY)
        check_explained(world, client, place);
    if (!(client->unseen_steps & bit))
        return;
    /* Perhaps taken before the latest step: it shows what came before that, or hides so much. */
    if (world->now - 2 * rl_until(sent, client->host.now).ns <= world->last_step ||
        (client->stands_apart && !rl_before(client->stood_at, sent))) {
        client->steps[master] = finding == RL_CLOCK_STEADY ? client->steps[master] - uncertainty : 0;
        client->step_slack += uncertainty;
        return;
    }
    if (finding == RL_CLOCK_STEADY && client->steps[master] > uncertainty && !world->stepped_back &&
        !client->misled && (client->stood_at.ns == RL_LONG_AGO.ns || client->must_explain))
        world_violation(world, "steps", "%s does not notice that the clock of %s was set forward by %.3f ms",
                        name_of_client(client->index), name_of_master(master), (double)client->steps[master] / 1e6);
    client->step_slack += uncertainty;
    client->unseen_steps &= ~bit;
    client->steps[master] = 0;
    if (client->stands_apart)
        client->found_at = client_true_now(client);
    client->stands_apart = client->stands_apart && client->unseen_steps;
    client->read_at = client_true_now(client);
}

void steps_on_start(struct world *world, struct client *client)
{
    client->unseen_steps = 0;
    client->stands_apart = client->must_explain = false;
    client->stood_at = RL_LONG_AGO;
    client->found_at = INT64_MIN / 2;
    client->set_forward = 0;
    client->misled = false;
    memset(client->slow_readings, 0, sizeof client->slow_readings);
    client->read_at = 0;
    memset(client->steps, 0, sizeof client->steps);
    client->step_slack = 0;
    client->hidden = 0;
    client->blind_until = world->last_step + 2 * rl_ms(world->plan.max_ttl_ms).ns;
}

/* A turn may reach into the future, and what is read there is not known before. */
bool steps_all_seen(const struct world *world, const struct client *client)
{
    return world->plan.guarded && !world->stepped_back && !client->unseen_steps && !client->stands_apart &&
           client->read_at <= world->now && client->blind_until < world->now;
}

/* A handle that adopts a lock holds it as the one that has acquired it. */
void steps_on_accept(struct world *world, const struct client *client, struct box *box)
{
    box->accepted = client_true_now(client);
    box->knowing = world->plan.guarded && client->blind_until < world->now;
}

/* It believes for longer in what it holds than that lasts, and cannot know, or could not until then. */
static bool is_behind(const struct world *world, const struct box *box, int64_t until)
{
    const struct client *client = &world->clients[box->client];

    return client->stands_apart || until <= client->found_at ||
           (client->stood_at.ns != RL_LONG_AGO.ns && world->now < client->blind_until);
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
    if (is_behind(world, a, until) || is_behind(world, b, until))
        return true;
    return !later->knowing || world->stepped_back ||
           until - from <= slack_of(&world->clients[a->client]) + slack_of(&world->clients[b->client]);
}
