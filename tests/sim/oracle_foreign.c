/* Nobody's key is removed, overwritten or extended on behalf of another: release removes its own value only. */
#include "world.h"

void foreign_on_touch(struct world *world, unsigned master, const struct entry *entry, uint32_t writer,
                      const char *command)
{
    const struct box *box = writer ? box_get(&world->boxes, writer) : NULL;

    world_violation(world, "foreign", "%s on %s for %s touches the value %.*s", command, name_of_master(master),
                    box ? box->token : "nobody", (int)entry->value.size, entry->value.bytes);
}

void foreign_on_vote(struct world *world, unsigned master, const struct box *box, const char *command)
{
    world_violation(world, "foreign", "%s on %s touches the vote of %s", command, name_of_master(master), box->token);
}
