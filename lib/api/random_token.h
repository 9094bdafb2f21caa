/* Fresh values for attempts. */
#ifndef RL_API_RANDOM_TOKEN_H
#define RL_API_RANDOM_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uuid/uuid.h>

#include "host/environment.h"
#include "util/instant.h"

/* The kernel's random numbers, up to 256 bytes. Waits until the kernel has some, which may take a while after boot;
 * once it has, it never waits. False with errno: there are none for this process. */
bool rl_random_bytes(void *ret_bytes, size_t size);

struct rl_token_source {
    uuid_t key;
    uint64_t counter;
    struct rl_instant key_made;
};

/* False: rl_random_bytes() has failed. */
bool rl_token_source_init(struct rl_token_source *source, struct rl_instant now);

/* A fresh value: a UUID in text form, 122 bits that nobody can foresee and no other attempt of any client has. */
void rl_token_make(struct rl_token_source *source, struct rl_instant now, char ret_token[RL_TOKEN_SIZE]);

#endif
