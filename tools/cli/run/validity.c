/* How long the lock is proven to be held: read after every turn of the loop, and told to the guard. */
#include "cli/run/validity.h"

#include <sys/timerfd.h>

#include "cli/clock.h"
#include "cli/run/link.h"
#include "cli/run/publish.h"
#include "cli/run/report.h"

enum {
    NS_PER_MS = 1000000,
    NS_PER_S = 1000000000,
    NOTABLE_NS = 5 * NS_PER_MS, /* less is noise of reading two clocks one after the other */
    READINGS = 4,
};

/* The clock is read first, so that a pause between the two readings can only make the end seem nearer; and again, to
 * tell such a pause from the truth. */
struct instant run_read_valid_until(const struct run *run)
{
    struct instant best = {0};

    for (int i = 0; i < READINGS; i++) {
        struct instant now = instant_now();
        struct instant until = instant_after(now, grip_remaining_ns(&run->grip));

        if (i == 0 || until.boot_ns > best.boot_ns)
            best = until;
        if (instant_now().boot_ns - now.boot_ns < NS_PER_MS)
            break;
    }
    return best;
}

void keeper_set_fallback(const struct keeper *keeper)
{
    const struct run *run = keeper->run;
    int64_t ns = run_fallback_at_ns(&run->options->limits, run->valid_until, instant_now());
    struct itimerspec at = {.it_value = {ns / NS_PER_S, ns % NS_PER_S}};

    if (!run->options->ignore_loss)
        timerfd_settime(keeper->fallback, TFD_TIMER_ABSTIME, &at, NULL);
}

static void publish_renewal(struct run *run)
{
    run_publish(run, "held");
    if (run->renewed)
        run_report(run, RUN_LEVEL_DETAIL, "renewed", RUN_HELD_FACTS(run), "%s %s renewed: %u/%zu masters, %lld ms left",
                   run->options->wanted.title, run->options->wanted.verb, grip_nodes_ok(&run->grip),
                   run->options->common.masters.count, (long long)grip_remaining_ms(&run->grip));
    run->renewed = false;
}

/* Nothing brings the lock back. It may have ended before its time, if masters no longer have it. */
static void lose(struct keeper *keeper)
{
    struct run *run = keeper->run;
    struct instant now = instant_now();

    if (run->lost)
        return;
    run->lost = true;
    if (instant_left(now, run->valid_until) < 0)
        run->valid_until = now;
    keeper_order_deadline(keeper);
    keeper_set_fallback(keeper);
    run_publish(run, "lost");
}

void keeper_refresh(struct keeper *keeper)
{
    struct run *run = keeper->run;
    struct instant until = run_read_valid_until(run);
    int64_t moved_ns = instant_left(until, run->valid_until);

    if (run->lost || grip_remaining_ns(&run->grip) <= 0) {
        lose(keeper);
    } else if (moved_ns >= NOTABLE_NS || moved_ns <= -NOTABLE_NS) {
        run->valid_until = until;
        keeper_order_deadline(keeper);
        keeper_set_fallback(keeper);
        publish_renewal(run);
    }
}
