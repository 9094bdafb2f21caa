#include "changes.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine_hash.h"
#include "kinds/join.h"
#include "kinds/names.h"
#include "script_tools.h"
#include "script_states.h"
#include "seen.h"

/* A question without pointers. */
struct question {
    uint8_t master;
    uint8_t mode;
    uint16_t view;
    uint8_t list;
    int64_t number;
    char told[RL_INCARNATION_MAX + 1];
};

struct view {
    struct changes_view view;
    char *text;
};

static struct {
    struct script_states *states;
    char info[96];
    struct changes_sight *sights; /* by state */
    size_t n_sights;
} masters[CHANGES_MASTERS];

static struct seen_numbers questions_by_hash;
static struct question *questions;
static struct seen_numbers answers_by_hash;
static struct script_outcome *answers;
static struct seen_numbers views_by_hash;
static struct view *views;
static struct changes_list lists[CHANGES_LISTS];
static unsigned n_lists;

/* --- Names -------------------------------------------------------------------------------------------------------- */

static void write_list_id(struct changes_list list, char ret_id[RL_ID_SIZE])
{
    snprintf(ret_id, RL_ID_SIZE, "00000000-0000-4000-8000-%06x%06x", list.members, list.quorum);
}

static void write_node_id(unsigned master, char ret_id[RL_ID_SIZE])
{
    snprintf(ret_id, RL_ID_SIZE, "00000000-0000-4000-9000-%012x", master);
}

static uint8_t note_list(struct changes_list list)
{
    unsigned number = 0;

    while (number < n_lists && (lists[number].members != list.members || lists[number].quorum != list.quorum))
        number++;
    assert(number < CHANGES_LISTS);
    if (number == n_lists)
        lists[n_lists++] = list;
    return (uint8_t)number;
}

static uint8_t note_list_named(const char *id)
{
    unsigned members = (unsigned)strtoul((char[]){id[24], id[25], id[26], id[27], id[28], id[29], 0}, NULL, 16);

    return note_list((struct changes_list){(uint8_t)members, (uint8_t)strtoul(id + 30, NULL, 16)});
}

void changes_describe_list(struct changes_list list, struct rl_member_list *ret_list)
{
    memset(ret_list, 0, sizeof *ret_list);
    write_list_id(list, ret_list->id);
    ret_list->quorum = list.quorum;
    for (unsigned master = 0; master < CHANGES_MASTERS; master++) {
        struct rl_member *member = &ret_list->members[ret_list->n];

        if (!(list.members >> master & 1))
            continue;
        write_node_id(master, member->node_id);
        snprintf(member->name, sizeof member->name, "m%u:1/0", master);
        ret_list->n++;
    }
}

const struct changes_list *changes_lists(unsigned *ret_n)
{
    *ret_n = n_lists;
    return lists;
}

/* --- Views -------------------------------------------------------------------------------------------------------- */

static uint16_t note_view(struct rl_slice text)
{
    static struct rl_view view;
    struct view *noted;
    uint32_t number;

    if (!seen_number(&views_by_hash, script_master_hash_more(1, text.data, text.size), &number))
        return (uint16_t)number;
    assert(number <= UINT16_MAX);
    views = seen_room(views, number, sizeof *views);
    noted = &views[number];
    *noted = (struct view){.text = seen_take(1, text.size + 1)};
    if (!text.size)
        return (uint16_t)number;
    memcpy(noted->text, text.data, text.size);
    if (!rl_view_parse(text, &view)) {
        fprintf(stderr, "explore: this is no view: %s\n", noted->text);
        exit(2);
    }
    noted->view.epoch = view.epoch;
    noted->view.list = note_list_named(view.list.id);
    return (uint16_t)number;
}

const struct changes_view *changes_view(uint16_t view)
{
    return &views[view].view;
}

/* --- Questions ---------------------------------------------------------------------------------------------------- */

static uint16_t note_question(const struct question *question)
{
    uint32_t number;

    if (seen_number(&questions_by_hash, script_master_hash_more(1, question, sizeof *question), &number)) {
        assert(number < UINT16_MAX);
        questions = seen_room(questions, number, sizeof *questions);
        questions[number] = *question;
    }
    return (uint16_t)(number + 1);
}

uint16_t changes_note_question(unsigned master, const struct rl_join_question *asked)
{
    struct question question;

    memset(&question, 0, sizeof question);
    question.master = (uint8_t)master;
    question.mode = (uint8_t)asked->mode;
    question.view = note_view(asked->view);
    question.list = note_list_named(asked->list_id.data);
    question.number = asked->known.number;
    if (asked->told.size)
        memcpy(question.told, asked->told.data, asked->told.size);
    return note_question(&question);
}

uint16_t changes_greeting(unsigned master, uint16_t view)
{
    struct question question;

    memset(&question, 0, sizeof question);
    question.master = (uint8_t)master;
    question.mode = RL_JOIN_VOTE;
    question.view = view;
    question.list = views[view].view.list;
    return note_question(&question);
}

unsigned changes_asked(uint16_t question)
{
    return questions[question - 1].master;
}

bool changes_is_told(uint16_t question)
{
    return questions[question - 1].mode == RL_JOIN_TELL;
}

