/* Which keys somebody else wants, too, as far as this client has seen a moment ago: one of its locks is in the wait
 * queue, or a release has handed the key off. The next acquisition of such a key enters the wait queue at once. An
 * attempt with SET would be refused, and be three commands for each master where one is enough; or it would overtake
 * the queue, in a moment in which the key happens to be free. Where the client is wrong nothing is lost: a free key is
 * taken by entering the queue, too, in the same single round trip.
 *
 * A small table without chains: a key that pushes another one out costs that one a plain attempt, and its cohort. */
#include "host/contended.h"

#include "host/claims.h"
#include "util/hash.h"

#define MEMORY_NS (500 * RL_NS_PER_MS)

static uint64_t hash_of(const struct rl_key *key)
{
    return rl_hash(key->bytes, key->size);
}

void rl_contended_init(struct rl_contended *contended)
{
    for (size_t i = 0; i < RL_CONTENDED_KEYS; i++)
        rl_list_init(&contended->seen[i].company);
}

static void replace(struct rl_contended_key *entry, uint64_t hash)
{
    while (!rl_list_empty(&entry->company))
        rl_list_remove(entry->company.next);
    *entry = (struct rl_contended_key){.hash = hash};
    rl_list_init(&entry->company);
}

void rl_contended_note(struct rl_contended *contended, const struct rl_key *key, struct rl_instant now)
{
    uint64_t hash = hash_of(key);
    struct rl_contended_key *entry = &contended->seen[hash % RL_CONTENDED_KEYS];

    if (entry->hash != hash)
        replace(entry, hash);
    contended->until = rl_after(now, (struct rl_span){MEMORY_NS});
    entry->until = contended->until;
}

/* However old it is. */
static struct rl_contended_key *find_any(struct rl_contended *contended, const struct rl_key *key)
{
    uint64_t hash = hash_of(key);
    struct rl_contended_key *entry = &contended->seen[hash % RL_CONTENDED_KEYS];

    return entry->hash == hash ? entry : NULL;
}

/* Nothing is hashed where nobody waits. */
bool rl_contended(struct rl_contended *contended, const struct rl_key *key, struct rl_instant now)
{
    const struct rl_contended_key *entry =
        rl_before(now, contended->until) ? find_any(contended, key) : NULL;

    return entry && rl_before(now, entry->until);
}

/* Nothing is hashed where nobody has ever waited. */
struct rl_contended_key *rl_contended_find(struct rl_contended *contended, const struct rl_key *key)
{
    return contended->until.ns ? find_any(contended, key) : NULL;
}
