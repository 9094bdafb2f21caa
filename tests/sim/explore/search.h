/* Exhaustive search: every order in which anything can happen in a tiny world, until no new state is left. */
#ifndef SIM_SEARCH_H
#define SIM_SEARCH_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Something that may happen next; what the numbers mean is the world's business. */
struct search_action {
    uint8_t kind;
    uint8_t a;
    uint8_t b;
    uint8_t c;
};

#define SEARCH_MAX_ACTIONS 64

/* What may happen, as far as it has been found out. */
struct search_list {
    struct search_action *actions;
    size_t count;
};

static inline void search_add(struct search_list *list, bool possible, struct search_action action)
{
    if (!possible)
        return;
    assert(list->count < SEARCH_MAX_ACTIONS);
    list->actions[list->count++] = action;
}

/* A sort of worlds. All of a world is in one block of memory, and a setup says which one it is. */
struct search_rules {
    size_t size;
    void (*init)(void *world, const void *setup);

    /* What may happen in this state; in the same order in every state that is the same. Returns how much it is. */
    size_t (*actions)(const void *world, const void *setup, struct search_action ret_actions[SEARCH_MAX_ACTIONS]);

    /* ... happens. Returns what is violated then, as static text; or NULL. */
    const char *(*perform)(void *world, const void *setup, struct search_action action);

    /* Equal for states that cannot be told apart by anything that may follow. */
    uint64_t (*hash)(void *world, const void *setup);

    void (*copy)(void *to, const void *from);
    unsigned (*tick)(const void *world);
    void (*describe)(struct search_action action, char *text, size_t size);
};

/* Goes through every state that can follow, and prints a line about it. True if the search has come to what is
 * expected: nothing wrong, or something. If nothing was to be wrong, the path to it is printed. */
bool search_explore(const struct search_rules *rules, const void *setup, const char *name, bool violated);

#endif
