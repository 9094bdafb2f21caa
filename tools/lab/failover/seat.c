/* What the parts of a client process have in common. */
#include <stdarg.h>

#include "client.h"
#include "lab/load/message.h"

void fo_seat_fail(struct fo_seat *seat, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    load_fail(seat->control, seat->shared->errors[seat->client], FO_ERROR_SIZE, format, args);
    va_end(args);
}

/* A master's silence is noticed early, and a silent connection given up soon: an outage is to be short. */
void fo_client_options(const struct fo_options *options, const struct cli_tls *tls, const char *prefix,
                       struct redlock_options *ret_options)
{
    redlock_options_init(ret_options);
    cli_tls_apply(tls, ret_options);
    ret_options->client_name = "redlock-lab-failover";
    ret_options->key_prefix = prefix;
    ret_options->max_ttl_ms = options->max_ttl_ms;
    ret_options->node_timeout_ms = 200;
    ret_options->connect_timeout_ms = 500;
    ret_options->stall_timeout_ms = 1000;
}
