#include "cli/wire_tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/wire.h"

struct wire_tls {
    const struct cli_tls *options; /* the caller's */
    SSL_CTX *context;
};

/* OpenSSL would ask for it on the terminal. */
static int no_password(char *buffer, int size, int writing, void *ctx)
{
    return -1;
}

static bool set_trust(SSL_CTX *context, const struct cli_tls *options)
{
    if (options->insecure_skip_verify)
        return true;
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    if (options->ca == NULL && options->ca_dir == NULL)
        return SSL_CTX_set_default_verify_paths(context) == 1;
    return (options->ca == NULL || SSL_CTX_load_verify_file(context, options->ca) == 1) &&
           (options->ca_dir == NULL || SSL_CTX_load_verify_dir(context, options->ca_dir) == 1);
}

static bool set_identity(SSL_CTX *context, const struct cli_tls *options)
{
    SSL_CTX_set_default_passwd_cb(context, no_password);
    return (options->cert == NULL || SSL_CTX_use_certificate_chain_file(context, options->cert) == 1) &&
           (options->key == NULL || SSL_CTX_use_PrivateKey_file(context, options->key, SSL_FILETYPE_PEM) == 1);
}

static bool set_up(SSL_CTX *context, const struct cli_tls *options)
{
    struct redlock_options wanted;

    redlock_options_init(&wanted);
    cli_tls_apply(options, &wanted);
    return SSL_CTX_set_min_proto_version(
               context, wanted.tls_min_version == REDLOCK_TLS_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION) == 1 &&
           (options->ciphers == NULL || SSL_CTX_set_cipher_list(context, options->ciphers) == 1) &&
           (options->ciphersuites == NULL || SSL_CTX_set_ciphersuites(context, options->ciphersuites) == 1) &&
           set_trust(context, options) && set_identity(context, options);
}

struct wire_tls *wire_tls_create(const struct cli_tls *options)
{
    struct wire_tls *tls = malloc(sizeof(*tls));

    if (tls == NULL)
        return NULL;
    *tls = (struct wire_tls){options, SSL_CTX_new(TLS_client_method())};
    if (tls->context != NULL && set_up(tls->context, options))
        return tls;
    ERR_clear_error();
    wire_tls_destroy(tls);
    return NULL;
}

void wire_tls_destroy(struct wire_tls *tls)
{
    if (tls == NULL)
        return;
    SSL_CTX_free(tls->context);
    free(tls);
}

/* Why a call has failed; errors of other threads are not in the queue. */
static bool explain(SSL *ssl, int result, char *why, size_t size)
{
    int kind = SSL_get_error(ssl, result);
    long verdict = SSL_get_verify_result(ssl);
    unsigned long error = ERR_peek_error();
    const char *reason = error != 0 ? ERR_reason_error_string(error) : NULL;

    if (kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE)
        snprintf(why, size, "no answer in time");
    else if (ERR_GET_LIB(error) == ERR_LIB_SSL && ERR_GET_REASON(error) == SSL_R_CERTIFICATE_VERIFY_FAILED &&
             verdict != X509_V_OK)
        snprintf(why, size, "the server's certificate: %s", X509_verify_cert_error_string(verdict));
    else if (reason != NULL)
        snprintf(why, size, "TLS: %s", reason);
    else
        snprintf(why, size, "Server closed the connection");
    ERR_clear_error();
    return false;
}

static bool expect_name(SSL *ssl, const char *name)
{
    if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) == 1)
        return true;
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(ssl, name) == 1 &&
           SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, (void *)(uintptr_t)name) == 1;
}

struct ssl_st *wire_tls_open(struct wire_tls *tls, int fd, const char *host, char *why, size_t size)
{
    SSL *ssl = tls != NULL ? SSL_new(tls->context) : NULL;
    const char *name = tls != NULL && tls->options->server_name != NULL ? tls->options->server_name : host;
    int result;

    if (ssl == NULL || !expect_name(ssl, name) || SSL_set_fd(ssl, fd) != 1) {
        snprintf(why, size, "TLS cannot be set up");
        ERR_clear_error();
        SSL_free(ssl);
        return NULL;
    }
    result = SSL_connect(ssl);
    if (result == 1)
        return ssl;
    explain(ssl, result, why, size);
    SSL_free(ssl);
    return NULL;
}

void wire_tls_close(struct ssl_st *ssl)
{
    if (ssl != NULL && SSL_is_init_finished(ssl))
        SSL_shutdown(ssl);
    SSL_free(ssl);
    ERR_clear_error();
}

bool wire_tls_write(struct ssl_st *ssl, const char *bytes, size_t n, char *why, size_t size)
{
    int result = SSL_write(ssl, bytes, (int)n);

    return result > 0 || explain(ssl, result, why, size);
}

bool wire_tls_read(struct ssl_st *ssl, char *buffer, size_t room, size_t *ret_n, char *why, size_t size)
{
    int result = SSL_read(ssl, buffer, (int)room);

    *ret_n = result > 0 ? (size_t)result : 0;
    return result > 0 || explain(ssl, result, why, size);
}
