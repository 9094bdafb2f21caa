/* A URL is parsed into a master piece by piece. Each parsing function returns NULL, or why it cannot go on: a static
 * sentence, so that no part of a password can get into an error text. */
#include "codec/url.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include <redlock/status.h>

#include "codec/text.h"
#include "util/bytes.h"

#define DEFAULT_PORT 6379
#define HOST_MAX 253
#define PATH_MAX_BYTES (sizeof(((struct sockaddr_un *)0)->sun_path) - 1)

static bool same_folded(const char *a, const char *b)
{
    while (*a && rl_text_lower(*a) == rl_text_lower(*b)) {
        a++;
        b++;
    }
    return rl_text_lower(*a) == rl_text_lower(*b);
}

/* The scheme in any case, as RFC 3986 has it; NULL if it is another one, otherwise what follows it. */
static const char *after_scheme(const char *url, const char *scheme)
{
    for (; *scheme; scheme++, url++) {
        if (rl_text_lower(*url) != *scheme)
            return NULL;
    }
    return url;
}

/* [user]:password, or a user alone, for whom the program has the password. Both empty is what a template with nothing
 * filled in gives: no credentials. */
static const char *parse_credentials(struct rl_text span, struct rl_master *master)
{
    const char *colon = rl_text_find(span, ':');
    const char *end = colon ? colon : span.end;
    const char *why = NULL;

    if (rl_text_find(span, '@'))
        return "an @ in a user name or password must be written as %40";
    if (!rl_text_length(span))
        return "in front of the @ there must be user:password, :password or a user";
    if (colon && rl_text_length(span) == 1)
        return NULL;
    if (end > span.begin)
        why = rl_text_decode((struct rl_text){span.begin, end}, &master->user);
    if (why || !colon)
        return why;
    return rl_text_decode_secret((struct rl_text){colon + 1, span.end}, &master->password);
}

/* Takes "credentials@" off the front of *authority. The last @ counts: parse_credentials() refuses others. */
static const char *take_credentials(struct rl_text *authority, struct rl_master *master)
{
    const char *at = rl_text_length(*authority) ? memrchr(authority->begin, '@', rl_text_length(*authority)) : NULL;
    struct rl_text credentials = {authority->begin, at};

    if (!at)
        return NULL;
    authority->begin = at + 1;
    return parse_credentials(credentials, master);
}

