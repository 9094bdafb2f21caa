/* What the tests of who turns the loop share: a world with three masters, and one mutex. */
#ifndef TESTS_LEAD_RIG_H
#define TESTS_LEAD_RIG_H

#include <check.h>

#include "service_rig.h"

extern struct world world;
extern struct redlock_mutex *mutex; /* for "key" */

void lead_open(void);
void lead_close(void);

/* Ends with the lead free, as soon as nobody else is in a call. */
void lead_lock_and_unlock(void);

/* CLOCK_MONOTONIC. */
int64_t lead_now_us(void);

#endif
