/* Between the files of the toy master. */
#ifndef TESTS_TOY_INSIDE_H
#define TESTS_TOY_INSIDE_H

#include "toy.h"

/* The longest command: the release of as many permits as fit into one. */
#define TOY_WORDS (3 + 4 * 64)

struct toy_word {
    const unsigned char *bytes;
    size_t size;
};

/* toy_keys.c */
int64_t toy_now_ns(void);
struct toy_key *toy_find(struct toy *toy, struct toy_word key);
void toy_store(struct toy *toy, struct toy_word key, struct toy_word value, int64_t ttl_ms);
/* The vote of this value among those that share the key; NULL: it has none. */
struct toy_key *toy_find_vote(struct toy *toy, struct toy_word key, struct toy_word value);
void toy_store_vote(struct toy *toy, struct toy_word key, struct toy_word value, int64_t ttl_ms);
/* Has the key votes other than those of these two values? */
bool toy_has_other_votes(struct toy *toy, struct toy_word key, struct toy_word mine, struct toy_word also_mine);
bool toy_is(struct toy_word word, const char *text);
int64_t toy_number(struct toy_word word);

/* toy.c: to every connection that has subscribed to the channel. */
void toy_publish(struct toy *toy, const char *channel, const char *payload);

/* toy_queue.c: the scripts of waiting in the queue. */
const char *toy_release(struct toy *toy, const struct toy_word *words);
const char *toy_release_alone(struct toy *toy, const struct toy_word *words);
const char *toy_release_many(struct toy *toy, const struct toy_word *words, size_t n_values);
const char *toy_release_permit(struct toy *toy, const struct toy_word *words);
const char *toy_enqueue(struct toy *toy, const struct toy_word *words);
bool toy_is_keep_many(const struct toy_word *words, size_t n);
const char *toy_keep_many(struct toy *toy, const struct toy_word *words, size_t n);

/* The reply to an ENQUEUE. */
const char *toy_answer_enqueue(struct toy *toy, int code, int64_t ticket, size_t rank, int64_t left_ms);

/* toy_shared.c: a step of a vote that others may share; NULL: any other command. */
const char *toy_run_shared(struct toy *toy, const struct toy_word *words, size_t n);

/* toy_commands.c: the reply, valid until the next command. */
const char *toy_execute(struct toy *toy, const struct toy_word *words, size_t n);
int64_t toy_wall_us(void);

#endif
