#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "changes.h"
#include "engine_hash.h"

#define LIFE 2 /* ticks; for so long a view stands */
#define KNOWN 16
#define LATE 2
#define VOTES 12

/* Votes by the view, which the master stored. 0: whichever of the list it was. */
struct vote {
    uint16_t view;
    uint8_t list;
    uint8_t left; /* ticks; 0: none, behind all others */
};

struct run {
    uint32_t state;
    uint16_t questions[CHANGES_MASTERS]; /* of its round, which have not come; 0: none */
};

struct world {
    uint32_t masters[CHANGES_MASTERS];
    struct run runs[CHANGES_RUNS];
    uint16_t known[KNOWN]; /* views that clients may go by, in the order of their numbers; and the configured one */
    uint16_t lost[CHANGES_MASTERS]; /* the latest view that the master has forgotten; 0: none */
    uint16_t late[LATE];   /* questions that nobody waits for; 0: none */
    struct vote votes[CHANGES_MASTERS][VOTES]; /* that may be alive, in the order of lists and views */
    uint8_t memories[CHANGES_MASTERS]; /* that the master has had before */
    uint8_t losses;
};

enum kind {
    TIME_PASSES,
    QUESTION_ANSWERED, /* a: run, b: master */
    QUESTION_UNHEARD,  /* a: run, b: master, c: where it is kept: its answer is lost, and it comes late */
    QUESTION_LATE,     /* a: where it was kept */
    RUN_BEGINS,        /* a: run */
    RUN_ENDS_ROUND,
    RUN_GOES_BACK,
    RUN_DIES,
    MASTER_GREETED, /* a: which of the views that are known, b: master */
    MASTER_FORGETS, /* b: master */
};

static bool is_newer(uint16_t view, uint16_t than)
{
    return rl_epoch_compare(&changes_view(view)->epoch, &changes_view(than)->epoch) > 0;
}

/* --- What follows from it ----------------------------------------------------------------------------------------- */

static void know(struct world *world, uint16_t view)
{
    unsigned at = 0;

    while (at < KNOWN && world->known[at] && world->known[at] < view)
        at++;
    if (!view || (at < KNOWN && world->known[at] == view))
        return;
    if (world->known[KNOWN - 1]) {
        fputs("explore: too many views\n", stderr);
        exit(2);
    }
    memmove(&world->known[at + 1], &world->known[at], (KNOWN - 1 - at) * sizeof world->known[0]);
    world->known[at] = view;
}

/* In quarantine a master's votes of before may be repaired, by the view by which they were given or by a later one. */
static bool may_vote(const struct world *world, unsigned m, struct changes_sight sight)
{
    bool alive = !sight.left;

    for (const struct vote *vote = world->votes[m]; vote->left; vote++)
        alive |= !is_newer(vote->view, sight.view);
    return sight.is_there && alive;
}

static uint32_t order_of(struct vote vote)
{
    return (uint32_t)vote.list << 16 | vote.view;
}

static void vote_by(struct vote votes[VOTES], struct vote added)
{
    unsigned at = 0;

    while (votes[at].left && order_of(votes[at]) < order_of(added))
        at++;
    if (votes[at].left && order_of(votes[at]) == order_of(added)) {
        votes[at].left = added.left > votes[at].left ? added.left : votes[at].left;
        return;
    }
    if (votes[VOTES - 2].left) {
        fputs("explore: too many votes\n", stderr);
        exit(2);
    }
    memmove(&votes[at + 1], &votes[at], (VOTES - 1 - at) * sizeof votes[0]);
    votes[at] = added;
}

static void age_votes(struct vote votes[VOTES])
{
    unsigned n = 0;

    for (unsigned i = 0; i < VOTES; i++) {
        struct vote vote = votes[i];

        votes[i] = (struct vote){0};
        if (vote.left > 1)
            votes[n++] = (struct vote){vote.view, vote.list, (uint8_t)(vote.left - 1)};
    }
}

