/* The library's callbacks as calls that wait: what a command that does one thing after the other needs.
 *
 * One loop, any number of clients on it, one operation at a time. After session_catch_signals(), SIGINT, SIGTERM and
 * SIGHUP end the operation under way (an acquisition is rolled back); `caught` then says which one came, and the
 * command cleans up and ends. */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <redlock/redlock.h>
#include <redlock/set.h>

#include "cli/busy.h"
#include "cli/common.h"
#include "cli/subject.h"

struct agent_client;
struct event;
struct password_desk;
struct probe_place;
struct event_base;

enum { SESSION_NAME_SIZE = 128 };

struct vote {
    char name[SESSION_NAME_SIZE]; /* of the master */
    enum redlock_vote vote;
    int64_t latency_us; /* -1 without a reply */
    unsigned order;     /* 1 for the first reply of the operation; 0 without a reply */
    char detail[200];
};

/* A copy of struct redlock_result that outlives the callback. Votes that come in after the decision are added. */
struct outcome {
    enum redlock_op op;
    bool done;
    int status;
    int cause;
    uint32_t attempts;
    uint32_t quorum;
    uint32_t granted; /* at the decision */
    int64_t elapsed_us;
    int64_t remaining_ms;
    uint32_t reachable;
    uint32_t voting;
    size_t n_nodes;
    size_t members;        /* ... that have not left the list */
    bool short_of_masters; /* they are the reason for the status */
    char why[400];
    unsigned replies;
    struct vote votes[REDLOCK_MAX_MASTERS];
    size_t part; /* of a set: the key that decided, counted as in struct redlock_set_result */
};

enum { SESSION_SIGNALS = 3 };

struct session {
    struct event_base *base;
    struct event *signals[SESSION_SIGNALS];
    int caught;
    struct subject subject; /* of the operation that `last` belongs to */
    struct subject_sink sink;
    struct outcome last;
    struct busy busy;           /* of the latest acquisition that was refused */
    struct redlock_lock *refused; /* by a master, lately; NULL: none was */
    uint32_t least_ms;            /* as much is to be left of an acquisition by ..._acquire_whole() */
    bool looked;                  /* ... and its key has been looked at while it is waited for */
    bool reminding;               /* that is to be told */
    const char *label;            /* of the client */
    unsigned reminders;           /* `waiting` has been called so often */
    void (*waiting)(const struct busy *busy, void *data); /* NULL, or is told now and then who has what is awaited */
    void *waiting_data;
    struct password_desk *desk; /* where the clients' passwords come from; NULL: from their URLs */
    struct redlock_client *client; /* the latest one */
    struct agent_client *agent;    /* NULL: the masters are asked */
    bool in_vain[REDLOCK_MAX_MASTERS]; /* the master has refused what the command line says, and will do so again */
    const char *command;       /* of the latest client, for messages */
    bool tells_members;        /* whoever has the session tells that the list of masters has been changed; false: the
                                  session does */
    redlock_event_fn observer; /* NULL, or is told every event, too; to be set before session_client() */
    void *observer_data;
};

/* *session is zero, but for the observer and what else the caller may set. False, with a message, if the system
 * refuses. session_close() is needed in either case. */
bool session_open(struct session *session, const char *command);
bool session_catch_signals(struct session *session, const char *command);
void session_close(struct session *session);

/* A client whose votes are recorded in the session. NULL after a message; *ret_exit is then the exit code. */
struct redlock_client *session_client(struct session *session, const char *command, const struct cli_common *common,
                                      int *ret_exit);

/* In place of a client, if the command line says so. False after a message. */
bool session_agent(struct session *session, const char *command, const struct cli_common *common);

/* Each starts the operation and waits for its end. They return the status of the call itself, and the operation's
 * if that was 0; the details are in session->last. */
int session_acquire(struct session *session, struct redlock_lock *lock,
                    const struct redlock_acquire_options *options);

