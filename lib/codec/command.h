/* Writes a kind's command as RESP bytes, once, so that every master can be sent the same bytes. Binary safe. */
#ifndef RL_CODEC_COMMAND_H
#define RL_CODEC_COMMAND_H

#include <stdbool.h>

#include "kinds/command.h"
#include "util/bytes.h"

/* Appends the command; false if memory is short, with *out unchanged. */
bool rl_command_encode(const struct rl_command *command, struct rl_bytes *out);

/* Appends an extension of several values, by EVALSHA or EVAL. Returns as above. */
bool rl_extend_many_encode(const struct rl_extend_many *many, bool by_digest, struct rl_bytes *out);

/* Appends ENQUEUE with further values. */
bool rl_joins_encode(const struct rl_command *command, const struct rl_joins *joins, struct rl_bytes *out);

/* Appends the command of rl_queue_refresh_many_command() with its entries. */
bool rl_refresh_many_encode(const struct rl_command *command, const struct rl_refresh_many *many, struct rl_bytes *out);

/* Appends the beginning of a command that does for n subjects what this one does for its own: with n times as many keys
 * and arguments, of which all keys come first. They are appended as words. Returns as above. */
bool rl_command_begin_many(const struct rl_command *command, size_t n, struct rl_bytes *out);
bool rl_words_append(const struct rl_slice *words, size_t n_words, struct rl_bytes *out);

/* Appends a command of plain words, for handshakes. */
bool rl_words_encode(const struct rl_slice *words, size_t n_words, struct rl_bytes *out);

#endif
