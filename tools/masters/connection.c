#include "connection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <hiredis/hiredis.h>

#include "internal.h"

#define MAX_ANSWER ((size_t)1 << 20)

int64_t connection_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool connection_wait(int fd, short events, int64_t deadline_ms)
{
    struct pollfd poll_fd = {.fd = fd, .events = events};

    for (;;) {
        int64_t left = deadline_ms - connection_now_ms();
        int n = poll(&poll_fd, 1, left > 0 ? (int)left : 0);

        if (n > 0)
            return true;
        if (n == 0)
            return fail("no answer in time");
        if (errno != EINTR)
            return fail("poll: %s", strerror(errno));
    }
}

static socklen_t set_address(struct sockaddr_storage *ret_address, const char *socket_path, uint16_t port)
{
    struct sockaddr_un *local = (struct sockaddr_un *)ret_address;
    struct sockaddr_in *internet = (struct sockaddr_in *)ret_address;

    memset(ret_address, 0, sizeof *ret_address);
    if (socket_path) {
        local->sun_family = AF_UNIX;
        memcpy(local->sun_path, socket_path, strlen(socket_path) + 1);
        return sizeof *local;
    }
    internet->sin_family = AF_INET;
    internet->sin_port = htons(port);
    internet->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return sizeof *internet;
}

int connection_open(const char *socket_path, uint16_t port, int64_t deadline_ms)
{
    struct sockaddr_storage address;
    socklen_t size = set_address(&address, socket_path, port);
    int error = 0;
    int fd = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0) {
        fail("socket: %s", strerror(errno));
        return -1;
    }
    if (connect(fd, (struct sockaddr *)&address, size) < 0) {
        error = errno;
        if (error == EINPROGRESS && connection_wait(fd, POLLOUT, deadline_ms)) {
            size = sizeof error;
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

bool connection_send(int fd, const void *bytes, size_t size, int64_t deadline_ms)
{
    const char *rest = bytes;

    while (size > 0) {
        ssize_t n = send(fd, rest, size, MSG_NOSIGNAL);

        if (n > 0) {
            rest += n;
            size -= (size_t)n;
        } else if (n < 0 && errno != EAGAIN && errno != EINTR) {
            return fail("send: %s", strerror(errno));
        } else if (!connection_wait(fd, POLLOUT, deadline_ms)) {
            return false;
        }
    }
    return true;
}

static char *read_answer(int fd, size_t enough, int64_t deadline_ms)
{
    size_t n = 0;
    size_t room = 0;
    char *text = NULL;

    while (n < enough && n < MAX_ANSWER && connection_wait(fd, POLLIN, deadline_ms)) {
        char *larger = n + 1 < room ? text : realloc(text, room = room * 2 + 4096);
        ssize_t received;

        if (!larger)
            break;
        text = larger;
        received = recv(fd, text + n, room - n - 1, 0);
        if (received < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (received <= 0)
            break;
        n += (size_t)received;
    }
    if (n == 0) {
        fail("the server does not answer");
        free(text);
        return NULL;
    }
    text[n] = '\0';
    return text;
}

char *connection_exchange(uint16_t port, const char *text, size_t enough, int timeout_ms)
{
    int64_t deadline_ms = connection_now_ms() + timeout_ms;
    int fd = connection_open(NULL, port, deadline_ms);
    char *answer = NULL;

    if (fd < 0)
        return NULL;
    if (!text || connection_send(fd, text, strlen(text), deadline_ms))
        answer = read_answer(fd, enough, deadline_ms);
    close(fd);
    return answer;
}

/* --- One command on a connection of its own ----------------------------------------------------------------------- */

/* One command on a connection of its own, blocking. hiredis only parses the reply: its own sockets raise SIGPIPE
 * when a server dies, and servers die here all the time. */

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
        ssize_t n = recv(fd, buffer, sizeof buffer, 0);

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
