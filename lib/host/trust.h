/* Who may vote, on the client's side (protocol section 5): the looks at the masters, the marker, the guards and the
 * masters' clocks. What is found out goes to the engine as standings, proofs and clock steps.
 *
 *     connection made -> CONFIG GET, JOIN -> judged -> READY     trust_join.c: the host's part of the handshake
 *     end of each turn -> HGET marker inc, TIME -> proof         trust_guard.c
 *
 * A master that votes is looked at again every few seconds (trust_look.c), one that is excluded, too, by making its
 * connection anew; one in quarantine is asked for its marker, which an operator may have declared new. In the
 * classic profile there is nothing to do: every master votes. */
#ifndef RL_HOST_TRUST_H
#define RL_HOST_TRUST_H

#include <stdbool.h>
#include <stddef.h>
#include <uuid/uuid.h>

#include <redlock/observe.h>
#include <redlock/options.h>

#include "votes/join.h"
#include "votes/nodeclock.h"
#include "votes/kind.h"
#include "votes/standing.h"
#include "util/bytes.h"
#include "util/instant.h"
#include "util/wheel.h"

struct redlock_client;
struct rl_master;
struct rl_ticket;

/* Names of the library's own, behind the prefix: the marker, and what fencing counters, queues and their waiters, and
 * channels begin with. */
#define RL_MARKER_NAME "redlock:marker"
#define RL_COUNTER_NAME "redlock:fence:"
#define RL_QUEUE_NAME "redlock:queue:"
#define RL_WAITERS_NAME "redlock:waiters:"
#define RL_CHANNEL_NAME "redlock:grant:"

/* Steps of tickets that belong to no claim: their owner is NULL. */
enum rl_ticket_step {
    RL_TICKET_GUARD_MEMORY = RL_STEP_COUNT, /* HGET marker inc */
    RL_TICKET_GUARD_CLOCK,                  /* TIME: the guard's last */
    RL_TICKET_LOOK_SETTING,                 /* CONFIG GET; flags: which */
    RL_TICKET_LOOK_JOIN,
};

#define RL_TRUST_SETTING_MAX 15
#define RL_TRUST_WHY_MAX 160

/* What CONFIG GET is asked for (protocol 5.3). */
enum rl_trust_setting {
    RL_TRUST_APPEND_ONLY,
    RL_TRUST_APPEND_FSYNC,
    RL_TRUST_NO_FSYNC_ON_REWRITE,
    RL_TRUST_N_SETTINGS,
};

struct rl_trust_node {
    struct redlock_client *client;
    struct rl_timer timer;        /* EXCLUDED: the next look; QUARANTINED: the next question, or the end */
    struct rl_nodeclock clock;
    struct rl_join_report report; /* of the latest look */
    struct rl_instant received;   /* ... and when it came */
    char seat[UUID_STR_LEN];      /* which one of the ring it is */
    bool looked;                  /* report and settings are known */
    bool joined;                  /* JOIN has been answered once: DECLARE is over */
    bool same_server;             /* as another master, of lower index */
    bool same_memory;             /* what the guard under way has found so far */
    char settings[RL_TRUST_N_SETTINGS][RL_TRUST_SETTING_MAX + 1]; /* "": no right to see */
    char why[RL_TRUST_WHY_MAX];   /* of the latest handshake that was given up */
    enum rl_standing_kind told_kind; /* as in the latest event */
    enum rl_fault told_fault;
};

struct rl_trust {
    bool guarded;             /* the profile */
    uint32_t max_ttl_ms;      /* the largest that any marker has shown */
    size_t prefix_size;
    size_t marker_size;
    char prefix[REDLOCK_MAX_PREFIX_BYTES + 1];
    char marker[REDLOCK_MAX_PREFIX_BYTES + sizeof RL_MARKER_NAME];
    char ring[UUID_STR_LEN];
    struct rl_bytes memory_question; /* the guard's commands, encoded once for all masters */
    struct rl_bytes clock_question;
    struct rl_trust_node nodes[REDLOCK_MAX_MASTERS];
};

