#include "options/masters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "options/message.h"
#include "options/option.h"
#include "options/password.h"
#include "options/secrets.h"

enum {
    MASKED_SIZE = 256,
    MOST_FILE_BYTES = 1024 * 1024, /* of a file of masters: each may have a long password */
};

const char *const cli_setting_names[] = {[CLI_PREFIX] = "prefix", [CLI_QUORUM] = "quorum", [CLI_MAX_TTL] = "max-ttl"};

/* --- The list ----------------------------------------------------------------------------------------------------- */

/* A bare host:port or path is what people type; the library wants a URL. */
static const char *scheme_for(const char *text, const char **ret_rest)
{
    *ret_rest = text;
    if (strstr(text, "://"))
        return "";
    if (strncmp(text, "unix:", 5) == 0)
        *ret_rest = text + 5;
    return *text == '/' || *ret_rest != text ? "unix://" : "redis://";
}

/* A name with a slash that no number follows is no master: most likely it is the rest of a path. */
static bool is_rest_of_path(const char *text)
{
    const char *slash = strchr(text, '/');

    return slash && slash != text && !strstr(text, "://") && strncmp(text, "unix:", 5) != 0 &&
           !strchr(text, '@') && slash[1 + strspn(slash + 1, "0123456789")] != '\0';
}

bool cli_add_master(const char *command, struct cli_masters *masters, const char *text)
{
    const char *rest;
    const char *scheme = scheme_for(text, &rest);
    char *url;

    if (is_rest_of_path(text)) {
        cli_error(command, "'%s' is no master: a path begins with /, and a blank in one is written as %%20", text);
        return false;
    }
    if (masters->count == REDLOCK_MAX_MASTERS) {
        cli_error(command, "more than %d masters", REDLOCK_MAX_MASTERS);
        return false;
    }
    if (asprintf(&url, "%s%s", scheme, rest) < 0) {
        cli_error(command, "out of memory");
        return false;
    }
    masters->has_password[masters->count] = !cli_password_is_for(url);
    masters->urls[masters->count] = url;
    masters->owned[masters->count++] = url;
    return true;
}

/* What people and programs put between and around names. */
#define BLANKS " \t\r\n"

/* NAME=VALUE. False after a message; *ret_is_one says whether it is one at all. */
static bool add_setting(const char *command, struct cli_masters *masters, const char *word, bool *ret_is_one)
{
    *ret_is_one = false;
    for (size_t i = 0; i < CLI_SETTINGS; i++) {
        size_t length = strlen(cli_setting_names[i]);

        if (strncmp(word, cli_setting_names[i], length) != 0 || word[length] != '=')
            continue;
        *ret_is_one = true;
        if (masters->settings[i] && strcmp(masters->settings[i], word + length + 1) != 0) {
            cli_error(command, "the file of masters says %s twice: '%s' and '%s'", cli_setting_names[i],
                      masters->settings[i], word + length + 1);
            return false;
        }
        free(masters->settings[i]);
        masters->settings[i] = strdup(word + length + 1);
        if (!masters->settings[i])
            cli_error(command, "out of memory");
        return masters->settings[i] != NULL;
    }
    if (word[0] != '/' && strchr(word, '=') && !strchr(word, '@') && !strstr(word, "://")) {
        cli_error(command, "the file of masters says '%.*s=': that is none of prefix=, quorum= and max-ttl=",
                  (int)strcspn(word, "="), word);
        return false;
    }
    return true;
}

static bool add_word(const char *command, struct cli_masters *masters, const char *word)
{
    bool is_setting;

    return add_setting(command, masters, word, &is_setting) && (is_setting || cli_add_master(command, masters, word));
}

/* Is it the path of something that is there? */
static bool is_path_with_blank(const char *item)
{
    const char *begin = item + strspn(item, BLANKS);
    size_t length;
    struct stat unused;
    char *path;
    bool exists;

    begin += strncmp(begin, "unix:", 5) == 0 ? 5 : 0;
    length = strlen(begin);
    while (length > 0 && strchr(BLANKS, begin[length - 1]))
        length--;
    if (*begin != '/' || strcspn(begin, BLANKS) >= length)
        return false;
    path = strndup(begin, length);
    exists = path && lstat(path, &unused) == 0;
    free(path);
    return exists;
}

