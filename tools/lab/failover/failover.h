/* `redlock-lab failover`: what masters that die, hang, forget, are cut off or get their clock set do to
 * those who lock, and whether there was ever a second holder. */
#ifndef FAILOVER_H
#define FAILOVER_H

/* argv[0] is the subcommand's name. Returns the exit code, see enum fo_exit. */
int failover_main(int argc, char **argv);

enum fo_exit {
    FO_OK = 0,
    FO_VIOLATION = 1,   /* a promise was broken: the referee says which */
    FO_TOO_LONG = 2,    /* nobody could lock for longer than --max-unavailable */
    FO_ENGINE = 3,      /* an engine broke the protocol, was silent, or ended: no measurement */
    FO_OWN_ERROR = 125, /* wrong options, or it could not be measured */
};

#endif