/* After rl_engine_init(), before the driver takes the masters over. 0 or REDLOCK_E_NOMEM; rl_trust_fini() follows in
 * both cases. */
int rl_trust_init(struct redlock_client *client, const struct rl_master *masters, size_t n);

/* Not before the driver has been closed. */
void rl_trust_fini(struct redlock_client *client);

/* For the driver's sink; ctx is the client. */
int rl_trust_greet(void *ctx, unsigned node, unsigned round, struct rl_bytes *out);
bool rl_trust_greeted(void *ctx, unsigned node, unsigned round, unsigned index, const struct rl_reply *reply,
                      struct rl_instant sent, struct rl_instant now, const char **ret_why);

/* At the end of each loop turn, when all effects have been taken: guards what has been written. */
void rl_trust_guard(struct redlock_client *client);

/* The reply to a ticket without owner. The caller then takes the engine's effects. Such tickets that are dropped need
 * nothing. */
void rl_trust_reply(struct redlock_client *client, unsigned node, const struct rl_ticket *ticket,
                    const struct rl_reply *reply, struct rl_instant now);

/* A master has said READONLY: it is none any more. Its connection is made anew, and it is judged; but not where that
 * is no help, in the classic profile and without the rights to judge. */
void rl_trust_doubt(struct redlock_client *client, unsigned node);

/* What keys begin with; the marker's key and the incarnation that was judged, empty where a master is not guarded. */
struct rl_slice rl_trust_prefix(const struct redlock_client *client);
struct rl_slice rl_trust_marker(const struct redlock_client *client, unsigned node);
struct rl_slice rl_trust_incarnation(const struct redlock_client *client, unsigned node);

/* The engine's standing, with the quarantine after a clock step, which the engine keeps apart, put in; one that is over
 * is VOTES. */
struct rl_standing rl_trust_standing(const struct redlock_client *client, unsigned node, struct rl_instant now);

/* From CONFIG GET. */
enum rl_durability rl_trust_durability(const struct rl_trust_node *node);

/* --- observe.c --------------------------------------------------------------------------------------------------- */

enum redlock_standing rl_public_standing(enum rl_standing_kind kind);
enum redlock_fault rl_public_fault(enum rl_fault fault);

/* --- Between the files ------------------------------------------------------------------------------------------ */

/* The ring: a name-based UUID over all that the clients of a deployment must agree on; and the seat of each master in
 * it, one over its name. false: out of memory. */
bool rl_trust_make_ring(struct redlock_client *client, const struct rl_master *masters, size_t n);

/* The questions of a look, one command each; false: out of memory. Their answers: a setting, or a report that has been
 * put into the node, and is judged now. */
bool rl_trust_encode_setting(enum rl_trust_setting setting, struct rl_bytes *out);
bool rl_trust_encode_join(struct redlock_client *client, unsigned node, struct rl_bytes *out);
void rl_trust_note_setting(struct rl_trust_node *known, unsigned index, const struct rl_reply *reply);
void rl_trust_take_report(struct redlock_client *client, unsigned node, struct rl_instant sent, struct rl_instant now);

/* Looks again, at a master that votes, and the answers to that. */
void rl_trust_look(struct redlock_client *client, unsigned node, struct rl_instant now);
void rl_trust_look_setting(struct redlock_client *client, unsigned node, const struct rl_ticket *ticket,
                           const struct rl_reply *reply, struct rl_instant now);
void rl_trust_look_join(struct redlock_client *client, unsigned node, const struct rl_ticket *ticket,
                        const struct rl_reply *reply, struct rl_instant now);

/* Asks for the marker and the clock. */
void rl_trust_ask(struct redlock_client *client, unsigned node, struct rl_instant sent);

/* Tells the engine, tells a change, and sets the timer for what comes next. */
void rl_trust_judged(struct redlock_client *client, unsigned node, const struct rl_standing *standing,
                     struct rl_instant now);

/* A reading of the master's clock, and all that follows from a step. */
void rl_trust_read_clock(struct redlock_client *client, unsigned node, int64_t node_us, struct rl_instant sent,
                         struct rl_instant now);

#endif
