/* What travels between a client and a master, and the pool it lives in. Indices instead of pointers: the pool grows. */
#ifndef SIM_MESSAGE_H
#define SIM_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kinds/command.h"

#define MESSAGE_NONE UINT32_MAX
#define MESSAGE_ITEMS 25 /* a reply's root and its elements: JOIN answers with 24 */
#define MESSAGE_CLAIMS RL_BATCH_MAX /* in one command */

enum message_kind {
    MESSAGE_SETUP,     /* the driver's part of the handshake */
    MESSAGE_COMMAND,   /* bytes in Redis' protocol */
    MESSAGE_REPLY,
    MESSAGE_PUBLISHED, /* what a connection that listens hears */
};

struct message_item {
    int64_t integer;
    uint8_t type; /* enum rl_reply_type */
    uint32_t start;
    uint32_t size;
};

/* The bytes belong to the message's place in the pool, and are used again. */
struct message {
    int64_t arrives;     /* true time */
    uint32_t next;
    uint32_t claims[MESSAGE_CLAIMS]; /* whose command, for the oracles */
    uint8_t n_claims;    /* 0: the host's own */
    uint32_t look;       /* the number of the look that it is part of; 0: none */
    uint32_t latch;      /* ... of the handle of a latch, and its round; 0: none */
    uint32_t round;
    bool lists;          /* ... and asks for the names */
    uint64_t passed;     /* ... and tells that this generation was open; 0: of none */
    uint8_t kind;
    uint8_t step;        /* of the tag, or enum wire_step */
    uint8_t channel;     /* SUBSCRIBE and what comes of it: 0: the client's own; else the number of a further one */
    uint8_t count;       /* items of a reply */
    uint32_t size;
    uint32_t capacity;
    char *bytes;
    struct message_item items[MESSAGE_ITEMS]; /* of replies only; the first `count` */
};

struct message_pool {
    struct message *messages;
    uint32_t capacity;
    uint32_t free;
    uint32_t used;
};

void message_pool_fini(struct message_pool *pool);
void message_pool_clear(struct message_pool *pool);
uint32_t message_take(struct message_pool *pool);
void message_give(struct message_pool *pool, uint32_t index);

/* Fills in the bytes. */
void message_set_bytes(struct message *message, const void *bytes, size_t size);

/* A first in, first out list of messages. */
struct message_list {
    uint32_t head;
    uint32_t tail;
    uint32_t count;
};

#define MESSAGE_LIST_EMPTY ((struct message_list){MESSAGE_NONE, MESSAGE_NONE, 0})

void message_append(struct message_pool *pool, struct message_list *list, uint32_t index);
uint32_t message_shift(struct message_pool *pool, struct message_list *list);

/* Gives back all but the first `keep`. */
void message_truncate(struct message_pool *pool, struct message_list *list, uint32_t keep);

void message_pack_reply(struct message *message, const struct rl_reply *reply);
void message_unpack_reply(const struct message *message, struct rl_reply *ret_reply); /* borrows */

#endif
