/* What a program may do inside a callback: the deeds of test_nested.c, and what they act on. */
#ifndef TESTS_NESTED_H
#define TESTS_NESTED_H

#include "world.h"

/* Two clients with three locks; `reported` is the one whose callback it is. */
extern struct redlock_client *mine, *theirs;
extern struct redlock_lock *reported, *neighbour, *foreign;
extern struct outcome bystander;

#define N_DEEDS 10

extern void (*const deeds[N_DEEDS])(void);

#endif
