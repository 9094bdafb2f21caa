/* Keys that somebody else wants, too: a cache of 64 slots. */
#ifndef RL_HOST_CONTENDED_H
#define RL_HOST_CONTENDED_H

#include <stdbool.h>
#include <stdint.h>

#include "util/instant.h"
#include "util/list.h"

struct rl_key;

#define RL_CONTENDED_KEYS 64

struct rl_contended_key {
    uint64_t hash;
    struct rl_instant until; /* then it is forgotten */
    struct rl_list company;  /* attempts that wait for the key, in cohorts: cohort.c */
};

struct rl_contended {
    struct rl_instant until; /* of the one noted last */
    struct rl_contended_key seen[RL_CONTENDED_KEYS];
};

void rl_contended_init(struct rl_contended *contended);

/* Somebody else wants the key at this instant. */
void rl_contended_note(struct rl_contended *contended, const struct rl_key *key, struct rl_instant now);

/* Has somebody else wanted the key a moment ago? */
bool rl_contended(struct rl_contended *contended, const struct rl_key *key, struct rl_instant now);

/* For cohort.c; NULL: this key is not known. */
struct rl_contended_key *rl_contended_find(struct rl_contended *contended, const struct rl_key *key);

#endif
