/* Commands on sorted sets. */
#include <string.h>

#include "simulated/redis_commands.h"
#include "util/slice.h"

/* The set, NULL if there is none; false: the key is of another type, and the reply says so. */
static bool find_set(struct redis_context *context, struct rl_slice key, struct entry **ret_set, struct rl_reply *reply)
{
    *ret_set = redis_lookup(context, key);
    if (!*ret_set || (*ret_set)->type == ENTRY_SORTED)
        return true;
    reply_error(reply, WRONGTYPE);
    return false;
}

static struct entry *add_set(struct keyspace *keys, struct rl_slice key)
{
    struct entry *entry = keyspace_add(keys, key.data, key.size);

    if (entry)
        entry->type = ENTRY_SORTED;
    return entry;
}

static struct member *find_member(struct redis_context *context, const struct entry *set, struct rl_slice name)
{
    return set ? keyspace_member(context->keys, set, name.data, name.size) : NULL;
}

/* The oracles hear what becomes of votes. */
static void note_vote(struct redis_context *context, const struct entry *set, const struct member *member,
                      int64_t ends_ms, const char *command)
{
    if (member->name[0] != '@' && set->key.size && is_set_of_votes(set))
        context->vote(context, member, ends_ms, command);
}

static bool is_score(struct rl_slice word, int64_t *ret_score, struct rl_reply *reply)
{
    if (redis_parse_integer(word, ret_score))
        return true;
    reply_error(reply, "ERR value is not a valid float");
    return false;
}

/* false: the model is full. */
static bool add_member(struct redis_context *context, struct rl_slice key, struct rl_slice name, int64_t score,
                       int64_t *ret_added)
{
    struct entry *set = redis_lookup(context, key);
    struct member *member = find_member(context, set, name);
    struct member fresh = {.size = (uint8_t)name.size, .score = -1};

    *ret_added += !member;
    if (!set)
        set = add_set(context->keys, key);
    if (!set || name.size > MEMBER_TEXT)
        return false;
    memcpy(fresh.name, name.data, name.size);
    note_vote(context, set, member ? member : &fresh, score, "ZADD");
    if (member)
        keyspace_remove_member(context->keys, NULL, member);
    context->wrote = true;
    return keyspace_add_member(context->keys, set, name.data, name.size, (double)score);
}

/* Scores and members, of which nothing is added if one score is none. */
void command_zadd(struct redis_context *context, size_t argc, const struct rl_slice *argv, struct rl_reply *reply)
{
    struct entry *set;
    int64_t added = 0;
    int64_t score;

    if (argc % 2) {
        reply_error(reply, "ERR syntax error");
        return;
    }
    for (size_t i = 2; i < argc; i += 2) {
        if (!is_score(argv[i], &score, reply))
            return;
    }
    if (!find_set(context, argv[1], &set, reply))
        return;
    for (size_t i = 2; i < argc; i += 2) {
        if (!is_score(argv[i], &score, reply) || !add_member(context, argv[1], argv[i + 1], score, &added)) {
            redis_full(reply);
            return;
        }
    }
    reply_integer(reply, added);
}

static void remove_member(struct redis_context *context, struct entry *set, struct member *member, const char *command)
{
    note_vote(context, set, member, INT64_MIN, command);
    keyspace_remove_member(context->keys, set, member);
    context->wrote = true;
}

void command_zrem(struct redis_context *context, size_t argc, const struct rl_slice *argv, struct rl_reply *reply)
{
    int64_t removed = 0;

    for (size_t i = 2; i < argc; i++) {
        struct entry *set;
        struct member *member;

        if (!find_set(context, argv[1], &set, reply))
            return;
        member = find_member(context, set, argv[i]);
        if (!member)
            continue;
        removed++;
        remove_member(context, set, member, "ZREM");
    }
    reply_integer(reply, removed);
}

/* From -inf to a score that is left out. */
void command_zremrangebyscore(struct redis_context *context, size_t argc, const struct rl_slice *argv,
                              struct rl_reply *reply)
{
    struct rl_slice most = {(const char *)argv[3].data + 1, argv[3].size ? argv[3].size - 1 : 0};
    int64_t removed = 0;
    int64_t score;

    if (!rl_slice_is(argv[2], "-inf") || !argv[3].size || *(const char *)argv[3].data != '(' ||
        !redis_parse_integer(most, &score)) {
        reply_error(reply, "ERR a range that the simulated master does not know");
        return;
    }
    for (;;) {
        struct entry *set;
        struct member *first;
        uint32_t count;

        if (!find_set(context, argv[1], &set, reply))
            return;
        first = set ? keyspace_members(context->keys, set, &count) : NULL;
        if (!first || first->score >= (double)score)
            break;
        removed++;
        remove_member(context, set, first, "ZREMRANGEBYSCORE");
    }
    reply_integer(reply, removed);
}

