/* A wrong wall clock for a server of tools/masters, right at first; steps and drifts take effect before the call
 * returns, also in a server that is running. The server's monotonic clock stays right.
 *
 *     struct clock_fault *fault = clock_fault_create();
 *     struct masters_setup setup = {.environment = clock_fault_environment(fault)};
 *     ...
 *     clock_fault_step_ms(fault, -60000);
 *
 * Servers that are given the same fault share the same wrong time; it survives their restarts. A fault is to be used by
 * one thread at a time, in the process that has created it or in one forked by that. */
#ifndef TESTS_CLOCK_FAULT_H
#define TESTS_CLOCK_FAULT_H

#include <stdint.h>

struct clock_fault;

struct clock_fault *clock_fault_create(void); /* fails the test if it cannot be had */
void clock_fault_destroy(struct clock_fault *fault); /* after the servers; NULL is fine */

/* For masters_setup.environment; valid until clock_fault_destroy(). */
const char *const *clock_fault_environment(const struct clock_fault *fault);

void clock_fault_step_ms(struct clock_fault *fault, int64_t by_ms);
/* From now on it runs fast (or slow, if negative) by so many millionths: 50000 is 5 %. 0 ends the drift and leaves the
 * clock as wrong as it is then. */
void clock_fault_drift_ppm(struct clock_fault *fault, int64_t ppm);
/* It shows this time (since 1970) until it is stopped at another one, or runs again: 0. Servers may go on for up to a
 * millisecond from the time that they have read last. */
void clock_fault_stop_us(struct clock_fault *fault, int64_t time_us);
/* How far it is ahead of the real time now. */
int64_t clock_fault_ahead_us(const struct clock_fault *fault);

#endif
