/* Keys, as programs give them. */
#ifndef RL_API_KEY_H
#define RL_API_KEY_H

#include <stddef.h>

struct redlock_client;

/* May the client begin something new with this key, to which so many bytes may be added? 0, E_FORKED, E_CLOSING,
 * E_KEY_EMPTY, E_KEY_TOO_LONG, E_KEY_RESERVED. */
int rl_key_check(const struct redlock_client *client, const void *key, size_t key_size, size_t longest_suffix);

#endif
