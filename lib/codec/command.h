/* Writes a kind's command as RESP bytes, once, to be fanned out to every master as it is. Binary safe. */
#ifndef RL_CODEC_COMMAND_H
#define RL_CODEC_COMMAND_H

#include <stdbool.h>

#include "votes/kind.h"
#include "util/bytes.h"

/* Appends the command; false if memory is short, with *out unchanged. */
bool rl_command_encode(const struct rl_command *command, struct rl_bytes *out);

/* The same for an extension of several values, as EVALSHA or EVAL. */
bool rl_extend_many_encode(const struct rl_extend_many *many, enum rl_send_as send_as, struct rl_bytes *out);

/* The same for ENQUEUE with followers. */
bool rl_enqueue_many_encode(const struct rl_command *command, const struct rl_batch_tail *followers,
                            struct rl_bytes *out);

/* The same for rl_queue_refresh_many_command() with those who keep their places. */
bool rl_refresh_many_encode(const struct rl_command *command, const struct rl_refresh_many *keepers,
                            struct rl_bytes *out);

/* Appends a command of plain words, for handshakes. */
bool rl_words_encode(const struct rl_slice *words, size_t n_words, struct rl_bytes *out);

#endif
