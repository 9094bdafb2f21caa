/* Checks of the options that a caller gives, those of TLS among them. */
#ifndef RL_API_OPTIONS_H
#define RL_API_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/options.h>
#include <redlock/redlock.h>

#include "codec/url.h"
#include "engine/engine.h"
#include "stream/tls_context.h"

/* Of any options: the functions that set their defaults take every size that has room for itself, and what is not there
 * has its default. */
#define RL_SMALLEST_OPTIONS sizeof(size_t)

/* The options of a client with all defaults filled in; or an error, with the reason in `why`. */
int rl_options_check(const struct redlock_options *given, size_t n_masters, struct redlock_options *ret_options,
                     char *why, size_t why_size);

/* The options of an acquisition as the engine takes them, or an error. */
int rl_acquire_options_check(const struct redlock_client *client, const struct redlock_acquire_options *given,
                             struct rl_instant now, struct rl_acquire *ret_request);

/* Can a lock be taken for this ttl? 0, or REDLOCK_E_TTL. */
int rl_ttl_check(const struct redlock_client *client, uint32_t ttl_ms);

/* The TLS options of a client. */

/* REDLOCK_E_TLS, with the reason, or 0. "" becomes NULL. */
int rl_tls_check(struct redlock_options *options, char *why, size_t size);

/* The context of a client of these masters; NULL if none of them has TLS. The options' texts are not needed
 * afterwards. */
int rl_tls_start(const struct redlock_options *options, const struct rl_master *masters, size_t n, char *why,
                 size_t size, struct rl_tls_context **ret_context);

/* May the client begin something new with this key, to which so many bytes may be added? 0, E_FORKED, E_CLOSING,
 * E_KEY_EMPTY, E_KEY_TOO_LONG, E_KEY_RESERVED. */
int rl_key_check(const struct redlock_client *client, const void *key, size_t key_size, size_t longest_suffix);

#endif
