#include "toy.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define WORDS_MAX 8

struct word {
    const unsigned char *bytes;
    size_t size;
};

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* --- Keys ---------------------------------------------------------------------------------------------------- */

static struct toy_key *find(struct toy *toy, struct word key)
{
    for (size_t i = 0; i < TOY_KEYS; i++) {
        struct toy_key *at = &toy->keys[i];

        if (at->size && at->expires_ns <= now_ns())
            at->size = 0;
        if (at->size == key.size && memcmp(at->key, key.bytes, key.size) == 0)
            return at;
    }
    return NULL;
}

static void store(struct toy *toy, struct word key, struct word value, int64_t ttl_ms)
{
    size_t i = 0;

    while (i < TOY_KEYS && toy->keys[i].size)
        i++;
    ck_assert(i < TOY_KEYS && key.size <= TOY_KEY_BYTES && value.size < sizeof(toy->keys[i].value));
    memcpy(toy->keys[i].key, key.bytes, key.size);
    memcpy(toy->keys[i].value, value.bytes, value.size);
    toy->keys[i].value[value.size] = '\0';
    toy->keys[i].expires_ns = now_ns() + ttl_ms * 1000000;
    toy->keys[i].size = key.size;
}

static struct word word_of(const char *text)
{
    return (struct word){(const unsigned char *)text, strlen(text)};
}

void toy_set(struct toy *toy, const char *key, const char *value)
{
    store(toy, word_of(key), word_of(value), 3600 * 1000);
}

const char *toy_value(struct toy *toy, const char *key)
{
    const struct toy_key *at = find(toy, word_of(key));

    return at ? at->value : NULL;
}

size_t toy_count(struct toy *toy)
{
    size_t count = 0;

    find(toy, word_of(" "));
    for (size_t i = 0; i < TOY_KEYS; i++)
        count += toy->keys[i].size > 0;
    return count;
}

void toy_forget(struct toy *toy)
{
    for (size_t i = 0; i < TOY_KEYS; i++)
        toy->keys[i].size = 0;
}

/* --- Commands ------------------------------------------------------------------------------------------------ */

static bool is(struct word word, const char *text)
{
    return word.size == strlen(text) && memcmp(word.bytes, text, word.size) == 0;
}

static int64_t number(struct word word)
{
    char digits[24] = "";

    memcpy(digits, word.bytes, word.size < sizeof(digits) - 1 ? word.size : sizeof(digits) - 1);
    return strtoll(digits, NULL, 10);
}

static const char *set(struct toy *toy, const struct word *words)
{
    toy->sets++;
    if (find(toy, words[1]))
        return "$-1\r\n";
    store(toy, words[1], words[2], number(words[5]));
    return "+OK\r\n";
}

/* EVAL or EVALSHA, script, 1, key, value: release. With a ttl behind the value: extend. */
static const char *run_script(struct toy *toy, const struct word *words, size_t n)
{
    struct toy_key *at = find(toy, words[3]);

    if (is(words[0], "EVALSHA") && toy->forgetful)
        return "-NOSCRIPT No matching script. Please use EVAL.\r\n";
    if (!at)
        return ":0\r\n";
    if (!is(words[4], at->value))
        return ":-1\r\n";
    if (n == 5) {
        at->size = 0;
        toy->deletes++;
    } else {
        at->expires_ns = now_ns() + number(words[5]) * 1000000;
    }
    return ":1\r\n";
}

static const char *execute(struct toy *toy, const struct word *words, size_t n)
{
    const char *reply;

    if (is(words[0], "PING"))
        return toy->pong ? toy->pong : "+PONG\r\n";
    if (is(words[0], "SET"))
        reply = set(toy, words);
    else if (is(words[0], "EVAL") || is(words[0], "EVALSHA"))
        reply = run_script(toy, words, n);
    else
        return "+OK\r\n"; /* the rest of the handshake */
    return toy->says ? toy->says : reply;
}

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
static size_t parse(const struct toy_conn *conn, struct word *words, size_t *ret_n)
{
    size_t pos = 0;

    if (!take_number(conn, &pos, ret_n))
        return 0;
    ck_assert_uint_le(*ret_n, WORDS_MAX);
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
}

/* What a client sent before it went away is executed all the same, as by the real server. */
static void say(struct toy_conn *conn, const void *bytes, size_t size)
{
    if (conn->fd >= 0 && size && send(conn->fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        ck_assert(errno == EPIPE || errno == ECONNRESET);
}

static void serve(struct toy *toy, struct toy_conn *conn)
{
    struct word words[WORDS_MAX];
    size_t n = 0;
    size_t used;

    while ((used = parse(conn, words, &n)) > 0) {
        const char *reply = execute(toy, words, n);

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
    n = recv(conn->fd, conn->in + conn->size, sizeof(conn->in) - conn->size, MSG_DONTWAIT);
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

struct toy *toy_create(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct toy *toy = calloc(1, sizeof(*toy));

    ck_assert_ptr_nonnull(toy);
    for (size_t i = 0; i < TOY_CONNS; i++)
        toy->conns[i].fd = -1;
    snprintf(toy->dir, sizeof(toy->dir), "/tmp/toy-master-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(toy->dir));
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/s", toy->dir);
    snprintf(toy->url, sizeof(toy->url), "unix://%s", address.sun_path);
    toy->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(toy->listener, 0);
    ck_assert_int_eq(bind(toy->listener, (struct sockaddr *)&address, sizeof(address)), 0);
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
