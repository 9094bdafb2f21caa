#include "host/latch_names.h"

#include <stdlib.h>
#include <string.h>

bool rl_latch_names_init(struct rl_latch_names *names, size_t room)
{
    *names = (struct rl_latch_names){.room = room};
    names->at = calloc(room, sizeof *names->at);
    names->store = calloc(room, sizeof *names->store);
    if (names->at && names->store)
        return true;
    rl_latch_names_fini(names);
    return false;
}

void rl_latch_names_fini(struct rl_latch_names *names)
{
    free(names->at);
    free(names->store);
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

        if (compare(names->at[middle], name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void rl_latch_names_add(struct rl_latch_names *names, struct rl_slice name)
{
    size_t place = place_of(names, name);
    const struct rl_latch_name **at = &names->at[place];
    struct rl_latch_name *own;

    if (names->n == names->room || (place < names->n && compare(*at, name) == 0))
        return;
    own = &names->store[names->n];
    *own = (struct rl_latch_name){.size = (unsigned char)name.size};
    memcpy(own->text, name.data, name.size);
    memmove(at + 1, at, (names->n - place) * sizeof *at);
    *at = own;
    names->n++;
}
