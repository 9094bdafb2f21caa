/* JOIN: the question that decides whether a master may vote, and its answer (rules 5).
 *
 * The host sends JOIN on every new connection, before any vote counts. The script (kinds/scripts/join.lua) looks at the
 * marker, writes what has to be written, and answers with what the server says of itself (kinds/join.h). Whether the
 * master may vote then is decided in votes/admission.c. */
#ifndef RL_VOTES_JOIN_H
#define RL_VOTES_JOIN_H

#include <stdbool.h>
#include <stdint.h>

#include "votes/max_ttl.h"
#include "votes/kind.h"

/* An incarnation is 36 characters: a UUID made by the client that first met the memory. */
#define RL_INCARNATION_MAX 40
#define RL_RUN_ID_MAX 40
#define RL_WORD_MAX 32

enum rl_join_mode {
    RL_JOIN_VOTE,     /* writes the marker where it is missing or another run's */
    RL_JOIN_READ,     /* writes nothing */
    RL_JOIN_DECLARE,  /* the operator says that no lock was ever here: no quarantine (rule 5.4) */
    RL_JOIN_ANNOUNCE, /* the three steps of a declaration of max_ttl: votes/max_ttl.h */
    RL_JOIN_CONFIRM,
    RL_JOIN_ALLOW,
    RL_JOIN_BEGIN, /* an operator's run begins its turn here, or writes a view (rules 15.6 and 15.7) */
    RL_JOIN_TELL,
};

/* What the client knows of a server's durability (rule 5.6), from CONFIG GET. */
enum rl_durability {
    RL_DURABILITY_UNKNOWN, /* the user may not see it: counts as not durable, and does not change the marker */
    RL_DURABILITY_NONE,
    RL_DURABILITY_ALWAYS,  /* appendonly yes, appendfsync always, no-appendfsync-on-rewrite no, and no tail
                               of the file may be dropped when it is loaded */
};

struct rl_join_question {
    enum rl_join_mode mode;
    struct rl_slice marker;        /* key */
    struct rl_slice incarnation;   /* a fresh one, for a memory that is new */
    struct rl_slice list_id;       /* a hash of masters, quorum and prefix, as this client knows them */
    struct rl_slice node_id;       /* which master of the deployment this one is: all clients must say the same */
    uint32_t max_ttl_ms;           /* this client's own; in a declaration the one that is declared */
    enum rl_durability durability;
    struct rl_deployment known;  /* in DECLARE and the three steps its number is the declaration's; in BEGIN the turn */
    struct rl_slice view;        /* as text; empty: the list that the client is configured with */
    struct rl_slice told;        /* TELL: the incarnation that the view is for; BEGIN: the run; empty otherwise */
    struct rl_slice configured;  /* id of the list in the client's configuration; empty: that of an operator's run */
};

/* What became of the marker. */
enum rl_join_event {
    RL_JOIN_KEPT,      /* same run, same memory */
    RL_JOIN_NEW,       /* there was no marker: written, quarantine begun */
    RL_JOIN_RESTARTED, /* another run's marker: written anew, quarantine begun */
    RL_JOIN_RESUMED,   /* another run's marker, made for this node id, on a durable server: kept */
    RL_JOIN_DECLARED,
    RL_JOIN_ABSENT,   /* no marker, and none written, since this was a LOOK or the server is no master */
    /* The marker is left alone: */
    RL_JOIN_MISMATCH,  /* it is another deployment's */
    RL_JOIN_MISPLACED, /* ... that of another master of the deployment, of the same run */
    RL_JOIN_OUTDATED,  /* its view is newer than the client's */
    RL_JOIN_OVERRULED, /* its view is older than the client's, and may not lead to it; or it has begun a later turn */
    RL_JOIN_BEHIND,    /* its view is older than the client's, and this was a LOOK */
    RL_JOIN_OTHER,     /* the memory is not the one that the view is for */
    RL_JOIN_EVENT_COUNT,
};

/* Did the script find a marker of the deployment, or leave one? */
static inline bool rl_join_found_marker(enum rl_join_event event)
{
    return event < RL_JOIN_ABSENT;
}

struct rl_join_report {
    enum rl_join_event event;
    char incarnation[RL_INCARNATION_MAX + 1];
    char run_id[RL_RUN_ID_MAX + 1];
    char replication_id[RL_RUN_ID_MAX + 1];
    char role[RL_WORD_MAX + 1];
    char version[RL_WORD_MAX + 1]; /* "redis 7.0.15", "valkey 8.0.1" */
    char policy[RL_WORD_MAX + 1];  /* maxmemory_policy */
    int64_t left_ms;               /* of the quarantine, by the node's clock; never above longest_ms + 1000 */
    uint32_t max_ttl_ms;           /* the marker's */
    uint32_t longest_ms;           /* of the locks that may be alive, by the marker; at least max_ttl_ms */
    int64_t falls_ms;              /* until longest_ms is max_ttl_ms; 0: it does not fall by itself */
    int64_t announced;             /* number of the latest declaration that the marker has seen ... */
    int64_t confirmed;             /* ... and of the latest that all masters have seen */
    int64_t age_ms;                /* since this memory was found to be new; 0: it was just now, or nobody knows */
    int64_t list_age_ms;           /* since the marker has its list; 0: nobody has changed it, or nobody knows */
    int64_t stale_ms;              /* since a client greeted last that is configured with another list; 0: none has */
    uint64_t turn;                 /* the highest that an operator's run has begun there */
    int64_t maxmemory;
    int64_t replicas; /* connected to it */
    int64_t time_us;  /* the node's clock when the script ran */
    bool cluster;
    bool append_only;
    bool promoted;                    /* has been a replica of another master before */
};

#endif
