/* Every order in which anything can happen in a tiny world, until no new state is left. */
#include "search.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "seen.h"

#define MAX_DEPTH 400

/* The one place where worlds live: the engine's lists point into it, so states are brought back here. */
static struct tiny world;

struct frame {
    struct tiny state;
    struct tiny_action actions[TINY_MAX_ACTIONS];
    size_t n_actions;
    size_t next;
};

struct search {
    const struct tiny_setup *setup;
    struct frame *frames;
    size_t depth;
    struct seen seen;
    uint64_t steps;
};

static void enter(struct search *search)
{
    struct frame *frame = &search->frames[search->depth];

    if (search->depth == MAX_DEPTH) {
        fputs("explore: too deep\n", stderr);
        exit(2);
    }
    search->depth++;
    frame->state = world;
    frame->n_actions = tiny_actions(&world, search->setup, frame->actions);
    frame->next = 0;
}

static void print_path(const struct search *search)
{
    char text[120];

    for (size_t i = 0; i < search->depth; i++) {
        const struct frame *frame = &search->frames[i];

        tiny_describe(frame->actions[frame->next - 1], text, sizeof text);
        printf("    %3zu  tick %u  %s\n", i + 1, frame->state.now, text);
    }
}

/* Depth first. False when a state was found in which something is wrong: the path to it is on the stack. */
static bool search_all(struct search *search)
{
    tiny_init(&world, search->setup);
    seen_add(&search->seen, tiny_hash(&world, search->setup));
    enter(search);
    while (search->depth) {
        struct frame *frame = &search->frames[search->depth - 1];

        if (frame->next == frame->n_actions) {
            search->depth--;
            continue;
        }
        world = frame->state;
        tiny_perform(&world, search->setup, frame->actions[frame->next++]);
        search->steps++;
        tiny_check(&world, search->setup);
        if (world.wrong)
            return false;
        if (seen_add(&search->seen, tiny_hash(&world, search->setup)))
            enter(search);
    }
    return true;
}

bool search_explore(const struct tiny_setup *setup)
{
    struct search search = {
        .setup = setup,
        .frames = seen_take(MAX_DEPTH, sizeof *search.frames),
    };
    bool good = search_all(&search);

    printf("%-42s %12" PRIu64 " states %13" PRIu64 " steps  %s\n", setup->name, search.seen.count, search.steps,
           good ? "nothing wrong" : world.wrong);
    if (good == setup->violated) {
        printf("  %s\n", good ? "but this setup must be seen to be unsafe" : "the path:");
        if (!good)
            print_path(&search);
    }
    fflush(stdout);
    seen_fini(&search.seen);
    free(search.frames);
    return good != setup->violated;
}
