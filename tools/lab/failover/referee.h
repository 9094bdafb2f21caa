/* The referee's judgement, without any process around it: from the clients' own words to the intervals in which each of
 * them believed to hold a key, and from those to what was broken. */
#ifndef FAILOVER_REFEREE_H
#define FAILOVER_REFEREE_H

#include <stddef.h>

#include "shared.h"

enum fo_ending {
    FO_OPEN,     /* held still, or until the validity ended without a word */
    FO_GIVEN_UP,
    FO_GONE,     /* lost */
    FO_CRASHED,  /* its client was killed */
};

/* One hold: [from, until), the latter being what is earliest of the end of the validity and the release. */
struct fo_hold {
    int64_t from_ns;
    int64_t until_ns;
    uint64_t fence;
    uint32_t key;
    uint32_t nodes;
    uint32_t client;
    enum fo_ending ending;
    char token[FO_TOKEN_SIZE];
};

/* Writes to the counter file of which more must be known before they can be judged. */
struct fo_writes {
    struct fo_write_note {
        int64_t at_ns;
        uint64_t fence;
        uint32_t key;
        uint32_t count; /* as it was read */
    } *at;
    size_t n;
    size_t room;
};

struct fo_referee {
    struct fo_hold *holds;
    size_t n;
    size_t room;
    size_t open[FO_MAX_CLIENTS][FO_ALL_KEYS]; /* index + 1 of the hold that is open; 0: none */
    uint32_t read[FO_MAX_CLIENTS];            /* records of each journal that have been taken */
    uint64_t late_acquired;
    uint64_t late_refused;
    uint64_t late_landed;
    uint64_t late_mixed;
    uint64_t stale_writes; /* refused by the fence although the writer's lock was valid */
    struct fo_writes late;    /* taken, with no validity left */
    struct fo_writes crossed; /* refused though valid: somebody else has written since the read */
    uint64_t mixed_writes;    /* found in other ways than by these */
    uint64_t written;
    bool out_of_memory;
};

/* All zero at first. */
void fo_referee_fini(struct fo_referee *referee);

/* One client's records, in its own order. */
void fo_referee_take(struct fo_referee *referee, const struct fo_record *record);

/* What is new in all journals. */
void fo_referee_read(struct fo_referee *referee, const struct fo_shared *shared);

/* All that is in the journals now, with the clients that were killed; free() it after fo_referee_fini(). NULL without
 * memory. */
struct fo_referee *fo_referee_replay(const struct fo_shared *shared);

/* The client's process was killed: it believes nothing any more. */
void fo_referee_crash(struct fo_referee *referee, uint32_t client, int64_t at_ns);

/* The hold of the key that is open now with validity beyond at_ns; NULL if there is none. */
const struct fo_hold *fo_referee_holder(const struct fo_referee *referee, uint32_t key, int64_t at_ns);

/* Counts over all holds that began before before_ns: later ones may still change by what has not been read. Fills in
 * everything but what it cannot know (foreign_releases, leaked_keys, probes), which it leaves alone. */
void fo_referee_judge(const struct fo_referee *referee, int64_t before_ns, struct fo_verdict *verdict);

#endif
