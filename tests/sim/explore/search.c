/* Every order in which anything can happen in a tiny world, until no new state is left. */
#include "search.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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
    uint64_t *seen; /* hashes, open addressing; 0: empty */
    size_t capacity;
    uint64_t states;
    uint64_t steps;
};

static void *take(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (!memory) {
        fputs("explore: out of memory\n", stderr);
        exit(2);
    }
    return memory;
}

static bool insert(uint64_t *seen, size_t capacity, uint64_t hash)
{
    size_t at = hash & (capacity - 1);

    while (seen[at] && seen[at] != hash)
        at = (at + 1) & (capacity - 1);
    if (seen[at])
        return false;
    seen[at] = hash;
    return true;
}

static void grow(struct search *search)
{
    size_t capacity = 2 * search->capacity;
    uint64_t *seen = take(capacity, sizeof *seen);

    for (size_t i = 0; i < search->capacity; i++) {
        if (search->seen[i])
            insert(seen, capacity, search->seen[i]);
    }
    free(search->seen);
    search->seen = seen;
    search->capacity = capacity;
}

/* Is the state in `world` new? 64 bits of hash: with 10^8 states the chance of a collision is 3 in 10^4. */
static bool is_new(struct search *search)
{
    uint64_t hash = tiny_hash(&world, search->setup);

    if (!insert(search->seen, search->capacity, hash ? hash : 1))
        return false;
    if (++search->states > search->capacity / 2)
        grow(search);
    return true;
}

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
    is_new(search);
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
        if (is_new(search))
            enter(search);
    }
    return true;
}

bool search_explore(const struct tiny_setup *setup)
{
    struct search search = {
        .setup = setup,
        .frames = take(MAX_DEPTH, sizeof *search.frames),
        .seen = take(1u << 16, sizeof *search.seen),
        .capacity = 1u << 16,
    };
    bool good = search_all(&search);

    printf("%-42s %12" PRIu64 " states %13" PRIu64 " steps  %s\n", setup->name, search.states, search.steps,
           good ? "nothing wrong" : world.wrong);
    if (good == setup->violated) {
        printf("  %s\n", good ? "but this setup must be seen to be unsafe" : "the path:");
        if (!good)
            print_path(&search);
    }
    fflush(stdout);
    free(search.seen);
    free(search.frames);
    return good != setup->violated;
}
