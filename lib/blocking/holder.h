/* The lock or the set of locks behind each mutex, and its validity as it is published to all threads.
 *
 * All of it but the bound, and the kind of a holder, belongs to the loop's owner. */
#ifndef RL_BLOCKING_HOLDER_H
#define RL_BLOCKING_HOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include <redlock/options.h>
#include <redlock/set.h>

#include "blocking/bound.h"
#include "util/list.h"
#include "util/table.h"

struct rl_holder;

/* One for each service. */
struct rl_holders {
    struct rl_list all;
    struct rl_table by_lock;
    struct rl_list stale;
};

/* What is asked of a holder. The first six are operations: a callback ends them. */
enum rl_what {
    RL_ACQUIRE,
    RL_EXTEND,
    RL_CONVERT,
    RL_RELEASE,
    RL_RELEASE_TOKEN,
    RL_RELEASE_PERMIT,
    RL_CANCEL,
    RL_DETACH,
    RL_EXPORT,
    RL_ADOPT,
    RL_TOKEN,
    RL_SLOT,
    RL_MODE,
    RL_ADD,
    RL_ADD_MODE,
    RL_ADD_PERMITS,
    RL_KEEP_REST,
    RL_PART,
    RL_N_WHATS
};

struct rl_request {
    enum rl_what what;
    const struct redlock_acquire_options *options; /* acquire, adopt; NULL: the defaults */
    uint32_t ttl_ms;                               /* extend */
    enum redlock_mode mode;                        /* convert, add */
    int64_t timeout_ms;                            /* convert */
    const char *token;                             /* release that of another process */
    uint32_t slot;                                 /* ... of a permit */
    const char *text;                              /* adopt */
    const void *key;                               /* create, add: `size` bytes */
    size_t size;
    uint32_t n;                                    /* add: permits */
    uint32_t limit;                                /* create, add: of the semaphore; 0: none */
    int keep;                                      /* keep the rest */
    size_t part;
    void *ret;                                     /* what is asked for: token, text and part have `size` bytes */

    /* Of an operation: its end. The request stays until then. */
    void (*done)(struct rl_request *request, const struct redlock_result *result);
};

/* A lock or a set of locks: what they have in common. */
struct rl_holder_kind {
    size_t max_parts;
    int (*create)(struct rl_holder *holder, struct redlock_client *client, const struct rl_request *request);
    void (*destroy)(void *handle);
    const struct redlock_lock *(*part)(const struct rl_holder *holder, size_t i); /* NULL behind the last one */
    enum redlock_state (*state)(const struct rl_holder *holder);
    int64_t (*remaining_ns)(const struct rl_holder *holder, struct rl_bound_hold *ret_hold);

    /* 0, or an error; NULL: this kind of holder has no such thing (E_SET). */
    int (*ask[RL_N_WHATS])(struct rl_holder *holder, struct rl_request *request);
};

extern const struct rl_holder_kind rl_lock_holder, rl_set_holder;

/* Finds a holder by one of its locks. */
struct rl_holder_part {
    struct rl_table_node node;
    const struct redlock_lock *lock;
    struct rl_holder *holder;
};

typedef void (*rl_alarm_fn)(struct rl_holder *holder, const struct redlock_alarm *alarm);

/* One for each mutex. */
struct rl_holder {
    struct rl_bound bound;
    const struct rl_holder_kind *kind;
    union {
        void *handle;               /* NULL: it has ended */
        struct redlock_lock *lock;
        struct redlock_set *set;
    };
    rl_alarm_fn on_alarm;
    struct rl_holders *holders;
    struct rl_list link;            /* among all holders */
    struct rl_holder_part *parts;
    size_t n_parts;
    struct rl_list stale;           /* the published validity may be wrong, until the end of this turn of the loop */
    bool may_be_held;               /* if not, there is nothing to publish */
};

void rl_holders_init(struct rl_holders *holders);
void rl_holders_fini(struct rl_holders *holders);

/* A holder without a handle. */
void rl_holder_init(struct rl_holder *holder, const struct rl_holder_kind *kind, rl_alarm_fn on_alarm);

/* Creates the lock or the set. All its alarms are told, whoever watches: a set that is lost releases what is left of it
 * at once, and before that is written the end of its validity has to be published. */
int rl_holder_begin(struct rl_holder *holder, struct rl_holders *holders, struct redlock_client *client,
                    const struct rl_request *request);

/* The holder has other locks than before. */
void rl_holder_update_parts(struct rl_holder *holder);

/* The lock or the set is about to be destroyed. From then on callbacks find none, and the published validity is 0. */
void rl_holder_end(struct rl_holder *holder);

bool rl_holder_exists(const struct rl_holder *holder);

/* Asks the lock or the set, and publishes what is left of the validity: a request may end it, and a loss may be noticed
 * in it. The status of the library's function, or REDLOCK_E_SET. */
int rl_holder_ask(struct rl_holder *holder, struct rl_request *request);

/* Publishes what is left of the validity, so that the holder is no longer stale. */
void rl_holder_publish(struct rl_holder *holder);
void rl_holders_publish_stale(struct rl_holders *holders);
void rl_holders_publish_all(struct rl_holders *holders);

/* Marks what rl_holders_publish_stale() has to publish: one holder; that of a lock, or all if the lock is NULL. True:
 * there is something to publish. */
bool rl_holder_mark_stale(struct rl_holder *holder);
bool rl_holders_mark_lock_stale(struct rl_holders *holders, const struct redlock_lock *lock);

/* Visits all holders that exist: the first for NULL, at last NULL. A loop that ends a holder asks for the next
 * before. */
struct rl_holder *rl_holders_next(const struct rl_holders *holders, const struct rl_holder *holder);

#endif
