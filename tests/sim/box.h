/* A claim's memory as its host keeps it, and what the oracles know of it. Boxes are never used twice within a world,
 * so a box's number names one value for ever, and a use after disposal shows. */
#ifndef SIM_BOX_H
#define SIM_BOX_H

#include <stdbool.h>
#include <stdint.h>

#include "core/claim.h"
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
    uint32_t pending;   /* commands that the host owes a reply */
    uint32_t max_ttl_ms; /* of all commands that it was named in */
    uint32_t origin;    /* the claim whose value this one undoes; 0: it has a value of its own */
    uint32_t strays;    /* masters on which it was set or extended by a ghost: nobody could undo that */
    bool disposed;
    bool owed;          /* was being undone when everything healed */
    bool orphaned;      /* its client's process is gone */
    bool let_go;        /* its handle was detached: the value stays */
    bool excused;       /* a clock step has voided what the library promises for it */
    bool timed;         /* a clock has been set while it lived: its ttl says nothing about the true time */
    char token[TOKEN_TEXT];
    _Alignas(struct rl_claim) unsigned char memory[sizeof(struct rl_claim) + MAX_MASTERS * sizeof(struct rl_slot)];
};

struct box_pool {
    struct box **chunks;
    uint32_t n_chunks;
    uint32_t used;
};

void box_pool_fini(struct box_pool *pool);
struct box *box_take(struct box_pool *pool); /* zero but for its id, which starts at 1 */
struct box *box_get(const struct box_pool *pool, uint32_t id);

static inline struct rl_claim *box_claim(struct box *box)
{
    return (struct rl_claim *)(void *)box->memory;
}

static inline struct box *box_of_claim(const struct rl_claim *claim)
{
    return claim->host;
}

#endif
