/* TLS over a socket that never blocks.
 *
 * IMPLEMENTATION NOTES
 *
 * - With read_ahead OpenSSL holds bytes that the event loop cannot see. Each read goes on until there is nothing left,
 *   or says `more`.
 * - A record that is half written is completed by the next write, which is given the same bytes again, and perhaps more
 *   behind them. */
#include "stream/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream/plain.h"
#include "stream/tls_context.h"
#include "stream/tls_socket.h"
#include "stream/tls_words.h"

enum { WHY_MAX = 200, NAME_MAX_BYTES = 256 };

/* Lives as long as the connection's owner; `ssl` as long as one connection. */
struct rl_tls {
    struct rl_tls_remains remains; /* the first member */
    struct rl_tls_context *context;
    char name[NAME_MAX_BYTES]; /* that the server's certificate must be for */
    struct rl_tls_socket socket;
    SSL *ssl;
    X509 *certificate;         /* the server's, if it was found wanting */
    SSL_SESSION *session;      /* to be resumed by the next connection ... */
    unsigned generation;       /* ... if it has the same context */
    bool open;                 /* the handshake is over */
    bool asked;                /* the server wants a certificate of ours ... */
    bool identified;           /* ... and gets one */
    enum rl_io result;         /* of the next read, unless RL_IO_OK */
    char why[WHY_MAX];
};

/* --- What OpenSSL tells ---------------------------------------------------------------------------------------- */

static int keep_certificate(int good, X509_STORE_CTX *store)
{
    SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    struct rl_tls *tls = SSL_get_app_data(ssl);
    X509 *certificate = X509_STORE_CTX_get0_cert(store);

    if (!good && !tls->certificate && certificate && X509_up_ref(certificate))
        tls->certificate = certificate;
    return good;
}

static int note_request(SSL *ssl, void *arg)
{
    struct rl_tls *tls = arg;

    tls->asked = true;
    tls->identified = SSL_get_certificate(ssl) != NULL;
    return 1;
}

/* The result says that the reference is ours from now on. */
static int keep_session(SSL *ssl, SSL_SESSION *session)
{
    struct rl_tls *tls = SSL_get_app_data(ssl);

    SSL_SESSION_free(tls->session);
    tls->session = session;
    return 1;
}

static void forget_session(struct rl_tls *tls)
{
    SSL_SESSION_free(tls->session);
    tls->session = NULL;
}

static enum rl_io fail(struct rl_stream *stream, const char *words)
{
    struct rl_tls *tls = stream->tls;
    char text[WHY_MAX - 8];

    snprintf(text, sizeof text, "%s", words);
    snprintf(tls->why, sizeof tls->why, "TLS: %s", text);
    stream->why = tls->why;
    stream->error = 0;
    return RL_IO_ERROR;
}

static enum rl_io fail_by_system(struct rl_stream *stream, int error)
{
    stream->why = NULL;
    stream->error = error;
    return RL_IO_ERROR;
}

/* Files that cannot be used may be the reason. */
static void append_trouble(struct rl_tls *tls)
{
    const char *trouble = rl_tls_context_current(tls->context).trouble;
    size_t used = strlen(tls->why);

    if (trouble[0])
        snprintf(tls->why + used, sizeof tls->why - used, "; not read again: %s", trouble);
}

static enum rl_io fail_by_tls(struct rl_stream *stream)
{
    struct rl_tls *tls = stream->tls;
    const struct rl_tls_evidence evidence = {.ssl = tls->ssl,
                                             .certificate = tls->certificate,
                                             .name = tls->name,
                                             .open = tls->open,
                                             .no_tls = tls->socket.no_tls,
                                             .asked = tls->asked,
                                             .identified = tls->identified};
    char words[WHY_MAX - 8];

    rl_tls_words(&evidence, words, sizeof words);
    forget_session(tls);
    if (!tls->open && !tls->socket.no_tls)
        rl_tls_context_read_again(tls->context);
    fail(stream, words);
    append_trouble(tls);
    return RL_IO_ERROR;
}

/* Says what became of a call of OpenSSL that returned `result`. */
static enum rl_io outcome(struct rl_stream *stream, int result, bool reads)
{
    struct rl_tls *tls = stream->tls;

    switch (SSL_get_error(tls->ssl, result)) {
    case SSL_ERROR_WANT_READ:
        if (tls->socket.read_error)
            return fail_by_system(stream, tls->socket.read_error);
        if (tls->socket.ended)
            return RL_IO_END;
        return reads ? RL_IO_AGAIN : RL_IO_CROSSED;
    case SSL_ERROR_WANT_WRITE:
        if (tls->socket.write_error)
            return fail_by_system(stream, tls->socket.write_error);
        return reads ? RL_IO_CROSSED : RL_IO_AGAIN;
    case SSL_ERROR_ZERO_RETURN:
        return RL_IO_END;
    default:
        return fail_by_tls(stream);
    }
}

static void begin_call(struct rl_tls *tls)
{
    rl_tls_socket_begin_call(&tls->socket);
    ERR_clear_error();
}

