/* IMPLEMENTATION NOTES
 *
 * rule 2.1: a value is fresh for every attempt and has at least 122 random bits. To ask the kernel for each takes
 * longer than everything else that this library does for a lock. So the kernel gives a key, and the tokens are
 * name-based UUIDs (SHA-1, libuuid) in the key's name space: without the key they cannot be told from random ones, they
 * differ for each counter, and two clients agree only if their 122-bit keys do.
 *
 * libuuid's own uuid_generate_random() will not do: before the kernel's generator is ready it sleeps for a second in
 * each call, and then takes weak numbers without a word.
 *
 * A copy of a running process (a cloned virtual machine) has the same key and counter, and would repeat its twin's
 * tokens. Therefore the clock is part of the name, and a key lives for KEY_USES tokens or one second only. A filter of
 * system calls may come after the client: then the key stays. */
#include "api/random_token.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#define KEY_USES 256
#define KEY_LIFE_NS INT64_C(1000000000)

bool rl_random_bytes(void *ret_bytes, size_t size)
{
    ssize_t n;

    do
        n = getrandom(ret_bytes, size, 0);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)size;
}

static bool make_key(struct rl_token_source *source, struct rl_instant now)
{
    uuid_t key;

    if (!rl_random_bytes(key, sizeof key))
        return false;
    uuid_copy(source->key, key);
    source->key_made = now;
    return true;
}

bool rl_token_source_init(struct rl_token_source *source, struct rl_instant now)
{
    source->counter = 0;
    return make_key(source, now);
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
