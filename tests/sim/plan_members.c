/* Worlds in which the list of masters changes: by which lists, and what happens meanwhile. */
#include "plan_members.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "rng.h"
#include "trace.h"
#include "votes/view.h"

/* The first list; those that operators want: the second one another, the same, or none. */
static const struct shape {
    uint8_t n_masters;
    uint8_t dead;   /* set of those that are replaced because they are down */
    uint8_t n_lists;
    struct member_list lists[MAX_LISTS];
    uint8_t mislead;
} shapes[] = {
    {4, 4, 2, {{7, 2, 0}, {11, 2, 0}}, 0},              /* a master is replaced */
    {4, 0, 2, {{7, 2, 0}, {15, 3, 0}}, 0},              /* one more */
    {4, 0, 2, {{15, 3, 0}, {7, 2, 0}}, 0},              /* one fewer */
    {5, 0, 2, {{7, 2, 0}, {31, 3, 0}}, 0},              /* two more */
    {5, 24, 2, {{31, 3, 0}, {7, 2, 0}}, 0},             /* two fewer */
    {6, 0, 2, {{7, 2, 0}, {56, 2, 0}}, 0},              /* another rack */
    {7, 24, 2, {{31, 3, 0}, {103, 3, 0}}, 0},           /* two of five are replaced */
    {3, 0, 2, {{7, 2, 0}, {7, 3, 0}}, 0},               /* another quorum */
    {2, 0, 2, {{1, 1, 0}, {2, 1, 0}}, 0},               /* the only one is replaced */
    {4, 4, 3, {{7, 2, 0}, {11, 2, 0}, {11, 2, 0}}, 0},  /* two operators replace the same one */
    {4, 0, 3, {{7, 2, 0}, {11, 2, 0}, {14, 2, 0}}, 0},  /* ... different ones, by the same */
    {5, 4, 3, {{7, 2, 0}, {11, 2, 0}, {19, 2, 0}}, 0},  /* ... the same one, by different ones */
    {2, 0, 3, {{3, 2, 0}, {1, 1, 0}, {2, 1, 0}}, 0},    /* ... take one of two away each */
    {4, 0, 3, {{15, 3, 0}, {7, 2, 0}, {14, 2, 0}}, 0},  /* ... one of four */
    {3, 0, 3, {{1, 1, 0}, {2, 1, 0}, {4, 1, 0}}, 0},    /* ... replace the only one */
    {3, 0, 3, {{7, 3, 0}, {1, 1, 0}, {6, 2, 0}}, 0},    /* ... go on with a part each: of three, */
    {4, 0, 3, {{15, 3, 0}, {3, 2, 0}, {12, 2, 0}}, 0},  /* ... of four */
    {6, 0, 3, {{63, 4, 0}, {31, 3, 0}, {62, 3, 0}}, 0}, /* ... take one of six away each */
};

/* Masters are given other names. */
static const struct shape renames[] = {
    {3, 0, 2, {{7, 2, 0}, {7, 2, 7}}, 0},               /* all of them */
    {3, 0, 2, {{7, 2, 0}, {7, 2, 2}}, 0},               /* one */
    {4, 4, 3, {{7, 2, 0}, {11, 2, 0}, {7, 2, 3}}, 0},   /* ... and another is replaced, by another operator */
    {3, 0, 3, {{7, 2, 0}, {7, 2, 1}, {7, 2, 6}}, 0},    /* ... and the others by another operator */
    {4, 0, 2, {{7, 2, 0}, {7, 2, 4}}, 3},               /* the new name is that of another server */
};

#define N_RENAMES (sizeof renames / sizeof renames[0])

#define N_SHAPES (sizeof shapes / sizeof shapes[0])
#define FIRST_OF_TWO 9 /* from there on there are two operators */

/* --- Names -------------------------------------------------------------------------------------------------------- */

const char *id_of_list(const struct plan *plan, unsigned list)
{
    static char ids[MAX_KNOWN_LISTS][RL_ID_SIZE];

    snprintf(ids[list], sizeof ids[list], "00000000-0000-4000-8000-%012u", list + 1);
    return plan->n_lists > 1 ? ids[list] : "ring";
}

const char *id_of_master(const struct plan *plan, unsigned master)
{
    static const char *const ids[MAX_MASTERS] = {
        "00000000-0000-4000-9000-000000000001", "00000000-0000-4000-9000-000000000002",
        "00000000-0000-4000-9000-000000000003", "00000000-0000-4000-9000-000000000004",
        "00000000-0000-4000-9000-000000000005", "00000000-0000-4000-9000-000000000006",
        "00000000-0000-4000-9000-000000000007", "00000000-0000-4000-9000-000000000008",
        "00000000-0000-4000-9000-000000000009"};

    return plan->n_lists > 1 ? ids[master] : name_of_master(master);
}

