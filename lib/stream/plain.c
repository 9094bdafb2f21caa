#include "stream/plain.h"

#include <errno.h>
#include <sys/socket.h>

#include "stream/close_socket.h"

static enum rl_io plain_handshake(struct rl_stream *stream)
{
    return RL_IO_OK;
}

static enum rl_io failure(struct rl_stream *stream)
{
    if (errno == EAGAIN || errno == EWOULDBLOCK)
        return RL_IO_AGAIN;
    stream->error = errno;
    return RL_IO_ERROR;
}

static enum rl_io plain_read(struct rl_stream *stream, void *buffer, size_t size, size_t *ret_size)
{
    ssize_t n;

    do
        n = recv(stream->fd, buffer, size, 0);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return failure(stream);
    *ret_size = (size_t)n;
    return n ? RL_IO_OK : RL_IO_END;
}

/* MSG_NOSIGNAL: a library must neither die of SIGPIPE nor change what the program does about it. */
static enum rl_io plain_write(struct rl_stream *stream, const void *data, size_t size, size_t *ret_size)
{
    ssize_t n;

    do
        n = send(stream->fd, data, size, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return failure(stream);
    *ret_size = (size_t)n;
    return RL_IO_OK;
}

const struct rl_stream_type rl_stream_plain = {
    .handshake = plain_handshake,
    .read = plain_read,
    .write = plain_write,
    .close = rl_stream_close_socket,
};
