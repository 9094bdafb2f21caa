/* `redlock-lab engine`: which lock engines there are, and what is wrong with one. */
#ifndef ENGINES_CHECK_H
#define ENGINES_CHECK_H

/* argv[0] is the subcommand's name. Returns the exit code, an enum cli_exit. */
int lock_engine_main(int argc, char **argv);

#endif
