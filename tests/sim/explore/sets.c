/* Every order of events for sets of locks (engine/set.h): that no sets wait for each other in a circle, that each
 * one can be served from every state, and that nothing is left of one that failed.
 *
 * The locks are those of one fair wait queue each: a single attempt succeeds if nobody has the key or waits for it; who
 * waits gets it in turn. Sets may run out of time while they wait, and lose what they hold. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/set.h"

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
    const char *name;
    uint8_t n_sets;
    uint8_t n_parts[SETS];
    uint8_t keys[SETS][KEYS]; /* of each set, in ascending order; behind a gate in any order */
    uint8_t gates[SETS];      /* which parts are gates, by bits */
    uint8_t losses;           /* how often a set may lose what it holds */
    bool timeouts;            /* a set may run out of time */
    enum bug bug;
};

/* All bytes: states are compared as such. */
struct state {
    uint8_t holder[KEYS];
    uint8_t queue[KEYS][SETS]; /* sets, the first in turn first; NOBODY behind the last */
    uint8_t phase[SETS];
    uint8_t losses[SETS];
    struct rl_set_plan plans[SETS];
};

struct edge {
    uint32_t from;
    uint32_t next; /* in the list of those that lead to one state */
};

struct search {
    const struct setup *setup;
    struct state *states;
    uint32_t *incoming; /* the first edge to each, or 0 */
    bool *served;       /* all sets can end from here */
    uint32_t n;
    uint32_t room;
    struct edge *edges;
    uint32_t n_edges;
    uint32_t edge_room;
    uint32_t *table;
    uint32_t table_size;
    uint32_t current;
    const char *violation;
};

/* --- States ----------------------------------------------------------------------------------------------------- */

static void *grow(void *memory, size_t count, size_t size)
{
    void *grown = realloc(memory, count * size);

    if (!grown) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    return grown;
}

static uint32_t hash(const struct state *state)
{
    const unsigned char *bytes = (const unsigned char *)state;
    uint32_t sum = 2166136261u;

    for (size_t i = 0; i < sizeof *state; i++)
        sum = (sum ^ bytes[i]) * 16777619u;
    return sum;
}

static uint32_t *find(const struct search *search, const struct state *state)
{
    uint32_t at = hash(state) & (search->table_size - 1);

    while (search->table[at] && memcmp(&search->states[search->table[at] - 1], state, sizeof *state) != 0)
        at = (at + 1) & (search->table_size - 1);
    return &search->table[at];
}

static void grow_states(struct search *search)
{
    search->room = search->room ? search->room * 2 : 1024;
    search->states = grow(search->states, search->room, sizeof *search->states);
    search->incoming = grow(search->incoming, search->room, sizeof *search->incoming);
    search->served = grow(search->served, search->room, sizeof *search->served);
    free(search->table);
    search->table_size = search->room * 2;
    search->table = calloc(search->table_size, sizeof *search->table);
    if (!search->table)
        exit(2);
    for (uint32_t i = 0; i < search->n; i++)
        *find(search, &search->states[i]) = i + 1;
}

static void add_edge(struct search *search, uint32_t to)
{
    if (search->n_edges + 1 >= search->edge_room) {
        search->edge_room = search->edge_room ? search->edge_room * 2 : 4096;
        search->edges = grow(search->edges, search->edge_room, sizeof *search->edges);
    }
    search->n_edges++; /* from 1 on: 0 is the end of a list */
    search->edges[search->n_edges] = (struct edge){search->current, search->incoming[to]};
    search->incoming[to] = search->n_edges;
}

/* An event has led to this state. */
static void reach(struct search *search, const struct state *state)
{
    uint32_t *entry;

    if (search->n == search->room)
        grow_states(search);
    entry = find(search, state);
    if (!*entry) {
        search->states[search->n] = *state;
        search->incoming[search->n] = 0;
        search->served[search->n] = false;
        *entry = ++search->n;
    }
    add_edge(search, *entry - 1);
}

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

