/* Every order of events for sets of locks (engine/set.h): that no sets wait for each other in a circle, that each
 * one can be served from every state, and that nothing is left of one that failed.
 *
 * The locks are those of one fair wait queue each: a single attempt succeeds if nobody has the key or waits for it; who
 * waits gets it in turn. Sets may run out of time while they wait, and lose what they hold. */
#include <stdio.h>
#include <string.h>

#include "engine/set.h"
#include "engine_hash.h"
#include "search.h"

#define KEYS 3
#define SETS 3
#define NOBODY 0xff

enum phase {
    PHASE_IDLE,
    PHASE_ACQUIRING,
    PHASE_HELD,
    PHASE_DONE,
};

/* What the owner of a plan does wrong. */
enum bug {
    BUG_NONE,
    BUG_UNSORTED,     /* the parts of the second set stand in descending order */
    BUG_KEEPS_LARGER, /* what the plan gives up is kept */
    BUG_LEAVES_ENTRY, /* a part that is given up stays in the wait queue */
    BUG_GATE_IGNORED, /* nobody is kept out by a gate */
};

struct setup {
    struct search_setup search;
    uint8_t n_sets;
    uint8_t n_parts[SETS];
    uint8_t keys[SETS][KEYS]; /* of each set, in ascending order; behind a gate in any order */
    uint8_t gates[SETS];      /* which parts are gates, by bits */
    uint8_t losses;           /* how often a set may lose what it holds */
    bool timeouts;            /* a set may run out of time */
    enum bug bug;
};

struct state {
    uint8_t holder[KEYS];
    uint8_t queue[KEYS][SETS]; /* sets, the first in turn first; NOBODY behind the last */
    uint8_t phase[SETS];
    uint8_t losses[SETS];
    struct rl_set_plan plans[SETS];
};

enum kind {
    SET_BEGINS, /* a: set, as in all that follow */
    SET_RELEASES,
    PART_IS_TRIED, /* b: part, as in all that follow */
    PART_IS_GRANTED,
    PART_IS_LATE,
    PART_IS_LOST,
};

/* --- Locks ------------------------------------------------------------------------------------------------------ */

static unsigned key_of(const struct setup *setup, unsigned set, unsigned part)
{
    unsigned n = setup->n_parts[set];

    return setup->keys[set][setup->bug == BUG_UNSORTED && set == 1 ? n - 1 - part : part];
}

static bool is_gate(const struct setup *setup, unsigned set, unsigned part)
{
    return setup->gates[set] >> part & 1;
}

static void enter(struct state *state, unsigned key, unsigned set)
{
    unsigned at = 0;

    while (state->queue[key][at] != NOBODY)
        at++;
    state->queue[key][at] = (uint8_t)set;
}

static void leave(struct state *state, unsigned key, unsigned set)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < SETS; i++) {
        if (state->queue[key][i] != set)
            state->queue[key][kept++] = state->queue[key][i];
    }
    while (kept < SETS)
        state->queue[key][kept++] = NOBODY;
}

static void give_up(const struct setup *setup, struct state *state, unsigned set, struct rl_parts parts)
{
    for (unsigned i = 0; i < setup->n_parts[set]; i++) {
        unsigned key = key_of(setup, set, i);

        if (!rl_parts_has(parts, i))
            continue;
        if (setup->bug == BUG_KEEPS_LARGER)
            continue;
        if (state->holder[key] == set)
            state->holder[key] = NOBODY;
        if (setup->bug != BUG_LEAVES_ENTRY)
            leave(state, key, set);
    }
}

/* As the owner of a plan does it. Attempts that are tried are events of their own. */
static void follow(const struct setup *setup, struct state *state, unsigned set, struct rl_set_step step)
{
    give_up(setup, state, set, step.give_up);
    for (unsigned i = 0; i < setup->n_parts[set]; i++) {
        if (rl_parts_has(step.await, i))
            enter(state, key_of(setup, set, i), set);
    }
    if (step.outcome == RL_SET_HELD)
        state->phase[set] = PHASE_HELD;
    else if (step.outcome == RL_SET_FAILED)
        state->phase[set] = PHASE_DONE;
}

/* --- Events ----------------------------------------------------------------------------------------------------- */

static struct rl_set_step begin_plan(const struct setup *setup, struct state *state, unsigned set)
{
    struct rl_parts gates = {{0}}, permits = {{0}};

    for (unsigned i = 0; i < setup->n_parts[set]; i++) {
        if (is_gate(setup, set, i))
            rl_parts_add(&gates, i);
        else if (setup->gates[set])
            rl_parts_add(&permits, i);
    }
    return rl_set_begin(&state->plans[set], setup->n_parts[set], gates, permits);
}

