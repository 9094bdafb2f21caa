/* One command for all masters, outside of locks: asked where it can be, awaited for node_timeout, and decided by a
 * quorum of answers (votes/quorum.h). */
#ifndef RL_HOST_QUORUM_READ_H
#define RL_HOST_QUORUM_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "host/transport.h"
#include "util/list.h"
#include "votes/outcome.h"
#include "votes/quorum.h"

struct rl_host;
struct rl_quorum_read;

enum rl_read_scope {
    RL_ASK_VOTERS,   /* masters whose votes count at present: what others know of locks is not to be trusted */
    RL_ASK_ADMITTED, /* masters in quarantine, too */
};

struct rl_quorum_reader {
    void *ctx;
    enum rl_read_scope scope;

    /* Appends the command for one master to the host's scratch, which is empty. false: out of memory. */
    bool (*command)(void *ctx, unsigned node);

    /* The answer of a master that is awaited. Returns RL_DETAIL_NONE if it counts, and otherwise why not. */
    enum rl_detail (*answered)(void *ctx, unsigned node, const struct rl_reply *reply, uint32_t latency_us);

    /* A master will not answer, or its answer does not count. */
    void (*failed)(void *ctx, unsigned node, enum rl_detail why);

    /* The read's tally has changed; called at least once, from the loop or from rl_quorum_read_start(). The last call
     * finds it complete. The reader may end the read. */
    void (*changed)(void *ctx);
};

struct rl_quorum_read {
    struct rl_tally tally;
    struct rl_host *host;
    struct rl_list link;     /* in the host's list */
    struct rl_timer timer;
    struct rl_quorum_reader reader;
    uint32_t unasked;        /* masters whose first connection is on its way, or that are greeted by a new list */
    unsigned unanswered;     /* commands that the transport has yet to end */
    bool ended;              /* nobody wants the answers */
};

/* Asks. *ret_read is set before the reader is called for the first time. false: out of memory. */
bool rl_quorum_read_start(struct rl_host *host, const struct rl_quorum_reader *reader,
                          struct rl_quorum_read **ret_read);

/* The reader wants no more answers. NULL is allowed. */
void rl_quorum_read_end(struct rl_quorum_read *read);

/* For the host. */
void rl_quorum_read_replied(struct rl_quorum_read *read, unsigned node, const struct rl_tag *tag,
                         const struct rl_reply *reply);
void rl_quorum_read_dropped(struct rl_quorum_read *read, unsigned node);
void rl_quorum_reads_link(struct rl_host *host, unsigned node);
void rl_quorum_reads_adopt(struct rl_host *host, uint32_t newcomers); /* the list of masters has changed */
void rl_quorum_reads_fini(struct rl_host *host);

#endif
