/* What a program may do inside a callback: the deeds of test_nested.c, and what they act on. */
#ifndef TESTS_NESTED_H
#define TESTS_NESTED_H

#include <redlock/set.h>

#include "world.h"

/* Two clients with four locks, one of which is shared and one a permit, and with a set; `reported` is the lock whose
 * callback it is, unless it is the set's or the permit's. */
extern struct redlock_client *mine, *theirs;
extern struct redlock_lock *reported, *neighbour, *permit, *foreign;
extern struct redlock_set *set;
extern struct outcome bystander;

#define N_DEEDS 10

extern void (*const deeds[N_DEEDS])(void);

#endif