/* Where nothing can be repaired any more, it does not matter which view it was, nor what others than members have. */
static void forget_views(struct world *world, unsigned m)
{
    struct vote old[VOTES];
    unsigned n;
    const struct changes_list *lists = changes_lists(&n);

    memcpy(old, world->votes[m], sizeof old);
    memset(world->votes[m], 0, sizeof old);
    for (const struct vote *vote = old; vote->left; vote++) {
        if (lists[vote->list].members >> m & 1)
            vote_by(world->votes[m], (struct vote){0, vote->list, vote->left});
    }
}

/* Nobody can do anything with the view any more. */
static bool is_useless(const struct world *world, const struct changes_setup *setup, uint16_t view)
{
    bool useless = world->losses == setup->losses;

    for (unsigned m = 0; m < setup->n_masters; m++) {
        struct changes_sight sight = changes_see(m, world->masters[m]);

        useless = useless && sight.is_there && !is_newer(view, sight.view);
    }
    return useless;
}

static void forget_useless(struct world *world, const struct changes_setup *setup)
{
    unsigned n = 0;

    for (unsigned i = 0; i < KNOWN; i++) {
        uint16_t view = world->known[i];

        world->known[i] = 0;
        if (view && !is_useless(world, setup, view))
            world->known[n++] = view;
    }
}

static unsigned voters(const struct world *world, unsigned list)
{
    unsigned mask = 0;

    for (unsigned m = 0; m < CHANGES_MASTERS; m++) {
        for (const struct vote *vote = world->votes[m]; vote->left; vote++)
            mask |= (unsigned)(vote->list == list) << m;
    }
    return mask;
}

static int missing(struct changes_list list, unsigned of, unsigned others)
{
    int own = __builtin_popcount(of & ~others);

    return own < list.quorum ? list.quorum - own : 0;
}

/* Can quorums of both lists have votes, with no master in both? */
static bool are_apart(struct changes_list a, unsigned of_a, struct changes_list b, unsigned of_b)
{
    of_a &= a.members;
    of_b &= b.members;
    return __builtin_popcount(of_a) >= a.quorum && __builtin_popcount(of_b) >= b.quorum &&
           missing(a, of_a, of_b) + missing(b, of_b, of_a) <= __builtin_popcount(of_a & of_b);
}

static const char *check(const struct world *world)
{
    unsigned n;
    const struct changes_list *lists = changes_lists(&n);

    for (unsigned a = 0; a < n; a++) {
        for (unsigned b = 0; b < a; b++) {
            if (are_apart(lists[a], voters(world, a), lists[b], voters(world, b)))
                return "locks may be held by two lists";
        }
    }
    return NULL;
}

static const char *settle(struct world *world, const struct changes_setup *setup)
{
    for (unsigned m = 0; m < setup->n_masters; m++) {
        struct changes_sight sight = changes_see(m, world->masters[m]);

        if (!sight.is_there)
            continue;
        know(world, sight.view);
        if (!is_newer(world->lost[m], sight.view))
            world->lost[m] = 0;
        if (may_vote(world, m, sight))
            vote_by(world->votes[m], (struct vote){sight.view, changes_view(sight.view)->list, LIFE});
        if (!sight.left && world->losses == setup->losses)
            forget_views(world, m);
    }
    forget_useless(world, setup);
    return check(world);
}

/* --- What may happen ---------------------------------------------------------------------------------------------- */

static bool is_on(const struct run *run)
{
    return run->state >= CHANGES_FIRST;
}

static void put(struct world *world, unsigned m, uint16_t question, uint16_t *ret_reply)
{
    world->masters[m] = changes_put(question, world->masters[m], world->memories[m], ret_reply);
}

/* Assumption A4: somebody who knows what the master has forgotten greets it before its quarantine ends. */
static void remind(struct world *world, unsigned m)
{
    struct changes_sight sight = changes_see(m, world->masters[m]);
    uint16_t reply;

    if (sight.is_there && sight.left == 1 && is_newer(world->lost[m], sight.view))
        put(world, m, changes_greeting(m, world->lost[m]), &reply);
}

