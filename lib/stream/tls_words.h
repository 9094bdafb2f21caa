/* OpenSSL's errors in words. */
#ifndef RL_STREAM_TLS_WORDS_H
#define RL_STREAM_TLS_WORDS_H

#include <stdbool.h>
#include <stddef.h>

struct ssl_st;
struct x509_st;

/* What the peer and we have shown when an operation failed. */
struct rl_tls_evidence {
    struct ssl_st *ssl;
    struct x509_st *certificate; /* the server's, if it was found wanting */
    const char *name;     /* the server name that is wanted */
    bool open;            /* the handshake had been completed */
    bool no_tls;          /* the server's first bytes were none of TLS */
    bool asked;           /* the server has asked for a client certificate ... */
    bool identified;      /* ... and there is one */
};

/* Its end is still to come. */
bool rl_tls_is_before_end(const struct x509_st *certificate);

/* A sentence about the first error of OpenSSL's queue, which is emptied. */
void rl_tls_words_queue(char *ret_text, size_t size);

/* The same for an operation on a connection, with what was wrong with the server's certificate. */
void rl_tls_words(const struct rl_tls_evidence *evidence, char *ret_text, size_t size);

#endif
