/* Latches (rules 12): named parties arrive, and once all have, everybody may know it.
 *
 * All that a handle wants of the masters is one read, which is repeated: every half second while something is
 * pending, and every third of max_ttl after that. What it says depends on what the handle knows:
 *
 *     the party has arrived        record its name
 *     somebody waits for the rest  and answer with the names, and tell this client when the latch opens
 *     the latch is known to be open    and record that
 *
 * Masters in quarantine are asked, too. No vote protects a name, and a name that any master shows has arrived. */
#ifndef RL_HOST_LATCH_H
#define RL_HOST_LATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <redlock/options.h>

#include "host/quorum_read.h"
#include "kinds/latch.h"
#include "util/instant.h"
#include "util/list.h"
#include "util/slice.h"
#include "util/wheel.h"

struct rl_host;
struct rl_key;
struct rl_latch;

/* The parties of a latch that have arrived: a set of names, in the order of their bytes. A name stays where it is in
 * memory, since results point at it. */

struct rl_latch_name {
    unsigned char size;
    char text[RL_LATCH_PARTY_BYTES + 1]; /* ends with a 0 */
};

struct rl_latch_names {
    const struct rl_latch_name **at; /* in order */
    struct rl_latch_name *store;     /* as they have come */
    size_t n;
    size_t room;
};

/* An empty set with room for so many names. false: out of memory; there is nothing to free. */
bool rl_latch_names_init(struct rl_latch_names *names, size_t room);
void rl_latch_names_fini(struct rl_latch_names *names);

/* Adds the name of a party, if it is not there already, and if there is room. */
void rl_latch_names_add(struct rl_latch_names *names, struct rl_slice name);

enum rl_latch_op {
    RL_LATCH_ARRIVE,
    RL_LATCH_AWAIT,
    RL_LATCH_N_OPS,
};

struct rl_latch_config {
    struct rl_slice name; /* behind the client's prefix and RL_LATCH_NAME */
    uint32_t parties;
    uint64_t generation;
    struct rl_slice party; /* empty: the handle only waits */
    uint32_t keep_ms;

    /* An operation has ended, from the loop or inside rl_latch_start(): OK, DEADLINE, OTHER_PARTIES or OTHER_GENERATION
     * of redlock/status.h. cause: of DEADLINE, 0 or NO_QUORUM. It must not end the latch. */
    void (*done)(struct rl_latch *latch, enum rl_latch_op op, int status, int cause);
};

/* The latest that one master has said. */
struct rl_latch_node {
    enum rl_detail why; /* the answer does not count; NONE: it does, or there has been none */
    bool answered;
    bool arrived;       /* it has recorded the party */
    bool open;
    uint32_t latency_us;
    size_t revision_size;
    char revision[RL_LATCH_REVISION_BYTES];
};

struct rl_latch {
    struct rl_list link; /* in the host's list */
    struct rl_host *host;
    struct rl_key *key;
    struct rl_latch_config config; /* without the party; the name is the end of the key */
    struct rl_latch_name party;
    struct rl_latch_names names;

    struct {
        bool pending;
        bool once;                 /* it ends with the round that is under way */
        struct rl_instant deadline;
    } ops[RL_LATCH_N_OPS];

    bool arrives; /* the party has arrived: each round says so */
    bool open;    /* all parties have arrived: each round says so */
    bool over;    /* so many masters refuse that nothing can be recorded: no arrival is repeated */
    uint64_t passed_generation;
    size_t passed_size; /* 0: no generation before this one is known to have opened */
    char passed[RL_LATCH_PASSED_BYTES];

    struct rl_quorum_read *read; /* the round under way, or NULL */
    struct rl_timer timer;
    struct rl_instant started;    /* the latest round */
    struct rl_instant next;       /* the next one; RL_NEVER: none, or one is under way */
    bool again;                   /* there is news for which another round is wanted at once */
    bool asked_open;              /* the round has told masters that the latch is open */
    bool asked_without_passed;    /* the round has not told them of a generation that is known now */
    uint32_t recorded;            /* masters that have recorded the party in this round */
    uint32_t opened;              /* masters that have recorded that the latch is open */
    struct rl_latch_node nodes[REDLOCK_MAX_MASTERS];
};

/* false: out of memory; there is nothing to free. */
bool rl_latch_init(struct rl_host *host, struct rl_latch *latch, const struct rl_latch_config *config);

/* Nothing is told any more. */
void rl_latch_fini(struct rl_latch *latch);

/* Begins an operation, which must not be pending; ARRIVE needs a party. once: masters are asked once, and the deadline
 * has no meaning. */
void rl_latch_start(struct rl_latch *latch, enum rl_latch_op op, struct rl_instant deadline, bool once);

/* Ends an operation, of which nothing is told. false: it was not pending. */
bool rl_latch_cancel(struct rl_latch *latch, enum rl_latch_op op);

/* Asks no more. */
void rl_latch_stop(struct rl_latch *latch);

/* For the host: masters can be asked again, or messages may have been missed; a message has come. */
void rl_latches_check(struct rl_host *host);
void rl_latches_adopt(struct rl_host *host, uint32_t newcomers); /* the list of masters has changed */
void rl_latches_message(struct rl_host *host, struct rl_slice key);

#endif