static void pass(struct world *world, const struct changes_setup *setup)
{
    for (unsigned m = 0; m < setup->n_masters; m++) {
        remind(world, m);
        world->masters[m] = changes_pass(m, world->masters[m]);
        age_votes(world->votes[m]);
    }
    for (unsigned i = 0; i < CHANGES_RUNS; i++) {
        if (is_on(&world->runs[i]))
            world->runs[i].state = changes_run_pass(world->runs[i].state);
    }
}

static void come_to(struct run *run, uint32_t state, bool asks)
{
    run->state = state;
    if (asks || !is_on(run))
        memset(run->questions, 0, sizeof run->questions);
    if (asks && is_on(run))
        memcpy(run->questions, changes_run_see(state)->questions, sizeof run->questions);
}

static void answer(struct world *world, struct run *run, unsigned m)
{
    uint16_t reply;

    put(world, m, run->questions[m], &reply);
    run->questions[m] = 0;
    come_to(run, changes_run_answer(run->state, m, reply), false);
}

static void keep_late(struct world *world, unsigned place, uint16_t question)
{
    world->late[place] = question;
    if (world->late[0] < world->late[1]) {
        uint16_t first = world->late[0];

        world->late[0] = world->late[1];
        world->late[1] = first;
    }
}

static void come_late(struct world *world, unsigned place)
{
    uint16_t question = world->late[place];
    uint16_t reply;

    put(world, changes_asked(question), question, &reply);
    keep_late(world, place, 0);
}

static void forget(struct world *world, unsigned m)
{
    struct changes_sight sight = changes_see(m, world->masters[m]);

    if (is_newer(sight.view, world->lost[m]))
        world->lost[m] = sight.view;
    world->masters[m] = changes_empty(m);
    world->memories[m]++;
    world->losses++;
}

static void happen(struct world *world, const struct changes_setup *setup, struct search_action action)
{
    struct run *run = &world->runs[action.a < CHANGES_RUNS ? action.a : 0];
    uint16_t reply;

    switch ((enum kind)action.kind) {
    case TIME_PASSES:
        pass(world, setup);
        break;
    case QUESTION_ANSWERED:
        answer(world, run, action.b);
        break;
    case QUESTION_UNHEARD:
        keep_late(world, action.c, run->questions[action.b]);
        run->questions[action.b] = 0;
        break;
    case QUESTION_LATE:
        come_late(world, action.a);
        break;
    case RUN_BEGINS:
        come_to(run, changes_run_start(action.a), true);
        break;
    case RUN_ENDS_ROUND:
        come_to(run, changes_run_end_round(run->state), true);
        break;
    case RUN_GOES_BACK:
        run->state = changes_run_abort(run->state);
        break;
    case RUN_DIES:
        come_to(run, CHANGES_OVER, false);
        break;
    case MASTER_GREETED:
        put(world, action.b, changes_greeting(action.b, action.a ? world->known[action.a - 1] : 0), &reply);
        break;
    case MASTER_FORGETS:
        forget(world, action.b);
        break;
    }
}

static void actions_of_run(struct search_list *list, const struct changes_setup *setup, const struct world *world,
                           unsigned i)
{
    const struct run *run = &world->runs[i];
    bool is_next = i == 0 || setup->together || world->runs[i - 1].state == CHANGES_OVER;
    struct search_action action = {.kind = RUN_BEGINS, .a = (uint8_t)i};

    search_add(list, run->state == CHANGES_NOT_BEGUN && setup->goals[i].members && is_next, action);
    if (!is_on(run))
        return;
    for (unsigned m = 0; m < setup->n_masters && changes_run_see(run->state)->is_open; m++) {
        if (!run->questions[m])
            continue;
        search_add(list, true, (struct search_action){QUESTION_ANSWERED, (uint8_t)i, (uint8_t)m, 0});
        for (unsigned place = 0; place < setup->late && changes_is_told(run->questions[m]); place++)
            search_add(list, true, (struct search_action){QUESTION_UNHEARD, (uint8_t)i, (uint8_t)m, (uint8_t)place});
    }
    action.kind = RUN_ENDS_ROUND;
    search_add(list, changes_run_see(run->state)->is_open, action);
    action.kind = RUN_GOES_BACK;
    search_add(list, setup->aborts && changes_run_see(run->state)->may_go_back, action);
    action.kind = RUN_DIES;
    search_add(list, !setup->together, action);
}

