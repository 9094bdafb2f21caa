/* What a test gives to the host where it does not care. */
#ifndef TESTS_HOST_RIG_H
#define TESTS_HOST_RIG_H

#include "host/environment.h"
#include "host/sink.h"

/* It hears of everything, and does nothing. */
extern const struct rl_host_sink host_rig_sink;

/* Always 1. */
uint64_t host_rig_wall_us(void *ctx);

/* Always "uuid". */
void host_rig_make_uuid(void *ctx, char ret_text[RL_UUID_SIZE]);

/* Of the transport: it listens to nothing; the host has no reason to give a connection up. */
int host_rig_listen(void *ctx, const char *channel);
void host_rig_fail(void *ctx, unsigned node, const char *why);

#endif
