#include "run_rounds.h"

#include <check.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "locks_rig.h"

static const char *worker;
static int64_t least_gap_ns = INT64_MAX;
static int64_t least_margin_ns = INT64_MAX;

void round_set_worker(const char *path)
{
    worker = path;
}

void round_take_extremes(int64_t *ret_gap_ns, int64_t *ret_margin_ns)
{
    *ret_gap_ns = least_gap_ns;
    *ret_margin_ns = least_margin_ns;
    least_gap_ns = INT64_MAX;
    least_margin_ns = INT64_MAX;
}

/* Neither masters nor the tested processes have a right to be woken at once. A lock lasts until its next renewal where
 * its process or the masters stand still for two seconds, and whoever has to kill has as long. */
void round_start(struct tool *run, const struct round *round, const struct request *request)
{
    const char *words[24] = {"run",          "--key",  round->key,      "--ttl", "9s", "--wait", "35s",
                             "--kill-after", "2200ms", "--kill-margin", "2s"};
    size_t n = 11;

    if (request->nodes) {
        words[n++] = "--nodes";
        words[n++] = request->nodes;
    }
    words[n++] = "--profile";
    words[n++] = request->profile ? request->profile : "guarded";
    for (const char *const *option = request->options; *option; option++)
        words[n++] = *option;
    words[n++] = worker;
    words[n++] = round->file;
    words[n++] = request->how;
    words[n++] = request->ms;
    words[n] = NULL;
    tool_start(run, words);
}

void round_open(struct round *round, unsigned number)
{
    int fd;

    round->number = number;
    snprintf(round->key, sizeof round->key, "round-%u", number);
    snprintf(round->file, sizeof round->file, "%s/log-%u", masters_dir(masters), number);
    fd = open(round->file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, sizeof(struct work_log)), 0);
    round->log = mmap(NULL, sizeof(struct work_log), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ck_assert_ptr_ne(round->log, MAP_FAILED);
    close(fd);
}

/* The commands of the first run are all those before the last slot, which is the second one's. */
static void expect_no_overlap(const struct round *round)
{
    unsigned used = atomic_load(&round->log->used);
    const struct work_slot *second = &round->log->slots[used - 1];

    ck_assert_uint_ge(used, 2);
    ck_assert_uint_le(used, WORK_SLOTS);
    for (unsigned i = 0; i + 1 < used; i++) {
        int64_t gap_ns = second->first - round->log->slots[i].latest;

        ck_assert_msg(gap_ns > 0, "%s: two commands at work for %" PRId64 " us", round->key, -gap_ns / 1000);
        if (gap_ns < least_gap_ns)
            least_gap_ns = gap_ns;
    }
}

void round_close(struct round *round)
{
    expect_no_overlap(round);
    munmap(round->log, sizeof(struct work_log));
    unlink(round->file);
}

void round_expect_ended_in_time(const struct round *round)
{
    for (unsigned i = 0; i + 1 < atomic_load(&round->log->used); i++) {
        const struct work_slot *slot = &round->log->slots[i];
        int64_t left_ns = slot->valid_until - slot->latest;

        ck_assert_msg(left_ns > 0, "%s: at work %" PRId64 " us after its lock", round->key, -left_ns / 1000);
        if (left_ns < least_margin_ns)
            least_margin_ns = left_ns;
    }
}
