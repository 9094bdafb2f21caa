/* What the oracles know of a claim. Boxes are never used twice within a world,
 * so a box's number names one value for ever, and a use after disposal shows. */
#ifndef SIM_BOX_H
#define SIM_BOX_H

#include <stdbool.h>
#include <stdint.h>

#include "votes/claim.h"
#include "network.h"

#define TOKEN_TEXT 16
#define BOX_NONE 0u

struct box {
    uint32_t id;
    uint8_t client;
    uint8_t handle;
    uint8_t key;
    uint8_t token_size;
    uint32_t life;      /* of the client */
    uint32_t pending;   /* commands without a reply */
    uint32_t max_ttl_ms; /* of all commands that it was named in */
    bool foreign;       /* of a client that knows nothing of queues */
    bool enqueued;      /* may be notified */
    uint32_t origin;    /* the claim that has made the value, if another one has: released or adopted */
    uint32_t strays;    /* masters on which it was set or extended by a ghost: nobody could roll that back */
    bool disposed;
    bool unsettled;     /* its rollback was pending when everything healed */
    bool orphaned;      /* its client's process is gone */
    bool let_go;        /* its handle was detached: the value stays */
    bool excused;       /* a clock step has voided what the library promises for it */
    bool timed;         /* a clock has been set while it lived: its ttl says nothing about the true time */
    bool fenced;
    uint32_t replaces;  /* the box of the value whose place this one is to take; BOX_NONE */
    bool own;           /* named outside its client: never another hold's */
    bool rolled_back;   /* its rollback has been handed to the host: nothing may set it any more */
    char token[TOKEN_TEXT];
    bool knowing;       /* it was accepted by a client that had known all clocks for long enough: oracle_steps.c */
    int64_t begun;      /* true time of the attempt's beginning ... */
    int64_t accepted;   /* ... and of its end, if it was accepted */
    int64_t lease_ends[MAX_MASTERS]; /* of its place in the queue, by the master's clock in ms; 0: it has had none */
    int64_t lost[MAX_MASTERS]; /* a memory that was lost held it: true time until which it would have */
    const struct rl_claim *claim; /* while there is one: the latest */
    uint32_t n_claims; /* ... and how many there are: what is held is copied when the list of masters changes */
};

struct box_pool {
    struct box **chunks;
    uint32_t n_chunks;
    uint32_t used;
};

void box_pool_fini(struct box_pool *pool);
struct box *box_take(struct box_pool *pool); /* zero but for its id, which starts at 1 */
struct box *box_get(const struct box_pool *pool, uint32_t id);

/* Whose value this is; NULL: nobody's. */
struct box *box_of_token(const struct box_pool *pool, const char *token, size_t size);

/* The first of the claims that share a value: what is noted for all of them is noted there. */
struct box *box_maker(const struct box_pool *pool, uint32_t id);

#endif
