/* Exhaustive search: every order in which anything can happen in a tiny world, until no new state is left.
 *
 * The frame of the explorers. Each has its worlds, with the setups that are explored and the bugs that are planted, and
 * names them in search_worlds[]; main() is in search.c:
 *
 *     explorer [--all | PART-OF-A-NAME] */
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

    /* NULL: all bytes. */
    void (*copy)(void *to, const void *from);
    /* NULL: time does not pass. */
    unsigned (*tick)(const void *world);
    void (*describe)(struct search_action action, char *text, size_t size);

    /* If not NULL, a world in which this holds must be within reach from every state; or `stuck` is violated. */
    bool (*has_ended)(const void *world, const void *setup);
    const char *stuck;
};

/* What every setup begins with. */
struct search_setup {
    const char *name;
    bool large;    /* takes minutes: only with --all */
    bool violated; /* what the search must come to: something wrong, or nothing */
};

/* What every planted bug begins with. It must be found. */
struct search_bug {
    const char *name;
    unsigned setup; /* where it must be found */
};

struct search_worlds {
    const struct search_rules *rules;
    const void *setups; /* an array; each begins with a struct search_setup */
    size_t setup_size;
    size_t n_setups;    /* that are explored as they are */
    const void *bugs;   /* an array; each begins with a struct search_bug */
    size_t bug_size;
    size_t n_bugs;

    /* Around each search; may be NULL. The setup is a copy, in which the bug is planted, if there is one. */
    void (*begin)(void *setup, const void *bug, bool all);
    void (*end)(void *setup);
};

/* Of this program; NULL is behind the last one. */
extern const struct search_worlds *const search_worlds[];

#endif
