/* Nothing is left of an attempt that was given up, where it could be reached.
 *
 * When the engine disposes of a claim it says: no master holds this value any more. That is checked at that instant,
 * and no command that came through a living connection may set the value later. Three things nobody can undo are
 * excused, master by master: what a ghost sets after its connection was closed, what a restarted master brings back,
 * and what is set for a value after its holder has let go of it. They end by their ttl. */
#include "world.h"

bool residue_is_stray(const struct world *world, const struct box *box, unsigned master)
{
    return box_maker(&world->boxes, box->id)->strays >> master & 1u;
}

void residue_excuse(struct world *world, uint32_t writer, unsigned master)
{
    box_maker(&world->boxes, writer)->strays |= UINT32_C(1) << master;
}

bool residue_holds(struct world *world, const struct box *box, unsigned master, int64_t at)
{
    return vote_gone(world, box, master) > at ||
           (box->enqueued && (wait_queue_ticket(world, box, master, at) || permits_listed(world, box, master, at)));
}

void residue_on_dispose(struct world *world, const struct box *box)
{
    int64_t at = client_true_now(&world->clients[box->client]);

    for (unsigned m = 0; m < world->plan.n_masters && !box->let_go; m++) {
        if (!residue_holds(world, box, m, at) || residue_is_stray(world, box, m) || box->timed ||
            world->slow_since[m] != INT64_MAX)
            continue;
        world_violation(world, "residue", "value %s was disposed of while %s still holds it", box->token,
                        name_of_master(m));
        return;
    }
}

void residue_on_write(struct world *world, struct box *box, unsigned master, bool ghost)
{
    if (ghost || box->let_go) {
        residue_excuse(world, box->id, master);
        world_count(world, COUNTER_STRAYS);
    } else if (box->disposed) {
        world_violation(world, "residue", "value %s was written to %s after its disposal", box->token,
                        name_of_master(master));
    }
}

void residue_mark(struct world *world)
{
    for (uint32_t id = 1; id <= world->boxes.used; id++) {
        struct box *box = box_get(&world->boxes, id);

        box->unsettled = !box->disposed && !box->orphaned && box->claim && box->claim->rolling_back;
    }
}

void residue_check_prompt(struct world *world)
{
    for (uint32_t id = 1; id <= world->boxes.used; id++) {
        const struct box *box = box_get(&world->boxes, id);

        for (unsigned m = 0; box->unsettled && m < world->plan.n_masters; m++) {
            if (residue_holds(world, box, m, world->now) && !residue_is_stray(world, box, m) && !box->timed)
                world_violation(world, "residue", "value %s could have been removed from %s long ago", box->token,
                                name_of_master(m));
        }
    }
}

static void check_final_vote(struct world *world, struct box *box, unsigned master, int64_t gone)
{
    if (gone > world->now && !residue_is_stray(world, box, master) && !box->orphaned && !box->let_go && !box->timed)
        world_violation(world, "residue", "value %s is left on %s at the end", box->token, name_of_master(master));
}

void residue_check_final(struct world *world)
{
    for (unsigned m = 0; m < world->plan.n_masters; m++) {
        const struct keyspace *keys = &world->masters[m].keys;

        for (uint32_t i = 0; i < keys->count; i++) {
            const struct entry *entry = &keys->entries[i];

            if (entry->writer)
                check_final_vote(world, box_get(&world->boxes, entry->writer), m, entry->gone);
        }
        votes_each(world, m, check_final_vote);
    }
}
