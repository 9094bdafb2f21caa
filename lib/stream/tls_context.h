/* What all TLS connections of a client have in common: trusted CAs, the client's certificate, versions and ciphers.
 * The files are read again when they have changed, so that certificates can be replaced without a restart. */
#ifndef RL_STREAM_TLS_CONTEXT_H
#define RL_STREAM_TLS_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>

struct rl_tls_context;
struct ssl_ctx_st;

/* See the members tls_* of struct redlock_options; NULL where there is none. All strings are copied. */
struct rl_tls_options {
    const char *ca_file;
    const char *ca_dir;
    const char *cert_file;
    const char *key_file;
    const char *server_name;
    const char *ciphers;
    const char *ciphersuites;
    bool only_1_3;
    bool verifies;
    bool resumes;
};

/* OpenSSL frees all that it has when the process ends, whatever other threads do in it meanwhile. So each call of it,
 * once there is a context, stands between these two. False: OpenSSL is gone, for good, and nothing that is its may be
 * touched. The same thread does not enter twice. */
#define RL_TLS_GONE "the process is ending: OpenSSL is gone"
bool rl_tls_enter(void);
void rl_tls_leave(void);

/* What refers to OpenSSL's memory and cannot be freed any more: it stays reachable, so that no tool takes it for a
 * leak. */
struct rl_tls_remains {
    struct rl_tls_remains *next;
};
void rl_tls_keep(struct rl_tls_remains *remains);

/* 0, REDLOCK_E_NOMEM, or REDLOCK_E_TLS with the reason in `why`: the library has no TLS, or a file cannot be used. */
int rl_tls_context_create(const struct rl_tls_options *options, char *why, size_t size,
                          struct rl_tls_context **ret_context);
void rl_tls_context_destroy(struct rl_tls_context *context); /* NULL is fine */

/* --- For a connection that is about to be opened. If files are to be read again and cannot be used, what was read
 * before stays in use, and `trouble` is why. */
struct rl_tls_current {
    struct ssl_ctx_st *ssl;
    unsigned generation; /* grows whenever files were read */
    const char *trouble; /* "" if there is none; valid until the next call */
};
struct rl_tls_current rl_tls_context_current(struct rl_tls_context *context);

/* A handshake has failed. The files are read again, though they have not changed, but not within a second: OpenSSL may
 * keep a certificate for good of which it could not decode everything, because there was no memory at that moment. */
void rl_tls_context_read_again(struct rl_tls_context *context);

const struct rl_tls_options *rl_tls_context_options(const struct rl_tls_context *context);

#endif
