/* redlock nodes: what its files share. */
#ifndef CLI_NODES_H
#define CLI_NODES_H

#include "cli/probe.h"
#include "cli/session.h"
#include "cli/standings.h"
#include "cli/term.h"

struct nodes_request {
    struct cli_common common;
    bool declare;        /* --new-deployment */
    bool change_max_ttl; /* --max-ttl without it */
    bool yes;
    bool force;
};

/* A look at all masters; what it points to lives until nodes_look_end(). */
struct nodes_look {
    const struct nodes_request *request;
    struct session *session;
    struct redlock_client *client;
    struct redlock_node_info infos[REDLOCK_MAX_MASTERS];
    int64_t latency_us[REDLOCK_MAX_MASTERS]; /* of a question and its answer, -1: none */
    struct probe_rights rights[REDLOCK_MAX_MASTERS];
    struct standings sum;
};

/* --- look.c: false after a message or a signal; *ret_exit is then the exit code. */
bool nodes_look(struct session *session, const struct nodes_request *request, enum redlock_join join,
                struct nodes_look *ret_look, int *ret_exit);
void nodes_look_end(struct nodes_look *look);

/* --- show.c */
void nodes_show(const struct nodes_look *look, FILE *out);
void nodes_json(const struct nodes_look *look, FILE *out);
int nodes_exit_code(const struct nodes_look *look);

/* --- new.c: --new-deployment, on the result of a look. CLI_OK: declared; otherwise it has said why not. */
int nodes_declare(struct session *session, const struct nodes_request *request, const struct nodes_look *look);

/* --- max_ttl.c: the same for --max-ttl; and the number of the next declaration. */
int nodes_change_max_ttl(struct session *session, const struct nodes_request *request, const struct nodes_look *look);
uint32_t nodes_next_declaration(const struct nodes_look *look);

#endif
