#include "ticker.h"

#include <errno.h>
#include <sched.h>

#define BEAT_NS INT64_C(1000000)

static void sleep_until(int64_t at_ns)
{
    const struct timespec at = {(time_t)(at_ns / 1000000000), (long)(at_ns % 1000000000)};

    while (clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &at, NULL) == EINTR)
        ;
}

uint32_t fo_tickers(void)
{
    cpu_set_t allowed;
    int n = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;

    return n < FO_TICKERS ? (uint32_t)n : FO_TICKERS;
}

/* Stays where it is if that cannot be. */
static void move_to(uint32_t n)
{
    cpu_set_t allowed, one;
    size_t cpu = 0;

    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    while (cpu < CPU_SETSIZE && !(CPU_ISSET(cpu, &allowed) && n-- == 0))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

/* In every interval that it reaches into. */
static void note(struct fo_shared *shared, int64_t from_ns, int64_t to_ns)
{
    uint32_t late_us = (uint32_t)((to_ns - from_ns) / 1000);

    for (int64_t i = (from_ns - shared->start_ns) / FO_BUCKET_NS;
         i <= (to_ns - shared->start_ns) / FO_BUCKET_NS && i >= 0 && i < FO_STALLS; i++) {
        uint32_t longest_us = atomic_load(&shared->stalls_us[i]);

        while (late_us > longest_us && !atomic_compare_exchange_weak(&shared->stalls_us[i], &longest_us, late_us))
            ;
    }
}

int fo_ticker_process(struct fo_shared *shared, uint32_t n)
{
    int64_t next_ns = fo_now_ns();

    move_to(n);
    while (!atomic_load(&shared->finished)) {
        int64_t now_ns;

        next_ns += BEAT_NS;
        sleep_until(next_ns);
        now_ns = fo_now_ns();
        if (shared->start_ns && next_ns > shared->start_ns)
            note(shared, next_ns, now_ns);
        if (now_ns > next_ns)
            next_ns = now_ns;
    }
    return 0;
}
