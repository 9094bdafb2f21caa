/* Operators who change the list of masters (rules 15): they carry out the run that ships (votes/change.h). Here is what
 * is around it: when a run begins, goes on, sleeps and dies, and what it asks the machines. */
#ifndef SIM_OPERATOR_CHANGE_H
#define SIM_OPERATOR_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "simulated/clockwork.h"
#include "network.h"
#include "plan.h"
#include "votes/change.h"
#include "votes/change_round.h"

struct world;

#define VIEW_ROOM 2600 /* for the text of a view with nine masters */
#define MAX_ERRANDS 64

/* --- operator_errands.c: what JOIN is asked at one machine -------------------------------------------------------- */

/* On its way there, or back. */
struct errand {
    bool in_use;
    bool answers;
    uint8_t machine;
    uint8_t mode;       /* enum rl_join_mode */
    uint8_t list;
    uint8_t operator;
    uint32_t run;       /* whose it is: another one does not hear of it ... */
    uint32_t round;     /* ... nor this one in another round */
    size_t place;       /* of the machine, in the run */
    int64_t number;     /* the turn */
    char view[VIEW_ROOM];
    char told[RL_INCARNATION_MAX + 1];
    char node_id[RL_ID_SIZE]; /* "": the machine's own */
    /* The answer: */
    struct rl_join_report report;
    char stored[VIEW_ROOM]; /* the view of the marker */
};

/* Sends it away; false: there are too many. change_on_answer() is called, or never. */
bool errand_send(struct world *world, const struct errand *errand);
void errand_on_event(struct world *world, unsigned index);

/* Is anything of this mode on its way to a machine? */
bool errand_is_under_way(const struct world *world, enum rl_join_mode mode);

/* --- operator_change.c: who carries out runs ---------------------------------------------------------------------- */

struct operator {
    struct rl_change run;
    struct clockwork clock;
    uint32_t number;      /* of the run that is carried out; 0: none is */
    uint32_t round;
    bool asking;          /* a round is under way */
    bool declared;        /* new members have been declared, as far as that is done here */
    bool done;            /* the goal is reached, or nothing more is tried */
    int64_t asked_at;     /* true time of the beginning of the round */
    int64_t asleep_until; /* true time */
    uint16_t cut;         /* set of machines that cannot be reached ... */
    int64_t cut_until;    /* ... until then: true time */
};

/* The latest view that a master has forgotten. */
struct lost_view {
    char text[VIEW_ROOM]; /* "": none, or it has been reminded of it */
    struct rl_epoch epoch;
    uint8_t list;
    int64_t due;          /* true time */
};

struct change {
    uint32_t runs;
    bool began;
    bool healed;
    uint8_t last;        /* the list of the latest view that has stood */
    uint16_t named;      /* set of machines that some view has named */
    unsigned n_lists;
    struct member_list lists[MAX_KNOWN_LISTS];
    struct lost_view lost[MAX_MASTERS];
    struct operator operators[MAX_OPERATORS];
    struct errand errands[MAX_ERRANDS];
};

void change_reset(struct world *world);
void change_start(struct world *world);
void change_on_event(struct world *world, unsigned operator);
void change_on_answer(struct world *world, const struct errand *errand);

/* In stories: a run begins, is over, or is cut off from a set of machines until that true time. */
void change_begin(struct world *world, unsigned operator);
void change_abandon(struct world *world, unsigned operator);
void change_cut(struct world *world, unsigned operator, uint16_t machines, int64_t until);

/* The list that was wanted has stood, or there is nothing to change. */
bool change_done(const struct world *world);

/* A list as views have it. */
void change_describe_list(struct world *world, const struct member_list *list, struct rl_member_list *ret_list);

/* The list that a program is configured with which starts now. */
unsigned change_configured(struct world *world);

/* A master is about to lose its memory. Assumption A4: somebody who knows its view greets it before its quarantine
 * ends. */
void change_note_loss(struct world *world, unsigned machine);

#endif