/* --- Handshake ------------------------------------------------------------------------------------------------- */

static bool is_address(const char *name)
{
    unsigned char bytes[sizeof(struct in6_addr)];

    return inet_pton(AF_INET, name, bytes) == 1 || inet_pton(AF_INET6, name, bytes) == 1;
}

/* An address is looked for among the certificate's addresses, and is no name that could be indicated (SNI). */
static bool set_name(SSL *ssl, const char *name)
{
    if (is_address(name))
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) == 1;
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(ssl, name) == 1 &&
           SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, (void *)(uintptr_t)name) == 1;
}

/* A certificate that has expired since is not accepted for the sake of an old session. */
static bool is_fresh(const SSL_SESSION *session)
{
    X509 *certificate = SSL_SESSION_get0_peer((SSL_SESSION *)(uintptr_t)session);

    return certificate && rl_tls_is_before_end(certificate);
}

static bool set_up(struct rl_stream *stream, const struct rl_tls_current *current)
{
    struct rl_tls *tls = stream->tls;
    BIO *bio = rl_tls_socket_open(&tls->socket, stream->fd);

    if (tls->session && (tls->generation != current->generation || !is_fresh(tls->session)))
        forget_session(tls);
    tls->generation = current->generation;
    tls->ssl = bio ? SSL_new(current->ssl) : NULL;
    if (!tls->ssl) {
        BIO_free(bio);
        return false;
    }
    SSL_set_bio(tls->ssl, bio, bio);
    if (SSL_set_app_data(tls->ssl, tls) != 1)
        return false;
    SSL_set_cert_cb(tls->ssl, note_request, tls);
    if (rl_tls_context_options(tls->context)->verifies)
        SSL_set_verify(tls->ssl, SSL_VERIFY_PEER, keep_certificate);
    SSL_set_connect_state(tls->ssl);
    if (tls->session && SSL_set_session(tls->ssl, tls->session) != 1)
        forget_session(tls);
    return set_name(tls->ssl, tls->name);
}

static void name_server(struct rl_tls *tls, const char *host)
{
    const char *name = rl_tls_context_options(tls->context)->server_name;
    size_t length;

    snprintf(tls->name, sizeof tls->name, "%s", name ? name : host);
    tls->name[strcspn(tls->name, "%")] = '\0'; /* an IPv6 address's zone */
    length = strlen(tls->name);
    if (length && tls->name[length - 1] == '.')
        tls->name[length - 1] = '\0';
}

static struct rl_tls *make_state(struct rl_tls_context *context, const char *host)
{
    struct rl_tls *tls = calloc(1, sizeof *tls);

    if (!tls)
        return NULL;
    tls->context = context;
    name_server(tls, host);
    return tls;
}

static bool begin(struct rl_stream *stream)
{
    struct rl_tls_current current;
    struct rl_tls *tls = stream->tls;

    tls->open = tls->asked = tls->identified = false;
    tls->result = RL_IO_OK;
    current = rl_tls_context_current(tls->context);
    if (rl_tls_context_options(tls->context)->resumes)
        SSL_CTX_sess_set_new_cb(current.ssl, keep_session);
    return set_up(stream, &current);
}

/* The server's bytes may have come with the end of its handshake. */
static enum rl_io is_secure(struct rl_stream *stream)
{
    stream->why = NULL;
    stream->tls->open = true;
    stream->more = SSL_has_pending(stream->tls->ssl);
    return RL_IO_OK;
}

static enum rl_io shake_hands(struct rl_stream *stream)
{
    struct rl_tls *tls = stream->tls;
    enum rl_io result;
    bool heard;
    int done;

    ERR_clear_error();
    if (!tls->ssl && !begin(stream))
        return fail_by_system(stream, ENOMEM);
    begin_call(tls);
    done = SSL_do_handshake(tls->ssl);
    if (done == 1)
        return is_secure(stream);
    result = outcome(stream, done, false);
    heard = tls->socket.heard;
    if (tls->socket.no_tls)
        return fail(stream, "not TLS: the server speaks another protocol at this port");
    if (result == RL_IO_END)
        return fail(stream, heard ? "the server hung up during the handshake"
                                  : "the server hung up during the handshake: it may speak no TLS at this port");
    if (result != RL_IO_ERROR)
        stream->why = heard ? NULL : "not a byte has come back, so the server may speak no TLS at this port";
    return result;
}

static enum rl_io tls_handshake(struct rl_stream *stream)
{
    enum rl_io result;

    if (!stream->tls)
        return fail_by_system(stream, ENOMEM);
    if (!rl_tls_enter())
        return fail(stream, RL_TLS_GONE);
    result = shake_hands(stream);
    rl_tls_leave();
    return result;
}

/* --- Traffic --------------------------------------------------------------------------------------------------- */

static enum rl_io read_records(struct rl_stream *stream, void *buffer, size_t size, size_t *ret_size)
{
    struct rl_tls *tls = stream->tls;
    enum rl_io result = tls->result;
    size_t filled = 0;
    size_t n = 0;

