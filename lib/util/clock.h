/* The client's clock: nanoseconds that advance by whichever has advanced more, CLOCK_BOOTTIME (counts suspend, slewed
 * by NTP) or CLOCK_MONOTONIC_RAW (not slewed, stops in suspend).
 *
 * protocol: "Elapsed time = max of the differences of CLOCK_BOOTTIME and CLOCK_MONOTONIC_RAW." Both are compared with
 * a common base that moves on every RL_CLOCK_WINDOW_NS; the larger steps of the windows add up. So a difference of two
 * instants is at least the larger of the two differences, but for what the two clocks drift apart within one window
 * (5 us at NTP's 500 ppm; the drift allowance has room for milliseconds). Adding up at every single reading would
 * add up the noise of the readings, too: some 30 ns each, or as long as a thread that is interrupted between the two
 * has to wait. Hence a window lasts until the two agree, but for their rates; or, after a suspend or while one of them
 * is slewed by more than NTP does, for RL_CLOCK_LONGEST_WINDOW_NS. */
#ifndef RL_UTIL_CLOCK_H
#define RL_UTIL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "util/instant.h"

#define RL_CLOCK_WINDOW_NS (10 * RL_NS_PER_MS)
#define RL_CLOCK_LONGEST_WINDOW_NS (20 * RL_NS_PER_MS)
#define RL_CLOCK_NOISE_NS (20 * RL_NS_PER_US)

struct rl_clock {
    int64_t base_boot_ns; /* one pair of readings ... */
    int64_t base_raw_ns;
    int64_t base_ns;      /* ... and the instant that they stood for */
    int64_t now_ns;       /* the latest instant: it never goes back */
};

/* How far this client's clocks are ahead of the system's: 0, unless masters are simulated and a test lets time pass. */
extern _Atomic int64_t rl_clock_ahead_ns;

void rl_clock_init(struct rl_clock *clock);

/* Reads both clocks, again where the thread was interrupted between the two, and advances. */
struct rl_instant rl_clock_now(struct rl_clock *clock);

/* The arithmetic alone: readings in, instant out. rl_clock_now() calls it with the two system clocks. */
struct rl_instant rl_clock_advance(struct rl_clock *clock, int64_t boot_ns, int64_t raw_ns);

/* --- Instants that leave the process -------------------------------------------------------------------------- */

/* Which clock they are of. CLOCK_BOOTTIME begins anew with each boot, and is another one in each time namespace. */
struct rl_clock_identity {
    char boot[40];       /* the kernel's boot ID */
    char name_space[96]; /* its name, and how far its clocks are from the machine's; "" if that is all the kernel has */
};

/* False: /proc does not tell; errno is why. */
bool rl_clock_identify(struct rl_clock_identity *ret_identity);

/* Are the clocks of this name space the machine's own? */
bool rl_clock_is_machines(const char *name_space);

/* What the kernel says, also where something stands between the program and the C library's clock, as libfaketime does:
 * readings of two processes are only comparable so. */
int64_t rl_clock_kernel_ns(clockid_t id);

#endif