/* The masters between two commas, in a file settings as well; how many there are. */
static bool add_words(const char *command, struct cli_masters *masters, char *item, bool settings, size_t *ret_n)
{
    bool ok = true;

    *ret_n = 0;
    if (is_path_with_blank(item)) {
        cli_error(command, "'%s': write a blank in a path as %%20", item + strspn(item, BLANKS));
        return false;
    }
    for (char *word; ok && (word = strsep(&item, BLANKS));)
        if (*word != '\0') {
            ok = settings ? add_word(command, masters, word) : cli_add_master(command, masters, word);
            ++*ret_n;
        }
    return ok;
}

bool cli_add_list(const char *command, struct cli_masters *masters, const char *where, const char *list)
{
    char *copy = strdup(cli_behind_mark(list));
    char *rest = copy;
    char masked[MASKED_SIZE];
    bool ok = copy != NULL;

    while (ok && rest) {
        char *item = strsep(&rest, ",");
        bool ends = !rest && strpbrk(item, "\r\n"); /* each line may end with a comma */
        size_t n;

        ok = add_words(command, masters, item, false, &n);
        if (ok && n == 0 && !ends) {
            cli_error(command, "%s: empty item in the list of masters '%s'", where,
                      cli_masked(list, masked, sizeof masked));
            ok = false;
        }
    }
    if (copy)
        explicit_bzero(copy, strlen(cli_behind_mark(list)));
    free(copy);
    return ok;
}

static bool cannot_read(const char *command, const char *path)
{
    cli_error(command, "cannot read '%s': %s", path, strerror(errno));
    return false;
}

/* The text gets a terminating 0. False after a message. */
static bool read_text(const char *command, const char *path, char *ret_text)
{
    FILE *file = fopen(path, "re");
    bool ok = false;
    size_t size;

    if (!file)
        return cannot_read(command, path);
    setvbuf(file, NULL, _IONBF, 0); /* no copy of a password is left in a buffer */
    size = fread(ret_text, 1, MOST_FILE_BYTES + 1, file);
    if (ferror(file))
        cannot_read(command, path);
    else if (size > MOST_FILE_BYTES)
        cli_error(command, "cannot read '%s': it is too large for a file of masters", path);
    else if (memchr(ret_text, '\0', size))
        cli_error(command, "cannot read '%s': it is no text", path);
    else
        ok = true;
    fclose(file);
    ret_text[ok ? size : 0] = '\0';
    return ok;
}

static bool add_lines(const char *command, struct cli_masters *masters, char *text)
{
    bool ok = true;
    size_t unused;

    text += cli_behind_mark(text) - text;
    for (char *line; ok && (line = strsep(&text, "\r\n"));) {
        line[strcspn(line, "#")] = '\0';
        for (char *item; ok && (item = strsep(&line, ","));)
            ok = add_words(command, masters, item, true, &unused);
    }
    return ok;
}

