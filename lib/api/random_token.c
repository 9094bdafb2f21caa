/* IMPLEMENTATION NOTES
 *
 * protocol 1.1: a value is fresh for every attempt and has at least 122 random bits. libuuid's uuid_generate_random()
 * gives just that, but takes longer than everything else that this library does for a lock. So it makes a key, and
 * the tokens are name-based UUIDs (SHA-1, also libuuid) in the key's name space: without the key they cannot be told
 * from random ones, they differ for each counter, and two clients agree only if their 122-bit keys do.
 *
 * A copy of a running process (a cloned virtual machine) has the same key and counter, and would repeat its twin's
 * tokens. Therefore the clock is part of the name, and a key lives for KEY_USES tokens or one second only. */
#include "api/random_token.h"

#include <string.h>

#define KEY_USES 256
#define KEY_LIFE_NS INT64_C(1000000000)

static void make_key(struct rl_token_source *source, struct rl_instant now)
{
    uuid_generate_random(source->key);
    source->key_made = now;
}

void rl_token_source_init(struct rl_token_source *source, struct rl_instant now)
{
    source->counter = 0;
    make_key(source, now);
}

void rl_token_make(struct rl_token_source *source, struct rl_instant now, char ret_token[RL_TOKEN_SIZE])
{
    char name[sizeof source->counter + sizeof now.ns];
    uuid_t token;

    if (++source->counter % KEY_USES == 0 || rl_until(source->key_made, now).ns > KEY_LIFE_NS)
        make_key(source, now);
    memcpy(name, &source->counter, sizeof source->counter);
    memcpy(name + sizeof source->counter, &now.ns, sizeof now.ns);
    uuid_generate_sha1(token, source->key, name, sizeof name);
    uuid_unparse_lower(token, ret_token);
}
