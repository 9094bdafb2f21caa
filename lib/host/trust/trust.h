/* Which masters may vote, on the client's side (rules 5): handshakes, the marker, epoch checks, and the
 * masters' clocks. What is found out goes to the engine as admission status, results of epoch checks, and clock steps.
 *
 *     connection made    -> CONFIG GET, JOIN -> evaluated -> READY    handshake.c, admission.c
 *     end of each turn   -> HGET marker inc, TIME -> verified         epoch_check.c, node_clock.c
 *     every few seconds  -> CONFIG GET, JOIN -> evaluated             trust.c
 *
 * An excluded master is checked again by making its connection anew. A master in quarantine is asked for its marker,
 * which an operator may have declared new. In the classic profile every master votes, and nothing is asked. */
#ifndef RL_HOST_TRUST_TRUST_H
#define RL_HOST_TRUST_TRUST_H

#include <stdbool.h>
#include <stddef.h>

#include <redlock/options.h>

#include "host/environment.h"
#include "kinds/names.h"
#include "host/transport.h"
#include "util/bytes.h"
#include "util/instant.h"
#include "util/wheel.h"
#include "votes/admission.h"
#include "votes/clocks.h"
#include "kinds/join.h"
#include "votes/kind.h"

struct rl_host;
struct rl_view;
struct rl_trust_change;

#define RL_TRUST_SETTING_MAX 20
#define RL_TRUST_WHY_MAX 160

/* What CONFIG GET is asked for (rule 5.6). */
enum rl_trust_setting {
    RL_TRUST_APPEND_ONLY,
    RL_TRUST_APPEND_FSYNC,
    RL_TRUST_NO_FSYNC_ON_REWRITE,
    RL_TRUST_CORRUPT_TAIL,
    RL_TRUST_N_SETTINGS,
};

/* One word for all that the clients of a deployment must agree on, and one for each master in it. */
struct rl_deployment_names {
    char list_id[RL_UUID_SIZE];
    char node_ids[REDLOCK_MAX_MASTERS][RL_UUID_SIZE];
};

/* A process, and what its memory is a copy of: a replica that is promoted becomes another server. "": none. */
struct rl_server_id {
    char run_id[RL_RUN_ID_MAX + 1];
    char replication_id[RL_RUN_ID_MAX + 1];
    char incarnation[RL_INCARNATION_MAX + 1]; /* of its memory, as it was last */
};

#define RL_SERVERS_MET 4

struct rl_trust_node {
    struct rl_host *host;
    struct rl_timer timer;        /* VOTES, EXCLUDED: the next check; QUARANTINED: the next question, or the end */
    struct rl_node_clock clock;
    struct rl_join_report report; /* the latest answer to JOIN */
    struct rl_instant sent;       /* ... when it was asked ... */
    struct rl_instant received;   /* ... and when it came */
    bool has_report;
    bool has_joined;              /* JOIN has been answered once: DECLARE is over */
    bool same_server;             /* as another master, of lower index, that may vote for both */
    bool two_servers;             /* the name leads to two servers, both of which are alive */
    struct rl_server_id met[RL_SERVERS_MET]; /* servers that the name has led to, the latest first */
    bool greeting;                /* the list has changed, and JOIN is not answered: nothing counts until then */
    bool greeted;                 /* it has answered by the list as it is now */
    bool again;                   /* the handshake asks JOIN once more, by the list as it is now */
    bool dismissed;               /* it has left the list, and its connection is closed */
    bool invited;                 /* an operator's run needs the connection, whether it is a member or not ... */
    bool looks;                   /* ... and writes nothing there */
    uint32_t asked;               /* by which generation of the list JOIN was asked in the handshake */
    struct rl_instant left_until; /* RL_NEVER: a member. Until then this client may have votes there */
    bool same_memory;             /* what the epoch check under way has found so far ... */
    bool other_incarnation;       /* ... and that there is another marker */
    bool doubted;                 /* JOIN is asked since then, and is not answered */
    char settings[RL_TRUST_N_SETTINGS][RL_TRUST_SETTING_MAX + 1]; /* "": no right to see */
    char why[RL_TRUST_WHY_MAX];   /* of the latest handshake that was given up */
    enum rl_admission reported_kind; /* above, the last time */
    enum rl_fault reported_fault;
};

struct rl_trust {
    bool guarded;             /* the profile */
    struct rl_deployment known; /* what markers have shown of the deployment's max_ttl */
    size_t prefix_size;
    size_t marker_size;
    char prefix[REDLOCK_MAX_PREFIX_BYTES + 1];
    char marker[REDLOCK_MAX_PREFIX_BYTES + sizeof RL_MARKER_NAME];
    struct rl_deployment_names names;
    char configured[RL_UUID_SIZE]; /* id of the list with which the client began */
    struct rl_view *view;         /* NULL: the list is the one that the client is configured with */
    struct rl_bytes view_text;    /* the same as JOIN carries it */
    bool followed;                /* the list is not the configured one */
    uint32_t generation;          /* of the list: how often it has changed */
    struct rl_trust_change *change; /* an operator's run; NULL: none */
    struct rl_bytes memory_question; /* of epoch checks, encoded once for all masters */
    struct rl_bytes clock_question;
    struct rl_trust_node nodes[REDLOCK_MAX_MASTERS];
};

/* After rl_engine_init(), before the first event. 0 or REDLOCK_E_NOMEM; rl_trust_fini() follows in both cases. */
int rl_trust_init(struct rl_host *host, const struct rl_deployment_names *names);
void rl_trust_fini(struct rl_host *host);

/* The reply to a tag without owner. The caller then takes the engine's effects. Such tags that are dropped need
 * nothing. */
void rl_trust_reply(struct rl_host *host, unsigned node, const struct rl_tag *tag, const struct rl_reply *reply,
                    struct rl_instant now);

/* Masters are looked at again from time to time: one that votes, since its settings may be changed; an excluded one, so
 * that mending it is enough; one in quarantine, so that an operator's word for it is noticed. */

#define RL_RECHECK_MS 10000
#define RL_RECHECK_QUARANTINED_MS 1000

/* When a master with this status is looked at again; RL_NEVER: it is not. */
static inline struct rl_instant rl_trust_recheck_at(const struct rl_admission_status *status, struct rl_instant now)
{
    if (status->fault == RL_FAULT_CLOCK_SLOW)
        return rl_after(now, rl_ms(RL_RECHECK_QUARANTINED_MS));
    if (status->kind == RL_ADMISSION_EXCLUDED || (status->kind == RL_ADMISSION_VOTES && status->epoch_checked))
        return rl_after(now, rl_ms(RL_RECHECK_MS));
    if (status->kind == RL_ADMISSION_QUARANTINED)
        return rl_earlier(status->until, rl_after(now, rl_ms(RL_RECHECK_QUARANTINED_MS)));
    return RL_NEVER;
}

/* That time has come; `timer` is the one of the master's struct rl_trust_node. */
void rl_trust_recheck(struct rl_timer *timer, struct rl_instant now);

/* One that votes: the answer of a setting; behind the last one JOIN is asked. */
void rl_trust_recheck_setting(struct rl_host *host, unsigned node, const struct rl_tag *tag,
                              const struct rl_reply *reply, struct rl_instant now);

/* The answer of JOIN. */
void rl_trust_recheck_join(struct rl_host *host, unsigned node, const struct rl_tag *tag,
                           const struct rl_reply *reply, struct rl_instant now);

#endif
