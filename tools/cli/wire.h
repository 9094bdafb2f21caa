/* A blocking connection to a master, of the tool's own, with or without TLS. */
#ifndef CLI_WIRE_H
#define CLI_WIRE_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <sys/time.h>

#include "cli/target.h"
#include "options/tls.h"

enum { WIRE_WHY_SIZE = 96 };

/* What the connections with TLS have in common: see wire_tls.h. */
struct wire_tls;

struct wire {
    redisContext *context;    /* with TLS, its socket and its reader of replies alone are used */
    struct ssl_st *ssl;       /* NULL: plain */
    bool failed;
    char why[WIRE_WHY_SIZE]; /* ... and the reason */
};

/* `timeout` is per step: connect, handshake, and each reply. `tls` is for a target that has TLS. False: it has failed.
 * In both cases wire_close() is due. */
bool wire_open(struct wire *wire, const struct target *target, struct timeval timeout, struct wire_tls *tls);
void wire_close(struct wire *wire);

/* A command, without waiting for the reply; a failure is told by the next wire_reply(). */
void wire_append(struct wire *wire, int argc, const char **argv, const size_t *sizes);

/* The next reply, for freeReplyObject(); NULL: it has failed. */
redisReply *wire_reply(struct wire *wire);

#endif
