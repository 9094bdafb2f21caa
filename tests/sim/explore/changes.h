/* Tiny worlds in which the list of masters changes (rules 15): operators' runs that ship (votes/change.h), and masters
 * that run the JOIN that ships. What a run asks is as late as it likes, or lost; a run may end at any moment, and
 * masters forget. In place of clients there are votes: a master has votes alive by the list that it stores whenever it
 * may vote, and for as long after that as a view stands.
 *
 * A world has numbers in place of what is large: of a master's state (script_states.h), of a run's, of a question, of a
 * view. What follows upon one is found out once. The clocks stand still: what lies ahead comes nearer with each tick,
 * so that worlds which differ by their age alone are the same. */
#ifndef SIM_CHANGES_H
#define SIM_CHANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "simulated/lua_host.h"
#include "search.h"
#include "votes/change.h"
#include "votes/join.h"

#define CHANGES_MASTERS 4
#define CHANGES_RUNS 3
#define CHANGES_LISTS 16
#define CHANGES_NOW_MS INT64_C(1000000)
#define CHANGES_TICK_MS INT64_C(1000)
#define CHANGES_MAX_TTL_MS 1000 /* a quarantine and a wait take two ticks */

/* Masters by bits. */
struct changes_list {
    uint8_t members;
    uint8_t quorum;
};

/* What is to be explored. */
struct changes_setup {
    struct search_setup search;
    uint8_t n_masters;
    struct changes_list first;
    struct changes_list goals[CHANGES_RUNS]; /* of each run; members 0: there is no such run */
    bool together;   /* runs need not wait for the end of the one before */
    uint8_t dead;    /* masters that no run reaches; clients do */
    uint8_t losses;  /* of memories */
    uint8_t late;    /* so many views at a time may be under way with nobody to hear the answer */
    bool aborts;     /* runs may be told to go back */
    uint8_t turns;   /* a run that would begin a higher turn ends */
};

/* --- Masters (changes_masters.c) ---------------------------------------------------------------------------------- */

/* What a marker shows. */
struct changes_sight {
    bool is_there;
    uint8_t left;  /* of its quarantine, in ticks */
    uint16_t view;
};

struct changes_view {
    struct rl_epoch epoch;
    uint8_t list;
};

void changes_masters_begin(struct lua_host *lua, const struct changes_setup *setup);
void changes_masters_end(void);

/* That has no marker; and one that stores the first list and is out of quarantine. */
uint32_t changes_empty(unsigned master);
uint32_t changes_settled(unsigned master);

/* A tick later. */
uint32_t changes_pass(unsigned master, uint32_t state);
struct changes_sight changes_see(unsigned master, uint32_t state);

/* The question has a number, by which it is put. 0: none. memory: how often the master has lost its memory. */
uint16_t changes_note_question(unsigned master, const struct rl_join_question *question);
unsigned changes_asked(uint16_t question);
bool changes_is_told(uint16_t question); /* it tells a view */
uint32_t changes_put(uint16_t question, uint32_t state, unsigned memory, uint16_t *ret_reply);
const struct rl_reply *changes_reply(unsigned master, uint16_t reply);

/* The question of a client that goes by the view, as it greets the master. */
uint16_t changes_greeting(unsigned master, uint16_t view);

/* View 0 is the configured list. Until the next view is noted. */
const struct changes_view *changes_view(uint16_t view);

void changes_describe_list(struct changes_list list, struct rl_member_list *ret_list);
const struct changes_list *changes_lists(unsigned *ret_n);

/* --- Runs (changes_runs.c) ---------------------------------------------------------------------------------------- */

enum {
    CHANGES_NOT_BEGUN,
    CHANGES_OVER,
    CHANGES_FIRST, /* from here on the number is that of a run that is going on */
};

/* What a run shows. */
struct changes_run {
    bool is_open; /* its round has begun */
    bool may_go_back;
    uint16_t questions[CHANGES_MASTERS]; /* of a round that has just begun; 0: none */
};

void changes_runs_begin(const struct changes_setup *setup);
void changes_runs_end(void);
uint32_t changes_run_start(unsigned run);
uint32_t changes_run_answer(uint32_t state, unsigned master, uint16_t reply);
uint32_t changes_run_end_round(uint32_t state);
uint32_t changes_run_abort(uint32_t state);
uint32_t changes_run_pass(uint32_t state);
const struct changes_run *changes_run_see(uint32_t state);

extern const struct search_rules changes_rules;

#endif
