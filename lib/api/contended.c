/* Which keys others want, too, as far as this client has seen a moment ago: one of its locks waits in line, or a
 * release has handed the key on. Who wants such a key next gets in line at once: an attempt with SET would be refused,
 * and be three commands for each master where one is enough; or it would overtake those in line, in a moment in which
 * the key happens to be free. Where the client is wrong nothing is lost: a free key is taken by getting in line, too,
 * in the same single round trip.
 *
 * A small table without chains: a key that pushes another one out costs that one a plain attempt. */
#include "api/client.h"
#include "util/hash.h"

#define MEMORY_NS (500 * RL_NS_PER_MS)

static uint64_t hash_of(const struct rl_key *key)
{
    return rl_hash(key->bytes, key->size);
}

void rl_contended_note(struct redlock_client *client, const struct rl_key *key)
{
    struct rl_contended *contended = &client->contended;
    uint64_t hash = hash_of(key);

    contended->until = rl_after(client->now, (struct rl_span){MEMORY_NS});
    contended->seen[hash % RL_CONTENDED_KEYS].hash = hash;
    contended->seen[hash % RL_CONTENDED_KEYS].until = contended->until;
}

/* Nothing is hashed where nobody waits. */
bool rl_contended(const struct redlock_client *client, const struct rl_key *key)
{
    const struct rl_contended *contended = &client->contended;
    uint64_t hash;

    if (!rl_before(client->now, contended->until))
        return false;
    hash = hash_of(key);
    return contended->seen[hash % RL_CONTENDED_KEYS].hash == hash &&
           rl_before(client->now, contended->seen[hash % RL_CONTENDED_KEYS].until);
}
