/* What the tests of sets of locks share: one rig of five masters, sets, and what became of them. */
#ifndef TESTS_SET_RIG_H
#define TESTS_SET_RIG_H

#include <redlock/set.h>

#include "program_rig.h"

#define SET_RECORDS 4

/* What became of a set's operations, and of itself. */
struct record {
    struct redlock_set *set;
    unsigned ended;      /* callbacks */
    struct redlock_set_result result;
    bool had_evidence;   /* the deciding key's result came with it */
    unsigned at_risk;
    unsigned lost;
    size_t lost_part;
    int64_t others_ns;   /* the validity of the other keys' locks when LOST was told */
    bool destroy;        /* in the callback */
};

extern struct record set_records[SET_RECORDS];

void set_open(void);
void set_close(void);

/* A new set, whose record is the i-th. The keys are letters. */
struct record *set_record(size_t i, struct redlock_client *client, const char *keys);

/* The same with n permits of the semaphore "s", of which there are `limit`. */
struct record *set_record_of_permits(size_t i, struct redlock_client *client, uint32_t n, uint32_t limit);

/* A renewal soon finds that a key is gone; a pause of the test's process loses none. */
struct redlock_acquire_options set_renewed_often(int64_t timeout_ms);

/* The callback of each operation; its user_data is the record. */
void set_on_end(struct redlock_set *set, const struct redlock_set_result *result, void *user_data);

/* Starts to acquire. */
void set_start(struct record *record, uint32_t ttl_ms, int64_t timeout_ms);
void set_start_with(struct record *record, const struct redlock_acquire_options *request);

/* Waits for the end of the operation. */
void set_wait_end(struct record *record, int status);

/* An acquisition and its end. Masters that are late do not end it: it is made again. */
void set_expect(struct record *record, const struct redlock_acquire_options *request, int status);
void set_expect_held(struct record *record);
void set_acquire(struct record *record, int64_t timeout_ms);
void set_acquire_renewed_often(struct record *record, int64_t timeout_ms);

void set_release(struct record *record, int status);

/* A mask of the slots that its permits have. */
uint32_t set_slots(const struct record *record);

/* Until each of the masters has the keys, and the client knows that: a master that forgets a vote gets it back only if
 * it was counted. The keys are words with spaces between them. */
void set_wait_votes(struct redlock_client *client, const char *keys);

/* For rig_wait(): the operation has ended; the alarm has told that the set is lost. */
bool set_has_ended(void *record);
bool set_has_lost(void *record);

#endif
