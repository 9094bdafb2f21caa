/* The commands of Redis that the library and its scripts use, over one simulated master's keys.
 *
 * A command that is not modelled here answers "ERR unknown command", so a script that starts to use one fails loudly
 * in the simulator instead of being half simulated. */
#ifndef RL_SIMULATED_REDIS_H
#define RL_SIMULATED_REDIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "votes/kind.h"
#include "simulated/keyspace.h"

#define REDIS_SCRATCH (40 + MEMBER_TEXT)

/* Of a command that a script makes: JOIN writes a marker of twelve fields. */
#define REDIS_MAX_WORDS 64

struct redis_context;

/* Called before a key's value is taken away or its expiry is changed: for the oracles. */
typedef void (*redis_touch_fn)(struct redis_context *context, const struct entry *entry, const char *command);

/* Whose value this is, for the oracles. */
typedef uint32_t (*redis_owner_fn)(struct redis_context *context, struct rl_slice value);

/* A lock has been set whose owner is none of the writers. */
typedef void (*redis_given_fn)(struct redis_context *context, const struct entry *entry);

/* A vote in a set is about to get this end (master's time, ms), or, with INT64_MIN, to be removed. One that was not
 * there before has the score -1. */
typedef void (*redis_vote_fn)(struct redis_context *context, const struct member *vote, int64_t ends_ms,
                              const char *command);

/* Hands a message to whoever listens now; answers how many those are. */
typedef int64_t (*redis_publish_fn)(struct redis_context *context, struct rl_slice channel, struct rl_slice payload);

#ifdef RL_SIMULATED_ROOMY
#define REDIS_FULL "OOM the simulated master has as many keys as it can have"
#else
#define REDIS_FULL "ERR the simulated master is full"
#endif

/* What a script's command answers with, where that may be more than a reply has room for: names, the members of a
 * sorted set with their scores. */
struct redis_range {
    size_t n;
    bool scored;
    struct rl_slice members[KEYSPACE_MAX_MEMBERS];
    double scores[KEYSPACE_MAX_MEMBERS];
};

/* One command, or one script with all its commands, at one instant of the master's clock. */
struct redis_context {
    struct keyspace *keys;
    const struct clockwork *clock;
    int64_t now_ns;           /* master's time */
    const char *write_error;  /* every write is refused with this error; NULL: none */
    unsigned n_writers;       /* claims on whose behalf this runs */
    const uint32_t *writers;
    bool wrote;
    bool began;               /* a command that writes has been let through */
    bool out_of_memory;       /* write_error concerns only commands that may need memory */
    redis_touch_fn touch;
    redis_owner_fn owner;
    redis_given_fn given;
    redis_vote_fn vote;
    redis_publish_fn publish;
    void *world;
    unsigned master;
    const char *info;         /* the text of INFO */
    struct redis_range *range; /* of a script's command that answers with one; then the reply is an empty list */
    char *scratch;            /* REDIS_SCRATCH: text of numbers in replies, which outlive the context */
};

/* The texts in the reply borrow from the keys, from scratch and from static storage: valid until the next command. */
void redis_execute(struct redis_context *context, size_t argc, const struct rl_slice *argv, struct rl_reply *reply);

void reply_status(struct rl_reply *reply, const char *text);
void reply_error(struct rl_reply *reply, const char *text);
void reply_integer(struct rl_reply *reply, int64_t value);
void reply_string(struct rl_reply *reply, const void *data, size_t size);
void reply_nil(struct rl_reply *reply);

#endif
