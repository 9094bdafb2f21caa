/* redlock nodes: what its files share. */
#ifndef CLI_NODES_H
#define CLI_NODES_H

#include <redlock/members.h>

#include "cli/nodes/advice.h"
#include "cli/probe.h"
#include "cli/quorum_status.h"
#include "cli/session.h"
#include "cli/term.h"

struct cli_json;

struct nodes_request {
    struct cli_common common;
    bool declare;        /* --new-deployment */
    bool change_max_ttl; /* --max-ttl without it */
    struct cli_texts replace; /* OLD=NEW */
    struct cli_texts rename;  /* OLD=NEW */
    struct cli_texts add;
    struct cli_texts remove;
    uint32_t set_quorum;
    bool abort;
    bool dry_run;
    bool yes;
    bool force;
};

/* A look at all masters; what it points to lives until nodes_look_end(). */
struct nodes_look {
    const struct nodes_request *request;
    struct session *session;
    struct redlock_client *client;
    struct redlock_node_info infos[REDLOCK_MAX_MASTERS];
    struct probe probes[REDLOCK_MAX_MASTERS]; /* of questions past the client */
    struct probe_rights rights[REDLOCK_MAX_MASTERS];
    int64_t slow_ms[REDLOCK_MAX_MASTERS];    /* how long a handshake takes that has not ended in time; 0: not known */
    bool by_turns[REDLOCK_MAX_MASTERS];      /* its name leads to two servers: ... */
    char turns[REDLOCK_MAX_MASTERS][100];    /* ... which, in words */
    size_t members;          /* of the list that the masters go by */
    struct quorum_status sum;
    struct quorum_status able; /* the same, but those that refuse what a lock needs do not vote */
};

/* --- look.c: false after a message or a signal; *ret_exit is then the exit code. */
bool nodes_look(struct session *session, const struct nodes_request *request, enum redlock_join join,
                struct nodes_look *ret_look, int *ret_exit);
void nodes_look_end(struct nodes_look *look);

/* Is there a server that answers, if only with an error? Does it refuse what every lock needs? */
bool nodes_answers(const struct nodes_look *look, size_t node);
bool nodes_refuses(const struct nodes_look *look, size_t node);

/* Does it answer, but too late? */
bool nodes_is_slow(const struct nodes_look *look, size_t node);

/* The first master whose name leads to two servers by turns, each with votes for other clients; NULL: none seen. */
const char *nodes_by_turns(const struct nodes_look *look);

/* --- show.c */
void nodes_show(const struct nodes_look *look, FILE *out);
const char *nodes_standing_word(const struct nodes_look *look, size_t node);
/* The advice's command for these masters; to be freed. */
char *nodes_command(const struct nodes_look *look, const struct advice *advice);
void nodes_json(const struct nodes_look *look, FILE *out);
int nodes_exit_code(const struct nodes_look *look);

void nodes_list_json(struct cli_json *json, const char *name, const struct redlock_member_list *list);

/* --- nodes.c: --new-deployment, on the result of a look. CLI_OK: declared, and this is the look that did so; otherwise
 * it has said why not. */
int nodes_declare(struct session *session, const struct nodes_request *request, struct nodes_look *look);

/* The same for --max-ttl; the smallest that is declared, 0 if none is; and the number of the next declaration. */
int64_t nodes_max_ttl_ms(const struct nodes_look *look);
int nodes_change_max_ttl(struct session *session, const struct nodes_request *request, const struct nodes_look *look);
uint32_t nodes_next_declaration(const struct nodes_look *look);

/* --- members.c: another list of masters while locks are held. */
int nodes_change_members(struct session *session, const struct nodes_request *request);

#endif
