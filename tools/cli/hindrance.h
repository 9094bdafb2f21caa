/* Why an acquisition found no quorum although masters answer, in plain words. */
#ifndef CLI_HINDRANCE_H
#define CLI_HINDRANCE_H

#include "cli/json.h"

struct redlock_client;

/* A message if too few masters vote and some of those that answer do not; nothing otherwise. */
void hindrance_explain(const char *command, const struct redlock_client *client, size_t quorum);

/* "voting" and, unless they are enough now, "quorum_in_ms" (null: waiting is not enough). */
void hindrance_json(struct cli_json *json, const struct redlock_client *client, size_t quorum);

#endif
