/* In place of tls.c and the other files tls_*.c where the library is built without OpenSSL. */
#include <stdio.h>

#include <redlock/status.h>

#include "stream/tls.h"
#include "stream/tls_context.h"

int rl_tls_context_create(const struct rl_tls_options *options, char *why, size_t size,
                          struct rl_tls_context **ret_context)
{
    snprintf(why, size, "this libredlock was built without TLS: it has no rediss://");
    return REDLOCK_E_TLS;
}

void rl_tls_context_destroy(struct rl_tls_context *context)
{
}

/* There is no context, so no client has such a stream. */
void rl_stream_tls_init(struct rl_stream *stream, struct rl_tls_context *context, const char *host)
{
}

void rl_stream_tls_rename(struct rl_stream *stream, const char *host)
{
}