const char *id_of_name(const struct plan *plan, const struct member_list *list, unsigned master)
{
    static char ids[MAX_MASTERS][RL_ID_SIZE];

    if (!(list->renamed >> master & 1u))
        return id_of_master(plan, master);
    snprintf(ids[master], sizeof ids[master], "00000000-0000-4000-9000-00000000010%u", master + 1);
    return ids[master];
}

unsigned list_by_id(const struct plan *plan, const char *id)
{
    unsigned list = 0;

    while (list < MAX_KNOWN_LISTS && strcmp(id_of_list(plan, list), id) != 0)
        list++;
    if (list == MAX_KNOWN_LISTS)
        abort();
    return list;
}

unsigned machine_by_name(const char *name)
{
    return (unsigned)(name[1] - '1');
}

bool is_other_name(const char *name)
{
    return name[2] == '\'';
}

unsigned machine_behind(const struct plan *plan, const char *name)
{
    return is_other_name(name) && plan->mislead ? plan->mislead : machine_by_name(name);
}

static int count_of(unsigned set)
{
    return __builtin_popcount(set);
}

/* What a quorum cannot take from masters that vote by this list alone it takes from those that vote by both. */
static int needs_of_both(const struct member_list *list, unsigned voters, unsigned others)
{
    int alone = count_of(voters & ~others);

    return list->quorum > alone ? list->quorum - alone : 0;
}

bool voters_meet(const struct member_list *a, unsigned of_a, const struct member_list *b, unsigned of_b)
{
    return needs_of_both(a, of_a, of_b) + needs_of_both(b, of_b, of_a) > count_of(of_a & of_b);
}

bool lists_meet(const struct member_list *a, const struct member_list *b)
{
    return voters_meet(a, a->members, b, b->members);
}

const char *name_of_list(const struct plan *plan, const struct member_list *list)
{
    static char text[64];
    size_t size = 0;

    for (unsigned m = 0; m < plan->n_masters; m++) {
        if (list->members >> m & 1u)
            size += (size_t)snprintf(text + size, sizeof text - size, "%s%s%s", size ? " " : "", name_of_master(m),
                                     list->renamed >> m & 1u ? "'" : "");
    }
    snprintf(text + size, sizeof text - size, "/%u", list->quorum);
    return text;
}

/* --- The plan ----------------------------------------------------------------------------------------------------- */

void plan_members_none(struct plan *plan)
{
    plan->n_lists = 1;
    plan->lists[0].members = (uint16_t)((1u << plan->config.n_nodes) - 1);
    plan->lists[0].quorum = (uint8_t)plan->config.quorum;
}

/* Masters lose their memories while they are told, stand, and are looked at again. */
static void make_forgetful(struct plan *plan, struct rng *rng, int64_t stand)
{
    static const enum fault losses[] = {FAULT_CRASH_LOSE, FAULT_FLUSH};

    for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++) {
        plan->faults |= UINT32_C(1) << losses[i];
        plan->fault_interval[losses[i]] = stand / 4 * rng_between(rng, 1, 6);
    }
    for (unsigned m = 0; m < MAX_MASTERS; m++)
        plan->durability[m] = rng_chance(rng, 800) ? 0 : plan->durability[m];
}

/* Clients do not hear of a view until it has stood. */
static void make_parted(struct plan *plan, struct rng *rng, int64_t stand)
{
    static const enum fault partings[] = {FAULT_PARTITION, FAULT_PARTITION_UP, FAULT_PAUSE};

    for (size_t i = 0; i < sizeof partings / sizeof partings[0]; i++) {
        plan->faults |= (uint32_t)rng_chance(rng, 700) << partings[i];
        plan->fault_interval[partings[i]] = stand / 8 * rng_between(rng, 1, 8);
        plan->fault_length[partings[i]] = 3 * stand;
    }
}

/* Clocks of masters are set, but not in most worlds: they excuse much. */
static void make_stepped(struct plan *plan, struct rng *rng)
{
    plan->latch_is_live = false;
    plan->faults |= UINT32_C(1) << FAULT_STEP_FORWARD;
    if (rng_chance(rng, 300))
        plan->faults |= UINT32_C(1) << FAULT_STEP_BACK;
}

/* Little happens but what operators do: they change the list again and again, hardly ever to the end, and go back,
 * while locks of before may live. One or two programs want the same lock most of the time. */
