/* A stream without encryption. */
#ifndef RL_DRIVER_STREAM_PLAIN_H
#define RL_DRIVER_STREAM_PLAIN_H

#include "driver/stream.h"

extern const struct rl_stream_type rl_stream_plain;

#endif
