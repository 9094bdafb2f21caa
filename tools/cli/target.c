#include "cli/target.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "options/tls.h"

enum { DEFAULT_PORT = 6379 };

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
}

/* A copy with %XX decoded; NULL: out of memory. */
static char *decode(const char *text, size_t length)
{
    char *copy = malloc(length + 1);
    size_t n = 0;

    if (copy == NULL)
        return NULL;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '%' && i + 2 < length) {
            copy[n++] = (char)(hex(text[i + 1]) << 4 | hex(text[i + 2]));
            i += 2;
        } else {
            copy[n++] = text[i];
        }
    }
    copy[n] = '\0';
    return copy;
}

/* "user:password@" in front of the rest: the user may be missing, and ":@" is no credentials. */
static bool credentials(struct target *target, const char **text)
{
    const char *begin = *text;
    const char *at = memrchr(begin, '@', strcspn(begin, "/"));
    const char *colon;
    const char *end;

    if (at == NULL)
        return true;
    *text = at + 1;
    if (strncmp(begin, ":@", 2) == 0)
        return true;
    colon = memchr(begin, ':', (size_t)(at - begin));
    end = colon != NULL ? colon : at;
    if (end > begin)
        target->user = decode(begin, (size_t)(end - begin));
    if (colon != NULL)
        target->password = decode(colon + 1, (size_t)(at - colon - 1));
    return (colon == NULL || target->password != NULL) && (end == begin || target->user != NULL);
}

static bool socket_path(struct target *target, const char *text)
{
    const char *query = strchr(text, '?');

    target->path = decode(text, query != NULL ? (size_t)(query - text) : strlen(text));
    if (query != NULL && strncmp(query, "?db=", 4) == 0)
        target->db = strdup(query + 4);
    return target->path != NULL && (query == NULL || target->db != NULL);
}

static bool host_and_port(struct target *target, const char *text)
{
    bool bracketed = *text == '[';
    size_t length = bracketed ? strcspn(text + 1, "]") : strcspn(text, ":/");
    const char *rest = text + length + (bracketed ? 2 : 0);

    target->host = decode(text + (bracketed ? 1 : 0), length);
    target->port = *rest == ':' ? atoi(rest + 1) : DEFAULT_PORT;
    rest = strchr(rest, '/');
    if (rest != NULL && rest[1] != '\0')
        target->db = strdup(rest + 1);
    return target->host != NULL && (rest == NULL || rest[1] == '\0' || target->db != NULL);
}

bool target_authenticate(struct target *target, const struct cli_password *password)
{
    const char *text = password != NULL ? cli_password_text(password) : NULL;

    if (target->password != NULL || text == NULL)
        return true;
    target->password = strdup(text);
    if (target->user == NULL && password->user != NULL) {
        target->user = strdup(password->user);
        return target->password != NULL && target->user != NULL;
    }
    return target->password != NULL;
}

bool target_parse(const char *url, struct target *ret_target)
{
    const char *text = strstr(url, "://");
    bool is_socket = text != NULL ? strncasecmp(url, "unix", 4) == 0 : *url == '/';

    *ret_target = (struct target){.tls = cli_url_has_tls(url)};
    text = text != NULL ? text + 3 : url;
    if (!credentials(ret_target, &text))
        return false;
    return is_socket ? socket_path(ret_target, text) : host_and_port(ret_target, text);
}

void target_fini(struct target *target)
{
    free(target->host);
    free(target->path);
    free(target->user);
    if (target->password != NULL)
        explicit_bzero(target->password, strlen(target->password));
    free(target->password);
    free(target->db);
    *target = (struct target){0};
}
