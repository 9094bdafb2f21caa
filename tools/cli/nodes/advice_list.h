/* A list of advice on one master as it is made, and the commands in it, which work when they are pasted. */
#ifndef CLI_NODES_ADVICE_LIST_H
#define CLI_NODES_ADVICE_LIST_H

#include "cli/nodes/nodes.h"

struct advice_list {
    const struct nodes_look *look;
    size_t node;
    struct advice *items;
    size_t n;
};

static inline const struct cli_common *advice_common(const struct advice_list *list)
{
    return &list->look->request->common;
}

/* A text, cut behind a word if it is too long. */
void advice_set(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A new one, with both sentences; NULL if there is no more room. */
struct advice *advice_add(struct advice_list *list, bool serious, const char *what, const char *mend);

/* Gives it a command: these words for the master, by redis-cli, as the user of its URL. NULL is fine. */
void advice_command(const struct advice_list *list, struct advice *item, const char *words);

/* The command that grants the user of the master at this URL these rights; and the same as the item's, which may be
 * NULL. */
void advice_grant_at(const struct cli_common *common, const char *url, const char *rights,
                     char ret_command[ADVICE_COMMAND_SIZE]);
void advice_grant(const struct advice_list *list, struct advice *item, const char *rights);

/* What the user lacks, for ACL SETUSER. "": nothing, as far as is known. */
enum { ADVICE_RIGHTS_SIZE = 800 };
const char *advice_missing_rights(const struct advice_list *list, char buffer[ADVICE_RIGHTS_SIZE]);

/* Adds names under the prefix as a pattern of the server, in one word of the shell; `rest` is a pattern itself. */
void advice_put_pattern(char buffer[ADVICE_RIGHTS_SIZE], char kind, const char *prefix, const char *rest);

/* --- Masters that do not answer as a client needs it: with an error, or not at all. */

/* It answers, and says no; not serious: to others only. */
void advise_on_refused(struct advice_list *list, bool serious);

/* It is not reached. */
void advise_on_down(struct advice_list *list);

/* It is something else, or not a whole server. */
void advise_on_cluster(struct advice_list *list);
void advise_on_sentinel(struct advice_list *list);
void advise_on_unknown_commands(struct advice_list *list);

#endif
