#include "server.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "ask.h"
#include "clock_fault.h"
#include "codec/command.h"
#include "codec/reply.h"
#include "suite.h"

#define MAX_WORDS 16
#define UNIX_URL "unix://"

struct connection {
    int fd;
    struct rl_reply_reader *reader;
};

struct server {
    struct clock_fault *clock;
    struct masters *masters;
    struct connection commands;
    struct connection listener; /* hears everything that is published */
    struct rl_bytes out;
};

/* --- Connections -------------------------------------------------------------------------------------------------- */

static void connect_to(const char *url, struct connection *connection)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct timeval patience = {.tv_sec = SUITE_PATIENCE_S};

    ck_assert(strncmp(url, UNIX_URL, strlen(UNIX_URL)) == 0);
    ck_assert_uint_lt(strlen(url) - strlen(UNIX_URL), sizeof address.sun_path);
    strcpy(address.sun_path, url + strlen(UNIX_URL));
    connection->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    connection->reader = rl_reply_reader_create();
    ck_assert(connection->fd >= 0 && connection->reader);
    ck_assert_int_eq(setsockopt(connection->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
    ck_assert_int_eq(connect(connection->fd, (const struct sockaddr *)&address, sizeof address), 0);
}

static void disconnect(struct connection *connection)
{
    rl_reply_reader_destroy(connection->reader);
    close(connection->fd);
}

static void write_all(struct connection *connection, const struct rl_bytes *bytes)
{
    const unsigned char *at = rl_bytes_front(bytes);
    size_t left = rl_bytes_length(bytes);

    while (left) {
        ssize_t n = write(connection->fd, at, left);

        ck_assert_int_gt(n, 0);
        at += n;
        left -= (size_t)n;
    }
}

static void read_reply(struct connection *connection, struct rl_reply *ret_reply)
{
    char bytes[16384];

    for (;;) {
        enum rl_read_result result = rl_reply_reader_next(connection->reader, ret_reply);
        ssize_t n;

        if (result == RL_READ_REPLY)
            return;
        ck_assert_msg(result == RL_READ_MORE, "%s", rl_reply_reader_error(connection->reader));
        n = read(connection->fd, bytes, sizeof bytes);
        ck_assert_msg(n > 0, "the server does not answer");
        ck_assert(rl_reply_reader_feed(connection->reader, bytes, (size_t)n));
    }
}

static void write_words(struct server *server, struct connection *connection, const struct rl_slice *words, size_t n)
{
    rl_bytes_clear(&server->out);
    ck_assert(rl_words_encode(words, n, &server->out));
    write_all(connection, &server->out);
}

static size_t split(char *line, struct rl_slice words[MAX_WORDS])
{
    size_t n = 0;

    for (char *word = strsep(&line, " "); word; word = strsep(&line, " ")) {
        ck_assert_uint_lt(n, MAX_WORDS);
        words[n++] = rl_slice_of(word);
    }
    return n;
}

static void write_line(struct server *server, struct connection *connection, const char *line)
{
    struct rl_slice words[MAX_WORDS];
    char *copy = strdup(line);

    ck_assert_ptr_nonnull(copy);
    write_words(server, connection, words, split(copy, words));
    free(copy);
}

/* --- The server --------------------------------------------------------------------------------------------------- */

/* Names sort by their bytes. */
struct server *server_open(void)
{
    struct server *server = calloc(1, sizeof *server);
    struct masters_options options = {.count = 1};
    struct rl_reply reply;
    const char *environment[4];
    size_t n = 0;

    ck_assert_ptr_nonnull(server);
    server->clock = clock_fault_create();
    for (; clock_fault_environment(server->clock)[n]; n++)
        environment[n] = clock_fault_environment(server->clock)[n];
    environment[n++] = "LC_ALL=C";
    environment[n] = NULL;
    options.environment = environment;
    server->masters = ask_open(&options);
    connect_to(masters_url(server->masters, 0), &server->commands);
    connect_to(masters_url(server->masters, 0), &server->listener);
    write_line(server, &server->listener, "PSUBSCRIBE *");
    read_reply(&server->listener, &reply);
    return server;
}

void server_close(struct server *server)
{
    disconnect(&server->commands);
    disconnect(&server->listener);
    masters_destroy(server->masters);
    clock_fault_destroy(server->clock);
    rl_bytes_fini(&server->out);
    free(server);
}

void server_set_time(struct server *server, int64_t now_us)
{
    clock_fault_stop_us(server->clock, now_us);
}

void server_ask(struct server *server, const struct rl_bytes *command, struct rl_reply *ret_reply)
{
    write_all(&server->commands, command);
    read_reply(&server->commands, ret_reply);
}

void server_ask_words(struct server *server, const struct rl_slice *words, size_t n_words, struct rl_reply *ret_reply)
{
    write_words(server, &server->commands, words, n_words);
    read_reply(&server->commands, ret_reply);
}

void server_tell(struct server *server, const char *line, struct rl_reply *ret_reply)
{
    write_line(server, &server->commands, line);
    read_reply(&server->commands, ret_reply);
    ck_assert_msg(ret_reply->root.type != RL_REPLY_ERROR, "%s: %.*s", line, (int)ret_reply->root.text.size,
                  (const char *)ret_reply->root.text.data);
}

/* Messages stand before the answer to a PING that is sent after them. */
void server_write_messages(struct server *server, FILE *out)
{
    struct rl_reply reply;

    write_line(server, &server->listener, "PING");
    for (;;) {
        read_reply(&server->listener, &reply);
        if (reply.root.type != RL_REPLY_ARRAY || reply.n_elements != 4)
            return;
        for (size_t i = 2; i < 4; i++)
            fprintf(out, "%.*s%c", (int)reply.elements[i].text.size, (const char *)reply.elements[i].text.data,
                    i == 2 ? ' ' : '\n');
    }
}
