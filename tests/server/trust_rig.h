/* What the tests of standings share: one rig, clients of the guarded profile in whatever profile the suites are run,
 * and questions about a master's standing. */
#ifndef TESTS_TRUST_RIG_H
#define TESTS_TRUST_RIG_H

#include "program_rig.h"

/* A quarantine is max_ttl and a second: short enough to be waited for. */
#define SHORT_MAX_TTL_MS 300
#define SHORT_QUARANTINE_MS (SHORT_MAX_TTL_MS + 1000)

/* Options: how the client joins. */
void trust_declare(struct redlock_options *options);
void trust_declare_short(struct redlock_options *options);
void trust_vote(struct redlock_options *options);
void trust_vote_short(struct redlock_options *options);
void trust_look(struct redlock_options *options);

/* Masters that differ from the usual, options that declare them new, and no client yet. */
void trust_start(const struct masters_options *options);
void trust_close(void);

struct redlock_node_info trust_info(struct redlock_client *client, size_t node);
void trust_expect_excluded(size_t node, enum redlock_fault why);
void trust_expect_votes(size_t node);
void trust_wait_standing(size_t node, enum redlock_standing standing);
struct redlock_stats trust_stats(void);

/* One attempt to acquire the key. */
struct outcome trust_try(const char *key, uint32_t ttl_ms);

#endif
