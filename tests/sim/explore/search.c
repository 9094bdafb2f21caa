#include "search.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "seen.h"

#define MAX_DEPTH 400

struct frame {
    void *state;
    struct search_action actions[SEARCH_MAX_ACTIONS];
    size_t n_actions;
    size_t next;
};

struct search {
    const struct search_rules *rules;
    const void *setup;
    void *world; /* the one place where worlds live: they may point into themselves, so states are brought back here */
    struct frame *frames;
    size_t depth;
    struct seen seen;
    uint64_t steps;
    const char *wrong;
};

static void enter(struct search *search)
{
    struct frame *frame = &search->frames[search->depth];

    if (search->depth == MAX_DEPTH) {
        fputs("explore: too deep\n", stderr);
        exit(2);
    }
    search->depth++;
    if (!frame->state)
        frame->state = seen_take(1, search->rules->size);
    search->rules->copy(frame->state, search->world);
    frame->n_actions = search->rules->actions(search->world, search->setup, frame->actions);
    frame->next = 0;
}

static void print_path(const struct search *search)
{
    char text[120];

    for (size_t i = 0; i < search->depth; i++) {
        const struct frame *frame = &search->frames[i];

        search->rules->describe(frame->actions[frame->next - 1], text, sizeof text);
        printf("    %3zu  tick %u  %s\n", i + 1, search->rules->tick(frame->state), text);
    }
}

/* Depth first, until something is wrong: then the path to it is on the stack. */
static void search_all(struct search *search)
{
    const struct search_rules *rules = search->rules;

    rules->init(search->world, search->setup);
    seen_add(&search->seen, rules->hash(search->world, search->setup));
    enter(search);
    while (search->depth && !search->wrong) {
        struct frame *frame = &search->frames[search->depth - 1];

        if (frame->next == frame->n_actions) {
            search->depth--;
            continue;
        }
        rules->copy(search->world, frame->state);
        search->wrong = rules->perform(search->world, search->setup, frame->actions[frame->next++]);
        search->steps++;
        if (!search->wrong && seen_add(&search->seen, rules->hash(search->world, search->setup)))
            enter(search);
    }
}

bool search_explore(const struct search_rules *rules, const void *setup, const char *name, bool violated)
{
    struct search search = {.rules = rules, .setup = setup, .world = seen_take(1, rules->size),
                            .frames = seen_take(MAX_DEPTH, sizeof(struct frame))};
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
    for (size_t i = 0; i < MAX_DEPTH; i++)
        free(search.frames[i].state);
    free(search.frames);
    free(search.world);
    return good;
}
