/* The callback contract: a call that returns 0 has its callback run exactly once, never inside of the call, and in
 * time; and none after an object is gone. */
#ifndef SIM_PUBLIC_TICKETS_H
#define SIM_PUBLIC_TICKETS_H

#include <stdbool.h>
#include <stdint.h>

/* One call, from its beginning to its callback, whose user_data it is. */
struct ticket;

/* It may take for ever. */
#define TICKET_FOREVER INT64_MAX

/* `object` is what the call is about, `player` who calls. within_ms: so long the operation may take. */
struct ticket *ticket_begin(const void *object, unsigned player, const char *call, int64_t within_ms);

/* What the call has returned. */
void ticket_begun(struct ticket *ticket, int status);

/* The callback runs. Returns who has called. */
unsigned ticket_end(struct ticket *ticket);

/* The object is about to be destroyed; it has been. */
void tickets_destroying(const void *object);
void tickets_destroyed(const void *object);

bool tickets_pending(const void *object, const char *call);

void tickets_check(void);
bool tickets_none(void);
void tickets_complain(void);
void tickets_end(void);

#endif
