/* A real server whose clock stands still, reached by the bytes that the codec writes. What does not work fails the
 * test. */
#ifndef SIM_REAL_SERVER_H
#define SIM_REAL_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "util/bytes.h"
#include "util/resp.h"

struct server;

struct server *server_open(void);
void server_close(struct server *server);

/* Its clock shows this from now on, since 1970. */
void server_set_time(struct server *server, int64_t now_us);

/* The reply is valid until the next one. */
void server_ask(struct server *server, const struct rl_bytes *command, struct rl_reply *ret_reply);
void server_ask_words(struct server *server, const struct rl_slice *words, size_t n_words, struct rl_reply *ret_reply);

/* The same for words in one text, with a space between them; the reply must not be an error. */
void server_tell(struct server *server, const char *line, struct rl_reply *ret_reply);

/* Writes what has been published by the commands so far: a line for each, "CHANNEL PAYLOAD". */
void server_write_messages(struct server *server, FILE *out);

#endif