/* A memory takes a view once, and is met without a marker once: by these it is a fresh incarnation. */
static struct script_outcome carry_out(const struct question *question, uint32_t state, unsigned memory)
{
    struct rl_command command;
    char list_id[RL_ID_SIZE];
    char node_id[RL_ID_SIZE];
    char fresh[24];
    struct rl_join_question join = {
        .mode = (enum rl_join_mode)question->mode, .marker = rl_slice_of(RL_MARKER_NAME),
        .max_ttl_ms = CHANGES_MAX_TTL_MS, .durability = RL_DURABILITY_NONE,
        .known.number = question->number,
        .view = rl_slice_of(views[question->view].text), .told = rl_slice_of(question->told),
    };

    write_list_id(lists[question->list], list_id);
    write_node_id(question->master, node_id);
    snprintf(fresh, sizeof fresh, "%u-%u", memory, question->view);
    join.list_id = rl_slice_of(list_id);
    join.node_id = rl_slice_of(node_id);
    join.incarnation = rl_slice_of(fresh);
    rl_join_command(&join, &command);
    return script_states_run(masters[question->master].states, state, CHANGES_NOW_MS, &command);
}

uint32_t changes_put(uint16_t question, uint32_t state, unsigned memory, uint16_t *ret_reply)
{
    const uint64_t key[] = {(uint64_t)question << 32 | state, memory};
    uint32_t number;

    if (seen_number(&answers_by_hash, engine_hash_bytes(key, sizeof key), &number)) {
        answers = seen_room(answers, number, sizeof *answers);
        answers[number] = carry_out(&questions[question - 1], state, memory);
    }
    *ret_reply = answers[number].reply;
    return answers[number].state;
}

const struct rl_reply *changes_reply(unsigned master, uint16_t reply)
{
    return script_states_reply(masters[master].states, reply);
}

/* --- Masters ------------------------------------------------------------------------------------------------------ */

static void read_marker(unsigned master, uint32_t state, uint16_t by, struct rl_join_report *ret_report,
                        uint16_t *ret_view)
{
    struct question question = {.master = (uint8_t)master, .mode = RL_JOIN_READ, .view = by,
                                .list = views[by].view.list};
    struct script_outcome outcome = carry_out(&question, state, 0);
    struct rl_slice view;

    assert(outcome.state == state);
    if (!rl_join_parse(changes_reply(master, outcome.reply), ret_report, &view)) {
        fputs("explore: a reply to JOIN that cannot be read\n", stderr);
        exit(2);
    }
    *ret_view = note_view(view);
}

/* Who looks by an older view hears nothing of the quarantine. */
static struct changes_sight look(unsigned master, uint32_t state)
{
    struct rl_join_report report;
    uint16_t view;

    read_marker(master, state, 0, &report, &view);
    if (view)
        read_marker(master, state, view, &report, &view);
    return (struct changes_sight){report.event != RL_JOIN_ABSENT,
                                  (uint8_t)((report.left_ms + CHANGES_TICK_MS - 1) / CHANGES_TICK_MS), view};
}

struct changes_sight changes_see(unsigned master, uint32_t state)
{
    while (masters[master].n_sights <= state) {
        size_t number = masters[master].n_sights++;

        masters[master].sights = seen_room(masters[master].sights, number, sizeof *masters[master].sights);
        masters[master].sights[number] = look(master, (uint32_t)number);
    }
    return masters[master].sights[state];
}

/* The marker's quarantine has so much left. */
static uint32_t set_left(unsigned master, uint32_t state, int64_t left_ms)
{
    struct rl_command command;

    rl_command_init(&command, RL_SCRIPT_NONE, 0);
    rl_push_word(&command, "HSET");
    rl_push(&command, rl_slice_of(RL_MARKER_NAME));
    rl_push_word(&command, "until");
    rl_push_number(&command, 0, (uint64_t)(CHANGES_NOW_MS + left_ms));
    return script_states_run(masters[master].states, state, CHANGES_NOW_MS, &command).state;
}

uint32_t changes_pass(unsigned master, uint32_t state)
{
    struct changes_sight sight = changes_see(master, state);

    return sight.is_there && sight.left ? set_left(master, state, (sight.left - 1) * CHANGES_TICK_MS) : state;
}

uint32_t changes_empty(unsigned master)
{
    return script_states_empty(masters[master].states);
}

uint32_t changes_settled(unsigned master)
{
    uint16_t reply;
    uint32_t state = changes_put(changes_greeting(master, 0), changes_empty(master), 0, &reply);

    return set_left(master, state, 0);
}

/* --- A search ----------------------------------------------------------------------------------------------------- */

void changes_masters_begin(struct lua_host *lua, const struct changes_setup *setup)
{
    n_lists = 0;
    note_list(setup->first);
    note_view((struct rl_slice){"", 0});
    for (unsigned i = 0; i < CHANGES_MASTERS; i++) {
        snprintf(masters[i].info, sizeof masters[i].info,
                 "#\nrun_id:m%u\nrole:master\nmaster_replid2:0\nmaster_replid:m%u\n", i, i);
        masters[i].states = script_states_create(lua, masters[i].info);
    }
}

void changes_masters_end(void)
{
    for (unsigned i = 0; i < CHANGES_MASTERS; i++) {
        script_states_destroy(masters[i].states);
        free(masters[i].sights);
        masters[i].sights = NULL;
        masters[i].n_sights = 0;
    }
    for (size_t i = 0; i < views_by_hash.count; i++)
        free(views[i].text);
    free(views);
    free(questions);
    free(answers);
    views = NULL;
    questions = NULL;
    answers = NULL;
    seen_numbers_fini(&answers_by_hash);
    seen_numbers_fini(&views_by_hash);
    seen_numbers_fini(&questions_by_hash);
}
