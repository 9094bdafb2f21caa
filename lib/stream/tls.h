/* A stream with TLS. */
#ifndef RL_STREAM_TLS_H
#define RL_STREAM_TLS_H

#include "stream/stream.h"

struct rl_tls_context;

/* `stream` is closed. `host`, of the URL, is the server's name unless the context's options have one; both are
 * borrowed. */
void rl_stream_tls_init(struct rl_stream *stream, struct rl_tls_context *context, const char *host);

/* From the next handshake on the server has this name, unless the context's options have one. */
void rl_stream_tls_rename(struct rl_stream *stream, const char *host);

#endif
