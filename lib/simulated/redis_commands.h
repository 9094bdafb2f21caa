/* Inside redis.c: the commands, and what they have in common. */
#ifndef RL_SIMULATED_REDIS_COMMANDS_H
#define RL_SIMULATED_REDIS_COMMANDS_H

#include "simulated/redis.h"

#define WRONGTYPE "WRONGTYPE Operation against a key holding the wrong kind of value"
#define NOT_AN_INTEGER "ERR value is not an integer or out of range"

bool redis_word_is(struct rl_slice slice, const char *word);
bool redis_parse_integer(struct rl_slice slice, int64_t *ret_value);
int64_t redis_now_ms(const struct redis_context *context);
struct entry *redis_lookup(struct redis_context *context, struct rl_slice key);

/* The model's bounds are too narrow: no world may come to that. */
void redis_full(struct rl_reply *reply);

/* Takes a key away; the oracles are told first. */
void redis_remove(struct redis_context *context, struct entry *entry, const char *command);

#define COMMAND(name) \
    void command_##name(struct redis_context *context, size_t argc, const struct rl_slice *argv, struct rl_reply *reply)

/* redis_strings.c */
COMMAND(set);
COMMAND(get);
COMMAND(del);
COMMAND(delifeq);
COMMAND(exists);
COMMAND(pexpire);
COMMAND(pttl);

/* redis_hashes.c */
COMMAND(hget);
COMMAND(hmget);
COMMAND(hkeys);
COMMAND(hset);
COMMAND(hdel);

/* redis_sorted.c */
COMMAND(zadd);
COMMAND(zrem);
COMMAND(zremrangebyscore);
COMMAND(zcard);
COMMAND(zrank);
COMMAND(zscore);
COMMAND(zrange);
COMMAND(zpopmin);

#undef COMMAND

#endif
