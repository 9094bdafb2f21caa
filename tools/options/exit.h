/* Exit codes of the commands; `run` and `failover` have their own. */
#ifndef OPTIONS_EXIT_H
#define OPTIONS_EXIT_H

enum cli_exit {
    CLI_OK = 0,
    CLI_NOT_HELD = 1,       /* not acquired, not held; for nodes: no safe quorum; for demo: a check failed */
    CLI_USAGE = 2,          /* not as it was given: wrong options, or a file that cannot be read or written */
    CLI_INFRASTRUCTURE = 3, /* no answer that counts: no quorum of masters, out of memory, output not written */
    CLI_FOREIGN = 4,        /* the key is another program's, so that nobody can lock it */
};

#endif
