/* Commands drawn at random: those of all kinds of locks, of latches, looks and handshakes, and plain ones. They are
 * about few keys and values, so that they meet. Plain ones also write what no script has written. */
#ifndef SIM_REAL_DRAW_H
#define SIM_REAL_DRAW_H

#include <stdbool.h>

#include "rng.h"
#include "util/bytes.h"
#include "kinds/command.h"

/* Who carries a command out. */
enum program {
    PROGRAM_NONE,    /* the server itself */
    PROGRAM_SHIPPED, /* a script of the library */
    PROGRAM_SHOW,    /* a script that makes a text of what a command gives to Lua */
    PROGRAM_RETURN,  /* a script that returns what a command gives to Lua */
};

extern const char program_show[];
extern const char program_return[];

#define DRAW_LOCKS 5

/* All zero at first; the next command takes the place of one. */
struct drawn {
    struct rl_bytes bytes;
    enum program program;
    enum rl_script script;          /* of PROGRAM_SHIPPED */
    const char *latest[DRAW_LOCKS]; /* a value that was to be given to the lock: it may have it */
};

/* EXISTS of every name that a key may have here. */
void draw_all_names(struct rl_bytes *out);

void draw_command(struct rng *rng, struct drawn *drawn);

#endif