static void try_part(struct search *search, const struct state *state, unsigned set, unsigned part)
{
    struct state next = *state;
    unsigned key = key_of(search->setup, set, part);
    bool open = search->setup->bug == BUG_GATE_IGNORED && is_gate(search->setup, set, part);
    bool granted = (next.holder[key] == NOBODY || next.holder[key] == set) && next.queue[key][0] == NOBODY;

    if (granted)
        next.holder[key] = (uint8_t)set;
    granted |= open;
    follow(search->setup, &next, set,
           granted ? rl_set_granted(&next.plans[set], part, true) : rl_set_refused(&next.plans[set], part, true));
    reach(search, &next);
}

static void grant_part(struct search *search, const struct state *state, unsigned set, unsigned part)
{
    struct state next = *state;
    unsigned key = key_of(search->setup, set, part);

    if (next.holder[key] != NOBODY || next.queue[key][0] != set)
        return;
    leave(&next, key, set);
    next.holder[key] = (uint8_t)set;
    follow(search->setup, &next, set, rl_set_granted(&next.plans[set], part, true));
    reach(search, &next);
}

static void time_out(struct search *search, const struct state *state, unsigned set, unsigned part)
{
    struct state next = *state;

    leave(&next, key_of(search->setup, set, part), set);
    follow(search->setup, &next, set, rl_set_refused(&next.plans[set], part, true));
    reach(search, &next);
}

/* What it held of this key has ended, and it begins anew. */
static void lose_part(struct search *search, const struct state *state, unsigned set, unsigned part)
{
    struct state next = *state;

    if (next.losses[set] == search->setup->losses)
        return;
    next.losses[set]++;
    next.holder[key_of(search->setup, set, part)] = NOBODY;
    give_up(search->setup, &next, set, rl_set_abandon(&next.plans[set]).give_up);
    follow(search->setup, &next, set, begin_plan(search->setup, &next, set));
    reach(search, &next);
}

static void events_of_part(struct search *search, const struct state *state, unsigned set, unsigned part)
{
    switch ((enum rl_set_part)state->plans[set].parts[part]) {
    case RL_PART_TRIED:
        try_part(search, state, set, part);
        break;
    case RL_PART_AWAITED:
        grant_part(search, state, set, part);
        if (search->setup->timeouts)
            time_out(search, state, set, part);
        break;
    case RL_PART_HELD:
        lose_part(search, state, set, part);
        break;
    case RL_PART_FREE:
    case RL_PART_REFUSED:
        break;
    }
}

static void begin(struct search *search, const struct state *state, unsigned set)
{
    struct state next = *state;

    next.phase[set] = PHASE_ACQUIRING;
    follow(search->setup, &next, set, begin_plan(search->setup, &next, set));
    reach(search, &next);
}

static void release(struct search *search, const struct state *state, unsigned set)
{
    struct state next = *state;

    for (unsigned i = 0; i < search->setup->n_parts[set]; i++) {
        if (!is_gate(search->setup, set, i))
            next.holder[key_of(search->setup, set, i)] = NOBODY;
    }
    memset(&next.plans[set], 0, sizeof next.plans[set]);
    next.phase[set] = PHASE_DONE;
    reach(search, &next);
}

