#include "api/credentials.h"

#include <string.h>

#include "api/handle.h"

#define SMALLEST (offsetof(struct redlock_credentials, good_for_ms) + sizeof(uint32_t))

void redlock_credentials_init_size(struct redlock_credentials *credentials, size_t size)
{
    memset(credentials, 0, size);
    credentials->size = size;
}

static void ask(void *ctx, struct redlock_credentials_request *request, unsigned node, enum rl_credentials_need need)
{
    static const enum redlock_credentials_why whys[] = {
        [RL_CREDENTIALS_CONNECTING] = REDLOCK_CREDENTIALS_CONNECTING,
        [RL_CREDENTIALS_REFUSED] = REDLOCK_CREDENTIALS_REFUSED,
        [RL_CREDENTIALS_EXPIRING] = REDLOCK_CREDENTIALS_EXPIRING,
    };
    const struct redlock_client *client = ctx;
    const struct redlock_credentials_wanted wanted = {
        .node = node, .name = rl_driver_node_name(client->driver, node), .why = whys[need]};

    client->options.on_credentials(request, &wanted, client->options.credentials_data);
}

struct rl_credentials_source rl_client_credentials(struct redlock_client *client)
{
    return (struct rl_credentials_source){.ask = client->options.on_credentials ? ask : NULL, .ctx = client};
}

static bool is_too_long(const char *text, size_t most)
{
    return text && strnlen(text, most + 1) > most;
}

int redlock_credentials_answer(struct redlock_credentials_request *request,
                               const struct redlock_credentials *credentials)
{
    if (!request || !credentials)
        return REDLOCK_E_ARGUMENT;
    if (credentials->size < SMALLEST)
        return REDLOCK_E_OPTIONS_SIZE;
    if (rl_credentials_forked(request))
        return REDLOCK_E_FORKED;
    if (is_too_long(credentials->user, REDLOCK_MAX_USER_BYTES) ||
        is_too_long(credentials->password, REDLOCK_MAX_PASSWORD_BYTES) ||
        (credentials->user && !credentials->password))
        return REDLOCK_E_CREDENTIALS;
    return rl_credentials_answer(request, credentials->user, credentials->password, rl_ms(credentials->good_for_ms));
}

int redlock_credentials_fail(struct redlock_credentials_request *request, const char *why)
{
    if (!request)
        return REDLOCK_E_ARGUMENT;
    return rl_credentials_forked(request) ? REDLOCK_E_FORKED : rl_credentials_fail(request, why);
}

void redlock_credentials_keep(struct redlock_credentials_request *request)
{
    if (request)
        rl_credentials_ref(request);
}

void redlock_credentials_drop(struct redlock_credentials_request *request)
{
    if (request)
        rl_credentials_unref(request);
}
