/* --allow USER:PREFIX: this user may use the keys that begin so. Where nothing is said everybody may use all. */
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"

/* The user in front of the first colon: a name, a number, or *. */
static bool user_is(const char *rule, const struct identity *who)
{
    size_t length = strcspn(rule, ":");
    char number[24];

    snprintf(number, sizeof number, "%lu", (unsigned long)who->uid);
    return (length == 1 && *rule == '*') || (length == strlen(number) && strncmp(rule, number, length) == 0) ||
           (length == strlen(who->user) && strncmp(rule, who->user, length) == 0);
}

bool rights_cover(const struct cli_texts *allowed, const struct identity *who, const char *key)
{
    for (size_t i = 0; i < allowed->n; i++) {
        const char *prefix = strchr(allowed->items[i], ':') + 1;

        if (user_is(allowed->items[i], who) && strncmp(key, prefix, strlen(prefix)) == 0)
            return true;
    }
    return allowed->n == 0;
}

static bool user_exists(const char *rule)
{
    size_t length = strcspn(rule, ":");
    char name[AGENT_USER_SIZE];

    if (length == 0 || length >= sizeof name)
        return false;
    memcpy(name, rule, length);
    name[length] = '\0';
    return strcmp(name, "*") == 0 || strspn(name, "0123456789") == length || getpwnam(name);
}

bool rights_check(const struct cli_texts *allowed)
{
    for (size_t i = 0; i < allowed->n; i++) {
        const char *rule = allowed->items[i];

        if (!strchr(rule, ':')) {
            cli_error("agent", "--allow takes USER:PREFIX, such as 'www-data:web/', not '%s'", rule);
            return false;
        }
        if (!user_exists(rule)) {
            cli_error("agent", "--allow %s: there is no such user: a name, a number, or * for all", rule);
            return false;
        }
    }
    return true;
}

bool peer_may_use(struct peer *peer, int64_t id, const char *key)
{
    char safe[80];
    char why[240];

    if (rights_cover(&peer->agent->options->allowed, &peer->identity, key))
        return true;
    snprintf(why, sizeof why, "the user %s may not use the key '%s' (--allow of the agent)", peer->identity.user,
             shown(key, safe, sizeof safe));
    answer_refused(peer, id, REQUEST_FORBIDDEN, why);
    return false;
}
