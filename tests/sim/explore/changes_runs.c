/* IMPLEMENTATION NOTES
 *
 * A run is large, and nearly all of it is zero: of a state the words that are not are kept. What has no influence any
 * more is made the same everywhere (make_plain()), so that states which differ by it are one. */
#include "changes.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kinds/join.h"
#include "script_tools.h"
#include "seen.h"
#include "votes/change_round.h"

static const struct rl_instant now = {CHANGES_NOW_MS * RL_NS_PER_MS};
#define TICK rl_ms(CHANGES_TICK_MS)

#define WORDS (sizeof(struct rl_change) / sizeof(uint64_t))
static_assert(sizeof(struct rl_change) % sizeof(uint64_t) == 0, "a run is whole words");

struct packed {
    uint64_t *words; /* of each row of words that are not zero: its place and length, and then the row */
    size_t n;
    struct changes_run seen;
};

static const struct changes_setup *setup;
static union {
    struct rl_change run;
    uint64_t words[WORDS];
} present;
static uint64_t room[2 * WORDS];
static struct seen_numbers states_by_hash;
static struct packed *states;
static struct seen_numbers steps_by_hash;
static uint32_t *steps;

/* --- States ------------------------------------------------------------------------------------------------------- */

static size_t pack(void)
{
    size_t n = 0;

    for (size_t i = 0; i < WORDS; i++) {
        size_t begin = i;

        while (i < WORDS && present.words[i])
            i++;
        if (i == begin)
            continue;
        room[n++] = begin << 32 | (i - begin);
        memcpy(&room[n], &present.words[begin], (i - begin) * sizeof room[0]);
        n += i - begin;
    }
    return n;
}

static void unpack(uint32_t state)
{
    const struct packed *packed = &states[state - CHANGES_FIRST];

    memset(&present, 0, sizeof present);
    for (size_t at = 0; at < packed->n;) {
        size_t begin = packed->words[at] >> 32;
        size_t n = packed->words[at] & UINT32_MAX;

        memcpy(&present.words[begin], &packed->words[at + 1], n * sizeof room[0]);
        at += n + 1;
    }
}

/* When a master was found to have the view matters by when the view has stood there for long enough: not yet, or before
 * the run has begun to look again, or in between. */
static void make_told_plain(struct rl_change *run, struct rl_instant *told)
{
    struct rl_span stands = rl_ms(rl_change_standing_ms(run, 0));
    bool again = run->stage == RL_CHANGE_AGAIN;

    if (told->ns == RL_NEVER.ns || told->ns + stands.ns > now.ns)
        return;
    again = again && told->ns + stands.ns <= run->looked_at.ns;
    told->ns = now.ns - stands.ns - (again ? TICK.ns : 0);
}

static int compare_ids(const void *a, const void *b)
{
    return memcmp(a, b, RL_ID_SIZE);
}

/* There is room for all lists: in which order a view remembers them does not matter, nor does its lead. */
static void make_view_plain(struct rl_view *view)
{
    view->lead_us = 0;
    qsort(view->history, view->n_history, RL_ID_SIZE, compare_ids);
}

/* A run may be as slow as it likes. So it need not wait for who is late or silent, nor pause for less than a tick: it
 * may do so all the same. */
static void make_master_plain(struct rl_change *run, struct rl_change_master *master)
{
    bool is_other = master->event == RL_JOIN_MISMATCH || master->event == RL_JOIN_MISPLACED;

    make_told_plain(run, &master->told_at);
    master->event = is_other ? master->event : RL_JOIN_KEPT;
    master->mode = master->asked ? master->mode : RL_JOIN_VOTE;
    master->silent = 0;
    master->left_ms = master->left_ms > 0;
    master->turn = 0;
}

static void make_plain(struct rl_change *run)
{
    for (size_t i = 0; i < run->n; i++)
        make_master_plain(run, &run->masters[i]);
    make_view_plain(&run->view);
    make_view_plain(&run->known);
    qsort(run->seen, run->n_seen, RL_ID_SIZE, compare_ids);
    run->looked_at = run->stage == RL_CHANGE_AGAIN ? (struct rl_instant){now.ns - TICK.ns} : now;
    run->stage = run->stage == RL_CHANGE_WAIT ? RL_CHANGE_TELL : run->stage;
    run->stands_at = now;
    if (rl_before(run->until, rl_after(now, TICK)))
        run->until = now;
    run->rounds = 3;
    run->name_rounds = 0;
}

static unsigned machine_of(const struct rl_change_master *master)
{
    return (unsigned)strtoul(master->member.node_id + RL_ID_SIZE - 2, NULL, 16);
}

static void look(const struct rl_change *run, struct changes_run *ret_seen)
{
    static char text[RL_VIEW_TEXT_MAX];
    enum rl_join_mode mode;

    *ret_seen = (struct changes_run){.is_open = run->until.ns == now.ns,
                                     .may_go_back = run->view.before.n && run->told_once &&
                                                    !rl_same_text(run->view.list.id, run->goal.id)};
    for (size_t i = 0; i < run->n; i++) {
        struct rl_join_question question = {.mode = RL_JOIN_VOTE};
        unsigned machine = machine_of(&run->masters[i]);

        if (!rl_change_question(run, i, &mode) || run->masters[i].answered || setup->dead >> machine & 1)
            continue;
        rl_change_fill(run, i, &question);
        question.view = (struct rl_slice){text, rl_change_text(rl_change_view(run, i), text)};
        ret_seen->questions[machine] = changes_note_question(machine, &question);
    }
}

