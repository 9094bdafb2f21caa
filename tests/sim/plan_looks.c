/* Worlds in which some clients look at keys, beside all else that they do. The oracle of looks knows the values of all
 * holders but of one who is gone (left_ms). */
#include "plan.h"
#include "rng.h"

void plan_looks_draw(struct plan *plan, struct rng *rng, const struct plan_options *options)
{
    bool some = rng_chance(rng, 200) || options->looks;

    for (unsigned c = 0; c < MAX_CLIENTS; c++) {
        bool looks = rng_chance(rng, 500);
        int64_t interval = rng_scaled(rng, plan->duration_ns / 64, plan->duration_ns / 4);

        plan->look_interval[c] = some && looks && !plan->left_ms ? interval : 0;
    }
}
