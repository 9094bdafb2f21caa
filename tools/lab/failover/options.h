/* What the user asked for. */
#ifndef FAILOVER_OPTIONS_H
#define FAILOVER_OPTIONS_H

#include "lab/engines/run/contestants.h"
#include "masters/masters.h"
#include "options/masters.h"
#include "resource.h"
#include "scenario.h"

struct fo_options {
    bool wanted[FO_SCENARIOS];
    bool all;
    bool compare;
    const char *engines;                /* their names, as the user gave them; NULL: the library alone */
    const struct engine_contestant *engine; /* the one that is put to the test; NULL: the library */
    bool list;
    struct cli_masters masters; /* none: our own ... */
    bool tls;                   /* ... with TLS; others say so by their URLs */
    const char *hook;           /* the command that does faults to masters of others; NULL: there is none */
    uint32_t n_masters;         /* of our own, or of the list */
    enum masters_persistence persistence;
    enum fo_resource_kind resource;
    uint32_t clients;
    uint32_t rate;              /* requests a second, of all clients */
    uint32_t phase_ms;
    uint32_t ttl_ms;
    uint32_t max_ttl_ms;
    uint32_t deadline_ms;       /* of a request */
    uint32_t seed;
    uint32_t max_unavailable_ms; /* UINT32_MAX: whatever it takes */
    const char *json, *csv, *hgrm, *html, *markdown; /* files, NULL: not wanted */
    bool quiet;
};

/* Returns -1 to go on, else the exit code: help has been printed, or what is wrong. fo_options_free() in any case. */
int fo_options_parse(struct fo_options *options, int argc, char **argv);
void fo_options_free(struct fo_options *options);

/* The one that is put to the test, with the ttl of its library if it is to have that. */
void fo_options_choose(struct fo_options *options, const struct engine_contestant *contestant);

/* Is a master reached by TLS? */
bool fo_options_have_tls(const struct fo_options *options);

/* The time between two requests. */
int64_t fo_options_step_ns(const struct fo_options *options);

/* What a master has to wait after this has been done to it: 0 if it keeps its memory. */
uint32_t fo_options_quarantine_ms(const struct fo_options *options, enum fo_fault fault);

#endif