    begin_call(tls);
    while (result == RL_IO_OK && filled < size) {
        int done = SSL_read_ex(tls->ssl, (char *)buffer + filled, size - filled, &n);

        if (done == 1)
            filled += n;
        else
            result = outcome(stream, done, true);
        if (done == 1 && tls->socket.drained && !tls->socket.ended && !SSL_has_pending(tls->ssl))
            result = RL_IO_AGAIN;
    }
    tls->result = result == RL_IO_END || result == RL_IO_ERROR ? result : RL_IO_OK;
    stream->more =
        tls->result != RL_IO_OK || result == RL_IO_CROSSED || (result == RL_IO_OK && SSL_has_pending(tls->ssl));
    if (!filled)
        return result;
    *ret_size = filled;
    return RL_IO_OK;
}

static enum rl_io tls_read(struct rl_stream *stream, void *buffer, size_t size, size_t *ret_size)
{
    enum rl_io result;

    if (!rl_tls_enter())
        return fail(stream, RL_TLS_GONE);
    result = read_records(stream, buffer, size, ret_size);
    rl_tls_leave();
    return result;
}

/* A server that has refused the client says why before it closes the connection. With TLS 1.3 that may be after the
 * handshake, so that a write fails while the reason waits to be read. */
static enum rl_io fail_to_write(struct rl_stream *stream, int error)
{
    struct rl_tls *tls = stream->tls;
    char byte;
    size_t n = 0;
    int done;

    begin_call(tls);
    done = SSL_peek_ex(tls->ssl, &byte, 1, &n);
    if (done == 1 || outcome(stream, done, true) != RL_IO_ERROR || !stream->why)
        return fail_by_system(stream, error);
    tls->result = RL_IO_ERROR;
    return RL_IO_ERROR;
}

/* One record after the other. */
static enum rl_io write_records(struct rl_stream *stream, const void *data, size_t size, size_t *ret_size)
{
    struct rl_tls *tls = stream->tls;
    enum rl_io result = RL_IO_OK;
    size_t written = 0;
    size_t n = 0;

    begin_call(tls);
    while (result == RL_IO_OK && written < size) {
        int done = SSL_write_ex(tls->ssl, (const char *)data + written, size - written, &n);

        if (done == 1)
            written += n;
        else
            result = outcome(stream, done, false);
    }
    if (!written && tls->socket.write_error)
        return fail_to_write(stream, tls->socket.write_error);
    if (!written)
        return result == RL_IO_END ? fail_by_system(stream, ECONNRESET) : result;
    *ret_size = written;
    return RL_IO_OK;
}

static enum rl_io tls_write(struct rl_stream *stream, const void *data, size_t size, size_t *ret_size)
{
    enum rl_io result;

    if (!rl_tls_enter())
        return fail(stream, RL_TLS_GONE);
    result = write_records(stream, data, size, ret_size);
    rl_tls_leave();
    return result;
}

/* --- The end --------------------------------------------------------------------------------------------------- */

/* OpenSSL takes a connection that ends without a word for an attack, and its session for spoilt; a lock client resets
 * connections all the time. In a forked child nothing is written: the connection is the parent's. */
static void end_session(struct rl_tls *tls, enum rl_close how)
{
    ERR_clear_error();
    if (how == RL_CLOSE_ORDERLY && tls->result != RL_IO_ERROR)
        SSL_shutdown(tls->ssl);
    SSL_set_shutdown(tls->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(tls->ssl);
    X509_free(tls->certificate);
    tls->ssl = NULL;
    tls->certificate = NULL;
    ERR_clear_error();
}

static void tls_close(struct rl_stream *stream, enum rl_close how)
{
    if (stream->tls && stream->tls->ssl && rl_tls_enter()) {
        end_session(stream->tls, how);
        rl_tls_leave();
    }
    rl_stream_close_socket(stream, how);
    stream->more = false;
    stream->why = NULL;
}

static void tls_fini(struct rl_stream *stream)
{
    struct rl_tls *tls = stream->tls;

    stream->tls = NULL;
    if (!tls)
        return;
    if (!rl_tls_enter()) {
        rl_tls_keep(&tls->remains);
        return;
    }
    forget_session(tls);
    rl_tls_socket_fini(&tls->socket);
    rl_tls_leave();
    free(tls);
}

static const struct rl_stream_type type = {
    .handshake = tls_handshake,
    .read = tls_read,
    .write = tls_write,
    .close = tls_close,
    .fini = tls_fini,
};

/* Without memory every handshake fails. */
void rl_stream_tls_init(struct rl_stream *stream, struct rl_tls_context *context, const char *host)
{
    stream->type = &type;
    stream->tls = make_state(context, host);
}

void rl_stream_tls_rename(struct rl_stream *stream, const char *host)
{
    if (!stream->tls)
        return;
    forget_session(stream->tls);
    name_server(stream->tls, host);
}
