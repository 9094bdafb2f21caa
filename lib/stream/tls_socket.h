/* The socket under a TLS connection, as OpenSSL sees it: a BIO. Of errors and of the end OpenSSL only learns that it
 * has to try again; what has happened is told here. */
#ifndef RL_STREAM_TLS_SOCKET_H
#define RL_STREAM_TLS_SOCKET_H

#include <stdbool.h>
#include <stddef.h>

struct bio_st;
struct bio_method_st;

/* All zero before the first connection. */
struct rl_tls_socket {
    struct bio_method_st *method; /* of all its BIOs */
    int fd;
    size_t input_left;            /* that may still be read by this call */
    bool drained;                 /* there was nothing left to read in this call */
    bool heard;                   /* the server has sent something ... */
    bool no_tls;                  /* ... that is not TLS */
    bool ended;                   /* the server has closed its side */
    int read_error;               /* errno; 0: none */
    int write_error;
};

/* For a connection that begins: its BIO, which the caller frees before the socket. NULL: no memory. */
struct bio_st *rl_tls_socket_open(struct rl_tls_socket *socket, int fd);
void rl_tls_socket_fini(struct rl_tls_socket *socket);

/* Before each call of OpenSSL that reads or writes. */
void rl_tls_socket_begin_call(struct rl_tls_socket *socket);

#endif
