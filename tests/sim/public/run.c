#include "run.h"

#include <stdarg.h>

#include "driver.h"
#include "net.h"
#include "programs.h"
#include "tickets.h"

/* For so long anything happens; in so long everybody must have been served after that; ... */
#define FAULTS_NS (30000 * RL_NS_PER_MS)
#define WINDING_NS (120000 * RL_NS_PER_MS)

/* ... and nothing is left on masters when every ttl and every lease has passed. */
#define CLOSING_NS (30000 * RL_NS_PER_MS)

#define MAX_STEPS 3000000

struct run run;
uint64_t run_counts[RUN_COUNTS];

void run_violation(const char *format, ...)
{
    va_list arguments;

    if (run.violated)
        return;
    run.violated = true;
    va_start(arguments, format);
    vsnprintf(run.violation, sizeof run.violation, format, arguments);
    va_end(arguments);
    run_note("VIOLATION: %s", run.violation);
}

void run_note(const char *format, ...)
{
    va_list arguments;

    if (!run.told)
        return;
    printf("%11.3f ms  ", (double)(net.now - 1000 * RL_NS_PER_MS) / 1e6);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

/* --- Faults ------------------------------------------------------------------------------------------------------- */

static int64_t lasting(void)
{
    return net.now + rng_scaled(&run.rng, 5 * RL_NS_PER_MS, 4000 * RL_NS_PER_MS);
}

static void strike(void)
{
    unsigned master = rng_below(&run.rng, net.n_masters);
    unsigned any = rng_below(&run.rng, 1000);
    int64_t until = lasting();
    unsigned fault = rng_below(&run.rng, 9);
    bool forgets;

    switch (fault) {
    case 0:
    case 1:
        forgets = fault == 0 && run.forgets;
        run_note("master %u crashes%s", master, forgets ? " and forgets" : "");
        net_crash(master, forgets, until);
        break;
    case 2:
        run_note("master %u hangs", master);
        net.masters[master].hung_until = until;
        break;
    case 3:
        if (run.forgets) {
            run_note("master %u is flushed", master);
            net_flush(master);
        }
        break;
    case 4:
        run_note("master %u refuses to write", master);
        net.masters[master].write_error = "READONLY You can't write against a read only replica.";
        net.masters[master].write_error_until = until;
        break;
    case 5:
        run_note("a connection is cut");
        net_cut(any);
        break;
    case 6:
        run_note("a connection is stuck");
        net_stick(any, until);
        break;
    case 7:
        run_note("a process is stopped");
        drivers_stop(any, until);
        break;
    default:
        run_note("master %u forgets its scripts", master);
        net.masters[master].has_scripts = false;
        break;
    }
}

/* --- The loop ----------------------------------------------------------------------------------------------------- */

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Until this time, or until it is true. */
static void go_on(int64_t until, bool (*reached)(void))
{
    for (int steps = 0; !run.violated; steps++) {
        int64_t next = earlier(earlier(net_due(), drivers_due()), earlier(run.next_fault, run.next_act));

        if (next >= until || (reached && reached()))
            break;
        if (steps == MAX_STEPS) {
            run_violation("it does not come to rest");
            break;
        }
        if (next > net.now)
            net.now = next;
        if (run.next_fault <= net.now) {
            strike();
            run.next_fault = net.now + rng_scaled(&run.rng, 20 * RL_NS_PER_MS, 5000 * RL_NS_PER_MS);
        } else if (run.next_act <= net.now) {
            programs_act();
            run.next_act = net.now + rng_scaled(&run.rng, 20 * RL_NS_PER_US, 200 * RL_NS_PER_MS);
        } else if (net_due() <= net.now) {
            net_run_due();
        } else {
            drivers_run_due();
        }
        programs_check();
        tickets_check();
    }
    if (!run.violated && net.now < until && !(reached && reached()))
        net.now = until;
}

static void finish(void)
{
    char example[200];

    run.next_fault = run.next_act = INT64_MAX;
    net_heal();
    drivers_heal();
    run.phase = RUN_WINDING;
    run_note("--- all has healed");
    programs_wind_up();
    go_on(net.now + WINDING_NS, tickets_none);
    if (!run.violated && !tickets_none())
        tickets_complain();
    run.phase = RUN_CLOSING;
    run_note("--- clients end");
    if (!run.violated)
        programs_close();
    go_on(net.now + CLOSING_NS, NULL);
    if (!run.violated && !drivers_all_ended())
        run_violation("a client has not ended");
    if (!run.violated && net_count_locks(example, sizeof example))
        run_violation("something is left: %s", example);
    run.phase = RUN_OVER;
}

bool run_seed(uint64_t seed, bool told)
{
    bool calm;

    run = (struct run){.seed = seed, .told = told};
    rng_init(&run.rng, seed, 2);
    net_start(seed, (unsigned)(rng_chance(&run.rng, 700) ? 3 : rng_between(&run.rng, 1, NET_MASTERS)));
    calm = rng_chance(&run.rng, 200);
    run.next_fault = calm ? INT64_MAX : net.now + 6000 * RL_NS_PER_MS;
    run.next_act = net.now;
    net.odd_permille = calm ? 0 : rng_below(&run.rng, 20);
    net.hiccup_permille = calm ? 0 : rng_below(&run.rng, 3);
    programs_start();
    go_on(net.now + FAULTS_NS, NULL);
    if (!run.violated)
        finish();
    programs_end();
    tickets_end();
    net_end();
    return !run.violated;
}
