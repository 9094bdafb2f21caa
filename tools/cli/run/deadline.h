/* When a command that runs under a lock must be warned, and when it must be gone.
 *
 * The lock is held for certain until `valid_until`, an instant that the library counts from before the first request
 * of the latest successful quorum. SIGKILL is sent a margin before that instant, since it has to be delivered by then:
 * the margin is what the scheduler may take to wake whoever sends it, and to find every process. The warning (SIGTERM)
 * is sent kill_after before valid_until.
 *
 * Instants are kept on two clocks, CLOCK_BOOTTIME and CLOCK_MONOTONIC_RAW, as in the library: the one that has
 * advanced more decides. Timers know only the first, so a sleep is cut short while much is left, and the clocks are
 * read again: a slewed clock then errs by a fraction of the rest only. */
#ifndef CLI_RUN_DEADLINE_H
#define CLI_RUN_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/clock.h"

/* What becomes of processes that the command has started, when it has ended itself. */
enum run_leftovers {
    RUN_LEFTOVERS_WAIT,  /* the lock is kept until they have ended */
    RUN_LEFTOVERS_END,   /* SIGTERM, and SIGKILL kill_after later */
    RUN_LEFTOVERS_LEAVE, /* they go on without the lock */
};

struct run_limits {
    int64_t kill_after_ns; /* SIGTERM this long before the end of the validity; 0: no warning */
    int64_t margin_ns;     /* SIGKILL this long before it */
};

enum run_step {
    RUN_STEP_WAIT, /* nothing is due */
    RUN_STEP_WARN,
    RUN_STEP_KILL,
};

struct run_due {
    enum run_step step;
    int64_t wait_ns; /* look again after this long at the latest */
};

/* What is to be done now, for a command that has been warned or not. */
struct run_due run_due_at(const struct run_limits *limits, struct instant valid_until, struct instant now,
                          bool warned);

/* The instant of CLOCK_BOOTTIME at which the wrapper kills if the guard has not: a tenth of the margin after the
 * guard's instant. Where that has passed already, as after a loss that nobody could foresee, the guard has this tenth
 * from now on. */
int64_t run_fallback_at_ns(const struct run_limits *limits, struct instant valid_until, struct instant now);

/* The least ttl that has room for the default margin. */
enum { RUN_LEAST_TTL_MS = 84 };

/* The margin unless told otherwise: a twentieth of the ttl, at least 20 ms, at most 1 s. */
uint32_t run_default_margin_ms(uint32_t ttl_ms);

/* The warning unless told otherwise: a sixth of the ttl ahead. */
uint32_t run_default_kill_after_ms(uint32_t ttl_ms);

/* NULL, or the sentence that says why these do not fit. A warning must not come before a renewal (at a third of the
 * ttl) has had a second chance, hence less than half of the ttl. */
const char *run_limits_fault(uint32_t ttl_ms, uint32_t kill_after_ms, uint32_t margin_ms);

/* Until when the lock is proven to be held, in memory that the wrapper shares with guard and child: the latest that the
 * wrapper has known counts, also if no packet has reached them. A value that is read while it is written lies between
 * the old one and the new one: it never lies behind both. */
struct run_bound;
struct run_bound *run_bound_create(void); /* NULL with errno */
void run_bound_destroy(struct run_bound *bound);
void run_bound_set(struct run_bound *bound, struct instant valid_until);
struct instant run_bound_get(struct run_bound *bound);

#endif
