/* Worlds in which some clients want several keys at once. */
#include "plan.h"
#include "rng.h"

/* The handles of a set have a key each: the two of mutexes, and where there is a semaphore, its first slot, which a
 * mutex may be, too. */
static void make_set(struct plan *plan, unsigned client, unsigned size)
{
    plan->set_sizes[client] = (uint8_t)size;
    if (plan->n_handles[client] < size)
        plan->n_handles[client] = (uint8_t)size;
    for (unsigned h = 0; h < size; h++)
        plan->handle_keys[client][h] = (uint8_t)h;
}

void plan_sets_draw(struct plan *plan, struct rng *rng, const struct plan_options *options)
{
    bool some = (rng_chance(rng, 150) || options->sets) && !plan->contested && !plan->torn && !plan->forgetful &&
                (!options->max_handles || options->max_handles >= FIRST_SLOT);

    for (unsigned c = 0; c < MAX_CLIENTS; c++) {
        bool wants = rng_chance(rng, options->sets ? 800 : 500);
        unsigned size = plan->permits && rng_chance(rng, 500) ? FIRST_SLOT + 1 : FIRST_SLOT;

        plan->set_sizes[c] = 0;
        if (some && wants && !plan->foreign[c] && (!options->max_handles || size <= options->max_handles))
            make_set(plan, c, size);
    }
    if (some)
        plan->shuts_down = false;
}
