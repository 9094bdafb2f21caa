/* Where the programs of engines are: in the folders of $REDLOCK_ENGINES, in the one of this program, in its
 * ../libexec/redlock and in the build's engines folder, and in PATH. */
#ifndef ENGINES_RUN_FIND_H
#define ENGINES_RUN_FIND_H

#include <stdbool.h>
#include <stddef.h>

#define ENGINE_NAME_SIZE 64
#define ENGINE_PREFIX "redlock-engine-"
#define ENGINES_MAX 48

struct engine_place {
    char name[ENGINE_NAME_SIZE];
    char path[512];
};

/* word: a name, or a path if it has a slash. False: there is no such program. */
bool engine_find(const char *word, struct engine_place *ret_place);

/* All but those of PATH, by name. Returns how many. */
size_t engine_list(struct engine_place ret_places[ENGINES_MAX]);

#endif
