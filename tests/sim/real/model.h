/* The simulator's model of a master, told the same bytes as the real server. */
#ifndef SIM_REAL_MODEL_H
#define SIM_REAL_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "draw.h"
#include "simulated/keyspace.h"
#include "util/resp.h"

struct model;

struct model *model_open(void);
void model_close(struct model *model);

void model_set_time(struct model *model, int64_t now_us);

/* Copied: what INFO says from now on. */
void model_set_info(struct model *model, const char *info);

/* Writes are refused with this error from now on (not copied), all of them or those that may need memory; NULL: they
 * are not. */
void model_refuse_writes(struct model *model, const char *error, bool out_of_memory);

void model_forget_scripts(struct model *model);

/* The reply is valid until the next one; messages are written as server_write_messages() does it. */
void model_ask(struct model *model, const struct drawn *command, FILE *messages, struct rl_reply *ret_reply);

/* Those that have ended are removed. */
void model_purge(struct model *model);

/* The keys that have not ended, by their names. */
size_t model_list_keys(struct model *model, const struct entry *ret_entries[KEYSPACE_MAX_KEYS]);

/* Of those that are listed: a line for the key, with its type, PTTL and what it holds. */
void model_write_entry(struct model *model, const struct entry *entry, FILE *out);

#endif
