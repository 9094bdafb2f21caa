/* Locks of peers: one key, several, or permits of a semaphore. held.c has their life and what is told of them; what is
 * done with them is in acquire.c, uses.c, handover.c and state.c. */
#ifndef AGENT_HELD_H
#define AGENT_HELD_H

#include "agent/agent.h"
#include "agent/fields.h"

struct part {
    const struct redlock_lock *lock;
    uint32_t votes; /* as of the latest grant or renewal */
    struct held *held;
};

struct held {
    struct thing thing;
    struct subject subject;
    struct subject_sink alarms;
    struct list moved;     /* among those whose validity is to be told */
    json_t *keys;          /* as they were asked for */
    bool granted;          /* its peer has been told that it holds it */
    bool renews;
    struct request *releasing; /* the release of its last entry, which masters are being told of; NULL: none */
    bool released;         /* the peer has released it, and it is kept for nobody */
    uint32_t linger_ms;    /* for so long it is kept when its peer has gone */
    uint32_t hold_ms;      /* for so long it is held at least, from its grant on */
    uint32_t ttl_ms;       /* 0: the text that it was adopted from has it */
    uid_t uid;
    size_t n;
    struct part *parts;
};

/* What `acquire` and `adopt` ask for. */
struct wanted {
    const char *key;
    json_t *keys;
    const char *mode;
    const char *permits;
    const char *label;
    const char *text;
    const char *token;
    uint32_t ttl_ms;
    uint32_t min_validity_ms;
    uint32_t hold_ms;
    uint32_t linger_ms;
    int64_t wait_ms;
    bool fenced;
    bool own_token;
    bool renews;
};

extern const struct thing_kind held_kind;

struct held *held_of(const struct thing *thing);

/* A thing of the peer from now on. */
void held_begin(struct held *held, struct peer *peer);

/* Its keys have been added: its events are followed. 0 or the library's error. */
int held_follow(struct held *held);

/* Gives the lock back if it is held. */
void held_end(struct thing *thing);

/* Ends the operation that is pending. */
void held_cancel(struct thing *thing);

/* How often it is to be released; 1 for each set. */
uint32_t held_depth(const struct held *held);

/* An answer that tells of its validity. */
json_t *held_grant(int64_t id, struct held *held);

json_t *held_key(const struct redlock_lock *lock);

/* --- acquire.c: each is false or NULL after the answer. */

bool wanted_read(struct peer *peer, int64_t id, json_t *request, const struct field *fields, struct wanted *wanted);
bool mode_read(struct peer *peer, int64_t id, const char *word, enum redlock_mode *ret_mode);
struct held *held_create(struct peer *peer, int64_t id, const struct wanted *wanted);

/* --- uses.c: the request's lock; NULL, after the answer. `fields` has the place for its number. */

struct held *held_find(struct peer *peer, int64_t id, json_t *words, const struct field *fields,
                       const uint64_t *number);

/* --- handover.c */

/* To be freed. NULL, with the library's status: it cannot be exported now. */
char *held_export(struct held *held, int *ret_status);

/* 0 or the library's error. */
int held_adopt(struct held *held, const char *text);

/* Remembers a text that has been adopted for as long as it is valid. False: there are too many, or no memory. */
bool spent_add(struct agent *agent, const char *text, int64_t left_ms);
/* "text" and "left_ms" of each. */
json_t *spent_list(struct agent *agent);

#endif
