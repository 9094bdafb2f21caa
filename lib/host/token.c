#include "host/token.h"

#include <stdlib.h>
#include <string.h>

#include "host/host.h"

_Static_assert(RL_TOKEN_SIZE <= REDLOCK_MAX_TOKEN_BYTES + 1, "a token of our own is a token");

/* The token is longer than one of our own then. */
static bool add_label(struct rl_host_claim *part, const char *label)
{
    size_t token_size = strlen(part->token.own.text);
    size_t label_size = strlen(label);
    char *text = malloc(token_size + 1 + label_size + 1);

    if (!text)
        return false;
    memcpy(text, part->token.own.text, token_size);
    text[token_size] = ':';
    memcpy(text + token_size + 1, label, label_size + 1);
    part->token.other.empty = '\0';
    part->token.other.text = text;
    return true;
}

bool rl_host_token_set(struct rl_host *host, struct rl_host_claim *part, const char *token)
{
    if (token && strlen(token) >= sizeof part->token.own.text) {
        part->token.other.empty = '\0';
        part->token.other.text = strdup(token);
        return part->token.other.text != NULL;
    }
    if (token) {
        memcpy(part->token.own.text, token, strlen(token) + 1);
        return true;
    }
    host->environment.make_token(host->environment.ctx, host->now, part->token.own.text);
    return !host->options->label || !*host->options->label || add_label(part, host->options->label);
}

void rl_host_token_drop(struct rl_host_claim *part)
{
    if (!part->token.other.empty)
        free(part->token.other.text);
}
