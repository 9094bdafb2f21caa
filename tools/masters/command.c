/* One command on a connection of its own, blocking. hiredis only parses the reply: its own sockets raise SIGPIPE
 * when a server dies, and servers die here all the time. */
#include <errno.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "connection.h"
#include "internal.h"

static bool send_command(int fd, const char *const *argv, int64_t deadline)
{
    char *bytes = NULL;
    int argc = 0;
    long long length; /* an int before hiredis 1.0 */
    bool sent;

    while (argv[argc])
        argc++;
    length = redisFormatCommandArgv(&bytes, argc, (const char **)(uintptr_t)argv, NULL);
    if (length < 0)
        return fail("out of memory");
    sent = connection_send(fd, bytes, (size_t)length, deadline);
    free(bytes);
    return sent;
}

static redisReply *read_reply(int fd, redisReader *reader, int64_t deadline)
{
    char buffer[16384];
    void *reply = NULL;

    while (connection_wait(fd, POLLIN, deadline)) {
        ssize_t n = recv(fd, buffer, sizeof(buffer), 0);

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (n <= 0) {
            fail("the server closed the connection");
            return NULL;
        }
        if (redisReaderFeed(reader, buffer, (size_t)n) != REDIS_OK ||
            redisReaderGetReply(reader, &reply) != REDIS_OK) {
            fail("protocol error");
            return NULL;
        }
        if (reply)
            return reply;
    }
    return NULL;
}

static void print_reply(FILE *stream, const redisReply *reply)
{
    switch (reply->type) {
    case REDIS_REPLY_NIL:
        fputs("(nil)", stream);
        break;
    case REDIS_REPLY_INTEGER:
        fprintf(stream, "(integer) %lld", reply->integer);
        break;
    case REDIS_REPLY_ARRAY:
        for (size_t i = 0; i < reply->elements; i++) {
            if (i > 0)
                fputc('\n', stream);
            print_reply(stream, reply->element[i]);
        }
        break;
    default:
        fwrite(reply->str, 1, (size_t)reply->len, stream);
        break;
    }
}

static char *reply_text(const redisReply *reply)
{
    FILE *stream;
    char *text = NULL;
    size_t size = 0;

    if (reply->type == REDIS_REPLY_ERROR) {
        fail("%s", reply->str);
        return NULL;
    }
    stream = open_memstream(&text, &size);
    if (!stream) {
        fail("out of memory");
        return NULL;
    }
    print_reply(stream, reply);
    fclose(stream);
    return text;
}

char *command_run(const struct master *master, const char *const *argv, int timeout_ms)
{
    int64_t deadline = connection_now_ms() + timeout_ms;
    redisReader *reader = redisReaderCreate();
    int fd = reader ? connection_open(master->socket_path, master->ports[PORT_CLIENTS], deadline) : -1;
    redisReply *reply = NULL;
    char *text = NULL;

    if (fd >= 0 && send_command(fd, argv, deadline))
        reply = read_reply(fd, reader, deadline);
    if (reply) {
        text = reply_text(reply);
        freeReplyObject(reply);
    }
    if (fd >= 0)
        close(fd);
    if (reader)
        redisReaderFree(reader);
    return text;
}
