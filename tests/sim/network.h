/* Connections between clients and masters: each an ordered pipe in both directions.
 *
 * What TCP promises is kept: order on one connection, and nothing more. A connection may end at any moment; what was
 * in flight is lost from some point on, in each direction of its own. "close() never cancels" (rule 3.2): what
 * the client had written before it closed may still be carried out, from the beginning up to some point, long after
 * the client has opened another connection. Such a connection that lives on without its client is a ghost. */
#ifndef SIM_NETWORK_H
#define SIM_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

#include "message.h"

struct world;

#define MAX_CLIENTS 4
#define MAX_MASTERS 9
#define MAX_CONNS 256
#define CONN_NONE UINT16_MAX

enum direction {
    UP,   /* to the master */
    DOWN, /* to the client */
};

/* One message of fifty takes up to so many times the jitter of its path. */
#define RARE_JITTER 10

/* The network between one client and one master. */
struct path {
    int64_t delay[2];
    int64_t jitter[2];
    int64_t slow[2];    /* added while a "slow" fault lasts */
    uint8_t blocked[2]; /* how many faults block this direction now */
    int64_t blocked_since[2];
    int64_t disturbed;  /* true time of the latest change */
    uint8_t stuck;      /* how many faults keep the client's kernel from taking bytes */
    uint8_t leads_to;   /* the master whose server has the name of this one, for this client */
};

struct pipe {
    struct message_list list;
    int64_t last;     /* nothing may arrive before what was sent earlier */
    int64_t last_put; /* when that was sent */
    bool armed;       /* an event for its head is in the queue */
};

struct conn {
    bool in_use;
    bool client_open; /* the client's end; without it this is a ghost */
    bool master_open;
    bool severed;     /* broken somewhere in between: nothing enters it any more */
    bool refused;     /* the answer to the connection request */
    bool listens;     /* the client's second connection to this master ... */
    uint32_t channels; /* ... and the channels that the master knows: a set of numbers, as in messages */
    uint8_t client;
    uint8_t node;       /* the master that the client takes it for ... */
    uint8_t master;     /* ... and the one that it is */
    uint32_t generation;
    struct pipe pipes[2];
};

void network_reset(struct world *world);
struct path *network_path(struct world *world, unsigned client, unsigned node);

/* Asks for a connection; the answer comes as a call of client_connected() or client_closed(). */
uint16_t network_connect(struct world *world, unsigned client, unsigned node, bool listens);

/* From now on the name of this master leads to that one's server, for new connections of this client; those that are
 * there break. */
void network_lead(struct world *world, unsigned client, unsigned node, unsigned master);

/* Hands a message to the client's kernel at true time `at`; false if the kernel takes nothing now. */
bool network_send(struct world *world, uint16_t conn, uint32_t message, int64_t at);

/* A master calls somebody who listens on this channel: whether it does. The message may be lost with its connection. */
bool network_call(struct world *world, uint16_t conn, uint8_t channel, struct rl_slice payload);

/* Would a PING stay unanswered now? */
bool network_is_mute(struct world *world, uint16_t conn);

/* The next reply that has arrived at the client; MESSAGE_NONE if there is none. */
uint32_t network_receive(struct world *world, uint16_t conn);

/* The client closes its end: an arbitrary part of what it had written is still delivered, sooner or later. */
void network_close(struct world *world, uint16_t conn);

/* ... in order: all of what it had written is still delivered. */
void network_finish(struct world *world, uint16_t conn);

/* A reply has arrived at the client, and has not been read. */
bool network_has_arrived(const struct world *world, uint16_t conn);

/* The connection breaks. What is in flight is lost from some point on; the client learns of it after `notice`, or, if
 * that is negative, not at all. */
void network_cut(struct world *world, uint16_t conn, int64_t notice);

/* The master's end dies with the process; `silent`: without a word to the client. */
void network_master_died(struct world *world, unsigned master, bool silent);

/* A partition in one direction begins or ends; partitions may overlap. */
void network_block(struct world *world, unsigned client, unsigned master, enum direction direction);
void network_unblock(struct world *world, unsigned client, unsigned master, enum direction direction);

/* A hung master runs again: whatever has arrived meanwhile is carried out, one connection before the other. */
void network_master_resumed(struct world *world, unsigned master);

/* Events. */
void network_on_request(struct world *world, uint16_t conn);
void network_on_answer(struct world *world, uint16_t conn);
void network_on_up(struct world *world, uint16_t conn);
void network_on_down(struct world *world, uint16_t conn);

/* No command is on its way to a master, and no connection lives on without its client. */
bool network_idle(const struct world *world);

#endif
