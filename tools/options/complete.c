#include "options/complete.h"

#include <string.h>

char cli_complete_mark[] = "__complete";

enum { FIRST_WORD = 2 };

struct line {
    const struct cli_command *command;
    const struct cli_option *open; /* its argument comes next */
    size_t n_operands;
    bool ended;                    /* "--" was there */
    bool instead;                  /* so was the option that stands for the operands */
    bool runs;                     /* the command line of another command has begun */
};

/* --- What the words before say ----------------------------------------------------------------------------------- */

/* An option by its name, or the only one that begins so. The table's entry of an alias is that before it. */
static const struct cli_option *find_long(const struct cli_command *command, const char *name, size_t length)
{
    const struct cli_option *spelled = NULL;
    const struct cli_option *found = NULL;
    size_t n = 0;

    for (const struct cli_option *option = command->options; option->name != NULL; option++) {
        if (!option->alias)
            spelled = option;
        if (strncmp(option->name, name, length) != 0)
            continue;
        if (option->name[length] == '\0')
            return spelled;
        n += spelled != found;
        found = spelled;
    }
    return n == 1 ? found : NULL;
}

static const struct cli_option *find_letter(const struct cli_command *command, char letter)
{
    for (const struct cli_option *option = command->options; option->name != NULL; option++)
        if (option->letter == letter)
            return option;
    return NULL;
}

static void note(struct line *line, const struct cli_option *option, bool has_argument)
{
    if (option == NULL || option->flag != NULL)
        return;
    if (option->texts != NULL && (const void *)option->texts->items == (const void *)line->command->instead)
        line->instead = true;
    if (!has_argument)
        line->open = option;
}

static void take_letters(struct line *line, const char *letters)
{
    for (; *letters != '\0'; letters++) {
        const struct cli_option *option = find_letter(line->command, *letters);

        if (option == NULL || option->flag == NULL) {
            note(line, option, letters[1] != '\0');
            return;
        }
    }
}

static void take(struct line *line, const char *word)
{
    size_t length = strcspn(word, "=");

    if (line->open != NULL)
        line->open = NULL;
    else if (line->ended || word[0] != '-' || word[1] == '\0')
        line->n_operands++;
    else if (strcmp(word, "--") == 0)
        line->ended = true;
    else if (word[1] == '-')
        note(line, find_long(line->command, word + 2, length - 2), word[length] == '=');
    else
        take_letters(line, word + 1);
}

/* Whether the command line of another command begins with the next word. */
static bool runs(const struct line *line, const char *word)
{
    if (line->command->command_line == NULL || line->open != NULL)
        return false;
    return line->ended || (line->instead && word[0] != '-');
}

/* --- What the last word can be ----------------------------------------------------------------------------------- */

static void offer(const char *before, const char *candidate, const char *word)
{
    if (strncmp(candidate, word, strlen(word)) == 0)
        printf("%s%s\n", before, candidate);
}

static void offer_all(const char *before, const char *const *words, const char *word)
{
    for (; *words != NULL; words++)
        offer(before, *words, word);
}

/* `before` stands in the same word: "--name=". */
static void offer_values(const struct cli_option *option, const char *before, const char *word)
{
    static const char *const waits[] = {"0", "forever", NULL};

    if (option->file != NULL || option->node_file != NULL)
        puts(":file");
    else if (option->words != NULL || option->wait_ms != NULL)
        offer_all(before, option->wait_ms != NULL ? waits : option->words, word);
}

static void offer_options(const struct cli_command *command, const char *word)
{
    for (const struct cli_option *option = command->options; option->name != NULL; option++)
        if (!option->alias && (word[1] == '\0' || strncmp(option->name, word + 2, strlen(word + 2)) == 0))
            printf("--%s\n", option->name);
    offer("", "--help", word);
}

/* Names that are words to choose from: "arrive|await". */
static void offer_parts(const char *names, const char *word)
{
    for (size_t length; *names != '\0'; names += length + (names[length] == '|')) {
        length = strcspn(names, "|");
        if (strncmp(names, word, strlen(word)) == 0 && strlen(word) <= length)
            printf("%.*s\n", (int)length, names);
    }
}

static void offer_operands(const struct line *line, const char *word)
{
    const struct cli_command *command = line->command;
    size_t n = 0;

    while (n < line->n_operands && command->operands[n] != NULL)
        n++;
    if (command->operands[n] == NULL) {
        if (command->command_line != NULL)
            offer("", "--", word);
    } else if (command->operand_words != NULL) {
        offer_all("", command->operand_words, word);
    } else if (strstr(command->operands[n], "FILE") != NULL) {
        puts(":file");
    } else if (strchr(command->operands[n], '|') != NULL) {
        offer_parts(command->operands[n], word);
    }
}

static void offer_for(const struct line *line, const char *word)
{
    size_t length = strcspn(word, "=");
    const struct cli_option *option;

    if (line->open != NULL) {
        offer_values(line->open, "", word);
    } else if (line->ended || word[0] != '-') {
        offer_operands(line, word);
    } else if (word[1] == '-' && word[length] == '=') {
        char before[64];

        option = find_long(line->command, word + 2, length - 2);
        if (option != NULL && option->flag == NULL &&
            (size_t)snprintf(before, sizeof(before), "%.*s=", (int)length, word) < sizeof(before))
            offer_values(option, before, word + length + 1);
    } else if (word[1] == '-' || word[1] == '\0') {
        offer_options(line->command, word);
    }
}

void cli_complete(const struct cli_command *command, int argc, char **argv)
{
    struct line line = {.command = command};

    for (int i = FIRST_WORD; i < argc; i++) {
        if (runs(&line, argv[i])) {
            printf(":command %d\n", i);
            return;
        }
        if (i + 1 < argc)
            take(&line, argv[i]);
        else
            offer_for(&line, argv[i]);
    }
}
