/* The id of a deployment and the names of its masters: the same for the same masters, in whatever order. */
#ifndef RL_API_DEPLOYMENT_ID_H
#define RL_API_DEPLOYMENT_ID_H

#include <stdbool.h>
#include <stddef.h>

#include <redlock/options.h>

#include "codec/url.h"
#include "host/trust/trust.h"

/* false: out of memory. */
bool rl_deployment_names_make(const struct redlock_options *options, const struct rl_master *masters, size_t n,
                              struct rl_deployment_names *ret_names);

#endif
