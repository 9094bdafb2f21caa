/* A client's connections, in the place of lib/driver: for the loop that gives each client its turns. */
#ifndef SIM_PUBLIC_DRIVER_H
#define SIM_PUBLIC_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

/* When some client has something to do; INT64_MAX: none has. */
int64_t drivers_due(void);

/* A turn of the client that is due first. */
void drivers_run_due(void);

/* The process of some client is stopped. */
void drivers_stop(unsigned choice, int64_t until);

/* Nobody is stopped, and nobody waits for long before it connects again. */
void drivers_heal(void);

/* No client is left. */
bool drivers_all_ended(void);

/* Until when some process was stopped lately. */
int64_t drivers_stopped_until(void);

#endif
