#include "votes_held.h"

#include <stdio.h>
#include <string.h>

#include "mutants.h"
#include "world.h"

/* Before a vote stand its mode and a space. */
struct box *box_of_member(const struct world *world, const struct member *member)
{
    size_t mode = member->size > 2 && member->name[1] == ' ' ? 2 : 0;

    return box_of_token(&world->boxes, member->name + mode, member->size - mode);
}

static int64_t end_of(const struct master *master, const struct entry *set, const struct member *member)
{
    int64_t gone = clockwork_when(&master->clock, ((int64_t)member->score + 1) * RL_NS_PER_MS);

    return gone < set->gone ? gone : set->gone;
}

static const struct member *find_vote(struct master *master, const struct entry *set, const struct box *box)
{
    char name[TOKEN_TEXT + 4];

    for (const char *mode = "rux"; *mode; mode++) {
        size_t size = (size_t)snprintf(name, sizeof name, "%c %s", *mode, box->token);
        const struct member *member = keyspace_member(&master->keys, set, name, size);

        if (member)
            return member;
    }
    return NULL;
}

static int64_t vote_gone_at(struct master *master, const char *key, const struct box *box)
{
    const struct entry *entry = keyspace_find(&master->keys, key, strlen(key));
    const struct member *member;

    if (!entry)
        return INT64_MIN;
    if (entry->type == ENTRY_STRING)
        return text_is(&entry->value, box->token, box->token_size) ? entry->gone : INT64_MIN;
    member = find_vote(master, entry, box);
    return member ? end_of(master, entry, member) : INT64_MIN;
}

int64_t vote_gone(struct world *world, const struct box *box, unsigned index)
{
    const char *key = name_of_key(box->key);
    int64_t gone = vote_gone_at(&world->masters[index], key, box);
    char apart[64];

    if (gone != INT64_MIN || !RL_MUTANT(READERS_APART))
        return gone;
    snprintf(apart, sizeof apart, READERS_NAME "%s", key);
    return vote_gone_at(&world->masters[index], apart, box);
}

void votes_each(struct world *world, unsigned index,
                void (*see)(struct world *world, struct box *box, unsigned master, int64_t gone))
{
    struct master *master = &world->masters[index];

    for (uint32_t i = 0; i < master->keys.count; i++) {
        const struct entry *entry = &master->keys.entries[i];
        const struct member *members;
        uint32_t count;

        if (!is_set_of_votes(entry))
            continue;
        members = keyspace_members(&master->keys, entry, &count);
        for (uint32_t k = 0; k < count; k++) {
            struct box *box = box_of_member(world, &members[k]);

            if (box)
                see(world, box, index, end_of(master, entry, &members[k]));
        }
    }
}