int session_release(struct session *session, struct redlock_lock *lock);
int session_release_token(struct session *session, struct redlock_lock *lock, const char *token);
int session_release_permit(struct session *session, struct redlock_lock *lock, uint32_t slot, const char *token);

/* The same for a set, too. The masters' votes in session->last are those about the key that decided. */
int session_extend_subject(struct session *session, struct subject subject, uint32_t ttl_ms);
int session_release_subject(struct session *session, struct subject subject);

/* Acquires what has most of its ttl left: a lock that a former holder has handed over, or that took long to get, has
 * less at first, and is extended until a majority has done so, as long as it is valid. session->last is the
 * acquisition's, with the status of both. */
int session_acquire_whole(struct session *session, struct subject subject,
                          const struct redlock_acquire_options *options);

/* Have so many masters refused the password or the certificates that waiting does not help? */
bool session_is_in_vain(const struct session *session);

/* What the result of an operation says. */
void outcome_record(struct outcome *last, const struct redlock_result *result);

/* The same in two halves, to look around between them. */
int session_acquire_begin(struct session *session, struct redlock_lock *lock,
                          const struct redlock_acquire_options *options);
int session_end(struct session *session);

/* Runs the loop until the condition holds (true), or the time is over or a signal came (false). */
typedef bool (*session_condition)(const struct session *session, void *data);
bool session_run_until(struct session *session, session_condition condition, void *data, uint32_t timeout_ms);

/* Waits until each master has been looked at or found down. */
void session_join(struct session *session, const struct redlock_client *client);

/* The same, and finds the list of masters that the client goes by. If an operator has changed it, it takes the place of
 * the one in *common, with its quorum, and a message says so. Masters that have come are reached as those are that were
 * given; but where the client does not go, since it has no right to or gets no answer, no password is sent either: the
 * place says why. False after a message. */
bool session_follow(struct session *session, struct redlock_client *client, struct cli_common *common,
                    struct probe_place *places);

/* The same after a first acquisition, which began with a quorum: a master that is a little slower than the others
 * votes, too. One that has not said a word is hardly waited for, since it may hang. */
void session_join_behind(struct session *session, const struct redlock_client *client);

struct redlock_member_list;

/* A list of masters as --nodes takes it: "a:1,b:2/3,/tmp/c". */
enum { SESSION_NAMES_SIZE = 2048 };
const char *session_names(const struct redlock_member_list *list, char buffer[SESSION_NAMES_SIZE]);

/* Handles what has happened meanwhile, without waiting. False after a signal that asks to stop. */
bool session_poll(struct session *session);

/* Waits for the votes that are still missing after a decision. */
void session_settle(struct session *session, uint32_t timeout_ms);

/* Waits until every release is confirmed, or as long as given; then destroys the client. NULL is fine. */
void session_finish(struct session *session, struct redlock_client *client, uint32_t timeout_ms);

const char *session_node_name(const struct redlock_client *client, size_t node);

/* --- How every command that has talked to masters ends. */

/* Opens the session, which catches signals, and a client (NULL: an agent); ends both when `work` has been done, whose
 * exit code it returns. */
typedef int (*session_work)(struct session *session, struct redlock_client *client, void *data);
int session_command(struct session *session, const char *command, const struct cli_common *common,
                    uint32_t finish_ms, session_work work, void *data);

/* Waits until rollbacks and releases are confirmed, at most timeout_ms, closes everything, and returns the exit
 * code; after a signal the process ends by that signal instead, as its parent expects. */
int finish(struct session *session, struct redlock_client *client, uint32_t timeout_ms, int code);

/* Message and exit code for a call that the library refused; and for an operation that ended with such a status, since
 * the agent may have said more. */
int refused_call(const char *command, int status);
int refused_for(const char *command, int status, const char *why);
int refused_operation(const struct session *session, const char *command, int status);

#endif
