/* The byte stream of one connection, on a socket that is already connected.
 *
 * This is the seam for encryption: a TLS stream is a second struct rl_stream_type, with a handshake, and nothing
 * else of the driver needs to know. No function blocks. */
#ifndef RL_DRIVER_STREAM_H
#define RL_DRIVER_STREAM_H

#include <stddef.h>

enum rl_io {
    RL_IO_OK,
    RL_IO_AGAIN, /* try again when the socket is ready */
    RL_IO_END,   /* the peer has closed its side */
    RL_IO_ERROR, /* see stream->error */
};

enum rl_close {
    RL_CLOSE_ORDERLY, /* what the kernel has taken is still delivered */
    RL_CLOSE_RESET,   /* what has not left the kernel is discarded */
    RL_CLOSE_SILENT,  /* drop the descriptor without touching the connection: it is another process's */
};

struct rl_stream;

struct rl_stream_type {
    enum rl_io (*handshake)(struct rl_stream *stream);
    enum rl_io (*read)(struct rl_stream *stream, void *buffer, size_t size, size_t *ret_size);
    enum rl_io (*write)(struct rl_stream *stream, const void *data, size_t size, size_t *ret_size);
    void (*close)(struct rl_stream *stream, enum rl_close how);
};

struct rl_stream {
    const struct rl_stream_type *type;
    int fd;    /* -1: closed */
    int error; /* errno of the latest RL_IO_ERROR */
};

#endif
