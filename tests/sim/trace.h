/* The story of a world in lines: true time in milliseconds, who, what. */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include <stdbool.h>

#include "engine/engine.h"
#include "kinds/join.h"

struct box;
struct client;
struct handle;
struct master;
struct message;
struct world;

void world_trace(struct world *world, const char *who, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Evaluates its arguments only when somebody reads. */
#define TRACE(world, who, ...)                                                                           \
    do {                                                                                                 \
        if ((world)->trace)                                                                              \
            world_trace((world), (who), __VA_ARGS__);                                                    \
    } while (0)

/* One line for all masters; trace_flush() ends it. */
void trace_send(struct client *client, const struct box *box, unsigned node, enum rl_step step);
void trace_flush(struct world *world);
void trace_notification(struct client *client, unsigned node, struct rl_slice payload, bool known);
void trace_command(struct world *world, const struct master *master, const struct message *message, bool ghost,
                   const struct rl_reply *reply);
void trace_answer(struct client *client, const struct box *box, enum rl_step step, unsigned node,
                  struct rl_answer answer);
void trace_completion(struct client *client, const struct handle *handle, enum rl_op op, enum rl_end status);

const char *name_of_client(unsigned client);
const char *name_of_master(unsigned master);

/* Of the machine that has this place with the client. */
const char *name_of_place(const struct client *client, unsigned place);
const char *name_of_handle(const struct client *client, const struct handle *handle);
const char *name_of_key(unsigned key);
const char *name_of_party(unsigned party);
const char *name_of_queue(unsigned key);
const char *name_of_waiters(unsigned key);
const char *name_of_end(enum rl_end end);
const char *name_of_op(enum rl_op op);
const char *name_of_step(enum rl_step step);
const char *name_of_join(enum rl_join_event event);
const char *name_of_outcome(enum rl_outcome outcome);

#endif
