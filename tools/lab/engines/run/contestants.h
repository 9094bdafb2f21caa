/* The lock systems of a run: the library, and engine programs with the systems that they are put on. */
#ifndef ENGINES_RUN_CONTESTANTS_H
#define ENGINES_RUN_CONTESTANTS_H

#include "lab/engines/run/runner.h"
#include "masters/masters.h"

struct engine_contestant {
    struct engine_place place;  /* "redlock", without a path: the library in this process */
    struct runner_hello hello;  /* of an engine */
    char label[96];             /* "single", "single@sentinel" where it is not on its usual system, "etcd:defaults" */
    bool defaults;              /* with the ttl of its library instead of the one of all: hello.ttl_ms */
    enum masters_system system; /* of an engine, with so many members; 0: as many as the system has */
    uint32_t members;
    bool is_known_system;
    char skipped[200];          /* why it cannot take part; "" if it can */
};

struct engine_contestants {
    struct engine_contestant list[ENGINES_MAX];
    size_t n;
};

/* names: NAME[@SYSTEM][:defaults][,...], or NULL for the library and all engines that are found, which are skipped if
 * they cannot be used here. Asks each engine what it can. False: ret_why. */
bool engine_contestants_find(struct engine_contestants *contestants, const char *names, char *ret_why, size_t size);

/* One engine by its name, or the path of its program: false if there is none; skipped if it cannot be used. */
bool engine_contestant_find(struct engine_contestant *contestant, const char *word);

bool engine_contestant_is_library(const struct engine_contestant *contestant);

/* Whether the members keep what they have confirmed when they are killed. */
bool engine_contestant_is_durable(const struct engine_contestant *contestant);

#endif
