/* The byte stream of one connection, on a socket that is already connected: plain, or TLS. No function blocks. */
#ifndef RL_STREAM_STREAM_H
#define RL_STREAM_STREAM_H

#include <stdbool.h>
#include <stddef.h>

enum rl_io {
    RL_IO_OK,
    RL_IO_AGAIN,   /* try again when the socket is ready: for reading, after a read; otherwise for writing */
    RL_IO_CROSSED, /* try again when the socket is ready for the other direction */
    RL_IO_END,     /* the peer has closed its side */
    RL_IO_ERROR,   /* see stream->error and stream->why */
};

enum rl_close {
    RL_CLOSE_ORDERLY, /* what the kernel has taken is still delivered */
    RL_CLOSE_RESET,   /* what has not left the kernel is discarded */
    RL_CLOSE_SILENT,  /* drop the descriptor without touching the connection: it is another process's */
};

struct rl_stream;
struct rl_tls;

struct rl_stream_type {
    enum rl_io (*handshake)(struct rl_stream *stream);
    enum rl_io (*read)(struct rl_stream *stream, void *buffer, size_t size, size_t *ret_size);
    enum rl_io (*write)(struct rl_stream *stream, const void *data, size_t size, size_t *ret_size);
    void (*close)(struct rl_stream *stream, enum rl_close how);
    void (*fini)(struct rl_stream *stream); /* closed for good; NULL: there is nothing to free */
};

struct rl_stream {
    const struct rl_stream_type *type;
    int fd;          /* -1: closed */
    int error;       /* errno of the latest RL_IO_ERROR ... */
    const char *why; /* ... or, unless NULL, a sentence; during a handshake: what its silence may mean */
    bool more;       /* a read has something to tell although the socket may not become readable */
    struct rl_tls *tls;
    void *simulated; /* the connection at a simulated master */
};

#endif
