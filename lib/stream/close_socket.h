/* The end of a connection's socket, plain or under TLS. */
#ifndef RL_STREAM_CLOSE_SOCKET_H
#define RL_STREAM_CLOSE_SOCKET_H

#include "stream/stream.h"

void rl_stream_close_socket(struct rl_stream *stream, enum rl_close how);

#endif
