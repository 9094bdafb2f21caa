/* The sub-commands and their exit codes. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "options/exit.h"

/* Each gets its own name as argv[0]. */
int run_main(int argc, char **argv);
int lock_main(int argc, char **argv);
int extend_main(int argc, char **argv);
int unlock_main(int argc, char **argv);
int check_main(int argc, char **argv);
int break_main(int argc, char **argv);
int ls_main(int argc, char **argv);
int top_main(int argc, char **argv);
int status_main(int argc, char **argv);
int latch_main(int argc, char **argv);
int nodes_main(int argc, char **argv);
int agent_main(int argc, char **argv);
int demo_main(int argc, char **argv);

#endif