static void make_restless(struct plan *plan, struct rng *rng, int64_t stand)
{
    plan->n_clients = plan->n_clients > 2 ? 2 : plan->n_clients;
    for (unsigned c = 0; c < MAX_CLIENTS; c++) {
        plan->n_handles[c] = 1;
        plan->handle_keys[c][0] = 0;
        plan->set_sizes[c] = 0;
        plan->observe_interval_ms[c] = 0;
        plan->look_interval[c] = 0;
        plan->candidates[c][0] = false;
    }
    plan->permits = 0;
    plan->latch_actors = 0;
    plan->shared_permille = 0;
    plan->shuts_down = false;
    plan->pace_ms = plan->ttl_min_ms / 4;
    plan->run_dies_permille = (uint32_t)rng_scaled(rng, 1, 60);
    plan->back_permille = rng_chance(rng, 400) ? 0 : (uint32_t)rng_scaled(rng, 10, 300);
    plan->again_permille = 50;
    plan->begin_permille = (uint32_t)rng_scaled(rng, 5, 100);
    plan->change_at[1] = plan->change_at[0] + rng_between(rng, 0, stand);
}

#define HALF_DAY_NS (INT64_C(12) * 3600 * 1000 * RL_NS_PER_MS)

/* Nothing that rests on one list: what it has to do with others is not in these worlds. */
static void simplify(struct plan *plan)
{
    plan->faults &= ~(UINT32_C(1) << FAULT_ROLE | UINT32_C(1) << FAULT_MOVED_NAME);
    plan->n_spare = 0;
    plan->left_ms = 0;
    plan->calm = false;
    plan_mixed_none(plan);
    plan->no_wall = false; /* tokens of lists that do not meet go by wall clocks */
    memset(plan->foreign, 0, sizeof plan->foreign);
    memset(plan->counters, 0, sizeof plan->counters);
}

static void take_shape(struct plan *plan, const struct shape *shape, bool dead)
{
    plan->n_masters = shape->n_masters;
    plan->n_lists = shape->n_lists;
    memcpy(plan->lists, shape->lists, sizeof plan->lists);
    plan->config.n_nodes = (size_t)__builtin_popcount(plan->lists[0].members);
    plan->config.quorum = plan->lists[0].quorum;
    plan->dead = dead ? shape->dead : 0;
    plan->mislead = shape->mislead;
}

static const struct shape *draw_shape(struct rng *rng, bool restless)
{
    const struct shape *shape = &shapes[rng_below(rng, N_SHAPES)];

    return restless && rng_chance(rng, 700) ? &shapes[FIRST_OF_TWO + rng_below(rng, N_SHAPES - FIRST_OF_TWO)] : shape;
}

void plan_members_draw(struct plan *plan, struct rng *rng, const struct plan_options *options)
{
    bool restless = rng_chance(rng, 500);
    const struct shape *shape = draw_shape(rng, restless);
    int64_t stand;

    plan_members_none(plan);
    if (!options->members || !plan->guarded || plan->mixed)
        return;
    if (restless)
        plan->max_ttl_ms = plan->config.max_ttl_ms += rng_below(rng, 5000);
    stand = rl_ms(plan->max_ttl_ms + 1500).ns;
    take_shape(plan, shape, rng_chance(rng, 700));
    plan->declares_new = rng_chance(rng, 500);
    plan->run_dies_permille = rng_chance(rng, 500) ? 0 : (uint32_t)rng_scaled(rng, 1, 30);
    plan->run_sleeps_permille = rng_chance(rng, 600) ? 0 : (uint32_t)rng_scaled(rng, 1, 30);
    plan->back_permille = rng_chance(rng, 700) ? 0 : 30;
    plan->begin_permille = 100;
    plan->again_permille = 2;
    for (unsigned i = 0; i < MAX_OPERATORS; i++)
        plan->change_at[i] = rng_between(rng, 0, plan->duration_ns / 2);
    if (!options->max_duration_ns)
        plan->duration_ns += rng_between(rng, stand, 4 * stand) + (restless ? 4 * stand : 0);
    if (restless)
        make_restless(plan, rng, stand);
    if (rng_chance(rng, 300))
        make_forgetful(plan, rng, stand);
    if (rng_chance(rng, 400))
        make_parted(plan, rng, stand);
    if (rng_chance(rng, 120))
        make_stepped(plan, rng);
    if (restless && plan->n_lists > 2)
        plan->faults &= ~LOSS_FAULTS; /* two goals beside more than one loss of memory: nothing is promised */
    plan->run_cut_permille = rng_chance(rng, restless ? 300 : 600) ? 0 : (uint32_t)rng_scaled(rng, 1, 100);
    plan->late_errand_permille = rng_chance(rng, 700) ? 20 : 200;
    plan->faults &= ~options->forbidden;
    simplify(plan);
    /* Where no counter is lost but with its master, a wall clock may be fast, and the lead makes up for it. */
    if (!(plan->faults & LOSS_FAULTS))
        plan->wall_offset[rng_below(rng, 2)] += rng_between(rng, 0, HALF_DAY_NS);
    if (rng_chance(rng, 150))
        take_shape(plan, &renames[rng_below(rng, N_RENAMES)], rng_chance(rng, 700));
}