static uint32_t note_state(void)
{
    struct packed *packed;
    uint32_t number;
    size_t n;

    if (present.run.stage >= RL_CHANGE_DONE || present.run.turn > setup->turns)
        return CHANGES_OVER;
    make_plain(&present.run);
    n = pack();
    if (!seen_number(&states_by_hash, script_master_hash_more(1, room, n * sizeof room[0]), &number))
        return number + CHANGES_FIRST;
    states = seen_room(states, number, sizeof *states);
    packed = &states[number];
    *packed = (struct packed){.words = seen_take(n, sizeof room[0]), .n = n};
    memcpy(packed->words, room, n * sizeof room[0]);
    look(&present.run, &packed->seen);
    return number + CHANGES_FIRST;
}

const struct changes_run *changes_run_see(uint32_t state)
{
    return &states[state - CHANGES_FIRST].seen;
}

/* --- Steps -------------------------------------------------------------------------------------------------------- */

static void name_list(void *ctx, struct rl_member_list *list)
{
    struct changes_list named = {.quorum = list->quorum};
    struct rl_member_list same;

    for (size_t i = 0; i < list->n; i++)
        named.members |= (uint8_t)(1u << strtoul(list->members[i].node_id + RL_ID_SIZE - 2, NULL, 16));
    changes_describe_list(named, &same);
    memcpy(list->id, same.id, sizeof list->id);
}

uint32_t changes_run_start(unsigned run)
{
    static const struct rl_drift_rule no_drift;
    static struct rl_view configured;
    static struct rl_member_list goal;
    char name[17];

    memset(&configured, 0, sizeof configured);
    changes_describe_list(setup->first, &configured.list);
    configured.n_history = 1;
    memcpy(configured.history[0], configured.list.id, RL_ID_SIZE);
    changes_describe_list(setup->goals[run], &goal);
    snprintf(name, sizeof name, "%016x", run + 1);
    rl_change_start(&present.run, &configured, &goal, NULL, name, &no_drift, name_list, NULL);
    return note_state();
}

enum step {
    STEP_ANSWER,
    STEP_END_ROUND,
    STEP_ABORT,
    STEP_PASS,
};

static void answer(unsigned machine, uint16_t reply)
{
    struct rl_join_report report;
    struct rl_slice view;
    size_t i = 0;

    if (!rl_join_parse(changes_reply(machine, reply), &report, &view)) {
        fputs("explore: a reply to JOIN that cannot be read\n", stderr);
        exit(2);
    }
    while (machine_of(&present.run.masters[i]) != machine)
        i++;
    rl_change_answer(&present.run, i, &report, view);
}

static void pass(struct rl_change *run)
{
    for (size_t i = 0; i < run->n; i++) {
        if (run->masters[i].told_at.ns != RL_NEVER.ns)
            run->masters[i].told_at.ns -= TICK.ns;
    }
    run->looked_at.ns -= TICK.ns;
    run->until.ns -= TICK.ns;
}

static void take_step(enum step step, unsigned machine, uint16_t reply)
{
    switch (step) {
    case STEP_ANSWER:
        answer(machine, reply);
        break;
    case STEP_END_ROUND:
        rl_change_end_round(&present.run, now);
        break;
    case STEP_ABORT:
        rl_change_abort(&present.run);
        break;
    case STEP_PASS:
        pass(&present.run);
        break;
    }
}

static uint32_t follow(uint32_t state, enum step step, unsigned machine, uint16_t reply)
{
    const uint32_t key[] = {state, step, machine, reply};
    uint32_t number;
    uint32_t next;

    if (!seen_number(&steps_by_hash, script_master_hash_more(1, key, sizeof key), &number))
        return steps[number];
    unpack(state);
    take_step(step, machine, reply);
    next = note_state();
    steps = seen_room(steps, number, sizeof *steps);
    return steps[number] = next;
}

uint32_t changes_run_answer(uint32_t state, unsigned master, uint16_t reply)
{
    return follow(state, STEP_ANSWER, master, reply);
}

uint32_t changes_run_end_round(uint32_t state)
{
    return follow(state, STEP_END_ROUND, 0, 0);
}

uint32_t changes_run_abort(uint32_t state)
{
    return follow(state, STEP_ABORT, 0, 0);
}

uint32_t changes_run_pass(uint32_t state)
{
    return follow(state, STEP_PASS, 0, 0);
}

/* --- A search ----------------------------------------------------------------------------------------------------- */

void changes_runs_begin(const struct changes_setup *of)
{
    setup = of;
}

void changes_runs_end(void)
{
    for (size_t i = 0; i < states_by_hash.count; i++)
        free(states[i].words);
    free(states);
    free(steps);
    states = NULL;
    steps = NULL;
    seen_numbers_fini(&states_by_hash);
    seen_numbers_fini(&steps_by_hash);
}