/* What is no file that can be read a second time is as good as its content. */
static void note_file(struct cli_masters *masters, const char *path, size_t first)
{
    struct stat status;

    if (masters->n_files == REDLOCK_MAX_MASTERS || stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return;
    masters->files[masters->n_files++] = path;
    for (size_t i = first; i < masters->count; i++)
        masters->in_file[i] = true;
}

bool cli_add_file(const char *command, struct cli_masters *masters, const char *path)
{
    char *text = malloc(MOST_FILE_BYTES + 1);
    size_t first = masters->count;
    bool ok;

    if (!text) {
        cli_error(command, "out of memory");
        return false;
    }
    ok = read_text(command, path, text) && add_lines(command, masters, text);
    if (ok)
        note_file(masters, path, first);
    explicit_bzero(text, MOST_FILE_BYTES + 1);
    free(text);
    return ok;
}

/* --- Their password ----------------------------------------------------------------------------------------------- */

static void encode(const char *password, char *ret_text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";

    for (; *password != '\0'; password++)
        if (strchr(plain, *password))
            *ret_text++ = *password;
        else
            ret_text += sprintf(ret_text, "%%%02X", (unsigned)(unsigned char)*password);
    *ret_text = '\0';
}

/* A URL that holds a password is not left behind. */
static void drop_url(char *url)
{
    if (url)
        explicit_bzero(url, strlen(url));
    free(url);
}

/* "scheme://" + "[user]" + ":password@" + the rest. The user is encoded, like the password. */
static bool insert(char **url, const char *user, const char *password)
{
    const char *start = strstr(*url, "://");
    const char *at;
    char *longer;

    if (!start)
        return true;
    start += 3;
    at = memrchr(start, '@', strcspn(start, "/"));
    if (asprintf(&longer, "%.*s%.*s%s:%s@%s", (int)(start - *url), *url, at ? (int)(at - start) : 0, start,
                 at ? "" : user, password, at ? at + 1 : start) < 0)
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

    encode(password ? password : "", encoded);
    encode(user ? user : "", encoded_user);
    for (size_t i = 0; ok && encoded[0] != '\0' && i < masters->count; i++) {
        ok = !cli_password_is_for(masters->owned[i]) || insert(&masters->owned[i], encoded_user, encoded);
        masters->urls[i] = masters->owned[i];
        if (!ok)
            cli_error(command, "out of memory");
    }
    explicit_bzero(encoded, sizeof encoded);
    return ok;
}

bool cli_settle_password(const char *command, struct cli_masters *masters)
{
    char why[CLI_PASSWORD_WHY_SIZE];

    if (!cli_password_complete(command, &masters->password))
        return false;
    if (masters->password.command && !password_command_wait(&masters->password, why)) {
        cli_error(command, "%s", why);
        return false;
    }
    return put_password(command, masters);
}

/* --- What a command needs ----------------------------------------------------------------------------------------- */

/* When no option named any. False, with a message: the list makes no sense. */
static bool take_environment(const char *command, struct cli_masters *masters)
{
    const char *list = getenv("REDLOCK_NODES");

    if (masters->count > 0 || !list || *list == '\0')
        return true;
    masters->from_environment = true;
    return cli_add_list(command, masters, "REDLOCK_NODES", list);
}

bool cli_need_masters(const char *command, struct cli_masters *masters)
{
    if (!take_environment(command, masters))
        return false;
    if (masters->count == 0)
        cli_error(command, "no masters given: use --node, --nodes, --nodes-file or REDLOCK_NODES");
    return masters->count > 0 && cli_password_complete(command, &masters->password) &&
           (cli_password_changes(&masters->password) || put_password(command, masters)) &&
           cli_tls_complete(command, &masters->tls, masters->urls, masters->count);
}

/* --- The same once more ------------------------------------------------------------------------------------------- */

enum { WORD_SIZE = 4 * 4096 };

void cli_put_option(FILE *out, const char *name, const char *text)
{
    char variable[CLI_VARIABLE_SIZE], word[WORD_SIZE];
    const char *value = cli_variable(cli_variable_name(name, variable));

    if (text && (!value || strcmp(value, text) != 0))
        fprintf(out, " --%s %s", name, shown_word(text, word, sizeof word));
}

static void put_options(FILE *out, const struct cli_option *option)
{
    for (; option->name; option++)
        if (!option->flag)
            cli_put_option(out, option->name, *(option->text ? option->text : option->file));
        else if (*option->flag)
            fprintf(out, " --%s", option->name);
}

/* Without what people need not type, and without the password. */
static void put_url(FILE *out, const char *url)
{
    const char *rest = strstr(url, "://") + 3;
    const char *at = memrchr(rest, '@', strcspn(rest, "/"));
    size_t user = at ? strcspn(rest, ":@") : 0;
    bool plain = user == 0 && (strncmp(url, "redis://", 8) == 0 || strncmp(url, "unix:///", 8) == 0);
    char *text, *word;

    if (asprintf(&text, "%.*s%.*s%s%s", plain ? 0 : (int)(rest - url), url, (int)user, rest, user > 0 ? "@" : "",
                 at ? at + 1 : rest) < 0)
        return;
    word = malloc(4 * strlen(text) + 16);
    if (word)
        fputs(shown_word(text, word, 4 * strlen(text) + 16), out);
    free(word);
    free(text);
}

void cli_put_masters(FILE *out, const struct cli_masters *masters)
{
    struct cli_password password = masters->password;
    struct cli_tls tls = masters->tls;
    const struct cli_option options[] = {CLI_PASSWORD_OPTIONS(&password), CLI_TLS_OPTIONS(&tls), {0}};
    const char *before = " --nodes ";
    bool has_password = false;

    for (size_t i = 0; i < masters->count && !masters->from_environment; i++) {
        if (masters->in_file[i])
            continue;
        fputs(before, out);
        put_url(out, masters->urls[i]);
        has_password |= masters->has_password[i];
        before = ",";
    }
    for (size_t i = 0; i < masters->n_files; i++)
        cli_put_option(out, "nodes-file", masters->files[i]);
    put_options(out, options);
    if (has_password && !cli_password_changes(&password))
        fputs(" --password-file FILE", out);
}

void cli_masters_fini(struct cli_masters *masters)
{
    for (size_t i = 0; i < masters->count; i++)
        drop_url(masters->owned[i]);
    masters->count = 0;
    for (size_t i = 0; i < CLI_SETTINGS; i++) {
        free(masters->settings[i]);
        masters->settings[i] = NULL;
    }
    cli_password_fini(&masters->password);
}
