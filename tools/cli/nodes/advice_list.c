#include "cli/nodes/advice_list.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/target.h"
#include "options/shown.h"

enum { SHELL_SIZE = 480, WORD_SIZE = 160, SENTENCE_SIZE = 1024 };

void advice_set(char *text, size_t size, const char *format, ...)
{
    char whole[SENTENCE_SIZE];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(whole, sizeof(whole), format, arguments);
    va_end(arguments);
    shown_whole_words(whole, text, size);
}

struct advice *advice_add(struct advice_list *list, bool serious, const char *what, const char *mend)
{
    struct advice *item = list->n < ADVICE_MOST ? &list->items[list->n++] : NULL;

    if (item == NULL)
        return NULL;
    memset(item, 0, sizeof(*item));
    item->serious = serious;
    advice_set(item->what, sizeof(item->what), "%s", what);
    advice_set(item->mend, sizeof(item->mend), "%s", mend);
    return item;
}

static void option(char ret_text[SHELL_SIZE], const char *name, const char *word)
{
    size_t length = strlen(ret_text);
    char buffer[WORD_SIZE];

    if (word != NULL)
        snprintf(ret_text + length, SHELL_SIZE - length, " %s %s", name, shown_word(word, buffer, sizeof(buffer)));
}

static void flag(char ret_text[SHELL_SIZE], const char *name, bool is_set)
{
    size_t length = strlen(ret_text);

    if (is_set)
        snprintf(ret_text + length, SHELL_SIZE - length, " %s", name);
}

static void tls_options(const struct cli_tls *tls, char ret_text[SHELL_SIZE])
{
    flag(ret_text, "--tls", true);
    flag(ret_text, "--insecure", tls->insecure_skip_verify);
    option(ret_text, "--cacert", tls->ca);
    option(ret_text, "--cacertdir", tls->ca_dir);
    option(ret_text, "--cert", tls->cert);
    option(ret_text, "--key", tls->key);
    option(ret_text, "--sni", tls->server_name);
}

/* "redis-cli -h HOST -p PORT", to go on with, as the user of the URL, whose password is asked for, or as another. */
static void shell(const struct advice_list *list, bool as_user, char ret_text[SHELL_SIZE])
{
    const char *user = list->view->user;
    struct target target;
    char port[16];

    strcpy(ret_text, "redis-cli");
    if (target_parse(list->view->urls[list->node], &target)) {
        snprintf(port, sizeof(port), "%d", target.port);
        option(ret_text, "-s", target.path);
        option(ret_text, "-h", target.host);
        option(ret_text, "-p", target.host != NULL ? port : NULL);
        if (target.tls)
            tls_options(list->view->tls, ret_text);
    }
    if (target.user != NULL)
        user = target.user;
    option(ret_text, "--user", as_user ? user : NULL);
    flag(ret_text, "--askpass", as_user && (target.password != NULL || user != NULL));
    target_fini(&target);
}

void advice_command(const struct advice_list *list, struct advice *item, const char *words)
{
    char start[SHELL_SIZE];

    if (item == NULL)
        return;
    shell(list, true, start);
    snprintf(item->command, sizeof(item->command), "%s %s", start, words);
}

void advice_grant(const struct advice_list *list, struct advice *item, const char *rights)
{
    const char *user = list->view->user != NULL ? list->view->user : "default";
    char start[SHELL_SIZE], word[WORD_SIZE];
    struct target target;

    if (item == NULL)
        return;
    shell(list, false, start);
    target_parse(list->view->urls[list->node], &target);
    snprintf(item->command, sizeof(item->command), "%s ACL SETUSER %s %s", start,
             shown_word(target.user != NULL ? target.user : user, word, sizeof(word)), rights);
    target_fini(&target);
}

void advice_put_pattern(char buffer[ADVICE_RIGHTS_SIZE], char kind, const char *prefix, const char *rest)
{
    char word[3 * ADVICE_RIGHTS_SIZE];
    size_t length = 0, begin = strlen(buffer);

    for (; *prefix != '\0' && length < ADVICE_RIGHTS_SIZE; prefix++) {
        const char *form = *prefix == '\'' ? "'\\%c'" : strchr("*?[]\\", *prefix) != NULL ? "\\%c" : "%c";

        length += (size_t)sprintf(word + length, form, *prefix);
    }
    word[length] = '\0';
    snprintf(buffer + begin, ADVICE_RIGHTS_SIZE - begin, "'%c%s%s' ", kind, word, rest);
}

const char *advice_missing_rights(const struct advice_list *list, char buffer[ADVICE_RIGHTS_SIZE])
{
    const struct probe_rights *rights = &list->view->rights[list->node];
    const char *prefix = list->view->prefix;

    buffer[0] = '\0';
    if (rights->keys)
        advice_put_pattern(buffer, '~', prefix, "redlock:*");
    if (rights->channels)
        advice_put_pattern(buffer, '&', prefix, "redlock:*");
    snprintf(buffer + strlen(buffer), ADVICE_RIGHTS_SIZE - strlen(buffer), "%s", rights->missing);
    if (*buffer != '\0' && buffer[strlen(buffer) - 1] == ' ')
        buffer[strlen(buffer) - 1] = '\0';
    return buffer;
}
