/* The lists of masters of a world: one, or those of a change. Names of lists and masters, as markers have them. */
#ifndef SIM_PLAN_MEMBERS_H
#define SIM_PLAN_MEMBERS_H

#include <stdbool.h>

struct member_list;
struct plan;

/* Ids: UUIDs where the list changes, and short words elsewhere. */
const char *id_of_list(const struct plan *plan, unsigned list);
const char *id_of_master(const struct plan *plan, unsigned master);

/* The same as a program has it that knows the master by the name in this list alone. */
const char *id_of_name(const struct plan *plan, const struct member_list *list, unsigned master);

/* Which list has this id. */
unsigned list_by_id(const struct plan *plan, const char *id);

/* Does each quorum of one list share a master with each quorum of the other, where only these masters vote, or all? */
bool voters_meet(const struct member_list *a, unsigned of_a, const struct member_list *b, unsigned of_b);
bool lists_meet(const struct member_list *a, const struct member_list *b);

/* For traces: its masters and its quorum, "m1 m2/2". The text is lost with the next call. */
const char *name_of_list(const struct plan *plan, const struct member_list *list);

/* The master that "m1" or "m1'" names, with anything behind it, and the machine to which that leads. */
unsigned machine_by_name(const char *name);
bool is_other_name(const char *name);
unsigned machine_behind(const struct plan *plan, const char *name);

/* The list that there is where none is planned. */
void plan_members_none(struct plan *plan);

#endif
