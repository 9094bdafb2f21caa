#include "stream/close_socket.h"

#include <sys/socket.h>
#include <unistd.h>

/* protocol 2.1: "close() never cancels: the kernel may deliver the SET later. On teardown use SO_LINGER{1,0}." The
 * option belongs to the connection, not the descriptor, so a forked child must not set it. */
void rl_stream_close_socket(struct rl_stream *stream, enum rl_close how)
{
    const struct linger discard = {.l_onoff = 1, .l_linger = 0};

    if (how == RL_CLOSE_RESET)
        setsockopt(stream->fd, SOL_SOCKET, SO_LINGER, &discard, sizeof(discard));
    close(stream->fd);
    stream->fd = -1;
}
