/* What the two sides of a wrong clock share: masters_clock_*() write it, the shim inside the server reads it.
 *
 * The faulty clock shows the real time plus
 *
 *     offset_ns + (elapsed since origin_ns, by CLOCK_MONOTONIC) * drift_ppm / 1000000.
 *
 * The three change together, so the writer makes `turn` odd meanwhile, and a reader who saw an odd turn, or two that
 * differ, looks again. A clock that has been stopped shows `stopped_ns` instead. All accesses are sequentially
 * consistent: other processes see them in this very order.
 * Header only, and nothing but arithmetic: the shim must not need any library. */
#ifndef MASTERS_CLOCK_FILE_H
#define MASTERS_CLOCK_FILE_H

#include <stdatomic.h>
#include <stdint.h>

#define CLOCK_FILE_VARIABLE "REDLOCK_TEST_CLOCK"

struct clock_file {
    _Atomic uint32_t turn;
    _Atomic int64_t offset_ns;
    _Atomic int64_t origin_ns;
    _Atomic int64_t drift_ppm;
    _Atomic int64_t stopped_ns; /* 0: the clock runs */
};

/* Whole seconds and the rest apart, so that days at any rate neither overflow nor lose a nanosecond. */
static inline int64_t clock_file_drifted_ns(int64_t elapsed_ns, int64_t drift_ppm)
{
    int64_t seconds = elapsed_ns / 1000000000;
    int64_t rest_ns = elapsed_ns % 1000000000;

    return seconds * drift_ppm * 1000 + rest_ns * drift_ppm / 1000000;
}

/* How far the faulty clock is ahead of the real one when CLOCK_MONOTONIC shows monotonic_ns. */
static inline int64_t clock_file_ahead_ns(const struct clock_file *file, int64_t monotonic_ns)
{
    for (;;) {
        uint32_t turn = atomic_load(&file->turn);
        int64_t offset_ns = atomic_load(&file->offset_ns);
        int64_t origin_ns = atomic_load(&file->origin_ns);
        int64_t drift_ppm = atomic_load(&file->drift_ppm);

        if (turn % 2 == 0 && atomic_load(&file->turn) == turn)
            return offset_ns + clock_file_drifted_ns(monotonic_ns - origin_ns, drift_ppm);
    }
}

/* What the faulty clock shows. */
static inline int64_t clock_file_shows_ns(const struct clock_file *file, int64_t real_ns, int64_t monotonic_ns)
{
    int64_t stopped_ns = atomic_load(&file->stopped_ns);

    return stopped_ns ? stopped_ns : real_ns + clock_file_ahead_ns(file, monotonic_ns);
}

/* One writer at a time. */
static inline void clock_file_step(struct clock_file *file, int64_t by_ns)
{
    atomic_fetch_add(&file->offset_ns, by_ns);
}

/* What has drifted until now stays; from now on the clock runs at the new rate. */
static inline void clock_file_drift(struct clock_file *file, int64_t monotonic_ns, int64_t drift_ppm)
{
    int64_t ahead_ns = clock_file_ahead_ns(file, monotonic_ns);

    atomic_fetch_add(&file->turn, 1);
    atomic_store(&file->offset_ns, ahead_ns);
    atomic_store(&file->origin_ns, monotonic_ns);
    atomic_store(&file->drift_ppm, drift_ppm);
    atomic_fetch_add(&file->turn, 1);
}

#endif
