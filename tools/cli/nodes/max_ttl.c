/* redlock nodes --max-ttl: the deployment's max_ttl. It is declared in three steps, each at every master before the
 * next begins: the library's votes/max_ttl.h says why. What is cut off in between leaves the longer of both values
 * in the masters' memory, and can be repeated. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/nodes/nodes.h"
#include "options/duration.h"

uint32_t nodes_next_declaration(const struct nodes_look *look)
{
    int64_t latest = 0;

    for (size_t i = 0; i < look->sum.n; i++)
        if (look->infos[i].declaration > latest)
            latest = look->infos[i].declaration;
    return latest < UINT32_MAX ? (uint32_t)latest + 1 : UINT32_MAX;
}

static bool answers(const struct redlock_node_info *info)
{
    return info->link == REDLOCK_LINK_READY || info->link == REDLOCK_LINK_LATE;
}

/* What is wrong with it is mended first: it might come back with its memory, and know nothing. */
static const char *obstacle(const struct nodes_look *look, size_t node)
{
    const struct redlock_node_info *info = &look->infos[node];

    if (!answers(info))
        return info->last_error[0] != '\0' ? info->last_error : "no answer";
    if (nodes_refuses(look, node))
        return look->probes[node].refused ? look->probes[node].why : "it refuses what a lock needs";
    if (info->standing == REDLOCK_STANDING_EXCLUDED && info->fault != REDLOCK_FAULT_NO_MARKER &&
        info->fault != REDLOCK_FAULT_EVICTS)
        return info->fault_text;
    return NULL;
}

static int objection(const struct nodes_look *look)
{
    size_t marked = 0;
    char *command;

    for (size_t i = 0; i < look->sum.n; i++) {
        const char *why = obstacle(look, i);

        if (why != NULL) {
            cli_error("nodes", "max_ttl is not changed, since every master must learn of it: %s: %s",
                      look->infos[i].name, why);
            return CLI_INFRASTRUCTURE;
        }
        marked += look->infos[i].marker_max_ttl_ms > 0;
    }
    if (marked > 0)
        return CLI_OK;
    command = cli_again(&look->request->common, "redlock nodes --new-deployment");
    cli_error("nodes", "max_ttl is not changed: no client has met these masters yet. Declare them by: %s",
              command != NULL ? command : "redlock nodes --new-deployment");
    free(command);
    return CLI_NOT_HELD;
}

/* A master whose memory is new learns of the declaration when it is joined, or later from any client that knows. */
static bool has_forgotten(const struct redlock_node_info *info, uint32_t number)
{
    return info->fault == REDLOCK_FAULT_NO_MARKER ||
           (info->fault == REDLOCK_FAULT_NEW_MEMORY && info->declaration < number);
}

static bool has_taken(const struct redlock_node_info *info, enum redlock_join step, const struct cli_common *declared)
{
    if (!answers(info))
        return false;
    if (has_forgotten(info, declared->declaration))
        return true;
    if (info->declaration != declared->declaration)
        return false;
    if (step == REDLOCK_JOIN_ANNOUNCE)
        return true;
    if (step == REDLOCK_JOIN_CONFIRM)
        return info->declaration_confirmed == declared->declaration;
    return info->marker_max_ttl_ms == (int64_t)declared->max_ttl_ms;
}

static int step(struct session *session, const struct nodes_request *request, enum redlock_join join)
{
    struct nodes_look look;
    size_t intact = 0;
    int code;

    if (nodes_look(session, request, join, &look, &code))
        code = CLI_OK;
    for (size_t i = 0; code == CLI_OK && i < look.sum.n; i++) {
        if (has_taken(&look.infos[i], join, &request->common)) {
            intact += !has_forgotten(&look.infos[i], request->common.declaration);
            continue;
        }
        cli_error("nodes", "the change of max_ttl was cut off at %s: %s. The larger value counts until the command is "
                           "repeated", look.infos[i].name,
                  answers(&look.infos[i]) ? "another declaration has come between, or its memory was lost"
                                          : "no answer");
        code = CLI_INFRASTRUCTURE;
    }
    if (code == CLI_OK && intact < look.sum.quorum) {
        cli_error("nodes", "max_ttl is not changed: the memory of %zu of %zu masters is new. Repeat the command when "
                           "clients have met them", look.sum.n - intact, look.sum.n);
        code = CLI_INFRASTRUCTURE;
    }
    nodes_look_end(&look);
    return code;
}

