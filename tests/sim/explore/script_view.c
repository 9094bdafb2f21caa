#include "script_view.h"

#include <stdlib.h>
#include <string.h>

const char *const script_names[SCRIPT_VALUES] = {"a", "A", "b", "B", "c", "C"};

unsigned script_value_named(const char *name, size_t size)
{
    unsigned value = 0;

    while (value < SCRIPT_VALUES && (size != 1 || script_names[value][0] != name[0]))
        value++;
    return value;
}

struct entry *script_find(struct keyspace *keys, int64_t now_ms, const char *key)
{
    return keyspace_lookup(keys, key, strlen(key), now_ms);
}

/* --- Votes -------------------------------------------------------------------------------------------------------- */

static bool mode_of_letter(char letter, enum rl_mode *ret_mode)
{
    *ret_mode = letter == 'x' ? RL_EXCLUSIVE : letter == 'u' ? RL_UPGRADEABLE : RL_SHARED;
    return letter == 'x' || letter == 'u' || letter == 'r';
}

static const char *view_exclusive(const struct entry *entry, struct script_vote ret_votes[SCRIPT_VALUES])
{
    unsigned value = script_value_named(entry->value.bytes, entry->value.size);

    if (value == SCRIPT_VALUES)
        return "the key has nobody's value";
    ret_votes[value] = (struct script_vote){true, RL_EXCLUSIVE, entry->expire_ms};
    return NULL;
}

/* '@u' or '@x' stands beside a vote of that mode, and ends with it. */
static bool has_mark(struct keyspace *keys, const struct entry *set, const struct script_vote *vote)
{
    const char *name = vote->mode == RL_EXCLUSIVE ? "@x" : "@u";
    const struct member *mark = vote->mode == RL_SHARED ? NULL : keyspace_member(keys, set, name, 2);

    return vote->mode == RL_SHARED || (mark && (int64_t)mark->score == vote->ends_ms);
}

static const char *view_member(struct keyspace *keys, int64_t now_ms, const struct entry *set,
                               const struct member *member, struct script_vote ret_votes[SCRIPT_VALUES])
{
    struct script_vote vote = {true, RL_SHARED, (int64_t)member->score};
    unsigned value = member->size > 2 ? script_value_named(member->name + 2, member->size - 2u) : SCRIPT_VALUES;

    if (vote.ends_ms > set->expire_ms)
        return "the key ends before one of its votes";
    if (member->name[0] == '@' || vote.ends_ms < now_ms)
        return NULL;
    if (value == SCRIPT_VALUES || !mode_of_letter(member->name[0], &vote.mode))
        return "the key has a vote of nobody";
    if (ret_votes[value].is_there)
        return "a value has two votes";
    ret_votes[value] = vote;
    return has_mark(keys, set, &vote) ? NULL : "a vote that not everybody shares has no mark with its end";
}

const char *script_view_votes(struct keyspace *keys, int64_t now_ms, const char *key,
                              struct script_vote ret_votes[SCRIPT_VALUES])
{
    const struct entry *entry = script_find(keys, now_ms, key);
    const struct member *members;
    const char *wrong = NULL;
    uint32_t count;

    memset(ret_votes, 0, SCRIPT_VALUES * sizeof *ret_votes);
    if (entry && entry->type == ENTRY_STRING)
        return view_exclusive(entry, ret_votes);
    members = entry ? keyspace_members(keys, entry, &count) : NULL;
    for (uint32_t i = 0; members && !wrong && i < count; i++)
        wrong = view_member(keys, now_ms, entry, &members[i], ret_votes);
    return wrong;
}

/* --- Wait queues -------------------------------------------------------------------------------------------------- */

/* An entry: [its mode and a space,] the end of its lease, and more. */
static bool lives(const struct field *field, int64_t now_ms)
{
    char text[ENTRY_TEXT + 1] = "";
    const char *ends = text;

    memcpy(text, field->value.bytes, field->value.size);
    if (text[0] > '9')
        ends = strchr(text, ' ');
    return ends && strtoll(ends, NULL, 10) > now_ms;
}

size_t script_view_queue(struct keyspace *keys, int64_t now_ms, const char *queue, const char *waiters,
                         struct script_place ret_places[SCRIPT_VALUES])
{
    const struct entry *entries = script_find(keys, now_ms, waiters);
    const struct entry *places = script_find(keys, now_ms, queue);
    const struct member *members;
    uint32_t count = 0;
    size_t n = 0;

    members = places ? keyspace_members(keys, places, &count) : NULL;
    for (; n < count && n < SCRIPT_VALUES; n++) {
        const struct member *member = &members[n];
        const struct field *field = entries ? keyspace_field(keys, entries, member->name, member->size) : NULL;

        ret_places[n] = (struct script_place){script_value_named(member->name, member->size), member->score,
                                              field && lives(field, now_ms)};
    }
    return n;
}
