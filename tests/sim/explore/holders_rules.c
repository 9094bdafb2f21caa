/* The tiny world of locks that share and convert, as the search sees it. */
#include "holders.h"

static void init(void *world, const void *setup)
{
    holders_init(world, setup);
}

static size_t actions(const void *world, const void *setup, struct search_action ret_actions[SEARCH_MAX_ACTIONS])
{
    return holders_actions(world, setup, ret_actions);
}

static const char *perform(void *at, const void *setup, struct search_action action)
{
    struct holders *world = at;

    holders_perform(world, setup, action);
    if (!world->wrong)
        holders_check(world, setup);
    return world->wrong;
}

static uint64_t hash(void *world, const void *setup)
{
    (void)setup;
    return holders_hash(world);
}

static void copy(void *to, const void *from)
{
    *(struct holders *)to = *(const struct holders *)from;
}

static unsigned tick(const void *world)
{
    return ((const struct holders *)world)->now;
}

const struct search_rules holders_rules = {
    .size = sizeof(struct holders),
    .init = init,
    .actions = actions,
    .perform = perform,
    .hash = hash,
    .copy = copy,
    .tick = tick,
    .describe = holders_describe,
};
