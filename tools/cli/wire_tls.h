/* TLS on a socket that is open, blocking and has its time limits set. Each `why` is the reason of a failure. */
#ifndef CLI_WIRE_TLS_H
#define CLI_WIRE_TLS_H

#include <stdbool.h>
#include <stddef.h>

#include "options/tls.h"

struct ssl_st;
struct wire_tls;

/* One for any number of threads; wire_tls_close() for each connection, then wire_tls_destroy(), for both of which NULL
 * is fine. NULL: it cannot be had with these options, which redlock_client_create() refuses in words. */
struct wire_tls *wire_tls_create(const struct cli_tls *options);
void wire_tls_destroy(struct wire_tls *tls);

/* With a completed handshake, and a certificate that is for `host` or the name of the options. NULL: it failed. */
struct ssl_st *wire_tls_open(struct wire_tls *tls, int fd, const char *host, char *why, size_t size);
void wire_tls_close(struct ssl_st *ssl);

bool wire_tls_write(struct ssl_st *ssl, const char *bytes, size_t n, char *why, size_t size);
bool wire_tls_read(struct ssl_st *ssl, char *buffer, size_t room, size_t *ret_n, char *why, size_t size);

#endif
