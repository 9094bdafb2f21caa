#include "toy_inside.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* --- Bytes --------------------------------------------------------------------------------------------------- */

/* "*3\r\n" or "$5\r\n" at *pos; false if it is not complete. */
static bool take_number(const struct toy_conn *conn, size_t *pos, size_t *ret_number)
{
    const unsigned char *end = *pos < conn->size ? memchr(conn->in + *pos, '\n', conn->size - *pos) : NULL;

    if (!end)
        return false;
    *ret_number = (size_t)strtoul((const char *)conn->in + *pos + 1, NULL, 10);
    *pos = (size_t)(end + 1 - conn->in);
    return true;
}

/* The size of the complete command at the front, 0 if there is none. */
static size_t parse(const struct toy_conn *conn, struct toy_word *words, size_t *ret_n)
{
    size_t pos = 0;

    if (!take_number(conn, &pos, ret_n))
        return 0;
    ck_assert_uint_le(*ret_n, TOY_WORDS);
    for (size_t i = 0; i < *ret_n; i++) {
        if (!take_number(conn, &pos, &words[i].size) || conn->size - pos < words[i].size + 2)
            return 0;
        words[i].bytes = conn->in + pos;
        pos += words[i].size + 2;
    }
    return pos;
}

static void drop(struct toy_conn *conn)
{
    if (conn->fd >= 0)
        close(conn->fd);
    conn->fd = -1;
    conn->size = 0;
    memset(conn->channels, 0, sizeof conn->channels);
}

/* What a client sent before it went away is executed all the same, as by the real server. */
static void say(struct toy_conn *conn, const void *bytes, size_t size)
{
    if (conn->fd >= 0 && size && send(conn->fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        ck_assert(errno == EPIPE || errno == ECONNRESET);
}

static bool is_subscribed(const struct toy_conn *conn)
{
    for (size_t i = 0; i < TOY_CHANNELS; i++) {
        if (conn->channels[i][0])
            return true;
    }
    return false;
}

static char *find_channel(struct toy_conn *conn, const char *name)
{
    for (size_t i = 0; i < TOY_CHANNELS; i++) {
        if (strcmp(conn->channels[i], name) == 0)
            return conn->channels[i];
    }
    return NULL;
}

/* Of one channel, from now on or no more. */
static const char *change_subscription(struct toy *toy, struct toy_conn *conn, struct toy_word channel, bool enters)
{
    const char *word = enters ? "subscribe" : "unsubscribe";
    char name[TOY_CHANNEL_BYTES] = "";
    char *place;

    ck_assert_uint_lt(channel.size, sizeof name);
    memcpy(name, channel.bytes, channel.size);
    place = find_channel(conn, name);
    if (!place && enters)
        place = find_channel(conn, "");
    ck_assert(place || !enters);
    if (place)
        snprintf(place, TOY_CHANNEL_BYTES, "%s", enters ? name : "");
    snprintf(toy->reply, sizeof toy->reply, "*3\r\n$%zu\r\n%s\r\n$%zu\r\n%s\r\n:%d\r\n", strlen(word), word,
             channel.size, name, is_subscribed(conn));
    return toy->reply;
}

/* A connection that has subscribed knows little else. */
static const char *execute(struct toy *toy, struct toy_conn *conn, const struct toy_word *words, size_t n)
{
    if (toy_is(words[0], "SUBSCRIBE"))
        return change_subscription(toy, conn, words[1], true);
    if (toy_is(words[0], "UNSUBSCRIBE") && n == 2)
        return change_subscription(toy, conn, words[1], false);
    if (is_subscribed(conn))
        return "*2\r\n$4\r\npong\r\n$0\r\n\r\n";
    return toy_execute(toy, words, n);
}

void toy_publish(struct toy *toy, const char *channel, const char *payload)
{
    char message[512];
    int size = snprintf(message, sizeof message, "*3\r\n$7\r\nmessage\r\n$%zu\r\n%s\r\n$%zu\r\n%s\r\n",
                        strlen(channel), channel, strlen(payload), payload);

    toy->messages++;
    for (size_t i = 0; i < TOY_CONNS && !toy->mute; i++) {
        if (find_channel(&toy->conns[i], channel))
            say(&toy->conns[i], message, (size_t)size);
    }
}

static void serve(struct toy *toy, struct toy_conn *conn)
{
    struct toy_word words[TOY_WORDS];
    size_t n = 0;
    size_t used;

    while ((used = parse(conn, words, &n)) > 0) {
        const char *reply = execute(toy, conn, words, n);

        if (!toy->mute)
            say(conn, reply, strlen(reply));
        conn->size -= used;
        memmove(conn->in, conn->in + used, conn->size);
    }
}

static bool step_conn(struct toy *toy, struct toy_conn *conn)
{
    ssize_t n;

    if (conn->fd < 0 || toy->deaf)
        return false;
    n = recv(conn->fd, conn->in + conn->size, sizeof conn->in - conn->size, MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN)
        return false;
    if (n <= 0) {
        drop(conn);
        return true;
    }
    conn->size += (size_t)n;
    serve(toy, conn);
    return true;
}

static bool accept_one(struct toy *toy)
{
    size_t i = 0;
    int fd;

    while (i < TOY_CONNS && toy->conns[i].fd >= 0)
        i++;
    if (i == TOY_CONNS)
        return false;
    fd = accept4(toy->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0)
        return false;
    toy->accepted++;
    if (toy->hangs_up)
        close(fd);
    else
        toy->conns[i].fd = fd;
    return true;
}

bool toy_step(struct toy *toy)
{
    bool busy = accept_one(toy);

    for (size_t i = 0; i < TOY_CONNS; i++)
        busy |= step_conn(toy, &toy->conns[i]);
    return busy;
}

void toy_say(struct toy *toy, const void *bytes, size_t size)
{
    for (size_t i = 0; i < TOY_CONNS; i++)
        say(&toy->conns[i], bytes, size);
}

void toy_hang_up(struct toy *toy)
{
    for (size_t i = 0; i < TOY_CONNS; i++)
        drop(&toy->conns[i]);
}

/* --- Life and death ------------------------------------------------------------------------------------------ */

void toy_lose(struct toy *toy, int64_t quarantine_ms)
{
    toy_forget(toy);
    memset(toy->waiters, 0, sizeof toy->waiters);
    toy->counter = 0;
    toy->quarantine_ends_ns = toy_now_ns() + quarantine_ms * 1000000;
    snprintf(toy->incarnation, sizeof toy->incarnation, "memory %u", ++toy->memories);
}

struct toy *toy_create(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct toy *toy = calloc(1, sizeof *toy);

    ck_assert_ptr_nonnull(toy);
    for (size_t i = 0; i < TOY_CONNS; i++)
        toy->conns[i].fd = -1;
    snprintf(toy->dir, sizeof toy->dir, "/tmp/toy-master-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(toy->dir));
    toy_lose(toy, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s/s", toy->dir);
    snprintf(toy->url, sizeof toy->url, "unix://%s", address.sun_path);
    toy->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(toy->listener, 0);
    ck_assert_int_eq(bind(toy->listener, (struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_eq(listen(toy->listener, 64), 0);
    return toy;
}

void toy_destroy(struct toy *toy)
{
    if (!toy)
        return;
    toy_hang_up(toy);
    close(toy->listener);
    unlink(toy->url + strlen("unix://"));
    rmdir(toy->dir);
    free(toy);
}