/* Nothing is left to do: every marker says so, and what is longer ends by itself. */
static bool is_declared(const struct nodes_look *look)
{
    for (size_t i = 0; i < look->sum.n; i++) {
        const struct redlock_node_info *info = &look->infos[i];

        if (info->marker_max_ttl_ms != (int64_t)look->request->common.max_ttl_ms || info->declaration == 0 ||
            info->declaration != look->infos[0].declaration || info->declaration_confirmed != info->declaration ||
            (info->marker_longest_ms > info->marker_max_ttl_ms && info->marker_falls_ms == 0))
            return false;
    }
    return true;
}

int64_t nodes_max_ttl_ms(const struct nodes_look *look)
{
    int64_t smallest = 0;

    for (size_t i = 0; i < look->sum.n; i++) {
        int64_t declared = look->infos[i].marker_max_ttl_ms;

        if (declared > 0 && (smallest == 0 || declared < smallest))
            smallest = declared;
    }
    return smallest;
}

/* Clients and masters cannot change at once: whoever is to have the smaller value comes first. */
static void explain_change(const struct nodes_look *look)
{
    char before[DURATION_TEXT_SIZE], after[DURATION_TEXT_SIZE];
    int64_t before_ms = nodes_max_ttl_ms(look);
    int64_t after_ms = look->request->common.max_ttl_ms;

    duration_text(before_ms * INT64_C(1000), before);
    duration_text(after_ms * INT64_C(1000), after);
    if (before_ms == after_ms)
        fprintf(stderr, "\nYou are about to declare anew that max_ttl is %s, on all %zu masters.\n", after,
                look->sum.n);
    else
        fprintf(stderr, "\nYou are about to change max_ttl from %s to %s, on all %zu masters.\n", before, after,
                look->sum.n);
    if (after_ms < before_ms)
        fprintf(stderr,
                "Clients with a larger --max-ttl get no votes from then on (theirs is 1m by\n"
                "default): they take no lock, and lose those that they hold with a ttl above %s.\n"
                "So the clients come first: has each of them been started anew with\n"
                "--max-ttl %s?\n", after, after);
    else
        fputs("The masters come first, and the clients with the larger value after them.\n", stderr);
}

/* On standard error, and the answer from the terminal: standard output may be a pipe. */
static int confirmed(const struct nodes_look *look)
{
    char answer[16];

    if (look->request->yes)
        return CLI_OK;
    if (isatty(STDIN_FILENO) != 1) {
        cli_error("nodes", "--max-ttl asks on a terminal, and standard input is none: add --yes if you are sure");
        return CLI_USAGE;
    }
    explain_change(look);
    fputs("Type 'change' to go on: ", stderr);
    fflush(stderr);
    if (fgets(answer, sizeof(answer), stdin) != NULL && strcmp(answer, "change\n") == 0)
        return CLI_OK;
    fputs("Nothing is changed.\n", stderr);
    return CLI_NOT_HELD;
}

int nodes_change_max_ttl(struct session *session, const struct nodes_request *request, const struct nodes_look *look)
{
    static const enum redlock_join steps[] = {REDLOCK_JOIN_ANNOUNCE, REDLOCK_JOIN_CONFIRM, REDLOCK_JOIN_ALLOW};
    struct nodes_request numbered = *request;
    int code = objection(look);

    if (code != CLI_OK || is_declared(look))
        return code;
    code = confirmed(look);
    numbered.common.declaration = nodes_next_declaration(look);
    for (size_t i = 0; code == CLI_OK && i < sizeof(steps) / sizeof(*steps); i++)
        code = step(session, &numbered, steps[i]);
    return code;
}
