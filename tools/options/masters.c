#include "options/masters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/message.h"
#include "options/password_command.h"
#include "options/secrets.h"

enum { MASKED_SIZE = 256 };

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
    if (copy != NULL)
        explicit_bzero(copy, strlen(list));
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
    char buffer[4096];
    char *line = NULL;
    size_t size = 0;
    bool ok = true;

    if (file == NULL)
        return cannot_read(command, path);
    setvbuf(file, buffer, _IOFBF, sizeof(buffer));
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
    explicit_bzero(buffer, sizeof(buffer));
    return ok;
}

/* --- Their password ----------------------------------------------------------------------------------------------- */

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

/* A URL that holds a password is not left behind. */
static void drop_url(char *url)
{
    if (url != NULL)
        explicit_bzero(url, strlen(url));
    free(url);
}

/* "scheme://" + "[user]" + ":password@" + the rest. The user is encoded, like the password. */
static bool insert(char **url, const char *user, const char *password)
{
    const char *start = strstr(*url, "://");
    const char *at;
    char *longer;

    if (start == NULL)
        return true;
    start += 3;
    at = memrchr(start, '@', strcspn(start, "/"));
    if (asprintf(&longer, "%.*s%.*s%s:%s@%s", (int)(start - *url), *url, at != NULL ? (int)(at - start) : 0, start,
                 at != NULL ? "" : user, password, at != NULL ? at + 1 : start) < 0)
        return false;
    drop_url(*url);
    *url = longer;
    return true;
}

static bool put_password(const char *command, struct cli_masters *masters)
{
    const char *password = cli_password_text(&masters->password);
    const char *user = masters->password.user;
    char encoded[REDLOCK_MAX_PASSWORD_BYTES * 3 + 1] = "";
    char encoded_user[REDLOCK_MAX_USER_BYTES * 3 + 1] = "";
    bool ok = true;

    encode(password != NULL ? password : "", encoded);
    encode(user != NULL ? user : "", encoded_user);
    for (size_t i = 0; ok && encoded[0] != '\0' && i < masters->count; i++) {
        ok = !cli_password_is_for(masters->owned[i]) || insert(&masters->owned[i], encoded_user, encoded);
        masters->urls[i] = masters->owned[i];
        if (!ok)
            cli_error(command, "out of memory");
    }
    explicit_bzero(encoded, sizeof(encoded));
    return ok;
}

bool cli_settle_password(const char *command, struct cli_masters *masters)
{
    char why[CLI_PASSWORD_WHY_SIZE];

    if (!cli_password_complete(command, &masters->password))
        return false;
    if (masters->password.command != NULL && !password_command_wait(&masters->password, why)) {
        cli_error(command, "%s", why);
        return false;
    }
    return put_password(command, masters);
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
    return masters->count > 0 && cli_password_complete(command, &masters->password) &&
           (cli_password_changes(&masters->password) || put_password(command, masters)) &&
           cli_tls_complete(command, &masters->tls, masters->urls, masters->count);
}

void cli_masters_fini(struct cli_masters *masters)
{
    for (size_t i = 0; i < masters->count; i++)
        drop_url(masters->owned[i]);
    masters->count = 0;
    cli_password_fini(&masters->password);
}
