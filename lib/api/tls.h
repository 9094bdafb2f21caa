/* The TLS options of a client. */
#ifndef RL_API_TLS_H
#define RL_API_TLS_H

#include <stddef.h>

#include <redlock/options.h>

#include "codec/url.h"
#include "stream/tls_context.h"

/* REDLOCK_E_TLS, with the reason, or 0. "" becomes NULL. */
int rl_tls_check(struct redlock_options *options, char *why, size_t size);

/* The context of a client of these masters; NULL if none of them has TLS. The options' texts are not needed
 * afterwards. */
int rl_tls_start(const struct redlock_options *options, const struct rl_master *masters, size_t n, char *why,
                 size_t size, struct rl_tls_context **ret_context);

#endif