static void try_part(const struct setup *setup, struct state *state, unsigned set, unsigned part)
{
    unsigned key = key_of(setup, set, part);
    bool open = setup->bug == BUG_GATE_IGNORED && is_gate(setup, set, part);
    bool granted = (state->holder[key] == NOBODY || state->holder[key] == set) && state->queue[key][0] == NOBODY;

    if (granted)
        state->holder[key] = (uint8_t)set;
    granted |= open;
    follow(setup, state, set,
           granted ? rl_set_granted(&state->plans[set], part, true) : rl_set_refused(&state->plans[set], part, true));
}

static void grant_part(const struct setup *setup, struct state *state, unsigned set, unsigned part)
{
    unsigned key = key_of(setup, set, part);

    leave(state, key, set);
    state->holder[key] = (uint8_t)set;
    follow(setup, state, set, rl_set_granted(&state->plans[set], part, true));
}

static void time_out(const struct setup *setup, struct state *state, unsigned set, unsigned part)
{
    leave(state, key_of(setup, set, part), set);
    follow(setup, state, set, rl_set_refused(&state->plans[set], part, true));
}

/* What it held of this key has ended, and it begins anew. */
static void lose_part(const struct setup *setup, struct state *state, unsigned set, unsigned part)
{
    state->losses[set]++;
    state->holder[key_of(setup, set, part)] = NOBODY;
    give_up(setup, state, set, rl_set_abandon(&state->plans[set]).give_up);
    follow(setup, state, set, begin_plan(setup, state, set));
}

static void begin(const struct setup *setup, struct state *state, unsigned set)
{
    state->phase[set] = PHASE_ACQUIRING;
    follow(setup, state, set, begin_plan(setup, state, set));
}

static void release(const struct setup *setup, struct state *state, unsigned set)
{
    for (unsigned i = 0; i < setup->n_parts[set]; i++) {
        if (!is_gate(setup, set, i))
            state->holder[key_of(setup, set, i)] = NOBODY;
    }
    memset(&state->plans[set], 0, sizeof state->plans[set]);
    state->phase[set] = PHASE_DONE;
}

static void happen(const struct setup *setup, struct state *state, struct search_action action)
{
    switch ((enum kind)action.kind) {
    case SET_BEGINS:
        begin(setup, state, action.a);
        break;
    case SET_RELEASES:
        release(setup, state, action.a);
        break;
    case PART_IS_TRIED:
        try_part(setup, state, action.a, action.b);
        break;
    case PART_IS_GRANTED:
        grant_part(setup, state, action.a, action.b);
        break;
    case PART_IS_LATE:
        time_out(setup, state, action.a, action.b);
        break;
    case PART_IS_LOST:
        lose_part(setup, state, action.a, action.b);
        break;
    }
}

static void events_of_part(struct search_list *list, const struct setup *setup, const struct state *state,
                           unsigned set, unsigned part)
{
    enum rl_set_part is = (enum rl_set_part)state->plans[set].parts[part];
    unsigned key = key_of(setup, set, part);
    bool is_next = state->holder[key] == NOBODY && state->queue[key][0] == set;
    struct search_action action = {.a = (uint8_t)set, .b = (uint8_t)part};

    action.kind = PART_IS_TRIED;
    search_add(list, is == RL_PART_TRIED, action);
    action.kind = PART_IS_GRANTED;
    search_add(list, is == RL_PART_AWAITED && is_next, action);
    action.kind = PART_IS_LATE;
    search_add(list, is == RL_PART_AWAITED && setup->timeouts, action);
    action.kind = PART_IS_LOST;
    search_add(list, is == RL_PART_HELD && state->losses[set] < setup->losses, action);
}

static size_t actions(const void *world, const void *at, struct search_action ret_actions[SEARCH_MAX_ACTIONS])
{
    struct search_list list = {.actions = ret_actions};
    const struct setup *setup = at;
    const struct state *state = world;

    for (unsigned set = 0; set < setup->n_sets; set++) {
        search_add(&list, state->phase[set] == PHASE_IDLE, (struct search_action){SET_BEGINS, (uint8_t)set, 0, 0});
        search_add(&list, state->phase[set] == PHASE_HELD, (struct search_action){SET_RELEASES, (uint8_t)set, 0, 0});
        for (unsigned i = 0; i < setup->n_parts[set] && state->phase[set] == PHASE_ACQUIRING; i++)
            events_of_part(&list, setup, state, set, i);
    }
    return list.count;
}

