/* Words that commands of all sorts are made of (draw.c). */
#ifndef SIM_REAL_DRAW_WORDS_H
#define SIM_REAL_DRAW_WORDS_H

#include "rng.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define PICK(rng, array) ((array)[rng_below(rng, COUNT(array))])

/* A name of a lock or a slot, of something the library adds to these, or of a key that no lock has. */
const char *draw_any_name(struct rng *rng);

/* What stands in a field, or is a member. */
const char *draw_some_word(struct rng *rng);

const char *draw_channel(struct rng *rng);

#endif
