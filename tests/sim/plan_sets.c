/* Worlds in which some clients want several keys at once. */
#include <string.h>

#include "plan.h"
#include "rng.h"

/* What a set consists of, in ascending order: both keys of mutexes, with the first slot of the semaphore, which a mutex
 * may be, too; one of the two with a permit; several permits behind their gate, alone and with one of the two. */
static const struct form {
    uint8_t permits; /* which the semaphore must have */
    uint8_t size;
    uint8_t keys[MAX_HANDLES];
} forms[] = {
    {0, 2, {0, 1}},
    {1, 3, {0, 1, FIRST_SLOT}},
    {1, 2, {0, PERMIT}},
    {1, 2, {1, PERMIT}},
    {2, 3, {GATE_KEY, PERMIT, PERMIT}},
    {2, 3, {GATE_KEY, PERMIT, PERMIT}},
    {2, 4, {0, GATE_KEY, PERMIT, PERMIT}},
    {3, 4, {GATE_KEY, PERMIT, PERMIT, PERMIT}},
};

#define N_FORMS (sizeof forms / sizeof forms[0])

static bool is_possible(const struct plan *plan, const struct plan_options *options, unsigned client,
                        const struct form *form)
{
    uint8_t permits = plan->permits ? plan->limits[client] : 0;

    return form->permits <= permits && (!options->max_handles || form->size <= options->max_handles);
}

/* Some form is possible if there may be two handles. */
static const struct form *draw_form(const struct plan *plan, struct rng *rng, const struct plan_options *options,
                                    unsigned client)
{
    const struct form *form;

    do
        form = &forms[rng_below(rng, N_FORMS)];
    while (!is_possible(plan, options, client, form));
    return form;
}

static void make_set(struct plan *plan, unsigned client, const struct form *form)
{
    plan->set_sizes[client] = form->size;
    if (plan->n_handles[client] < form->size)
        plan->n_handles[client] = form->size;
    memcpy(plan->handle_keys[client], form->keys, form->size);
}

void plan_sets_draw(struct plan *plan, struct rng *rng, const struct plan_options *options)
{
    bool some = (rng_chance(rng, 150) || options->sets) && !plan->contested && !plan->torn && !plan->forgetful &&
                (!options->max_handles || options->max_handles >= 2);

    for (unsigned c = 0; c < MAX_CLIENTS; c++) {
        bool wants = rng_chance(rng, options->sets ? 800 : 500);

        plan->set_sizes[c] = 0;
        if (some && wants && !plan->foreign[c])
            make_set(plan, c, draw_form(plan, rng, options, c));
    }
    if (some)
        plan->shuts_down = false;
}
