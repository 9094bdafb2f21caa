/* Exit codes of the commands; `run` and `failover` have their own. */
#ifndef OPTIONS_EXIT_H
#define OPTIONS_EXIT_H

enum cli_exit {
    CLI_OK = 0,
    CLI_NOT_HELD = 1,       /* not acquired, not held; for nodes: no safe quorum; for demo: a check failed */
    CLI_USAGE = 2,          /* wrong command line, or options that the library refuses */
    CLI_INFRASTRUCTURE = 3, /* no quorum of masters reachable, out of memory, output not written ... */
};

#endif
