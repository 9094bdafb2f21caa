/* A view has names, and no secrets. A new member is reached as the masters are that the client is configured with: by
 * the user and password of its own URL if it is one of these, else by those that all of them have, with TLS if they
 * have it. Whoever may write markers could lead a client elsewhere, and so its password: so that is sent to a name of
 * the list that the client is configured with, to a certificate that is verified, or where `may_follow` allows it. */
#include "api/members.h"

#include <stdlib.h>
#include <string.h>

#include <redlock/status.h>

#include "api/deployment_id.h"
#include "api/handle.h"
#include "codec/text.h"
#include "codec/url.h"
#include "util/bytes.h"

const struct rl_master *rl_client_known_master(const struct redlock_client *client, size_t i)
{
    return i < client->n_configured ? rl_driver_first_master(client->driver, (unsigned)i)
                                    : &client->coming[i - client->n_configured];
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

const struct rl_member_list *rl_client_configured(struct redlock_client *client)
{
    struct rl_member_list *list = client->list;

    if (list)
        return list;
    client->list = list = calloc(1, sizeof *list);
    if (!list)
        return NULL;
    list->quorum = (uint8_t)client->options.quorum;
    for (unsigned i = 0; i < client->n_configured; i++)
        rl_deployment_add_member(list, rl_client_known_master(client, i));
    rl_deployment_name_list(client->options.key_prefix, list);
    return list;
}

/* NULL: none of the first n has its address. */
static const struct rl_master *find_known(const struct redlock_client *client, size_t n, const struct rl_master *wanted)
{
    for (size_t i = 0; i < n; i++) {
        if (rl_master_same(rl_client_known_master(client, i), wanted))
            return rl_client_known_master(client, i);
    }
    return NULL;
}

/* The user, password and TLS that all have in common; NULL: they differ. */
static const struct rl_master *find_common(const struct redlock_client *client)
{
    const struct rl_master *first = rl_client_known_master(client, 0);

    for (size_t i = 1; i < client->n_configured; i++) {
        const struct rl_master *other = rl_client_known_master(client, i);

        if (other->tls != first->tls || !same_text(other->user, first->user) ||
            !same_text(other->password, first->password))
            return NULL;
    }
    return first;
}

const char *rl_client_why_not_like(const struct redlock_client *client, const struct rl_master *coming)
{
    const struct rl_master *like = find_common(client);
    struct rl_member_list alone = {0};

    rl_deployment_add_member(&alone, coming);
    if (!rl_view_is_name(rl_slice_of(alone.members[0].name)))
        return "its path has characters that a list which is told to the masters cannot have";
    if (find_known(client, client->n_configured, coming))
        return NULL;
    if (!like)
        return "the masters differ in user, password or TLS, so that clients do not know how to reach a new one";
    if (like->tls != coming->tls)
        return like->tls ? "it has no TLS, and the others have: clients would not reach it"
                         : "it has TLS, and the others have none: clients would not reach it";
    if (!same_text(like->user, coming->user) || !same_text(like->password, coming->password))
        return "its user or password is not that of the others, by which clients reach it";
    return NULL;
}

/* Does the text match the pattern [begin, end), in which * stands for any characters? */
static bool matches(const char *begin, const char *end, const char *text)
{
    if (begin == end)
        return !*text;
    if (*begin == '*')
        return matches(begin + 1, end, text) || (*text && matches(begin, end, text + 1));
    return *text && rl_text_lower(*begin) == rl_text_lower(*text) && matches(begin + 1, end, text + 1);
}

static bool is_allowed(const struct redlock_client *client, const char *name)
{
    const char *at = client->may_follow;

    while (at && *at) {
        const char *comma = strchr(at, ',');
        const char *end = comma ? comma : at + strlen(at);

        if (matches(at, end, name))
            return true;
        at = comma ? comma + 1 : end;
    }
    return false;
}

static const char *why_not(const struct redlock_client *client, const struct rl_master *master,
                           const struct rl_master *like)
{
    if (!like)
        return "its user, password and TLS are not known: the masters that this client is configured with differ in "
               "theirs; add it to the configuration";
    if ((like->password || client->options.on_credentials) && !is_allowed(client, master->name) &&
        !(like->tls && master->host && !client->options.tls_insecure_skip_verify))
        return "this client does not send a password to a name that its configuration does not list: list it, or name "
               "it in may_follow (--may-follow)";
    return NULL;
}

/* A user or password that stands in the name itself means nothing. */
static bool copy_secrets(const struct rl_master *like, struct rl_master *master)
{
    free(master->user);
    rl_secret_destroy(master->password);
    master->tls = like->tls;
    master->user = like->user ? strdup(like->user) : NULL;
    master->password = like->password ? rl_secret_copy(like->password) : NULL;
    return (!like->user || master->user) && (!like->password || master->password);
}

int rl_client_place_of(struct rl_host *host, const char *name)
{
    const struct redlock_client *client = rl_client_of_host(host);
    struct rl_member_list list = {0};

    for (unsigned i = 0; i < host->engine.votes.config.n_nodes; i++)
        rl_deployment_add_member(&list, rl_driver_master(client->driver, i));
    return rl_list_find_name(&list, name);
}

/* Without the memory for it, or where a password must not be sent to that name, the client keeps to the name that it
 * knows. */
void rl_client_name_member(struct rl_host *host, unsigned node, const char *name)
{
    struct redlock_client *client = rl_client_of_host(host);
    const struct rl_master *like = rl_driver_master(client->driver, node);
    struct rl_member_list present = {0};
    struct rl_master master = {0};
    const char *why;
    char *url = rl_deployment_url(name);

    rl_deployment_add_member(&present, like);
    if (url && strcmp(present.members[0].name, name) != 0 && rl_master_parse(url, &master, &why) == 0 &&
        copy_secrets(like, &master) &&
        (find_known(client, client->n_configured + client->n_coming, &master) || !why_not(client, &master, like)))
        rl_driver_rename(client->driver, node, &master);
    free(url);
    rl_master_fini(&master);
}

bool rl_client_new_member(struct rl_host *host, unsigned node, const char *name, const char **ret_why_not)
{
    struct redlock_client *client = rl_client_of_host(host);
    struct rl_master master = {0};
    const struct rl_master *like;
    char *url = rl_deployment_url(name);
    bool done;

    *ret_why_not = NULL;
    done = url && rl_master_parse(url, &master, ret_why_not) == 0;
    free(url);
    if (!done)
        return false;
    like = find_known(client, client->n_configured + client->n_coming, &master);
    if (!like) {
        like = find_common(client);
        *ret_why_not = why_not(client, &master, like);
    }
    done = *ret_why_not || copy_secrets(like, &master);
    done = done && rl_driver_add(client->driver, node, &master, *ret_why_not) == 0;
    rl_master_fini(&master);
    return done;
}