static void describe(struct search_action action, char *text, size_t size)
{
    static const char *const texts[] = {
        [SET_BEGINS] = "begins",
        [SET_RELEASES] = "releases",
        [PART_IS_TRIED] = "tries",
        [PART_IS_GRANTED] = "gets its turn at",
        [PART_IS_LATE] = "runs out of time at",
        [PART_IS_LOST] = "loses",
    };

    if (action.kind == SET_BEGINS || action.kind == SET_RELEASES)
        snprintf(text, size, "set %u %s", action.a, texts[action.kind]);
    else
        snprintf(text, size, "set %u %s part %u", action.a, texts[action.kind], action.b);
}

/* --- What must hold --------------------------------------------------------------------------------------------- */

static bool is_left_behind(const struct state *state, unsigned set)
{
    for (unsigned key = 0; key < KEYS; key++) {
        if (state->holder[key] == set)
            return true;
        for (unsigned i = 0; i < SETS; i++) {
            if (state->queue[key][i] == set)
                return true;
        }
    }
    return false;
}

static const char *check(const struct setup *setup, const struct state *state)
{
    for (unsigned set = 0; set < setup->n_sets; set++) {
        for (unsigned i = 0; i < setup->n_parts[set] && state->phase[set] == PHASE_HELD; i++) {
            if (state->holder[key_of(setup, set, i)] != set && !is_gate(setup, set, i))
                return "a set is held without one of its parts";
        }
        if (state->phase[set] == PHASE_DONE && is_left_behind(state, set))
            return "something is left of a set that has ended";
    }
    return NULL;
}

static bool all_done(const void *world, const void *setup)
{
    const struct state *state = world;

    for (unsigned set = 0; set < ((const struct setup *)setup)->n_sets; set++) {
        if (state->phase[set] != PHASE_DONE)
            return false;
    }
    return true;
}

/* --- As the search sees it ---------------------------------------------------------------------------------------- */

static void init(void *world, const void *setup)
{
    struct state *state = world;

    memset(state, 0, sizeof *state);
    memset(state->holder, NOBODY, sizeof state->holder);
    memset(state->queue, NOBODY, sizeof state->queue);
}

static const char *perform(void *world, const void *setup, struct search_action action)
{
    happen(setup, world, action);
    return check(setup, world);
}

static uint64_t hash(void *world, const void *setup)
{
    return engine_hash_mix(engine_hash_bytes(world, sizeof(struct state)));
}

static const struct search_rules rules = {
    .size = sizeof(struct state),
    .init = init,
    .actions = actions,
    .perform = perform,
    .hash = hash,
    .describe = describe,
    .has_ended = all_done,
    .stuck = "some sets can never be served",
};

#define SAME {{0, 1, 2}, {0, 1, 2}, {0, 1, 2}}

/* Two permits behind the gate that is key 0, which each set may have in its own order; somebody wants one of them. */
#define PERMITS {{0, 1, 2}, {0, 2, 1}, {1}}

static const struct setup setups[] = {
    {{"two sets of three keys", false, false}, 2, {3, 3, 0}, SAME, {0}, 1, true, BUG_NONE},
    {{"three sets of three keys", false, false}, 3, {3, 3, 3}, SAME, {0}, 0, false, BUG_NONE},
    {{"three sets of two keys in a ring, with losses", false, false},
     3, {2, 2, 2}, {{0, 1}, {1, 2}, {0, 2}}, {0}, 1, true, BUG_NONE},
    {{"sets of three, two and one", false, false}, 3, {3, 2, 1}, {{0, 1, 2}, {1, 2}, {2}}, {0}, 1, true, BUG_NONE},
    {{"two permits for two sets, and one for a third", false, false},
     3, {3, 3, 1}, PERMITS, {1, 1, 0}, 1, true, BUG_NONE},
    {{"two permits for three sets", false, false},
     3, {3, 3, 3}, {{0, 1, 2}, {0, 2, 1}, {0, 1, 2}}, {1, 1, 1}, 0, false, BUG_NONE},
    {{"one set waits in descending order", false, true}, 2, {3, 3, 0}, SAME, {0}, 0, false, BUG_UNSORTED},
    {{"larger parts are kept", false, true}, 2, {3, 3, 0}, SAME, {0}, 0, false, BUG_KEEPS_LARGER},
    {{"an entry is left behind", false, true}, 2, {3, 3, 0}, SAME, {0}, 1, true, BUG_LEAVES_ENTRY},
    {{"a gate is ignored", false, true}, 2, {3, 3, 0}, PERMITS, {1, 1, 0}, 0, false, BUG_GATE_IGNORED},
};

static const struct search_worlds worlds = {
    .rules = &rules,
    .setups = setups,
    .setup_size = sizeof setups[0],
    .n_setups = sizeof setups / sizeof setups[0],
};

const struct search_worlds *const search_worlds[] = {&worlds, NULL};
