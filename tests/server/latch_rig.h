/* What the tests of latches share: one rig of three masters, parties, and what their callbacks have said. */
#ifndef TESTS_LATCH_RIG_H
#define TESTS_LATCH_RIG_H

#include <redlock/latch.h>

#include "program_rig.h"

#define LATCH_MASTERS 3
/* Where the latch "job" of all these tests is kept. */
#define LATCH_KEY "redlock:latch:job"

/* A handle, and a copy of what its latest callbacks have said. */
struct party {
    struct redlock_latch *latch;
    struct redlock_latch_result arrival, wait;
    unsigned arrivals, waits;
    char names[200]; /* of the latest result, with spaces between them */
    char details[LATCH_MASTERS][160];
    char why[400];
    bool destroy;    /* the latch, in the next callback, before that reads its result */
    bool arrive;     /* likewise, at the latch, in the next callback of a wait */
};

/* Repetitions come every half second. */
void latch_open(void);
/* The same with this environment of the masters (clock_fault.h). */
void latch_open_with(const char *const *environment);
void latch_close(void);

/* A handle of the rig's client, for the first generation; NULL is the name of one that only waits. */
struct party latch_join(uint32_t parties, const char *name);
struct party latch_join_as(struct redlock_client *client, uint32_t parties, uint64_t generation, const char *name);

/* The callbacks of the operations; their user_data is the party. */
void latch_on_arrival(struct redlock_latch *latch, const struct redlock_latch_result *result, void *user_data);
void latch_on_wait(struct redlock_latch *latch, const struct redlock_latch_result *result, void *user_data);

/* Operations, begun and ended, or both. */
void latch_begin_arrival(struct party *party, int64_t timeout_ms);
void latch_begin_wait(struct party *party, int64_t timeout_ms);
void latch_expect_arrival(struct party *party, int status);
void latch_expect_wait(struct party *party, int status);
void latch_arrive(struct party *party, int64_t timeout_ms, int status);
void latch_await(struct party *party, int64_t timeout_ms, int status);
void latch_expect_status(int status, int expected, const struct party *party);

/* For rig_wait(): the party's wait has ended. */
bool latch_has_waited(void *party);

/* What one master has in a field of the latch; "" if nothing. */
void latch_field(size_t node, const char *name, char ret_text[64]);

/* How many of the masters that run have the field. */
size_t latch_count_field(const char *name);

/* Gives one master a latch of two parties, with names as one of ours would have written them. */
void latch_give(size_t node, const char *a, const char *b, const char *more);

/* Returns when the client has noticed. */
void latch_kill_master(size_t node);

#endif
