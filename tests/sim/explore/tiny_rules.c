/* The tiny world as the search sees it. */
#include "tiny.h"

static void init(void *world, const void *setup)
{
    tiny_init(world, setup);
}

static size_t actions(const void *world, const void *setup, struct search_action ret_actions[SEARCH_MAX_ACTIONS])
{
    return tiny_actions(world, setup, ret_actions);
}

static const char *perform(void *world, const void *setup, struct search_action action)
{
    struct tiny *tiny = world;

    tiny_perform(tiny, setup, action);
    tiny_check(tiny, setup);
    return tiny->wrong;
}

static uint64_t hash(void *world, const void *setup)
{
    return tiny_hash(world, setup);
}

static void copy(void *to, const void *from)
{
    *(struct tiny *)to = *(const struct tiny *)from;
}

static unsigned tick(const void *world)
{
    return ((const struct tiny *)world)->now;
}

const struct search_rules tiny_rules = {
    .size = sizeof(struct tiny),
    .init = init,
    .actions = actions,
    .perform = perform,
    .hash = hash,
    .copy = copy,
    .tick = tick,
    .describe = tiny_describe,
};
