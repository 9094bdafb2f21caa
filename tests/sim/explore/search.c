#include "search.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "seen.h"

struct frame {
    void *state;
    struct search_action actions[SEARCH_MAX_ACTIONS];
    size_t n_actions;
    size_t next;
    uint64_t hash;
};

/* One state leads to another; by their hashes. */
struct edge {
    uint64_t from;
    uint64_t to;
};

struct search {
    const struct search_rules *rules;
    const void *setup;
    void *world; /* the one place where worlds live: they may point into themselves, so states are brought back here */
    struct frame *frames;
    size_t n_frames; /* that there have been */
    size_t depth;
    struct seen seen;
    struct seen ending;  /* what leads to a state that has_ended() */
    struct edge *edges;  /* only with has_ended() */
    size_t n_edges;
    size_t edge_room;
    uint64_t steps;
    const char *wrong;
};

static void copy(const struct search *search, void *to, const void *from)
{
    if (search->rules->copy)
        search->rules->copy(to, from);
    else
        memcpy(to, from, search->rules->size);
}

static void enter(struct search *search, uint64_t hash)
{
    struct frame *frame;

    if (search->depth == search->n_frames) {
        search->frames = seen_room(search->frames, search->n_frames, sizeof *search->frames);
        search->frames[search->n_frames++].state = seen_take(1, search->rules->size);
    }
    frame = &search->frames[search->depth++];
    copy(search, frame->state, search->world);
    frame->n_actions = search->rules->actions(search->world, search->setup, frame->actions);
    frame->next = 0;
    frame->hash = hash;
    if (search->rules->has_ended && search->rules->has_ended(search->world, search->setup))
        seen_add(&search->ending, hash);
}

static void add_edge(struct search *search, struct edge edge)
{
    if (search->n_edges == search->edge_room) {
        struct edge *edges = seen_take(search->edge_room ? 2 * search->edge_room : 4096, sizeof *edges);

        if (search->n_edges)
            memcpy(edges, search->edges, search->n_edges * sizeof *edges);
        free(search->edges);
        search->edges = edges;
        search->edge_room = search->edge_room ? 2 * search->edge_room : 4096;
    }
    search->edges[search->n_edges++] = edge;
}

static void print_path(const struct search *search)
{
    char text[120];

    for (size_t i = 0; i < search->depth; i++) {
        const struct frame *frame = &search->frames[i];

        search->rules->describe(frame->actions[frame->next - 1], text, sizeof text);
        printf("    %3zu  ", i + 1);
        if (search->rules->tick)
            printf("tick %u  ", search->rules->tick(frame->state));
        printf("%s\n", text);
    }
}

/* Goes back from the states that have ended, until nothing that leads there is new. */
static void check_ending(struct search *search)
{
    uint64_t before;

    do {
        before = search->ending.count;
        for (size_t i = search->n_edges; i > 0; i--) {
            if (seen_has(&search->ending, search->edges[i - 1].to))
                seen_add(&search->ending, search->edges[i - 1].from);
        }
    } while (search->ending.count != before);
    if (search->ending.count != search->seen.count)
        search->wrong = search->rules->stuck;
}

/* Depth first, until something is wrong: then the path to it is on the stack. */
static void search_all(struct search *search)
{
    const struct search_rules *rules = search->rules;
    uint64_t hash;

    rules->init(search->world, search->setup);
    hash = rules->hash(search->world, search->setup);
    seen_add(&search->seen, hash);
    enter(search, hash);
    while (search->depth && !search->wrong) {
        struct frame *frame = &search->frames[search->depth - 1];

        if (frame->next == frame->n_actions) {
            search->depth--;
            continue;
        }
        copy(search, search->world, frame->state);
        search->wrong = rules->perform(search->world, search->setup, frame->actions[frame->next++]);
        search->steps++;
        hash = search->wrong ? 0 : rules->hash(search->world, search->setup);
        if (rules->has_ended && !search->wrong)
            add_edge(search, (struct edge){frame->hash, hash});
        if (!search->wrong && seen_add(&search->seen, hash))
            enter(search, hash);
    }
    if (rules->has_ended && !search->wrong)
        check_ending(search);
}

/* Prints a line about it; and the path to what is wrong, where nothing was to be. */
static bool explore(const struct search_rules *rules, const void *setup, const char *name, bool violated)
{
    struct search search = {.rules = rules, .setup = setup, .world = seen_take(1, rules->size)};
    bool good;

    search_all(&search);
    good = (search.wrong != NULL) == violated;
    printf("%-52s %12" PRIu64 " states %13" PRIu64 " steps  %s\n", name, search.seen.count, search.steps,
           search.wrong ? search.wrong : "nothing wrong");
    if (!good && violated)
        puts("  but this must be seen to be unsafe");
    else if (!good)
        print_path(&search);
    fflush(stdout);
    seen_fini(&search.seen);
    seen_fini(&search.ending);
    free(search.edges);
    for (size_t i = 0; i < search.n_frames; i++)
        free(search.frames[i].state);
    free(search.frames);
    free(search.world);
    return good;
}

/* --- The program -------------------------------------------------------------------------------------------------- */

/* A copy of one setup, completed, with the bug if there is one. */
static bool explore_setup(const struct search_worlds *worlds, unsigned number, const struct search_bug *bug, bool all)
{
    struct search_setup *setup = seen_take(1, worlds->setup_size);
    bool good;

    memcpy(setup, (const char *)worlds->setups + number * worlds->setup_size, worlds->setup_size);
    if (worlds->begin)
        worlds->begin(setup, bug, all);
    good = explore(worlds->rules, setup, bug ? bug->name : setup->name, bug || setup->violated);
    if (worlds->end)
        worlds->end(setup);
    free(setup);
    return good;
}

static bool explore_worlds(const struct search_worlds *worlds, const char *part, bool all)
{
    bool good = true;

    for (unsigned i = 0; i < worlds->n_setups; i++) {
        const void *at = (const char *)worlds->setups + i * worlds->setup_size;
        const struct search_setup *setup = at;

        if (part ? strstr(setup->name, part) != NULL : all || !setup->large)
            good &= explore_setup(worlds, i, NULL, all);
    }
    for (size_t i = 0; i < worlds->n_bugs; i++) {
        const void *at = (const char *)worlds->bugs + i * worlds->bug_size;
        const struct search_bug *bug = at;

        if (!part || strstr(bug->name, part))
            good &= explore_setup(worlds, bug->setup, bug, all);
    }
    return good;
}

int main(int argc, char **argv)
{
    bool all = argc > 1 && strcmp(argv[1], "--all") == 0;
    bool good = true;

    for (size_t i = 0; search_worlds[i]; i++)
        good &= explore_worlds(search_worlds[i], argc > 1 && !all ? argv[1] : NULL, all);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
