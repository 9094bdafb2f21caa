#include "host/latch_names.h"

#include <stdlib.h>
#include <string.h>

bool rl_latch_names_init(struct rl_latch_names *names, size_t room)
{
    *names = (struct rl_latch_names){.at = calloc(room, sizeof *names->at), .room = room};
    return names->at != NULL;
}

void rl_latch_names_fini(struct rl_latch_names *names)
{
    free(names->at);
}

static int compare(const struct rl_latch_name *a, struct rl_slice b)
{
    size_t common = a->size < b.size ? a->size : b.size;
    int order = memcmp(a->text, b.data, common);

    return order ? order : (a->size > b.size) - (a->size < b.size);
}

/* The place of the first name that is not in front of this one. */
static size_t place_of(const struct rl_latch_names *names, struct rl_slice name)
{
    size_t low = 0;
    size_t high = names->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare(&names->at[middle], name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void rl_latch_names_add(struct rl_latch_names *names, struct rl_slice name)
{
    size_t place = place_of(names, name);
    struct rl_latch_name *at = &names->at[place];

    if (names->n == names->room || (place < names->n && compare(at, name) == 0))
        return;
    memmove(at + 1, at, (names->n - place) * sizeof *at);
    names->n++;
    *at = (struct rl_latch_name){.size = (unsigned char)name.size};
    memcpy(at->text, name.data, name.size);
}
