/* A stream without encryption, and the end of any socket. */
#ifndef RL_STREAM_PLAIN_H
#define RL_STREAM_PLAIN_H

#include "stream/stream.h"

extern const struct rl_stream_type rl_stream_plain;

/* The end of a connection's socket, plain or under TLS. */

void rl_stream_close_socket(struct rl_stream *stream, enum rl_close how);

#endif