void command_zcard(struct redis_context *context, size_t argc, const struct rl_slice *argv, struct rl_reply *reply)
{
    struct entry *set;
    uint32_t count = 0;

    if (!find_set(context, argv[1], &set, reply))
        return;
    if (set)
        keyspace_members(context->keys, set, &count);
    reply_integer(reply, count);
}

void command_zrank(struct redis_context *context, size_t argc, const struct rl_slice *argv, struct rl_reply *reply)
{
    struct entry *set;
    const struct member *member;
    uint32_t count;

    if (!find_set(context, argv[1], &set, reply))
        return;
    member = find_member(context, set, argv[2]);
    if (member)
        reply_integer(reply, member - keyspace_members(context->keys, set, &count));
    else
        reply_nil(reply);
}

static struct rl_reply_item item_of_score(struct redis_context *context, const struct member *member)
{
    size_t size = rl_decimal((uint64_t)member->score, context->scratch); /* tickets are whole */

    return (struct rl_reply_item){.type = RL_REPLY_STRING, .text = {context->scratch, size}};
}

void command_zscore(struct redis_context *context, size_t argc, const struct rl_slice *argv, struct rl_reply *reply)
{
    struct entry *set;
    const struct member *member;

    if (!find_set(context, argv[1], &set, reply))
        return;
    member = find_member(context, set, argv[2]);
    reply_nil(reply);
    if (member)
        reply->root = item_of_score(context, member);
}

/* Counted from the end. */
static int64_t position(int64_t index, uint32_t count)
{
    return index < 0 ? index + count : index;
}

static void add_to_range(struct redis_range *range, const struct member *member, bool scored)
{
    range->scored = scored;
    range->members[range->n] = (struct rl_slice){member->name, member->size};
    range->scores[range->n++] = member->score;
}

/* Both ends included; for others than scripts as far as a reply has room, and without scores. */
void command_zrange(struct redis_context *context, size_t argc, const struct rl_slice *argv, struct rl_reply *reply)
{
    bool scored = argc == 5 && redis_word_is(argv[4], "WITHSCORES");
    struct entry *set;
    struct member *members;
    uint32_t count = 0;
    int64_t first;
    int64_t last;

    if (!redis_parse_integer(argv[2], &first) || !redis_parse_integer(argv[3], &last) || (argc == 5 && !scored) ||
        (scored && !context->range)) {
        reply_error(reply, "ERR a range that the simulated master does not know");
        return;
    }
    if (!find_set(context, argv[1], &set, reply))
        return;
    members = set ? keyspace_members(context->keys, set, &count) : NULL;
    first = position(first, count);
    last = position(last, count);
    reply->root = (struct rl_reply_item){.type = RL_REPLY_ARRAY};
    reply->n_elements = 0;
    for (int64_t i = first < 0 ? 0 : first; i <= last && i < count; i++) {
        if (context->range)
            add_to_range(context->range, &members[i], scored);
        else if (reply->n_elements < RL_REPLY_MAX_ELEMENTS)
            reply->elements[reply->n_elements++] = (struct rl_reply_item){
                .type = RL_REPLY_STRING, .text = {members[i].name, members[i].size}};
    }
}

_Static_assert(RL_DECIMAL_MAX + MEMBER_TEXT <= REDIS_SCRATCH, "a score and a member");

/* The first member and its score; copied, since the member goes. */
void command_zpopmin(struct redis_context *context, size_t argc, const struct rl_slice *argv, struct rl_reply *reply)
{
    struct entry *set;
    struct member *first;
    struct rl_reply_item score;
    char *name = context->scratch + RL_DECIMAL_MAX;
    uint32_t count;

    if (!find_set(context, argv[1], &set, reply))
        return;
    reply->root = (struct rl_reply_item){.type = RL_REPLY_ARRAY};
    reply->n_elements = 0;
    if (!set)
        return;
    first = keyspace_members(context->keys, set, &count);
    score = item_of_score(context, first);
    memcpy(name, first->name, first->size);
    reply->elements[reply->n_elements++] =
        (struct rl_reply_item){.type = RL_REPLY_STRING, .text = {name, first->size}};
    reply->elements[reply->n_elements++] = score;
    keyspace_remove_member(context->keys, set, first);
    context->wrote = true;
}
