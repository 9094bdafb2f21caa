/* One round of an operator's run (votes/change.h): what each master is asked, and what its answer tells. */
#ifndef RL_VOTES_CHANGE_ROUND_H
#define RL_VOTES_CHANGE_ROUND_H

#include "votes/change.h"

/* What master i is asked in this round; false: nothing. */
bool rl_change_question(const struct rl_change *change, size_t i, enum rl_join_mode *ret_mode);

/* Must its connection write nothing to master i in this round? */
bool rl_change_looks(const struct rl_change *change, size_t i);

/* Puts into a question to master i what is the run's own: mode, list and node id, the turn and the run that begin, the
 * incarnation that is told. It borrows from the change. */
void rl_change_fill(const struct rl_change *change, size_t i, struct rl_join_question *question);

/* The view that the question to master i carries. */
const struct rl_view *rl_change_view(const struct rl_change *change, size_t i);

/* It as text; "" and 0: none, as long as nobody has changed the list. */
size_t rl_change_text(const struct rl_view *view, char buffer[RL_VIEW_TEXT_MAX]);

/* The answer of master i; view: the one that its marker has now. */
void rl_change_answer(struct rl_change *change, size_t i, const struct rl_join_report *report, struct rl_slice view);

/* What the handshake has found under the name of master i: for one that no round has asked. */
void rl_change_note_name(struct rl_change *change, size_t i, const struct rl_join_report *report);

/* Are all names of `next` seen to lead to the masters that they are to name? If not, and `last`, change->why says what
 * is wrong; otherwise it may be seen later. */
bool rl_change_names_proven(struct rl_change *change, const struct rl_member_list *next, bool last);

/* Sets change->name and name_of if a master is asked under another name than the view has for it. */
void rl_change_find_spelling(struct rl_change *change);

/* Is it only another name of a master? By that it is looked at, and told nothing. */
bool rl_change_is_name(const struct rl_change *change, const struct rl_change_master *master);

/* For change.c: a master by its node id, or NULL; the masters of a list, each once; the names that the run's view has
 * for masters, and its node ids for the goal; the lists that a view has led over; and the questions of the next
 * round. */
struct rl_change_master *rl_change_find(struct rl_change *change, const char *node_id);
void rl_change_add(struct rl_change *change, const struct rl_member_list *list);
void rl_change_take_names(struct rl_change *change);
void rl_change_see(struct rl_change *change, const struct rl_view *view);
void rl_change_begin_round(struct rl_change *change);

/* Ends the run: the sentence begins with the name of a master, and may end with one. */
void rl_change_stop(struct rl_change *change, const char *name, const char *what, const char *of);

#endif
