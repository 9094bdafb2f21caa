/* Liveness: when everything has healed, everyone who waits for the lock gets it. */
#include "engine/states.h"
#include "world.h"

void progress_on_limit(struct world *world)
{
    latch_on_limit(world);
    if (!change_done(world))
        world_violation(world, "progress", "the operator does not come to the end of the change");
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        for (unsigned h = 0; h < world->clients[c].n_handles; h++) {
            if (world->agents[c][h].done)
                continue;
            world_violation(world, "progress", "%s still waits for %s, long after everything has healed (%s)",
                            name_of_handle(&world->clients[c], &world->clients[c].handles[h]),
                            name_of_key(world->clients[c].handles[h].key),
                            rl_lock_state_name((enum rl_lock_state)world->clients[c].handles[h].host.core.state));
            return;
        }
    }
}
