/* In place of wire_tls.c where the tool is built without OpenSSL: the library refuses rediss:// URLs before. */
#include <stdio.h>

#include "cli/wire.h"
#include "cli/wire_tls.h"

struct wire_tls *wire_tls_create(const struct cli_tls *options)
{
    return NULL;
}

void wire_tls_destroy(struct wire_tls *tls)
{
}

struct ssl_st *wire_tls_open(struct wire_tls *tls, int fd, const char *host, char *why, size_t size)
{
    snprintf(why, size, "built without TLS");
    return NULL;
}

void wire_tls_close(struct ssl_st *ssl)
{
}

bool wire_tls_write(struct ssl_st *ssl, const char *bytes, size_t n, char *why, size_t size)
{
    return false;
}

bool wire_tls_read(struct ssl_st *ssl, char *buffer, size_t room, size_t *ret_n, char *why, size_t size)
{
    return false;
}
