/* The public interface in virtual time: programs that call any function at any time, also from callbacks.
 *
 *     sim-public --seeds A..B     runs; the first that goes wrong ends it. Of what is counted nothing may be missing
 *     sim-public --seed N         one run, told */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "run.h"

static int usage(void)
{
    fputs("usage: sim-public --seeds A..B | --seed N\n", stderr);
    return 2;
}

#define NAME(count, name) [COUNT_##count] = (name),
static const char *const names[RUN_COUNTS] = {RUN_COUNTS_MAP(NAME)};
#undef NAME

/* false: something has never happened. */
static bool print_counts(void)
{
    bool complete = true;

    for (int i = 0; i < RUN_COUNTS; i++) {
        printf("%12" PRIu64 "  %s\n", run_counts[i], names[i]);
        complete &= run_counts[i] > 0;
    }
    return complete;
}

static int play(uint64_t from, uint64_t to, bool told)
{
    for (uint64_t seed = from; seed <= to; seed++) {
        if (!run_seed(seed, told)) {
            printf("seed %" PRIu64 ": %s\n", seed, run.violation);
            return 1;
        }
    }
    return print_counts() || told ? 0 : 1;
}

int main(int argc, char **argv)
{
    uint64_t from, to;

    if (argc != 3)
        return usage();
    if (strcmp(argv[1], "--seed") == 0 && sscanf(argv[2], "%" SCNu64, &from) == 1)
        return play(from, from, true);
    if (strcmp(argv[1], "--seeds") == 0 && sscanf(argv[2], "%" SCNu64 "..%" SCNu64, &from, &to) == 2)
        return play(from, to, false);
    return usage();
}
