/* Reads RESP2 replies from a byte stream: hiredis' reader, without an allocation per reply.
 *
 * A peer cannot make the reader allocate much: replies are limited to RL_REPLY_MAX_BYTES in all, arrays to
 * RL_REPLY_MAX_ELEMENTS scalars in one level (deeper nesting is a protocol error). */
#ifndef RL_CODEC_REPLY_H
#define RL_CODEC_REPLY_H

#include <stdbool.h>
#include <stddef.h>

#include "util/resp.h"

/* The longest reply that the library asks for is INFO: some 8 KiB. */
#define RL_REPLY_MAX_BYTES (256 * 1024)

struct rl_reply_reader;

struct rl_reply_reader *rl_reply_reader_create(void); /* NULL: out of memory */
void rl_reply_reader_destroy(struct rl_reply_reader *reader);

/* Wipes the texts of replies and what was fed. The reader is of no use any more. */
void rl_reply_reader_wipe(struct rl_reply_reader *reader);

enum rl_read_result {
    RL_READ_REPLY, /* *ret_reply holds one, valid until the next call on the reader */
    RL_READ_MORE,  /* no complete reply is buffered */
    RL_READ_ERROR, /* not RESP2, over a limit, or out of memory: the stream cannot be used any further */
};

/* Adds received bytes; false as RL_READ_ERROR. */
bool rl_reply_reader_feed(struct rl_reply_reader *reader, const void *data, size_t size);
enum rl_read_result rl_reply_reader_next(struct rl_reply_reader *reader, struct rl_reply *ret_reply);

/* What was wrong after RL_READ_ERROR: one short sentence. */
const char *rl_reply_reader_error(const struct rl_reply_reader *reader);

#endif
