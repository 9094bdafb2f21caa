/* A URL is parsed into a master piece by piece. Each parsing function returns NULL, or why it cannot go on: a static
 * sentence, so that no part of a password can get into an error text. */
#include "codec/url.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include <redlock/status.h>

#define DEFAULT_PORT 6379
#define HOST_MAX 253
#define PATH_MAX_BYTES (sizeof(((struct sockaddr_un *)0)->sun_path) - 1)

static const char out_of_memory[] = "out of memory";

/* The text between two pointers. */
struct span {
    const char *begin;
    const char *end;
};

static size_t length(struct span span)
{
    return (size_t)(span.end - span.begin);
}

static const char *find(struct span span, char wanted)
{
    return length(span) ? memchr(span.begin, wanted, length(span)) : NULL;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same_folded(const char *a, const char *b)
{
    while (*a && lower(*a) == lower(*b)) {
        a++;
        b++;
    }
    return lower(*a) == lower(*b);
}

/* The scheme in any case, as RFC 3986 has it; NULL if it is another one, otherwise what follows it. */
static const char *after_scheme(const char *url, const char *scheme)
{
    for (; *scheme; scheme++, url++) {
        if (lower(*url) != *scheme)
            return NULL;
    }
    return url;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A copy with %XX decoded. */
static const char *decode(struct span span, char **ret_text)
{
    char *text = malloc(length(span) + 1);
    char *out = text;
    const char *why = NULL;

    if (!text)
        return out_of_memory;
    for (const char *in = span.begin; in < span.end && !why; in++) {
        int value = (unsigned char)*in;

        if (*in == '%') {
            bool pair = span.end - in > 2 && hex_value(in[1]) >= 0 && hex_value(in[2]) >= 0;

            value = pair ? hex_value(in[1]) * 16 + hex_value(in[2]) : 0;
            why = !pair ? "a % is not followed by two hexadecimal digits" : value ? NULL : "%00 is not allowed";
            in += 2;
        }
        *out++ = (char)value;
    }
    if (why) {
        explicit_bzero(text, length(span) + 1);
        free(text);
        return why;
    }
    *out = '\0';
    *ret_text = text;
    return NULL;
}

/* Decimal digits only, no sign, no space; false above limit. */
static bool parse_number(struct span span, uint32_t limit, uint32_t *ret_number)
{
    uint64_t number = 0;

    if (!length(span))
        return false;
    for (const char *in = span.begin; in < span.end; in++) {
        if (*in < '0' || *in > '9')
            return false;
        number = number * 10 + (uint64_t)(*in - '0');
        if (number > limit)
            return false;
    }
    *ret_number = (uint32_t)number;
    return true;
}

/* [user]:password. Both empty is what a template with nothing filled in gives: no credentials. */
static const char *parse_credentials(struct span span, struct rl_master *master)
{
    const char *colon = find(span, ':');
    const char *why;

    if (!colon)
        return "credentials must be written as user:password@ or :password@";
    if (find(span, '@'))
        return "an @ in a user name or password must be written as %40";
    if (length(span) == 1)
        return NULL;
    if (colon > span.begin) {
        why = decode((struct span){span.begin, colon}, &master->user);
        if (why)
            return why;
    }
    return decode((struct span){colon + 1, span.end}, &master->password);
}

/* Takes "credentials@" off the front of *authority. The last @ counts: parse_credentials() refuses others. */
static const char *take_credentials(struct span *authority, struct rl_master *master)
{
    const char *at = length(*authority) ? memrchr(authority->begin, '@', length(*authority)) : NULL;
    struct span credentials = {authority->begin, at};

    if (!at)
        return NULL;
    authority->begin = at + 1;
    return parse_credentials(credentials, master);
}

static bool is_host_char(char c)
{
    char l = lower(c);

    return (l >= 'a' && l <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}

static const char *parse_name_or_ipv4(struct span span, struct rl_master *master)
{
    if (!length(span))
        return "the host is missing";
    if (length(span) > HOST_MAX)
        return "the host is too long";
    for (const char *in = span.begin; in < span.end; in++) {
        if (!is_host_char(*in))
            return "the host has a character that host names do not have";
    }
    return decode(span, &master->host);
}

/* What is between the brackets: an address, and perhaps a zone behind %25 (RFC 6874). */
static const char *parse_ipv6(struct span span, struct rl_master *master)
{
    static const char wrong[] = "the text in brackets is not an IPv6 address";
    char address[INET6_ADDRSTRLEN] = "";
    struct in6_addr unused;
    const char *zone = find(span, '%');
    size_t size = (size_t)((zone ? zone : span.end) - span.begin);

    if (size >= sizeof(address) || length(span) > HOST_MAX)
        return wrong;
    if (zone && (span.end - zone < 4 || memcmp(zone, "%25", 3) != 0))
        return "the zone of an IPv6 address must be written as %25zone";
    memcpy(address, span.begin, size);
    if (inet_pton(AF_INET6, address, &unused) != 1)
        return wrong;
    return decode(span, &master->host);
}

static const char *parse_port(struct span span, struct rl_master *master)
{
    uint32_t port = 0;

    if (!parse_number(span, UINT16_MAX, &port) || port == 0)
        return "the port must be a number from 1 to 65535";
    master->port = (uint16_t)port;
    return NULL;
}

static const char *parse_host_and_port(struct span span, struct rl_master *master)
{
    bool bracketed = length(span) && *span.begin == '[';
    const char *end = find(span, bracketed ? ']' : ':');
    const char *why;

    if (bracketed && !end)
        return "the bracket around the IPv6 address is not closed";
    if (!end)
        end = span.end;
    why = bracketed ? parse_ipv6((struct span){span.begin + 1, end}, master)
                    : parse_name_or_ipv4((struct span){span.begin, end}, master);
    if (why)
        return why;
    end += bracketed;
    master->port = DEFAULT_PORT;
    if (end == span.end)
        return NULL;
    if (*end != ':')
        return "only :port may follow the bracket";
    return parse_port((struct span){end + 1, span.end}, master);
}

static const char *parse_db(struct span span, struct rl_master *master)
{
    return parse_number(span, INT32_MAX, &master->db) ? NULL : "the database must be a number from 0 to 2147483647";
}

static const char *parse_tcp(struct span rest, struct rl_master *master)
{
    const char *slash = find(rest, '/');
    struct span authority = {rest.begin, slash ? slash : rest.end};
    const char *why;

    if (find(rest, '?') || find(rest, '#'))
        return "a redis:// URL has no ? and no #; in a password write %3F and %23";
    why = take_credentials(&authority, master);
    if (!why)
        why = parse_host_and_port(authority, master);
    if (why || !slash || slash + 1 == rest.end)
        return why;
    return parse_db((struct span){slash + 1, rest.end}, master);
}

static const char *parse_query(struct span query, struct rl_master *master)
{
    if (length(query) < 3 || memcmp(query.begin, "db=", 3) != 0)
        return "the only parameter of a unix:// URL is ?db=number";
    return parse_db((struct span){query.begin + 3, query.end}, master);
}

static const char *parse_path(struct span path, struct rl_master *master)
{
    const char *why;

    if (find(path, '#'))
        return "in a socket path # must be written as %23";
    if (length(path) < 2)
        return "the socket path is missing";
    why = decode(path, &master->path);
    if (why)
        return why;
    return strlen(master->path) > PATH_MAX_BYTES ? "the socket path is too long for a unix socket" : NULL;
}

static const char *parse_unix(struct span rest, struct rl_master *master)
{
    const char *slash = find(rest, '/');
    const char *question = find(rest, '?');
    struct span authority = {rest.begin, slash};
    const char *why;

    if (!slash || (question && question < slash))
        return "the socket path must begin with /";
    why = take_credentials(&authority, master);
    if (!why && length(authority))
        why = "a unix:// URL has no host: write unix:///path, or unix://user:password@/path";
    if (!why)
        why = parse_path((struct span){slash, question ? question : rest.end}, master);
    if (why || !question)
        return why;
    return parse_query((struct span){question + 1, rest.end}, master);
}

static const char *make_name(struct rl_master *master)
{
    size_t room;
    bool is_ipv6;

    if (master->path) {
        master->name = strdup(master->path);
        return master->name ? NULL : out_of_memory;
    }
    room = strlen(master->host) + sizeof("[]:65535");
    is_ipv6 = strchr(master->host, ':');
    master->name = malloc(room);
    if (!master->name)
        return out_of_memory;
    snprintf(master->name, room, is_ipv6 ? "[%s]:%u" : "%s:%u", master->host, (unsigned)master->port);
    return NULL;
}

static const char *parse(const char *url, struct rl_master *master)
{
    const char *end = url + strlen(url);
    const char *rest;
    const char *why;

    if (after_scheme(url, "rediss://"))
        return "TLS (rediss://) is not supported yet";
    if ((rest = after_scheme(url, "redis://")))
        why = parse_tcp((struct span){rest, end}, master);
    else if ((rest = after_scheme(url, "unix://")))
        why = parse_unix((struct span){rest, end}, master);
    else
        return "the URL must begin with redis:// or unix://";
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
    return why == out_of_memory ? REDLOCK_E_NOMEM : REDLOCK_E_URL;
}

void rl_master_fini(struct rl_master *master)
{
    if (master->password)
        explicit_bzero(master->password, strlen(master->password));
    free(master->host);
    free(master->path);
    free(master->user);
    free(master->password);
    free(master->name);
    *master = (struct rl_master){0};
}

bool rl_master_same(const struct rl_master *a, const struct rl_master *b)
{
    if (a->path || b->path)
        return a->path && b->path && strcmp(a->path, b->path) == 0;
    return a->port == b->port && same_folded(a->host, b->host);
}

static bool is_known_scheme(const char *url)
{
    return after_scheme(url, "redis://") || after_scheme(url, "rediss://") || after_scheme(url, "unix://");
}

/* Of a URL that parses, everything up to the last @ is masked, even where that is part of a path: it may be there by
 * mistake. In one that does not parse a password may be anywhere: only a known scheme is shown. */
void rl_url_mask(const char *url, char *buffer, size_t size)
{
    const char *rest = is_known_scheme(url) ? strstr(url, "://") + 3 : url;
    struct rl_master master;
    const char *why;
    const char *at;

    if (rl_master_parse(url, &master, &why) != REDLOCK_OK) {
        snprintf(buffer, size, "%.*s***", (int)(rest - url), url);
        return;
    }
    rl_master_fini(&master);
    at = strrchr(rest, '@');
    snprintf(buffer, size, "%.*s%s%s", (int)(rest - url), url, at ? "***" : "", at ? at : rest);
}