static void events_of_set(struct search *search, const struct state *state, unsigned set)
{
    if (state->phase[set] == PHASE_IDLE)
        begin(search, state, set);
    else if (state->phase[set] == PHASE_HELD)
        release(search, state, set);
    for (unsigned i = 0; i < search->setup->n_parts[set] && state->phase[set] == PHASE_ACQUIRING; i++)
        events_of_part(search, state, set, i);
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

static void check(struct search *search, const struct state *state)
{
    const struct setup *setup = search->setup;

    for (unsigned set = 0; set < setup->n_sets; set++) {
        for (unsigned i = 0; i < setup->n_parts[set] && state->phase[set] == PHASE_HELD; i++) {
            if (state->holder[key_of(setup, set, i)] != set && !is_gate(setup, set, i))
                search->violation = "a set is held without one of its parts";
        }
        if (state->phase[set] == PHASE_DONE && is_left_behind(state, set))
            search->violation = "something is left of a set that has ended";
    }
}

static bool all_done(const struct setup *setup, const struct state *state)
{
    for (unsigned set = 0; set < setup->n_sets; set++) {
        if (state->phase[set] != PHASE_DONE)
            return false;
    }
    return true;
}

/* Goes back from the states in which all sets have ended. */
static void check_served(struct search *search)
{
    uint32_t *stack = grow(NULL, search->n, sizeof *stack);
    uint32_t depth = 0;
    uint32_t reached = 0;

    for (uint32_t i = 0; i < search->n; i++) {
        search->served[i] = all_done(search->setup, &search->states[i]);
        if (search->served[i])
            stack[depth++] = i;
    }
    while (depth) {
        uint32_t at = stack[--depth];

        reached++;
        for (uint32_t edge = search->incoming[at]; edge; edge = search->edges[edge].next) {
            uint32_t from = search->edges[edge].from;

            if (!search->served[from])
                stack[depth++] = from;
            search->served[from] = true;
        }
    }
    free(stack);
    if (reached != search->n && !search->violation)
        search->violation = "some sets can never be served";
}

/* --- Search ----------------------------------------------------------------------------------------------------- */

static const char *explore(const struct setup *setup, uint32_t *ret_states)
{
    struct search search = {.setup = setup};
    struct state first;

    memset(&first, 0, sizeof first);
    memset(first.holder, NOBODY, sizeof first.holder);
    memset(first.queue, NOBODY, sizeof first.queue);
    reach(&search, &first);
    for (search.current = 0; search.current < search.n && !search.violation; search.current++) {
        struct state state = search.states[search.current];

        check(&search, &state);
        for (unsigned set = 0; set < setup->n_sets; set++)
            events_of_set(&search, &state, set);
    }
    if (!search.violation)
        check_served(&search);
    *ret_states = search.n;
    free(search.states);
    free(search.incoming);
    free(search.served);
    free(search.edges);
    free(search.table);
    return search.violation;
}

#define SAME {{0, 1, 2}, {0, 1, 2}, {0, 1, 2}}

/* Two permits behind the gate that is key 0, which each set may have in its own order; somebody wants one of them. */
#define PERMITS {{0, 1, 2}, {0, 2, 1}, {1}}

static const struct setup setups[] = {
    {"two sets of three keys", 2, {3, 3, 0}, SAME, {0}, 1, true, BUG_NONE},
    {"three sets of three keys", 3, {3, 3, 3}, SAME, {0}, 0, false, BUG_NONE},
    {"three sets of two keys in a ring, with losses", 3, {2, 2, 2}, {{0, 1}, {1, 2}, {0, 2}}, {0}, 1, true, BUG_NONE},
    {"sets of three, two and one", 3, {3, 2, 1}, {{0, 1, 2}, {1, 2}, {2}}, {0}, 1, true, BUG_NONE},
    {"two permits for two sets, and one for a third", 3, {3, 3, 1}, PERMITS, {1, 1, 0}, 1, true, BUG_NONE},
    {"two permits for three sets", 3, {3, 3, 3}, {{0, 1, 2}, {0, 2, 1}, {0, 1, 2}}, {1, 1, 1}, 0, false, BUG_NONE},
    {"one set waits in descending order", 2, {3, 3, 0}, SAME, {0}, 0, false, BUG_UNSORTED},
    {"larger parts are kept", 2, {3, 3, 0}, SAME, {0}, 0, false, BUG_KEEPS_LARGER},
    {"an entry is left behind", 2, {3, 3, 0}, SAME, {0}, 1, true, BUG_LEAVES_ENTRY},
    {"a gate is ignored", 2, {3, 3, 0}, PERMITS, {1, 1, 0}, 0, false, BUG_GATE_IGNORED},
};

int main(void)
{
    bool good = true;

    for (size_t i = 0; i < sizeof setups / sizeof setups[0]; i++) {
        uint32_t states;
        const char *violation = explore(&setups[i], &states);

        printf("%-50s %8u states: %s\n", setups[i].name, states, violation ? violation : "all are served");
        good &= (violation != NULL) == (setups[i].bug != BUG_NONE);
    }
    return good ? 0 : 1;
}
