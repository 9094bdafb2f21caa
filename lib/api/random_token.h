/* Fresh values for attempts. */
#ifndef RL_API_RANDOM_TOKEN_H
#define RL_API_RANDOM_TOKEN_H

#include <stdint.h>
#include <uuid/uuid.h>

#include "host/environment.h"
#include "util/instant.h"

struct rl_token_source {
    uuid_t key;
    uint64_t counter;
    struct rl_instant key_made;
};

void rl_token_source_init(struct rl_token_source *source, struct rl_instant now);

/* A fresh value: a UUID in text form, 122 bits that nobody can foresee and no other attempt of any client has. */
void rl_token_make(struct rl_token_source *source, struct rl_instant now, char ret_token[RL_TOKEN_SIZE]);

#endif
