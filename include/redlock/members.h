/* The list of masters: which one a client goes by, and how an operator changes it while locks are held.
 *
 * A change is a chain of lists, in which each quorum of a list has a master in common with each quorum of the next
 * one. Clients follow by themselves (`follow` of struct redlock_options), keep what they hold, and go on taking locks.
 * A list is told to the masters, and stands until nothing can be alive that was locked by the list before: the longest
 * ttl of the deployment, and a second. redlock(7), section OPERATING, says which masters are needed meanwhile. */
#ifndef REDLOCK_MEMBERS_H
#define REDLOCK_MEMBERS_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/export.h>
#include <redlock/options.h>
#include <redlock/redlock.h>

#ifdef __cplusplus
extern "C" {
#endif

struct redlock_member_list {
    size_t n;                               /* 0: there is no such list */
    uint32_t quorum;
    const char *names[REDLOCK_MAX_MASTERS]; /* "host:port/database" */
};

/* What a client goes by. The names are valid until the loop runs again. */
struct redlock_view {
    struct redlock_member_list list;
    struct redlock_member_list before; /* the change is not over: locks by this list may be alive. n is 0 otherwise */
    uint64_t turn;                     /* how many runs of an operator have told a list; 0: none has */
    uint32_t step;                     /* ... and how many lists the latest one has told */
    const char *run;                   /* that run's name; "" */
};

/* What the client has heard of so far. 0, E_ARGUMENT, E_NOMEM, E_FORKED. */
REDLOCK_API int redlock_client_view(struct redlock_client *client, struct redlock_view *ret_view, size_t size);

enum redlock_change_stage {
    REDLOCK_CHANGE_ASKING,    /* which list do the masters know? */
    REDLOCK_CHANGE_TELLING,   /* the list is written to the masters */
    REDLOCK_CHANGE_STANDING,  /* it stands until nothing of the list before is alive */
    REDLOCK_CHANGE_PREPARING, /* new members have no vote yet: their quarantine is waited for */
    REDLOCK_CHANGE_DONE,      /* the list is the goal, and has stood */
    REDLOCK_CHANGE_STOPPED,   /* `why` says why. What has been told stays, and the next run goes on from there */
};

/* A master of a list that was, is, or is to be. */
struct redlock_change_master {
    const char *name;
    uint8_t member;        /* 1: of the present list */
    uint8_t told;          /* 1: it has stored the present list, and votes by it */
    int64_t quarantine_ms; /* left of its quarantine; 0 */
    const char *why;       /* why it has not stored the list, or has no vote; "" */
};

/* It is valid, with all that it points to, until the callback returns. New members are added at the end. */
struct redlock_change_report {
    int status;            /* OK; CANCELED, the client was destroyed: the change stays where it is */
    enum redlock_change_stage stage;
    size_t n_lists;        /* the present list, and what comes after it; the last one is the goal */
    const struct redlock_member_list *lists;
    uint32_t told;         /* members of the present list that have stored it */
    int64_t wait_ms;       /* left of the time that the list must stand, in STANDING; otherwise 0 */
    int64_t standing_ms;   /* how long a list must stand, as far as is known; 0: no master has said it yet */
    size_t n_masters;
    const struct redlock_change_master *masters;
    const char *why;       /* of STOPPED; "" */
    const char *name;      /* STOPPED because of where this name leads, which the present list does not have ... */
    const char *name_of;   /* ... to the server of this one, as another name of it; NULL: not to its own master's */
};

/* Runs from the loop whenever something has changed, and last with DONE or STOPPED or with another status than OK. */
typedef void (*redlock_change_fn)(struct redlock_client *client, const struct redlock_change_report *report,
                                  void *user_data);

struct redlock_change_options {
    size_t size;                /* set by init */
    const char *const *masters; /* URLs of the new list, as for redlock_client_create(); copied */
    size_t n_masters;
    uint32_t quorum;            /* 0: the client's if the number of masters stays, otherwise a majority */
    uint8_t back;               /* 1: back to the list before, which a run has begun to replace: no masters are given */
    uint8_t rename;             /* 1: `masters` are those that the client is configured with, in the same order, by
                                   other names. Each new name must show the server and the memory that the present one
                                   shows */
    uint8_t plan_only;          /* 1: no list is told: the first report has the plan, with stage ASKING, and is the last
                                   one. A client whose `join` is REDLOCK_JOIN_LOOK writes nothing at all */
};

REDLOCK_API void redlock_change_options_init_size(struct redlock_change_options *options, size_t size);
#define redlock_change_options_init(options) redlock_change_options_init_size((options), sizeof *(options))

/* Changes the list of masters. The client must be one of the guarded profile that has no locks and no other objects; it
 * is configured with the list that there was before the change, and says which one the change is meant for: if the
 * masters know another one by now, the run stops. The same call goes on with a change that has been cut off, from any
 * machine, and one that leads to the present list tells it once more. It ends with the client. 0, or an error with its
 * reason in *ret_error (may be NULL):
 *
 *   E_URL, E_DUPLICATE_MASTER, E_TOO_MANY_MASTERS, E_NO_MASTERS, E_QUORUM   of the new list
 *   E_MEMBERS         there is no list to go back to, or the goal has been told already; clients that are configured as
 *                     this one is would not reach a new master; other names are not as many; a list cannot have the
 *                     path of a socket, since it has a space, a comma, ?, #, % or what is not ASCII; or the profile is
 *                     not guarded
 *   E_BUSY            the client has objects, or changes the list already
 *   E_ARGUMENT, E_OPTIONS_SIZE, E_NOMEM, E_SYSTEM, E_FORKED, E_CLOSING */
REDLOCK_API int redlock_change_members(struct redlock_client *client, const struct redlock_change_options *options,
                                       redlock_change_fn cb, void *user_data, struct redlock_error *ret_error);

/* The word for a stage, "telling". In static storage; "?" for other numbers. */
REDLOCK_API const char *redlock_change_stage_name(enum redlock_change_stage stage);

#ifdef __cplusplus
}
#endif
#endif
