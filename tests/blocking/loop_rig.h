/* What the tests of who turns the loop share: a world with three masters, and one mutex. */
#ifndef TESTS_LOOP_RIG_H
#define TESTS_LOOP_RIG_H

#include <check.h>

#include "service_rig.h"

extern struct redlock_mutex *mutex; /* for "key" */

void loop_open(void);

/* Ends with the loop free, as soon as nobody else is in a call. */
void loop_lock_and_unlock(void);

/* CLOCK_MONOTONIC. */
int64_t loop_now_us(void);

#endif
