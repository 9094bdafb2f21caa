/* A connection to a master, of the tool's own, for one thread that waits for each reply. Its bytes go through the
 * library's streams: TLS is set up, checked and explained here as everywhere. */
#ifndef CLI_WIRE_H
#define CLI_WIRE_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/target.h"
#include "options/tls.h"
#include "stream/stream.h"

enum { WIRE_WHY_SIZE = 200 };

struct rl_tls_context;

struct wire {
    struct rl_stream stream;
    struct rl_tls_context *tls; /* NULL: plain */
    redisReader *reader;
    char *output;               /* commands that have not been written yet */
    size_t output_size;
    uint32_t timeout_ms;
    bool failed;
    char why[WIRE_WHY_SIZE];    /* ... and the reason */
};

/* `timeout_ms` is for each step: connect, TLS handshake, and reply. `options` are for a target that has TLS; they must
 * have been accepted by redlock_client_create(). False: it has failed. In both cases wire_close() is due. */
bool wire_open(struct wire *wire, const struct target *target, uint32_t timeout_ms, const struct cli_tls *options);
void wire_close(struct wire *wire);

/* A command, which leaves with the next wire_reply(). That tells of a failure, too. */
void wire_append(struct wire *wire, int argc, const char **argv);

/* ... or with this. */
void wire_flush(struct wire *wire);

/* The next reply, for freeReplyObject(); NULL: it has failed. */
redisReply *wire_reply(struct wire *wire);

#endif
