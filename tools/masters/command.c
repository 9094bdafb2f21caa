/* One command on a connection of its own, blocking. hiredis only parses the reply: its own sockets raise SIGPIPE
 * when a server dies, and servers die here all the time. */
#include <arpa/inet.h>
#include <errno.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool wait_for(int fd, short events, int64_t deadline)
{
    struct pollfd poll_fd = {.fd = fd, .events = events};

    for (;;) {
        int64_t left = deadline - now_ms();
        int n = poll(&poll_fd, 1, left > 0 ? (int)left : 0);

        if (n > 0)
            return true;
        if (n == 0)
            return fail("no answer in time");
        if (errno != EINTR)
            return fail("poll: %s", strerror(errno));
    }
}

static int open_socket(const struct master *master, struct sockaddr_storage *ret_address, socklen_t *ret_size)
{
    memset(ret_address, 0, sizeof(*ret_address));
    if (master->socket_path) {
        struct sockaddr_un *local = (struct sockaddr_un *)ret_address;

        local->sun_family = AF_UNIX;
        memcpy(local->sun_path, master->socket_path, strlen(master->socket_path) + 1);
        *ret_size = sizeof(*local);
        return socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    }
    struct sockaddr_in *internet = (struct sockaddr_in *)ret_address;

    internet->sin_family = AF_INET;
    internet->sin_port = htons(master->port);
    internet->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *ret_size = sizeof(*internet);
    return socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

static int connect_to(const struct master *master, int64_t deadline)
{
    struct sockaddr_storage address;
    socklen_t size;
    int error = 0;
    int fd = open_socket(master, &address, &size);

    if (fd < 0) {
        fail("socket: %s", strerror(errno));
        return -1;
    }
    if (connect(fd, (struct sockaddr *)&address, size) < 0) {
        error = errno;
        if (error == EINPROGRESS && wait_for(fd, POLLOUT, deadline)) {
            size = sizeof(error);
            getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
        }
    }
    if (error) {
        fail("connect: %s", strerror(error));
        close(fd);
        return -1;
    }
    return fd;
}

static bool send_command(int fd, const char *const *argv, int64_t deadline)
{
    char *bytes = NULL;
    int argc = 0;
    size_t sent = 0;

    while (argv[argc])
        argc++;
    int length = redisFormatCommandArgv(&bytes, argc, (const char **)(uintptr_t)argv, NULL);
    if (length < 0)
        return fail("out of memory");
    while (sent < (size_t)length) {
        ssize_t n = send(fd, bytes + sent, (size_t)length - sent, MSG_NOSIGNAL);

        if (n > 0)
            sent += (size_t)n;
        else if (n < 0 && errno != EAGAIN && errno != EINTR)
            break;
        else if (!wait_for(fd, POLLOUT, deadline))
            break;
    }
    free(bytes);
    return sent == (size_t)length || fail("the command could not be sent");
}

static redisReply *read_reply(int fd, redisReader *reader, int64_t deadline)
{
    char buffer[16384];
    void *reply = NULL;

    while (wait_for(fd, POLLIN, deadline)) {
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
    int64_t deadline = now_ms() + timeout_ms;
    redisReader *reader = redisReaderCreate();
    int fd = reader ? connect_to(master, deadline) : -1;
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
