/* A stream without encryption. */
#ifndef RL_STREAM_PLAIN_H
#define RL_STREAM_PLAIN_H

#include "stream/stream.h"

extern const struct rl_stream_type rl_stream_plain;

#endif
