/* The run of an operator's command that changes the list of masters (rules 15): its decisions alone.
 *
 * A run asks masters in rounds. Whoever carries it out asks, brings the answers, and ends the round when all have
 * answered or had their time:
 *
 *     rl_change_start
 *     rl_change_question  ->  ask  ->  rl_change_answer, of each that answers  ->  rl_change_end_round
 *     ... until change->stage is DONE or STOPPED; the next round begins at change->until
 *
 * It may end anywhere. The next run finds the newest view, and finishes it or goes back. */
#ifndef RL_VOTES_CHANGE_H
#define RL_VOTES_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "util/instant.h"
#include "votes/join.h"
#include "votes/view.h"

#define RL_CHANGE_WORDS_MAX (2 * RL_NAME_MAX + 200)

enum rl_change_stage {
    RL_CHANGE_BEGIN,   /* the run's turn begins at every master: who has which view? */
    RL_CHANGE_TELL,    /* the view is written */
    RL_CHANGE_WAIT,    /* it stands until no lock of the list before is alive: change->stands_at */
    RL_CHANGE_AGAIN,   /* ... and is looked at again */
    RL_CHANGE_PREPARE, /* new members wait for the end of their quarantine, or the next view for a quorum that votes */
    RL_CHANGE_DONE,
    RL_CHANGE_STOPPED, /* change->why */
};

/* What the run knows of a master. */
struct rl_change_master {
    struct rl_member member;
    char other_name_of[RL_ID_SIZE]; /* the master that this is to be another name of: it is only looked at; "" */
    bool answered;          /* in this round */
    bool absent;            /* it has no marker: it is greeted */
    bool forgot;            /* ... or one in quarantine: it counts for nothing */
    bool begun;             /* the run's turn has begun there, in this incarnation */
    bool has_view;          /* it stores the run's view, in this incarnation, and is out of quarantine */
    bool refused;           /* it follows another run */
    bool checked;           /* it has been looked at again, and was unchanged */
    bool asked;             /* in this round, in this mode */
    enum rl_join_mode mode;
    enum rl_join_event event;
    char incarnation[RL_INCARNATION_MAX + 1]; /* of its memory as it was shown last ... */
    char run_id[RL_RUN_ID_MAX + 1];           /* ... and of the server that showed it */
    uint32_t longest_ms;
    int64_t left_ms;        /* of its quarantine */
    uint64_t turn;          /* of the view that it stores; 0: none */
    uint32_t silent;        /* so many rounds have ended without an answer, since the latest one */
    bool heard;             /* it has answered the run at some time */
    struct rl_instant told_at; /* end of the round in which it was found to have the view; RL_NEVER: it has not */
};

struct rl_change {
    enum rl_change_stage stage;
    const char *why;
    struct rl_view view;         /* the run's latest; before its first TELL the newest that is known */
    struct rl_member_list goal;  /* `wanted`, with the node ids that the view has for these names */
    struct rl_member_list wanted;
    struct rl_member_list former; /* the masters of `wanted` in the same order, under their present names; empty */
    const char *name;            /* why it stops: a new name leads to another server than its master's ... */
    const char *name_of;         /* ... or, as a newcomer's, to this master's */
    bool told_once;              /* the view is the run's own */
    struct rl_view known;        /* the latest that some master has answered, with which empty memories are greeted */
    uint64_t turn;
    char run[sizeof ((struct rl_epoch *)0)->run];
    struct rl_drift_rule drift;
    struct rl_instant until;     /* the next round is not asked before */
    struct rl_instant stands_at; /* WAIT: end of the wait */
    struct rl_instant looked_at; /* AGAIN: its beginning */
    uint32_t rounds;             /* of BEGIN so far */
    uint32_t name_rounds;        /* in which names were looked at */
    size_t n;                    /* an answer may add masters */
    struct rl_change_master masters[2 * RL_MAX_NODES];
    size_t n_seen;               /* lists that any view has named which the run has seen */
    char seen[RL_HISTORY_MAX][RL_ID_SIZE];
    char words[RL_CHANGE_WORDS_MAX]; /* of change->why, where a master is named */
    /* Writes the id of a list, which all who name the same masters and quorum write alike. */
    void (*name_list)(void *ctx, struct rl_member_list *list);
    void *ctx;
};

/* From this view (epoch 0: the configured list, with its id and history) to that list. `former`: it is to be the same
 * masters as these, in this order, under other names; NULL. `run`: 16 hexadecimal digits, drawn for this run. */
void rl_change_start(struct rl_change *change, const struct rl_view *present, const struct rl_member_list *goal,
                     const struct rl_member_list *former, const char *run, const struct rl_drift_rule *drift,
                     void (*name_list)(void *ctx, struct rl_member_list *list), void *ctx);

/* All have answered, or had their time. */
void rl_change_end_round(struct rl_change *change, struct rl_instant now);

/* From the next end of a round on, which is due now, the run goes back to the list before its view; false: there is
 * none, or the view is that of the goal, from which it is a change of its own. */
bool rl_change_abort(struct rl_change *change);

/* How long a list must stand, with the longest lock that markers have shown to the run or to its client. */
int64_t rl_change_standing_ms(const struct rl_change *change, uint32_t longest_ms);

/* How many members of the run's list have stored its view, and vote. */
size_t rl_change_count_told(const struct rl_change *change);

#endif
