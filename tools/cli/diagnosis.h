/* Why an operation found no quorum, in plain words: what is short, and each reason with the masters it is true of. */
#ifndef CLI_DIAGNOSIS_H
#define CLI_DIAGNOSIS_H

#include <stdio.h>

#include "cli/json.h"
#include "cli/session.h"

struct probe;

enum { DIAGNOSIS_SIZE = 128 };

/* "2 of 5 masters can vote (3 needed)", in the buffer; the status's own words if masters are not the reason. */
const char *diagnosis_headline(const struct outcome *outcome, char buffer[DIAGNOSIS_SIZE]);

/* Below the message: a line for each distinct reason, and, with a client, what can be done, with commands for the same
 * masters. Nothing if masters are not the reason. */
void diagnosis_explain(FILE *out, const struct redlock_client *client, const struct outcome *outcome,
                       const struct cli_common *common);

/* Only the lines, from a name and a text for each master; "" for one that is no reason. */
void diagnosis_explain_texts(FILE *out, const char *const names[], const char *const texts[], size_t n);

/* The same on standard error, for masters that were asked past the library. */
void diagnosis_explain_probes(const struct redlock_client *client, const struct probe *probes, size_t n);

/* "reachable", "voting" and, unless they are enough now, "quorum_in_ms" (null: waiting is not enough). */
void diagnosis_json(struct cli_json *json, const struct redlock_client *client, const struct outcome *outcome);

/* Is it that so many masters have a smaller max_ttl that there cannot be a quorum? Waiting is no help then. */
bool diagnosis_is_max_ttl(const struct redlock_client *client, const struct outcome *outcome);

#endif
