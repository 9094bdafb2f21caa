/* redlock nodes --new-deployment: the operator's word that no lock can have been forgotten, so that masters need not
 * wait for the end of locks that never were. A wrong word gives two clients one lock: it is taken only where nothing
 * that can be seen speaks against it, and after a question. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/nodes/nodes.h"
#include "options/duration.h"

static size_t names_of(const struct nodes_look *look, enum redlock_fault fault, char *ret_names, size_t size)
{
    size_t count = 0;
    size_t length = 0;

    ret_names[0] = '\0';
    for (size_t i = 0; i < look->sum.n; i++) {
        if (look->infos[i].fault != fault)
            continue;
        if (length < size)
            length += (size_t)snprintf(ret_names + length, size - length, "%s%s", count > 0 ? ", " : "",
                                       look->infos[i].name);
        count++;
    }
    return count;
}

/* What speaks against it: an exit code after a message, or CLI_OK. */
static int objection(const struct nodes_look *look)
{
    const struct standings *sum = &look->sum;
    char names[1024];

    if (sum->answering == 0) {
        cli_error("nodes", "no master answers: nothing is declared");
        return CLI_INFRASTRUCTURE;
    }
    if (nodes_by_turns(look) != NULL) {
        cli_error("nodes", "not declared: the name %s leads to two servers by turns, and clients may count both. Let "
                           "it lead to one of them", nodes_by_turns(look));
        return CLI_NOT_HELD;
    }
    if (look->request->force && sum->voting > 0)
        cli_error("nodes", "%zu of %zu masters vote already: they are declared once more, as --force says",
                  sum->voting, sum->n);
    if (look->request->force)
        return CLI_OK;
    if (names_of(look, REDLOCK_FAULT_RING, names, sizeof(names)) > 0) {
        cli_error("nodes", "not declared: %s: in use by a deployment with other masters or another quorum. "
                           "Stop its clients, wait for max_ttl, and add --force", names);
        return CLI_NOT_HELD;
    }
    if (sum->voting > 0) {
        cli_error("nodes", "not declared: %zu of %zu masters vote, so this deployment is not new%s",
                  sum->voting, sum->n,
                  sum->voting == sum->n ? "" : ". The others may have forgotten locks: wait for them, or stop all "
                                               "clients, wait for max_ttl, and add --force");
        return CLI_NOT_HELD;
    }
    return CLI_OK;
}

/* On standard error, and the answer from the terminal: standard output may be a pipe. */
static bool confirmed(const struct nodes_look *look)
{
    char answer[16];
    char max_ttl[DURATION_TEXT_SIZE];

    fprintf(stderr,
            "\nYou are about to declare %zu master%s new: that no client holds a lock there which\n"
            "they may have forgotten. They will vote at once, and do not wait for the end of\n"
            "such locks (%s + 1 s). If this is not true, two clients may hold one lock.\n"
            "Type 'new' to go on: ",
            look->sum.answering, look->sum.answering == 1 ? "" : "s",
            duration_text(look->request->common.max_ttl_ms * INT64_C(1000), max_ttl));
    fflush(stderr);
    if (fgets(answer, sizeof(answer), stdin) != NULL && strcmp(answer, "new\n") == 0)
        return true;
    fputs("Nothing is declared.\n", stderr);
    return false;
}

int nodes_declare(struct session *session, const struct nodes_request *request, struct nodes_look *look)
{
    struct nodes_request numbered = *request;
    int code = objection(look);

    if (code != CLI_OK)
        return code;
    if (!request->yes && !confirmed(look))
        return CLI_NOT_HELD;
    numbered.common.declaration = nodes_next_declaration(look);
    nodes_look_end(look);
    if (nodes_look(session, &numbered, REDLOCK_JOIN_DECLARE, look, &code))
        code = CLI_OK;
    look->request = request;
    return code;
}