/* Clients of a list greet its members, and know others by their markers alone. */
static bool changes_something(const struct world *world, unsigned m, uint16_t view)
{
    unsigned n;
    const struct changes_list *list = &changes_lists(&n)[changes_view(view)->list];
    uint16_t reply;

    if (!changes_see(m, world->masters[m]).is_there && !(list->members >> m & 1))
        return false;
    return changes_put(changes_greeting(m, view), world->masters[m], world->memories[m], &reply) != world->masters[m];
}

static size_t actions(const void *at, const void *of, struct search_action ret_actions[SEARCH_MAX_ACTIONS])
{
    struct search_list list = {.actions = ret_actions};
    const struct changes_setup *setup = of;
    const struct world *world = at;

    for (unsigned i = 0; i < CHANGES_RUNS; i++)
        actions_of_run(&list, setup, world, i);
    for (unsigned place = 0; place < LATE; place++)
        search_add(&list, world->late[place], (struct search_action){QUESTION_LATE, (uint8_t)place, 0, 0});
    for (unsigned m = 0; m < setup->n_masters; m++) {
        struct search_action action = {MASTER_FORGETS, 0, (uint8_t)m, 0};

        search_add(&list, world->losses < setup->losses && changes_see(m, world->masters[m]).is_there, action);
        action.kind = MASTER_GREETED;
        for (; action.a <= KNOWN && (!action.a || world->known[action.a - 1]); action.a++)
            search_add(&list, changes_something(world, m, action.a ? world->known[action.a - 1] : 0), action);
    }
    search_add(&list, true, (struct search_action){TIME_PASSES, 0, 0, 0});
    return list.count;
}

/* --- As the search sees it ---------------------------------------------------------------------------------------- */

static void init(void *at, const void *of)
{
    const struct changes_setup *setup = of;
    struct world *world = at;

    memset(world, 0, sizeof *world);
    for (unsigned m = 0; m < setup->n_masters; m++)
        world->masters[m] = setup->first.members >> m & 1 ? changes_settled(m) : changes_empty(m);
    settle(world, setup);
}

static const char *perform(void *world, const void *setup, struct search_action action)
{
    happen(world, setup, action);
    return settle(world, setup);
}

static uint64_t hash(void *world, const void *setup)
{
    return engine_hash_mix(engine_hash_bytes(world, sizeof(struct world)));
}

static void describe(struct search_action action, char *text, size_t size)
{
    static const char *const texts[] = {
        [TIME_PASSES] = "a tick passes",
        [QUESTION_ANSWERED] = "run %u: the question to master %u is answered",
        [QUESTION_UNHEARD] = "run %u: the answer of master %u is lost, and the question comes late",
        [QUESTION_LATE] = "late question %u comes",
        [RUN_BEGINS] = "run %u begins",
        [RUN_ENDS_ROUND] = "run %u ends its round",
        [RUN_GOES_BACK] = "run %u is to go back",
        [RUN_DIES] = "run %u dies",
        [MASTER_GREETED] = "a client that goes by known view %u greets master %u",
        [MASTER_FORGETS] = "%.0umaster %u forgets",
    };

    snprintf(text, size, texts[action.kind], action.a, action.b);
}

const struct search_rules changes_rules = {
    .size = sizeof(struct world),
    .init = init,
    .actions = actions,
    .perform = perform,
    .hash = hash,
    .describe = describe,
};
