/* What travels between a client and a master, and the pool it lives in. Indices instead of pointers: the pool grows. */
#ifndef SIM_MESSAGE_H
#define SIM_MESSAGE_H

#include <stdint.h>

#include "votes/kind.h"

#define MESSAGE_NONE UINT32_MAX
#define MESSAGE_TEXT 128
#define MESSAGE_ITEMS 21 /* a reply's root and its elements: JOIN answers with 19 */

enum message_kind {
    MESSAGE_GREETING, /* the handshake's first round: loads the scripts, asks for the settings */
    MESSAGE_GUARD,    /* HGET marker inc, TIME: behind the commands of a turn */
    MESSAGE_COMMAND,
    MESSAGE_REPLY,
    MESSAGE_SUBSCRIBE, /* on a connection that listens */
    MESSAGE_CALL,      /* what such a connection hears */
};

struct message_item {
    int64_t integer;
    uint8_t type; /* enum rl_reply_type */
    uint8_t start;
    uint8_t size;
};

struct message {
    int64_t arrives;     /* true time */
    uint32_t next;
    uint32_t claim;      /* whose command, for the oracles; BOX_NONE: the host's own */
    uint8_t kind;
    uint8_t step;        /* enum rl_step */
    uint8_t send_as;     /* enum rl_send_as */
    uint8_t script;
    uint8_t n_keys;
    uint8_t count;       /* arguments, or items of a reply */
    uint8_t ends[RL_COMMAND_MAX_ARGS]; /* of the arguments in text */
    char text[MESSAGE_TEXT];
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

/* As it is: only what it uses is copied. */
void message_copy(struct message *message, const struct message *source);

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

void message_pack_command(struct message *message, const struct rl_command *command);
void message_unpack_command(const struct message *message, struct rl_slice *ret_argv);
void message_pack_reply(struct message *message, const struct rl_reply *reply);
void message_unpack_reply(const struct message *message, struct rl_reply *ret_reply); /* borrows */

/* A call's text; it fits, or the model is too small. */
void message_pack_call(struct message *message, struct rl_slice payload);
struct rl_slice message_call(const struct message *message); /* borrows */

#endif
