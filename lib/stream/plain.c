#include "stream/plain.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

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

/* rule 3.2: "close() never cancels: the kernel may deliver the SET later. On teardown use SO_LINGER{1,0}." The
 * option belongs to the connection, not the descriptor, so a forked child must not set it. */
void rl_stream_close_socket(struct rl_stream *stream, enum rl_close how)
{
    const struct linger discard = {.l_onoff = 1, .l_linger = 0};

    if (how == RL_CLOSE_RESET)
        setsockopt(stream->fd, SOL_SOCKET, SO_LINGER, &discard, sizeof discard);
    close(stream->fd);
    stream->fd = -1;
}
