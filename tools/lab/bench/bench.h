/* `redlock-lab bench`: how fast the library locks, over real masters, and against a bare minimum of C. */
#ifndef BENCH_H
#define BENCH_H

/* argv[0] is the subcommand's name. Returns the exit code: 0 measured, 1 a promise was broken (see
 * bench_broken()), 2 wrong options, 3 could not measure. */
int bench_main(int argc, char **argv);

#endif
