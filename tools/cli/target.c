#include "cli/target.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/vfs.h>
#include <unistd.h>

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

    if (!copy)
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

    if (!at)
        return true;
    *text = at + 1;
    if (strncmp(begin, ":@", 2) == 0)
        return true;
    colon = memchr(begin, ':', (size_t)(at - begin));
    end = colon ? colon : at;
    if (end > begin)
        target->user = decode(begin, (size_t)(end - begin));
    if (colon)
        target->password = decode(colon + 1, (size_t)(at - colon - 1));
    return (!colon || target->password) && (end == begin || target->user);
}

static bool socket_path(struct target *target, const char *text)
{
    const char *query = strchr(text, '?');

    target->path = decode(text, query ? (size_t)(query - text) : strlen(text));
    if (query && strncmp(query, "?db=", 4) == 0)
        target->db = strdup(query + 4);
    return target->path && (!query || target->db);
}

static bool host_and_port(struct target *target, const char *text)
{
    bool bracketed = *text == '[';
    size_t length = bracketed ? strcspn(text + 1, "]") : strcspn(text, ":/");
    const char *rest = text + length + (bracketed ? 2 : 0);

    target->host = decode(text + (bracketed ? 1 : 0), length);
    target->port = *rest == ':' ? atoi(rest + 1) : DEFAULT_PORT;
    rest = strchr(rest, '/');
    if (rest && rest[1] != '\0')
        target->db = strdup(rest + 1);
    return target->host && (!rest || rest[1] == '\0' || target->db);
}

bool target_authenticate(struct target *target, const struct cli_password *password)
{
    const char *text = password ? cli_password_text(password) : NULL;

    if (target->password || !text)
        return true;
    target->password = strdup(text);
    if (!target->user && password->user) {
        target->user = strdup(password->user);
        return target->password && target->user;
    }
    return target->password != NULL;
}

bool target_parse(const char *url, struct target *ret_target)
{
    const char *text = strstr(url, "://");
    bool is_socket = text ? strncasecmp(url, "unix", 4) == 0 : *url == '/';

    *ret_target = (struct target){.tls = cli_url_has_tls(url)};
    text = text ? text + 3 : url;
    if (!credentials(ret_target, &text))
        return false;
    return is_socket ? socket_path(ret_target, text) : host_and_port(ret_target, text);
}

void target_fini(struct target *target)
{
    free(target->host);
    free(target->path);
    free(target->user);
    if (target->password)
        explicit_bzero(target->password, strlen(target->password));
    free(target->password);
    free(target->db);
    *target = (struct target){0};
}

char *target_url_like(const char *like, const char *name)
{
    const char *host = strstr(like, "://") + strlen("://");
    const char *rest = strchr(host, '/');
    const char *at = rest ? memrchr(host, '@', (size_t)(rest - host)) : strrchr(host, '@');
    char *url;

    if (strstr(name, "://") || strchr(name, '@') || *name == '/' || strncmp(like, "unix:", strlen("unix:")) == 0)
        return strdup(name);
    if (at)
        host = at + 1;
    return asprintf(&url, "%.*s%s%s", (int)(host - like), like, name, rest && !strchr(name, '/') ? rest : "") < 0 ? NULL
                                                                                                            : url;
}

/* --- What a file name that the user gave stands for --------------------------------------------------------------- */

enum { MOST_LINKS = 40, NAME_DIGITS = 9 };

/* The length of the directory's part of a path, with its last slash; 0: the working directory. */
static size_t directory_length(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? (size_t)(slash - path) + 1 : 0;
}

static const char *directory_of(const char *path, char *buffer)
{
    size_t length = directory_length(path);

    if (length == 0)
        return ".";
    memcpy(buffer, path, length);
    buffer[length] = '\0';
    return buffer;
}

/* A link in /proc leads to an open file, whatever its text says. */
static bool is_in_proc(const char *path)
{
    char directory[PATH_MAX];
    struct statfs seen;

    return statfs(directory_of(path, directory), &seen) == 0 && seen.f_type == PROC_SUPER_MAGIC;
}

/* The number of a descriptor of this process, by its name in /proc; -1: it is none. */
static int own_descriptor(const char *path)
{
    const char *name = path + directory_length(path);
    char directory[PATH_MAX];
    char real[PATH_MAX];
    char own[32];

    snprintf(own, sizeof own, "/proc/%d/fd", (int)getpid());
    if (*name == '\0' || strlen(name) > NAME_DIGITS || strspn(name, "0123456789") != strlen(name))
        return -1;
    if (!realpath(directory_of(path, directory), real) || strcmp(real, own) != 0)
        return -1;
    return atoi(name);
}

/* Replaces the name of a link by what the link says. */
static bool follow(char *path)
{
    char text[PATH_MAX];
    ssize_t length = readlink(path, text, sizeof text - 1);
    size_t keep;

    if (length < 0)
        return false;
    text[length] = '\0';
    keep = text[0] == '/' ? 0 : directory_length(path);
    if (keep + (size_t)length >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(path + keep, text, (size_t)length + 1);
    return true;
}

static bool found_descriptor(struct file_target *target, int fd)
{
    target->kind = FILE_DESCRIPTOR;
    target->fd = fd;
    target->exists = true;
    return fstat(fd, &target->seen) == 0;
}

static bool found_in_proc(struct file_target *target)
{
    int fd = own_descriptor(target->path);

    if (fd >= 0)
        return found_descriptor(target, fd);
    target->kind = FILE_STREAM;
    target->exists = true;
    return stat(target->path, &target->seen) == 0;
}

static bool found_file(struct file_target *target)
{
    mode_t mode = target->seen.st_mode;

    target->exists = true;
    target->kind = S_ISREG(mode) ? FILE_REGULAR : S_ISSOCK(mode) ? FILE_SOCKET : FILE_STREAM;
    if (S_ISDIR(mode))
        errno = EISDIR;
    return !S_ISDIR(mode);
}

/* A name that ends with a slash can only be a directory's. */
static bool found_nothing(struct file_target *target)
{
    size_t length = strlen(target->path);

    if (errno == ENOENT && length > 0 && target->path[length - 1] == '/')
        errno = EISDIR;
    target->kind = FILE_REGULAR;
    return errno == ENOENT && length > 0;
}

bool file_target_find(const char *name, int standard, struct file_target *ret_target)
{
    *ret_target = (struct file_target){.fd = -1};
    if (strcmp(name, "-") == 0)
        return found_descriptor(ret_target, standard);
    if ((size_t)snprintf(ret_target->path, PATH_MAX, "%s", name) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    for (int links = 0; links < MOST_LINKS; links++) {
        if (lstat(ret_target->path, &ret_target->seen) != 0)
            return found_nothing(ret_target);
        if (is_in_proc(ret_target->path))
            return found_in_proc(ret_target);
        if (!S_ISLNK(ret_target->seen.st_mode))
            return found_file(ret_target);
        if (!follow(ret_target->path))
            return false;
    }
    errno = ELOOP;
    return false;
}
