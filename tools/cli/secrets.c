#include "cli/secrets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PASSWORD = 1024 };

/* --- Where a password stands ----------------------------------------------------------------------------------- */

static const char delimiters[] = " \t\r\n,'\"";

/* The end of the word that begins here, and what of it is a password: from behind the first colon behind any "://" to
 * the last "@". An unencoded slash in it makes a wrong URL, but must not show the rest. */
static const char *find_password(const char *word, const char **ret_begin, const char **ret_end)
{
    const char *end = word + strcspn(word, delimiters);
    const char *scheme = memmem(word, (size_t)(end - word), "://", 3);
    const char *start = scheme != NULL ? scheme + 3 : word;
    const char *at = memrchr(start, '@', (size_t)(end - start));
    const char *colon = at != NULL ? memchr(start, ':', (size_t)(at - start)) : NULL;

    *ret_begin = colon != NULL ? colon + 1 : end;
    *ret_end = colon != NULL ? at : end;
    return end;
}

void cli_scrub(char *text)
{
    for (char *word = text; *word != '\0'; word += *word != '\0') {
        const char *begin;
        const char *end;
        const char *next = find_password(word, &begin, &end);

        memset(word + (begin - word), '*', (size_t)(end - begin));
        word += next - word;
    }
}

const char *cli_masked(const char *text, char *buffer, size_t size)
{
    size_t n = 0;

    for (const char *word = text; *word != '\0' && n + 1 < size;) {
        const char *begin;
        const char *end;
        const char *next = find_password(word, &begin, &end);
        int length = snprintf(buffer + n, size - n, "%.*s%s%.*s%.*s", (int)(begin - word), word,
                              end > begin ? "***" : "", (int)(next - end), end, *next != '\0', next);

        n += (size_t)length;
        word = next + (*next != '\0');
    }
    buffer[n < size ? n : size - 1] = '\0';
    return buffer;
}

/* --- Files ------------------------------------------------------------------------------------------------------- */

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

/* --- Giving it to the masters ------------------------------------------------------------------------------------ */

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

bool cli_apply_password(const char *command, struct cli_masters *masters)
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
