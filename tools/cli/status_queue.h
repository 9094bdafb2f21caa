/* Who waits in the queue for a key: for `redlock status`. */
#ifndef CLI_STATUS_QUEUE_H
#define CLI_STATUS_QUEUE_H

#include <stdbool.h>

#include "cli/json.h"
#include "cli/probe.h"
#include "cli/term.h"

/* Below the verdict: nothing if nobody waits. token_columns: how much of a token is shown. */
void status_queue_print(const struct term *term, const struct probe_queue *queues, size_t n, int token_columns);

/* Inside a master's object. */
void status_queue_json(struct cli_json *json, const struct probe_queue *queue, bool whole_tokens);

#endif
