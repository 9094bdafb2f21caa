#include "options/masters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/message.h"
#include "options/secrets.h"

enum { MOST_PASSWORD = 1024, MASKED_SIZE = 256 };

/* --- The list ----------------------------------------------------------------------------------------------------- */

/* A bare host:port or path is what people type; the library wants a URL. */
static const char *scheme_for(const char *text, const char **ret_rest)
{
    *ret_rest = text;
    if (strstr(text, "://") != NULL)
        return "";
    if (strncmp(text, "unix:", 5) == 0)
        *ret_rest = text + 5;
    return *text == '/' || *ret_rest != text ? "unix://" : "redis://";
}

bool cli_add_master(const char *command, struct cli_masters *masters, const char *text)
{
    const char *rest;
    const char *scheme = scheme_for(text, &rest);
    char *url;

    if (masters->count == REDLOCK_MAX_MASTERS) {
        cli_error(command, "more than %d masters", REDLOCK_MAX_MASTERS);
        return false;
    }
    if (asprintf(&url, "%s%s", scheme, rest) < 0) {
        cli_error(command, "out of memory");
        return false;
    }
    masters->urls[masters->count] = url;
    masters->owned[masters->count++] = url;
    return true;
}

bool cli_add_list(const char *command, struct cli_masters *masters, const char *where, const char *list)
{
    char *copy = strdup(list);
    char *rest = copy;
    char masked[MASKED_SIZE];
    bool ok = copy != NULL;

    while (ok && rest != NULL) {
        const char *item = strsep(&rest, ",");

        if (*item == '\0') {
            cli_error(command, "%s: empty item in the list of masters '%s'", where,
                      cli_masked(list, masked, sizeof(masked)));
            ok = false;
        } else {
            ok = cli_add_master(command, masters, item);
        }
    }
    free(copy);
    return ok;
}

static bool cannot_read(const char *command, const char *path)
{
    cli_error(command, "cannot read '%s': %s", path, strerror(errno));
    return false;
}

bool cli_add_file(const char *command, struct cli_masters *masters, const char *path)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t size = 0;
    bool ok = true;

    if (file == NULL)
        return cannot_read(command, path);
    while (ok && getline(&line, &size, file) >= 0) {
        char *rest = line;

        line[strcspn(line, "#\r\n")] = '\0';
        for (char *word; ok && (word = strsep(&rest, ", \t")) != NULL;)
            ok = *word == '\0' || cli_add_master(command, masters, word);
    }
    if (line != NULL)
        explicit_bzero(line, size);
    free(line);
    fclose(file);
    return ok;
}

/* --- Their password ----------------------------------------------------------------------------------------------- */

/* The first line of the file. */
static bool read_password(const char *command, const char *path, char *ret_password, size_t size)
{
    FILE *file = fopen(path, "re");
    bool ok = file != NULL;

    if (!ok)
        return cannot_read(command, path);
    setvbuf(file, NULL, _IONBF, 0);
    if (fgets(ret_password, (int)size, file) == NULL)
        ret_password[0] = '\0';
    ok = !ferror(file);
    fclose(file);
    ret_password[strcspn(ret_password, "\r\n")] = '\0';
    return ok || cannot_read(command, path);
}

static void encode(const char *password, char *ret_text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";

    for (; *password != '\0'; password++)
        if (strchr(plain, *password) != NULL)
            *ret_text++ = *password;
        else
            ret_text += sprintf(ret_text, "%%%02X", (unsigned)(unsigned char)*password);
    *ret_text = '\0';
}

/* "scheme://" + "[user]" + ":password@" + the rest; a URL with a password of its own stays as it is. */
static bool insert(char **url, const char *encoded)
{
    const char *start = strstr(*url, "://");
    size_t authority;
    const char *at;
    char *longer;

    if (start == NULL)
        return true;
    start += 3;
    authority = strcspn(start, "/");
    at = memrchr(start, '@', authority);
    if (at != NULL && memchr(start, ':', (size_t)(at - start)) != NULL)
        return true;
    if (asprintf(&longer, "%.*s%.*s:%s@%s", (int)(start - *url), *url, at != NULL ? (int)(at - start) : 0, start,
                 encoded, at != NULL ? at + 1 : start) < 0)
        return false;
    free(*url);
    *url = longer;
    return true;
}

static bool apply_password(const char *command, struct cli_masters *masters)
{
    char password[MOST_PASSWORD] = "";
    char encoded[MOST_PASSWORD * 3] = "";
    const char *given = getenv("REDLOCK_PASSWORD");
    bool ok = true;

    if (masters->password_file != NULL)
        ok = read_password(command, masters->password_file, password, sizeof(password));
    else if (given != NULL)
        snprintf(password, sizeof(password), "%s", given);
    encode(password, encoded);
    for (size_t i = 0; ok && encoded[0] != '\0' && i < masters->count; i++) {
        ok = insert(&masters->owned[i], encoded);
        masters->urls[i] = masters->owned[i];
        if (!ok)
            cli_error(command, "out of memory");
    }
    explicit_bzero(password, sizeof(password));
    explicit_bzero(encoded, sizeof(encoded));
    return ok;
}

/* --- What a command needs ----------------------------------------------------------------------------------------- */

bool cli_masters_from_environment(const char *command, struct cli_masters *masters)
{
    const char *list = getenv("REDLOCK_NODES");

    if (masters->count > 0 || list == NULL || *list == '\0')
        return true;
    return cli_add_list(command, masters, "REDLOCK_NODES", list);
}

bool cli_need_masters(const char *command, struct cli_masters *masters)
{
    if (!cli_masters_from_environment(command, masters))
        return false;
    if (masters->count == 0)
        cli_error(command, "no masters given: use --node, --nodes, --nodes-file or REDLOCK_NODES");
    return masters->count > 0 && apply_password(command, masters) &&
           cli_tls_complete(command, &masters->tls, masters->urls, masters->count);
}

void cli_masters_fini(struct cli_masters *masters)
{
    for (size_t i = 0; i < masters->count; i++)
        free(masters->owned[i]);
    masters->count = 0;
}
