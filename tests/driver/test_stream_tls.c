/* The TLS stream against OpenSSL's server side, both stepped by hand over a pair of sockets: what masters do not do on
 * request, and an OpenSSL that has no memory. */
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <redlock/status.h>

#include "openssl_memory.h"
#include "stream/tls.h"
#include "stream/tls_context.h"
#include "suite.h"

#define NAME "redis.example"
enum { VERSIONS = 2, MOST_STEPS = 1000 };
static const int versions[VERSIONS] = {TLS1_2_VERSION, TLS1_3_VERSION};

/* --- Server and client ------------------------------------------------------------------------------------------ */

static char ca_file[32];
static EVP_PKEY *key;
static X509 *certificate;
static SSL_CTX *server_context;
static SSL *server;
static struct rl_tls_context *context;
static struct rl_stream stream;

static void write_certificate(void)
{
    int fd = mkstemp(strcpy(ca_file, "/tmp/redlock-ca-XXXXXX"));
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;

    ck_assert(file && PEM_write_X509(file, certificate) == 1 && fclose(file) == 0);
}

/* It is its own CA. */
static void make_certificate(void)
{
    X509_NAME *name;

    key = EVP_EC_gen("P-256");
    certificate = X509_new();
    ck_assert(key && certificate);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    name = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)NAME, -1, -1, 0);
    X509_set_issuer_name(certificate, name);
    X509_set_pubkey(certificate, key);
    ck_assert_int_ne(X509_sign(certificate, key, EVP_sha256()), 0);
    write_certificate();
}

static int create_context(char *why, size_t size)
{
    const struct rl_tls_options options = {.ca_file = ca_file, .verifies = true, .resumes = true};

    return rl_tls_context_create(&options, why, size, &context);
}

static void make_context(void)
{
    char why[200] = "";

    ck_assert_msg(create_context(why, sizeof why) == 0, "%s", why);
}

/* A line between a stream and a server that speaks up to this version. */
static void open_line(int version)
{
    int fds[2];

    ck_assert_int_eq(SSL_CTX_set_max_proto_version(server_context, version), 1);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    server = SSL_new(server_context);
    ck_assert(server && SSL_set_fd(server, fds[0]) == 1);
    SSL_set_accept_state(server);
    stream = (struct rl_stream){.fd = -1};
    rl_stream_tls_init(&stream, context, NAME);
    stream.fd = fds[1];
}

static void close_line(void)
{
    openssl_memory.armed = true;
    if (stream.fd >= 0)
        stream.type->close(&stream, RL_CLOSE_ORDERLY);
    if (stream.type)
        stream.type->fini(&stream);
    openssl_memory.armed = false;
    if (server)
        close(SSL_get_fd(server));
    SSL_free(server);
    server = NULL;
    ERR_clear_error();
}

static void set_up(void)
{
    openssl_memory.failing = -1;
    stream = (struct rl_stream){.fd = -1};
    make_certificate();
    server_context = SSL_CTX_new(TLS_server_method());
    ck_assert(SSL_CTX_use_certificate(server_context, certificate) == 1 &&
              SSL_CTX_use_PrivateKey(server_context, key) == 1);
    make_context();
}

static void tear_down(void)
{
    close_line();
    rl_tls_context_destroy(context);
    SSL_CTX_free(server_context);
    X509_free(certificate);
    EVP_PKEY_free(key);
    unlink(ca_file);
    context = NULL;
}

/* --- Steps ------------------------------------------------------------------------------------------------------- */

static enum rl_io shake(void)
{
    for (int i = 0; i < MOST_STEPS; i++) {
        enum rl_io result;

        openssl_memory.armed = true;
        result = stream.type->handshake(&stream);
        openssl_memory.armed = false;
        SSL_do_handshake(server);
        ERR_clear_error();
        if (result != RL_IO_AGAIN && result != RL_IO_CROSSED)
            return result;
    }
    ck_abort_msg("the handshake does not end");
    return RL_IO_ERROR;
}

static void connect_with(int version)
{
    open_line(version);
    ck_assert_int_eq(shake(), RL_IO_OK);
    ck_assert_int_eq(SSL_version(server), version);
}

