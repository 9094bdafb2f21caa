/* What the masters' answers about one key add up to. Pure arithmetic over the probes. */
#ifndef CLI_VERDICT_H
#define CLI_VERDICT_H

#include "cli/probe.h"

enum verdict_kind {
    VERDICT_HELD,    /* a quorum stores the same value */
    VERDICT_FREE,    /* no master that answered has the key, and those are a quorum */
    VERDICT_SPLIT,   /* some have it, but no value can have a quorum, whatever the silent masters store */
    VERDICT_UNKNOWN, /* the silent masters decide */
    VERDICT_SHARED,  /* values with shared votes of a quorum: shares.h */
    VERDICT_UPGRADING, /* the same, and the upgradeable one has some exclusive votes already */
    VERDICT_FOREIGN, /* on so many masters another program has the key that no value can have a quorum */
};

/* The same to people: on how many masters, and how many there are. */
#define VERDICT_FOREIGN_TEXT "another program has the key on %zu of %zu masters: nobody can lock it"

/* Somebody who has the votes of a quorum. */
struct verdict_holder {
    const char *value; /* borrowed from a probe */
    char mode;         /* as in struct probe_vote */
    int64_t left_ms;
};

struct verdict {
    enum verdict_kind kind;
    size_t quorum;
    size_t answered;
    size_t present;     /* masters with the key, whatever its value */
    size_t most;        /* masters that agree on the most frequent value */
    const char *value;  /* that value, borrowed from a probe; NULL if there is none */
    size_t sharers;     /* values with votes of a quorum that share the key */
    bool exclusive;     /* one of them does not */
    bool upgrading;     /* one is upgradeable, and on some master an exclusive vote stands beside its own */
    int64_t pttl_ms;    /* HELD: how long a quorum keeps it, without renewal */
    size_t foreign;     /* masters on which the key is another program's */
    size_t n_holders;   /* as many of them as can be listed */
    struct verdict_holder holders[PROBE_VOTES_SHOWN];
};

/* FOREIGN, SHARED and UPGRADING are left to shares_judge(), which has the votes. */
struct verdict verdict_of(const struct probe *probes, size_t n, size_t quorum);

/* Other clients of the algorithm have tokens of other forms, random bytes for example. But each ends (left_ms is not
 * -1), none is so long that nobody could release it, and none is a text with blanks. */
bool verdict_may_be_token(const char *value, size_t size, int64_t left_ms);

/* A lock's key is a token that ends, or consists of votes (NULL: it does not). Another program has anything else. */
bool verdict_is_foreign(const struct probe *probe, const struct probe_votes *votes);
const char *verdict_name(enum verdict_kind kind);

/* --- Who shares a key, by the votes that the masters have shown. Pure arithmetic. */

/* Where no string has a quorum, votes may: the verdict is then SHARED, UPGRADING, or HELD if the vote is exclusive; or
 * it is FOREIGN. */
void shares_judge(struct verdict *verdict, const struct probe *probes, const struct probe_votes *votes, size_t n);

#endif
