/* What the host of a client reports goes to events, statistics, alarms, and the operations that end. */
#ifndef RL_API_EVENTS_H
#define RL_API_EVENTS_H

#include "host/sink.h"

extern const struct rl_host_sink rl_client_sink;

#endif
