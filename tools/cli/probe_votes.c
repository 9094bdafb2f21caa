#include "cli/probe_votes.h"

#include <stdlib.h>
#include <string.h>

#include "cli/hash.h"

/* Members that are no votes: '@u' and '@x' stand beside a vote that is not shared. */
enum { MARKS = 2 };

void probe_keep_value(const char *value, size_t size, char ret_value[PROBE_VALUE_SIZE], uint64_t *ret_hash)
{
    size_t length = size < PROBE_VALUE_SIZE ? size : PROBE_VALUE_SIZE - 1;

    *ret_hash = cli_hash(value, size);
    for (size_t i = 0; i < length; i++)
        ret_value[i] = value[i] >= ' ' && value[i] <= '~' ? value[i] : '?';
    ret_value[length] = '\0';
}

/* 'r VALUE', 'u VALUE' or 'x VALUE'. */
static bool is_vote(const redisReply *member)
{
    return member->type == REDIS_REPLY_STRING && member->len >= 2 && strchr("rux", member->str[0]) != NULL &&
           member->str[1] == ' ';
}

static bool is_mark(const redisReply *member)
{
    return member->type == REDIS_REPLY_STRING && (strcmp(member->str, "@u") == 0 || strcmp(member->str, "@x") == 0);
}

static bool take_time(const redisReply *reply, int64_t *ret_ms)
{
    if (reply == NULL || reply->type != REDIS_REPLY_ARRAY || reply->elements != 2)
        return false;
    *ret_ms = strtoll(reply->element[0]->str, NULL, 10) * 1000 + strtoll(reply->element[1]->str, NULL, 10) / 1000;
    return true;
}

static void add(struct probe_votes *votes, const redisReply *member, int64_t left_ms)
{
    struct probe_vote *vote;

    if (votes->n == PROBE_VOTES_SHOWN) {
        votes->more = true;
        return;
    }
    vote = &votes->votes[votes->n++];
    vote->mode = member->str[0];
    vote->left_ms = left_ms;
    probe_keep_value(member->str + 2, (size_t)member->len - 2, vote->value, &vote->value_hash);
}

/* Members and their ends by turns, the latest end last. */
static void take_members(const redisReply *reply, int64_t now_ms, struct probe_votes *votes)
{
    for (size_t i = 0; i + 1 < reply->elements; i += 2)
        if (!is_vote(reply->element[i]) && !is_mark(reply->element[i]))
            return;
    votes->answered = true;
    for (size_t i = reply->elements / 2; i-- > 0;) {
        const redisReply *member = reply->element[2 * i];
        int64_t left_ms = strtoll(reply->element[2 * i + 1]->str, NULL, 10) - now_ms;

        if (is_vote(member) && left_ms >= 0)
            add(votes, member, left_ms);
    }
}

void probe_votes_take(struct wire *wire, const char *key, struct probe_votes *votes)
{
    const char *time[] = {"TIME"};
    const char *range[] = {"ZRANGE", key, "-103", "-1", "WITHSCORES"}; /* one more than is shown, and the marks */
    int64_t now_ms = 0;
    redisReply *when;
    redisReply *members;

    _Static_assert(PROBE_VOTES_SHOWN + 1 + MARKS == 103, "the range must reach beyond what is shown");
    wire_append(wire, 1, time);
    wire_append(wire, 5, range);
    when = wire_reply(wire);
    members = when != NULL ? wire_reply(wire) : NULL;
    if (take_time(when, &now_ms) && members != NULL && members->type == REDIS_REPLY_ARRAY)
        take_members(members, now_ms, votes);
    freeReplyObject(when);
    freeReplyObject(members);
}
