/* The votes of an operation as a table, one master a line. */
#ifndef CLI_VOTES_H
#define CLI_VOTES_H

#include "cli/json.h"
#include "cli/session.h"
#include "cli/term.h"

void votes_print(const struct term *term, const struct outcome *outcome);
void votes_json(struct cli_json *json, const struct outcome *outcome);

/* How many masters voted so. */
size_t votes_count(const struct outcome *outcome, enum redlock_vote vote);

/* The width of a column of masters' names: of a client's, or, from 0 on, of one name after the other. */
int votes_name_width(const struct redlock_client *client);
int votes_wider(int width, const char *name);

#endif