static enum rl_io say(const char *bytes, size_t size, size_t *ret_size)
{
    enum rl_io result;

    openssl_memory.armed = true;
    result = stream.type->write(&stream, bytes, size, ret_size);
    openssl_memory.armed = false;
    return result;
}

static enum rl_io hear(char *bytes, size_t size, size_t *ret_size)
{
    enum rl_io result;

    openssl_memory.armed = true;
    result = stream.type->read(&stream, bytes, size, ret_size);
    openssl_memory.armed = false;
    return result;
}

static void server_says(const char *text)
{
    ck_assert_int_eq(SSL_write(server, text, (int)strlen(text)), (int)strlen(text));
}

static void expect_heard(const char *text)
{
    char bytes[100];
    size_t n = 0;

    ck_assert_int_eq(hear(bytes, sizeof bytes, &n), RL_IO_OK);
    ck_assert(n == strlen(text) && memcmp(bytes, text, n) == 0);
}

static void expect_server_hears(const char *text)
{
    char bytes[100];
    size_t n = 0;

    ck_assert_int_eq(say(text, strlen(text), &n), RL_IO_OK);
    ck_assert_uint_eq(n, strlen(text));
    ck_assert_int_eq(SSL_read(server, bytes, sizeof bytes), (int)n);
    ck_assert_mem_eq(bytes, text, n);
}

static void expect_words(const char *words)
{
    ck_assert_msg(stream.why && strstr(stream.why, words), "%s", stream.why ? stream.why : strerror(stream.error));
}

/* --- What masters do not do on request --------------------------------------------------------------------------- */

GROUP(line, "line", set_up, tear_down)

/* The socket does not become readable once more, so the stream says that there is more. What is written then, like a
 * rollback, is still sent. */
TESTS(line, close_notify_is_the_end_while_the_socket_stays_open, 0, VERSIONS)
{
    char byte;
    size_t n = 0;

    connect_with(versions[_i]);
    server_says("last");
    SSL_shutdown(server);
    expect_heard("last");
    ck_assert(stream.more);
    ck_assert_int_eq(hear(&byte, 1, &n), RL_IO_END);
    ck_assert_int_eq(hear(&byte, 1, &n), RL_IO_END);
    expect_server_hears("rollback");
}

TESTS(line, close_notify_during_the_handshake_is_told, 0, VERSIONS)
{
    open_line(versions[_i]);
    openssl_memory.armed = true;
    stream.type->handshake(&stream);
    openssl_memory.armed = false;
    ck_assert_int_eq(send(SSL_get_fd(server), "\x15\x03\x03\x00\x02\x01\x00", 7, 0), 7);
    ck_assert_int_eq(stream.type->handshake(&stream), RL_IO_ERROR);
    expect_words("the server hung up during the handshake");
}

