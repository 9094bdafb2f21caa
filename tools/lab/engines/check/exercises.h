/* What an engine is made to do, and what it must not do in it. */
#ifndef ENGINES_CHECK_EXERCISES_H
#define ENGINES_CHECK_EXERCISES_H

#include "lab/engines/run/runner.h"

#define EXERCISE_WHY_SIZE 400

struct exercise_setting {
    const struct engine_place *place;
    const char *const *settings; /* "NAME=VALUE" for open, up to NULL */
    unsigned can;
    bool *is_broken; /* set if it does not keep to the protocol: no other exercise makes sense then */
};

struct exercise {
    const char *name;
    const char *text;
    /* False: ret_why is the fault. */
    bool (*run)(const struct exercise_setting *setting, char ret_why[EXERCISE_WHY_SIZE]);
};

#define EXERCISES 7
extern const struct exercise exercises[EXERCISES];

#define EXERCISE_TTL_MS 2000

#endif
