/* The words of the agent's protocol (tools/agent/PROTOCOL.md): requests, made of what a command wants, and what answers
 * and events say. */
#ifndef CLI_AGENT_WORDS_H
#define CLI_AGENT_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>
#include <redlock/redlock.h>

struct lock_spec;

/* --- Requests. Label NULL: none. A lock that is adopted lingers: a command that is killed leaves it to its ttl. A slot
 * that is negative: the lock is no permit. */
json_t *agent_acquire(const struct lock_spec *spec, const struct redlock_acquire_options *options, int64_t wait_ms,
                      const char *label);
json_t *agent_adopt(const struct lock_spec *spec, const struct redlock_acquire_options *options, const char *text);
json_t *agent_release_token(const char *key, const char *token, int64_t slot);

/* --- Answers. */

bool agent_is_ok(const json_t *answer);
const char *agent_text(const json_t *words, const char *name); /* "": there is none */
int64_t agent_number(const json_t *words, const char *name);   /* 0: there is none; or its digits as text */

/* An answer as a result of the library, which borrows from it. No answer (NULL) is REDLOCK_E_SYSTEM, with this why; a
 * refusal of the agent's own is REDLOCK_E_ARGUMENT, with the agent's. */
struct agent_result {
    struct redlock_result result;
    struct redlock_node_result nodes[REDLOCK_MAX_MASTERS];
};
void agent_result_read(const json_t *answer, const char *why, struct agent_result *ret);

#endif