/* With TLS 1.3 the client's handshake is over before the server has refused it. */
TEST(line, what_a_server_said_last_is_told_where_nothing_can_be_written)
{
    char byte;
    size_t n = 0;

    open_line(TLS1_3_VERSION);
    SSL_set_verify(server, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    ck_assert_int_eq(shake(), RL_IO_OK);
    SSL_do_handshake(server);
    ERR_clear_error();
    ck_assert_int_eq(shutdown(SSL_get_fd(server), SHUT_RDWR), 0);
    ck_assert_int_eq(say("claim", 5, &n), RL_IO_ERROR);
    expect_words("the server requires a client certificate");
    ck_assert_int_eq(hear(&byte, 1, &n), RL_IO_ERROR);
}

/* A reply that came before the end is no reason. */
TESTS(line, a_write_that_fails_behind_a_reply_names_the_error, 0, VERSIONS)
{
    char byte = 0;
    size_t n = 0;

    connect_with(versions[_i]);
    server_says("r");
    ck_assert_int_eq(shutdown(SSL_get_fd(server), SHUT_RDWR), 0);
    ck_assert_int_eq(say("claim", 5, &n), RL_IO_ERROR);
    ck_assert_ptr_null(stream.why);
    ck_assert_int_eq(stream.error, EPIPE);
    ck_assert_int_eq(hear(&byte, 1, &n), RL_IO_OK);
    ck_assert_int_eq(byte, 'r');
}

/* OpenSSL's servers end a connection whose client declines. */
TEST(line, renegotiation_is_declined_in_words)
{
    char byte;
    size_t n = 0;

    connect_with(TLS1_2_VERSION);
    ck_assert_int_eq(SSL_renegotiate(server), 1);
    ck_assert_int_eq(SSL_do_handshake(server), 1);
    server_says("reply");
    expect_heard("reply");
    ck_assert_int_eq(SSL_read(server, &byte, 1), -1);
    ERR_clear_error();
    ck_assert_int_eq(hear(&byte, 1, &n), RL_IO_ERROR);
    expect_words("the server wanted to renegotiate the open connection, which is declined");
}

TEST(line, keys_of_1_3_may_be_replaced)
{
    connect_with(TLS1_3_VERSION);
    ck_assert_int_eq(SSL_key_update(server, SSL_KEY_UPDATE_REQUESTED), 1);
    server_says("with new keys");
    expect_heard("with new keys");
    expect_server_hears("with new keys, too");
}

/* So that a ticket fills a record. */
static int enlarge_ticket(SSL *ssl, void *arg)
{
    static const char waste[16000];

    return SSL_SESSION_set1_ticket_appdata(SSL_get_session(ssl), waste, sizeof waste);
}

static int unread(void)
{
    int n = 0;

    ck_assert_int_eq(ioctl(stream.fd, FIONREAD, &n), 0);
    return n;
}

/* Of tickets without end, until the socket is full. */
static void fill_with_tickets(void)
{
    const int room = 1 << 20;

    setsockopt(SSL_get_fd(server), SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    do
        ck_assert_int_eq(SSL_new_session_ticket(server), 1);
    while (SSL_do_handshake(server) == 1);
    ERR_clear_error();
}

/* OpenSSL would read on and on: they bring the program nothing that a call could return with. */
TEST(line, a_flood_of_tickets_is_read_in_portions)
{
    enum { PORTION = 128 * 1024 };
    enum rl_io result = RL_IO_AGAIN;
    char bytes[100];
    size_t n = 0;
    int before;

    SSL_CTX_set_session_ticket_cb(server_context, enlarge_ticket, NULL, NULL);
    connect_with(TLS1_3_VERSION);
    fill_with_tickets();
    before = unread();
    ck_assert_int_gt(before, PORTION + 1000);
    ck_assert_int_eq(hear(bytes, sizeof bytes, &n), RL_IO_AGAIN);
    ck_assert_int_eq(before - unread(), PORTION);
    while (SSL_do_handshake(server) != 1)
        ck_assert_int_eq(hear(bytes, sizeof bytes, &n), RL_IO_AGAIN);
    server_says("reply");
    for (int i = 0; i < MOST_STEPS && result == RL_IO_AGAIN; i++)
        result = hear(bytes, sizeof bytes, &n);
    ck_assert_int_eq(result, RL_IO_OK);
    ck_assert(n == 5 && memcmp(bytes, "reply", n) == 0);
}

/* What the server has got of it is the beginning of `bytes`. */
static size_t drain(const char *bytes, size_t before, size_t most)
{
    static char got[1 << 16];
    size_t n = before;
    int done = 1;

    while (done > 0 && n - before < most) {
        done = SSL_read(server, got, sizeof got);
        if (done > 0) {
            ck_assert_mem_eq(got, bytes + n, (size_t)done);
            n += (size_t)done;
        }
    }
    ERR_clear_error();
    return n;
}

/* The socket is full in the middle of a record again and again; the next write has the same bytes, and more. */
TESTS(line, a_record_that_is_half_written_goes_on, 0, VERSIONS)
{
    static char bytes[1 << 21];
    size_t written = 0, arrived = 0, room = 1 << 19;
    unsigned stops = 0;

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 31 + i / 257);
    connect_with(versions[_i]);
    while (written < sizeof bytes) {
        size_t wanted = (room < sizeof bytes ? room : sizeof bytes) - written;
        size_t n = 0;
        enum rl_io result = say(bytes + written, wanted, &n);

        ck_assert(result == RL_IO_OK || result == RL_IO_AGAIN);
        written += result == RL_IO_OK ? n : 0;
        stops += result == RL_IO_AGAIN || n < wanted;
        room += 1000;
        arrived = drain(bytes, arrived, 30000);
    }
    while (arrived < sizeof bytes)
        arrived = drain(bytes, arrived, SIZE_MAX);
    ck_assert_uint_gt(stops, 5);
}

/* --- No memory --------------------------------------------------------------------------------------------------- */

static bool fail_next(void)
{
    return openssl_memory_next(200, 7);
}

GROUP(memory, "memory", set_up, tear_down)

TEST(memory, a_context_without_memory_is_refused)
{
    char why[200];
    int status = REDLOCK_E_NOMEM;
    unsigned failures = 0;

    rl_tls_context_destroy(context);
    while (fail_next()) {
        why[0] = '\0';
        context = NULL;
        openssl_memory.armed = true;
        status = create_context(why, sizeof why);
        openssl_memory.armed = false;
        failures += status != 0;
        ck_assert(status == REDLOCK_E_NOMEM || (status == REDLOCK_E_TLS && why[0]) || (status == 0 && context));
        rl_tls_context_destroy(context);
    }
    ck_assert_msg(status == 0, "%s", why);
    ck_assert_uint_gt(failures, 20);
    context = NULL;
}

/* The file's time is different from all earlier ones. */
static struct rl_tls_current read_again(long number)
{
    const struct timespec times[2] = {{.tv_sec = number + 1}, {.tv_sec = number + 1}};
    struct rl_tls_current current;

    ck_assert_int_eq(utimensat(AT_FDCWD, ca_file, times, 0), 0);
    openssl_memory.armed = true;
    current = rl_tls_context_current(context);
    openssl_memory.armed = false;
    return current;
}

TESTS(memory, files_that_are_not_read_again_for_want_of_memory_are_read_later, 0, VERSIONS)
{
    unsigned generation = rl_tls_context_current(context).generation;
    unsigned failures = 0;

    while (fail_next()) {
        struct rl_tls_current current;

        current = read_again(openssl_memory.failing);
        ck_assert_ptr_nonnull(current.ssl);
        ck_assert_uint_eq(current.generation, current.trouble[0] ? generation : generation + 1);
        failures += current.trouble[0] != '\0';
        current = rl_tls_context_current(context);
        ck_assert_msg(!current.trouble[0], "%s", current.trouble);
        ck_assert_uint_eq(current.generation, ++generation);
    }
    ck_assert_uint_gt(failures, 20);
    connect_with(versions[_i]);
    expect_server_hears("after");
}

/* A handshake, a command and its reply. */
static enum rl_io converse(void)
{
    char bytes[100];
    size_t n = 0;
    enum rl_io result = shake();

    if (result == RL_IO_OK)
        result = say("command", 7, &n);
    if (result != RL_IO_OK)
        return result;
    ck_assert_int_eq(SSL_read(server, bytes, sizeof bytes), 7);
    server_says("reply");
    result = hear(bytes, sizeof bytes, &n);
    ck_assert(result != RL_IO_OK || n == 5);
    return result;
}

/* Each connection has a context that was made with memory enough: OpenSSL may make one without, which then lacks a
 * cipher or a CA's key, and after a failure files are read again when a second has gone by. */
TESTS(memory, a_connection_without_memory_fails_in_words, 0, VERSIONS)
{
    enum rl_io result = RL_IO_ERROR;
    unsigned failures = 0;

    while (fail_next()) {
        rl_tls_context_destroy(context);
        make_context();
        open_line(versions[_i]);
        result = converse();
        ck_assert_msg(result == RL_IO_OK || (result == RL_IO_ERROR && (stream.error || (stream.why && stream.why[0]))),
                      "allocation %ld: %d", openssl_memory.failing, (int)result);
        failures += result == RL_IO_ERROR;
        close_line();
    }
    ck_assert_int_eq(result, RL_IO_OK);
    ck_assert_uint_gt(failures, 100);
    connect_with(versions[_i]);
    expect_server_hears("after");
}

int main(void)
{
    if (!openssl_memory_hook())
        return EXIT_FAILURE;
    return suite_run(suite_collect("stream_tls"));
}
