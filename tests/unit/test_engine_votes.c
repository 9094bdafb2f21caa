/* One attempt under every combination of outcomes: the engine against a naive reading of rules 2.
 *
 * Each master grants, refuses, fails, ends unknown, or stays pending until the round is over. The second
 * implementation below knows only the votes in the order of their arrival. */
#include <stdlib.h>

#include "core_harness.h"
#include "suite.h"
#include "util/random.h"

#define MAX_N 7

enum vote { GRANTED, REFUSED, FAILED, UNKNOWN, PENDING, N_VOTES };

static const enum rl_outcome outcomes[] = {RL_GRANTED, RL_REFUSED, RL_FAILED, RL_UNKNOWN};

struct scene {
    size_t n;
    enum vote votes[MAX_N];
    unsigned order[MAX_N]; /* of arrival; the pending ones are passed over */
};

struct expected {
    enum rl_end end;
    size_t at; /* index in the order of the answer that decides; n: none, the time is up */
};

/* --- The second implementation --------------------------------------------------------------------------------- */

/* Among the first `seen` of the order. */
static size_t count(const struct scene *scene, size_t seen, enum vote vote)
{
    size_t found = 0;

    for (size_t i = 0; i < seen; i++)
        found += scene->votes[scene->order[i]] == vote;
    return found;
}

/* rule 2.7: won at the q-th grant, lost as soon as q has become impossible; held if it is the refusals without
 * which a quorum would still be possible. */
static struct expected expect(const struct scene *scene)
{
    size_t quorum = scene->n / 2 + 1;

    for (size_t at = 0; at < scene->n; at++) {
        size_t broken = count(scene, at + 1, FAILED) + count(scene, at + 1, UNKNOWN);
        size_t best = scene->n - broken - count(scene, at + 1, REFUSED);

        if (scene->votes[scene->order[at]] == PENDING)
            continue;
        if (count(scene, at + 1, GRANTED) == quorum)
            return (struct expected){RL_END_OK, at};
        if (best < quorum)
            return (struct expected){scene->n - broken < quorum ? RL_END_NO_QUORUM : RL_END_HELD, at};
    }
    return (struct expected){RL_END_NO_QUORUM, scene->n};
}

/* rules 2.8 and 3.1: everywhere it was written, but not where it is known not to be. */
static uint32_t expect_rolled_back(const struct scene *scene, const struct expected *expected)
{
    uint32_t rolled_back = (UINT32_C(1) << scene->n) - 1;

    if (expected->end == RL_END_OK)
        return 0;
    for (size_t i = 0; i < scene->n && i <= expected->at; i++) {
        enum vote vote = scene->votes[scene->order[i]];

        if (vote == REFUSED || vote == FAILED)
            rolled_back &= ~(UINT32_C(1) << scene->order[i]);
    }
    return rolled_back;
}

/* --- The play -------------------------------------------------------------------------------------------------- */

static void blame(const struct scene *scene, const struct core *core, const char *what)
{
    char text[2 * MAX_N + 2] = "";
    size_t size = 0;

    for (size_t i = 0; i < scene->n; i++)
        text[size++] = "GRFU."[scene->votes[i]];
    text[size++] = ' ';
    for (size_t i = 0; i < scene->n; i++)
        text[size++] = (char)('0' + scene->order[i]);
    ck_abort_msg("%s; votes and order of arrival: %s\n%s", what, text, core->log);
}

static const struct core_claim *first_claim(const struct core *core)
{
    return RL_CONTAINER_OF(core->live.next, struct core_claim, link);
}

static void check_decided(const struct scene *scene, const struct core *core, const struct expected *expected)
{
    if (core->completed[0] != 1 || core->last.status != expected->end)
        blame(scene, core, "wrong result");
    if (core_state(core) != (expected->end == RL_END_OK ? RL_LOCK_HELD : RL_LOCK_IDLE))
        blame(scene, core, "wrong state");
    if (first_claim(core)->rolled_back != expect_rolled_back(scene, expected))
        blame(scene, core, "wrong masters rolled back");
}

/* All answers that come, before and after the decision. */
static void play_answers(const struct scene *scene, struct core *core, const struct expected *expected)
{
    for (size_t at = 0; at < scene->n; at++) {
        unsigned node = scene->order[at];

        if (scene->votes[node] == PENDING)
            continue;
        if (at <= expected->at && core->completed[0] != 0)
            blame(scene, core, "decided too early");
        core_answer(core, node, outcomes[scene->votes[node]]);
        if (at >= expected->at)
            check_decided(scene, core, expected);
    }
}

/* rule 2.9: grants after acceptance join the ledger; after a rollback they change nothing. */
static void check_ledger(const struct scene *scene, const struct core *core, const struct expected *expected)
{
    const struct rl_claim *claim = core->locks[0].claim;
    int64_t bound_ns = 988 * RL_NS_PER_MS;

    for (size_t i = 0; i < scene->n && expected->end == RL_END_OK; i++) {
        if (claim->votes[i].bound.ns != (scene->votes[i] == GRANTED ? bound_ns : INT64_MIN))
            blame(scene, core, "wrong ledger");
    }
    if (core_deadline_ms(core) != (expected->end == RL_END_OK ? 988 : INT64_MIN))
        blame(scene, core, "wrong deadline");
}

static void play(const struct scene *scene)
{
    struct core *core = core_start(scene->n);
    struct rl_acquire request = core_request_once();
    struct expected expected = expect(scene);

    core_acquire(core, &request);
    play_answers(scene, core, &expected);
    if (expected.at == scene->n) {
        core_run_to(core, 49);
        if (core->completed[0] != 0)
            blame(scene, core, "did not wait for the end of the round");
        core_run_to(core, 50);
    }
    check_decided(scene, core, &expected);
    check_ledger(scene, core, &expected);
    core_stop(core);
}

static void shuffle(struct scene *scene, uint64_t *random)
{
    for (size_t i = scene->n; i > 1; i--) {
        size_t j = rl_random_next(random) % i;
        unsigned kept = scene->order[i - 1];

        scene->order[i - 1] = scene->order[j];
        scene->order[j] = kept;
    }
}

static void play_in_some_orders(struct scene *scene, unsigned n_orders, uint64_t *random)
{
    for (size_t i = 0; i < scene->n; i++)
        scene->order[i] = (unsigned)i;
    for (unsigned i = 0; i < n_orders; i++) {
        play(scene);
        shuffle(scene, random);
    }
}

GROUP(cases, "votes", NULL, NULL)

TESTS(cases, every_combination_of_votes_ends_as_the_protocol_says, 1, 6)
{
    struct scene scene = {.n = (size_t)_i};
    uint64_t random = 1;
    size_t n_scenes = 1;

    for (size_t i = 0; i < scene.n; i++)
        n_scenes *= N_VOTES;
    for (size_t number = 0; number < n_scenes; number++) {
        size_t rest = number;

        for (size_t i = 0; i < scene.n; i++, rest /= N_VOTES)
            scene.votes[i] = (enum vote)(rest % N_VOTES);
        play_in_some_orders(&scene, 4, &random);
    }
}

TESTS(cases, many_combinations_of_six_and_seven_votes_end_as_the_protocol_says, 6, 8)
{
    struct scene scene = {.n = (size_t)_i};
    uint64_t random = 2;

    for (unsigned round = 0; round < 2000; round++) {
        for (size_t i = 0; i < scene.n; i++)
            scene.votes[i] = (enum vote)(rl_random_next(&random) % N_VOTES);
        play_in_some_orders(&scene, 2, &random);
    }
}

SUITE("engine_votes")