static bool is_host_char(char c)
{
    char l = rl_text_lower(c);

    return (l >= 'a' && l <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}

static const char *parse_name_or_ipv4(struct rl_text span, struct rl_master *master)
{
    if (!rl_text_length(span))
        return "the host is missing";
    if (rl_text_length(span) > HOST_MAX)
        return "the host is too long";
    for (const char *in = span.begin; in < span.end; in++) {
        if (!is_host_char(*in))
            return "the host has a character that host names do not have";
    }
    return rl_text_decode(span, &master->host);
}

/* The brackets hold an address, and perhaps a zone behind %25 (RFC 6874). */
static const char *parse_ipv6(struct rl_text span, struct rl_master *master)
{
    static const char wrong[] = "the text in brackets is not an IPv6 address";
    char address[INET6_ADDRSTRLEN] = "";
    struct in6_addr unused;
    const char *zone = rl_text_find(span, '%');
    size_t size = (size_t)((zone ? zone : span.end) - span.begin);

    if (size >= sizeof address || rl_text_length(span) > HOST_MAX)
        return wrong;
    if (zone && (span.end - zone < 4 || memcmp(zone, "%25", 3) != 0))
        return "the zone of an IPv6 address must be written as %25zone";
    memcpy(address, span.begin, size);
    if (inet_pton(AF_INET6, address, &unused) != 1)
        return wrong;
    return rl_text_decode(span, &master->host);
}

static const char *parse_port(struct rl_text span, struct rl_master *master)
{
    uint32_t port = 0;

    if (!rl_text_number(span, UINT16_MAX, &port) || port == 0)
        return "the port must be a number from 1 to 65535";
    master->port = (uint16_t)port;
    return NULL;
}

static const char *parse_host_and_port(struct rl_text span, struct rl_master *master)
{
    bool bracketed = rl_text_length(span) && *span.begin == '[';
    const char *end = rl_text_find(span, bracketed ? ']' : ':');
    const char *why;

    if (bracketed && !end)
        return "the bracket around the IPv6 address is not closed";
    if (!end)
        end = span.end;
    why = bracketed ? parse_ipv6((struct rl_text){span.begin + 1, end}, master)
                    : parse_name_or_ipv4((struct rl_text){span.begin, end}, master);
    if (why)
        return why;
    end += bracketed;
    master->port = DEFAULT_PORT;
    if (end == span.end)
        return NULL;
    if (*end != ':')
        return "only :port may follow the bracket";
    return parse_port((struct rl_text){end + 1, span.end}, master);
}

static const char *parse_db(struct rl_text span, struct rl_master *master)
{
    return rl_text_number(span, INT32_MAX, &master->db) ? NULL : "the database must be a number from 0 to 2147483647";
}

static const char *parse_tcp(struct rl_text rest, struct rl_master *master)
{
    const char *slash = rl_text_find(rest, '/');
    struct rl_text authority = {rest.begin, slash ? slash : rest.end};
    const char *why;

    if (rl_text_find(rest, '?') || rl_text_find(rest, '#'))
        return "a redis:// URL has no ? and no #; in a password write %3F and %23";
    why = take_credentials(&authority, master);
    if (!why)
        why = parse_host_and_port(authority, master);
    if (why || !slash || slash + 1 == rest.end)
        return why;
    return parse_db((struct rl_text){slash + 1, rest.end}, master);
}

static const char *parse_query(struct rl_text query, struct rl_master *master)
{
    if (rl_text_length(query) < 3 || memcmp(query.begin, "db=", 3) != 0)
        return "the only parameter of a unix:// URL is ?db=number";
    return parse_db((struct rl_text){query.begin + 3, query.end}, master);
}

static const char *parse_path(struct rl_text path, struct rl_master *master)
{
    const char *why;

    if (rl_text_find(path, '#'))
        return "in a socket path # must be written as %23";
    if (rl_text_length(path) < 2)
        return "the socket path is missing";
    why = rl_text_decode(path, &master->path);
    if (why)
        return why;
    return strlen(master->path) > PATH_MAX_BYTES ? "the socket path is too long for a unix socket" : NULL;
}

static const char *parse_unix(struct rl_text rest, struct rl_master *master)
{
    const char *slash = rl_text_find(rest, '/');
    const char *question = rl_text_find(rest, '?');
    struct rl_text authority = {rest.begin, slash};
    const char *why;

    if (!slash || (question && question < slash))
        return "the socket path must begin with /";
    why = take_credentials(&authority, master);
    if (!why && rl_text_length(authority))
        why = "a unix:// URL has no host: write unix:///path, or unix://user:password@/path";
    if (!why)
        why = parse_path((struct rl_text){slash, question ? question : rest.end}, master);
    if (why || !question)
        return why;
    return parse_query((struct rl_text){question + 1, rest.end}, master);
}

static const char *parse_simulated(struct rl_text number, struct rl_master *master)
{
    uint32_t value;

    if (!rl_text_number(number, UINT16_MAX, &value) || value == 0)
        return "behind simulated:// there must be a master's number: 1, 2 and so on";
    master->simulated = true;
    return rl_text_decode(number, &master->host);
}

static const char *make_name(struct rl_master *master)
{
    size_t room;
    bool is_ipv6;

    if (master->simulated)
        return asprintf(&master->name, "simulated-%s", master->host) < 0 ? rl_text_no_memory : NULL;
    if (master->path) {
        master->name = strdup(master->path);
        return master->name ? NULL : rl_text_no_memory;
    }
    room = strlen(master->host) + sizeof "[]:65535";
    is_ipv6 = strchr(master->host, ':');
    master->name = malloc(room);
    if (!master->name)
        return rl_text_no_memory;
    snprintf(master->name, room, is_ipv6 ? "[%s]:%u" : "%s:%u", master->host, (unsigned)master->port);
    return NULL;
}

/* Where a text without a scheme begins with a slash it is the path of a socket, otherwise what follows redis://. */
static const char *parse_place(struct rl_text text, struct rl_master *master)
{
    if (memmem(text.begin, rl_text_length(text), "://", 3))
        return "the URL must begin with redis://, rediss:// or unix://";
    return *text.begin == '/' ? parse_unix(text, master) : parse_tcp(text, master);
}

static const char *parse(const char *url, struct rl_master *master)
{
    const char *end = url + strlen(url);
    const char *rest;
    const char *why;

    master->tls = after_scheme(url, "rediss://");
    if ((rest = after_scheme(url, master->tls ? "rediss://" : "redis://")))
        why = parse_tcp((struct rl_text){rest, end}, master);
    else if ((rest = after_scheme(url, "unix://")))
        why = parse_unix((struct rl_text){rest, end}, master);
    else if ((rest = after_scheme(url, "simulated://")))
        why = parse_simulated((struct rl_text){rest, end}, master);
    else
        why = parse_place((struct rl_text){url, end}, master);
    return why ? why : make_name(master);
}

int rl_master_parse(const char *url, struct rl_master *ret_master, const char **ret_why)
{
    struct rl_master master = {0};
    const char *why = parse(url, &master);

    if (!why) {
        *ret_master = master;
        return REDLOCK_OK;
    }
    rl_master_fini(&master);
    *ret_why = why;
    return why == rl_text_no_memory ? REDLOCK_E_NOMEM : REDLOCK_E_URL;
}

void rl_master_fini(struct rl_master *master)
{
    free(master->host);
    free(master->path);
    free(master->user);
    rl_secret_destroy(master->password);
    free(master->name);
    *master = (struct rl_master){0};
}

bool rl_master_same(const struct rl_master *a, const struct rl_master *b)
{
    if (a->path || b->path)
        return a->path && b->path && strcmp(a->path, b->path) == 0;
    return a->simulated == b->simulated && a->port == b->port && same_folded(a->host, b->host);
}

/* Where there is no @: the end of what can be no password. One is behind a colon without a port, or in a parameter
 * that no URL has. */
static const char *find_suspicious(const char *rest)
{
    const char *colon = strchr(*rest == '[' ? rest + strcspn(rest, "]") : rest, ':');
    const char *behind = colon ? colon + 1 + strspn(colon + 1, "0123456789") : "";
    const char *query = rest + strcspn(rest, "?#");

    if (*behind && !strchr("/ \t\r\n", *behind) && *rest != '/' && colon < query)
        return colon + 1;
    return strncmp(query, "?db=", 4) == 0 ? rest + strlen(rest) : query;
}

/* Everything up to the last @ is masked, even where that is part of a path: it may be there by mistake. */
void rl_url_mask(const char *url, char *buffer, size_t size)
{
    const char *scheme = strstr(url, "://");
    const char *rest = scheme ? scheme + 3 : url;
    const char *at = strrchr(rest, '@');
    const char *shown = at ? rest : find_suspicious(rest);

    snprintf(buffer, size, "%.*s%s%s", (int)(shown - url), url, *shown ? "***" : "", at ? at : "");
}
