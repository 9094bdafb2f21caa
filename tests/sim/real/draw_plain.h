/* Plain commands: by themselves, and by scripts that give them to Lua and return what comes of it. */
#ifndef SIM_REAL_DRAW_PLAIN_H
#define SIM_REAL_DRAW_PLAIN_H

#include "draw.h"

void draw_plain(struct rng *rng, struct drawn *drawn);

/* By a script, as the library's scripts make commands: what comes back is made a value of Lua first. */
void draw_called(struct rng *rng, struct drawn *drawn);

#endif
