#include "options/parse.h"

#include <ctype.h>
#include <getopt.h>
#include <string.h>

#include "options/exit.h"
#include "options/message.h"
#include "options/secrets.h"
#include "options/value.h"

enum { MOST_OPTIONS = 64, FIRST_CODE = 256, A_WORD = 1, MASKED_SIZE = 256, GO_ON = -1 };

struct line {
    const struct cli_command *command;
    char **argv;
    const char **operands;
    size_t n_operands; /* taken so far */
    bool ended;        /* the command line of another command has begun */
};

/* --- What getopt_long() is told ---------------------------------------------------------------------------------- */

/* ret_short has room for MOST_OPTIONS * 2 characters. It begins with "-": words that are no options come in their
 * order, as A_WORD. */
static void translate(const struct cli_command *command, struct option *ret_long, char *ret_short)
{
    const struct cli_option *options = command->options;
    size_t n = 0;
    size_t spelled = 0;

    ret_short += sprintf(ret_short, "-:h");
    for (; options[n].name && n < MOST_OPTIONS - 2; n++) {
        if (!options[n].alias)
            spelled = n;
        ret_long[n] = (struct option){options[n].name,
                                      options[spelled].flag ? no_argument : required_argument, NULL,
                                      FIRST_CODE + (int)spelled};
        if (options[n].letter != 0)
            ret_short += sprintf(ret_short, "%c%s", options[n].letter, options[n].flag ? "" : ":");
    }
    ret_long[n] = (struct option){"help", no_argument, NULL, 'h'};
    ret_long[n + 1] = (struct option){0};
}

/* The option that getopt_long has found; NULL: none of the command's. */
static const struct cli_option *option_of(const struct cli_command *command, int code)
{
    if (code >= FIRST_CODE)
        return &command->options[code - FIRST_CODE];
    for (const struct cli_option *option = command->options; option->name; option++)
        if (option->letter == code && code != 0)
            return option;
    return NULL;
}

/* --- Complaints -------------------------------------------------------------------------------------------------- */

/* getopt_long does not tell an unknown long option from one that is short for several. */
static bool is_ambiguous(const char *word, const struct option *options)
{
    size_t length = strcspn(word + 2, "=");

    for (; options->name; options++)
        if (strncmp(options->name, word + 2, length) == 0)
            return true;
    return false;
}

/* What getopt_long did not like: it leaves a long option in argv[optind - 1], a short one in optopt. */
static void complain(const struct line *line, int code, const struct option *options)
{
    const char *command = line->command->name;
    char masked[MASKED_SIZE];
    const char *word = cli_masked(line->argv[optind - 1], masked, sizeof masked);

    if (code == ':')
        cli_error(command, "option '%s' needs an argument", word);
    else if (optopt >= FIRST_CODE || (optopt == 'h' && word[1] == '-'))
        cli_error(command, "option '%.*s' takes no argument", (int)strcspn(word, "="), word);
    else if (optopt != 0)
        cli_error(command, "unknown option '-%c'", optopt);
    else
        cli_error(command, "%s option '%s'", is_ambiguous(word, options) ? "ambiguous" : "unknown", word);
}

/* HOST:PORT, a URL or the path of a socket. */
static bool looks_like_master(const char *word)
{
    const char *colon = strrchr(word, ':');

    if (*word == '/' || strstr(word, "://"))
        return true;
    return colon && isdigit((unsigned char)colon[1]) && colon[1 + strspn(colon + 1, "0123456789")] == '\0';
}

static bool takes_masters(const struct cli_command *command)
{
    for (const struct cli_option *option = command->options; option->name; option++)
        if (option->node_list)
            return true;
    return false;
}

/* "[KEY]": several are possible, but not as operands. */
static const char *what_about_keys(const struct cli_command *command)
{
    if (!command->operands[0] || command->operands[1])
        return "";
    if (strcmp(command->operands[0], "[KEY]") == 0)
        return "; write --key before each of several keys";
    return strcmp(command->operands[0], "KEY") == 0 ? ": only one key is possible" : "";
}

static void unexpected(const struct cli_command *command, const char *word)
{
    char masked[MASKED_SIZE];

    cli_masked(word, masked, sizeof masked);
    if (looks_like_master(word) && takes_masters(command))
        cli_error(command->name, "unexpected argument '%s'; masters are named by an option: --nodes %s", masked,
                  masked);
    else
        cli_error(command->name, "unexpected argument '%s'%s", masked, what_about_keys(command));
}

/* --- The loop ---------------------------------------------------------------------------------------------------- */

static int take_word(struct line *line, char *word)
{
    const struct cli_command *command = line->command;

    if (command->command_line && *command->instead) {
        *command->command_line = line->argv + optind - 1;
        line->ended = true;
        return GO_ON;
    }
    if (command->operands[line->n_operands]) {
        line->operands[line->n_operands++] = word;
        return GO_ON;
    }
    if (command->command_line)
        cli_error(command->name, "write '--' between '%s' and the command '%s'", line->operands[0], word);
    else
        unexpected(command, word);
    return cli_usage(command->name);
}

/* Masters' URLs have been copied, and their passwords need not stay where anybody can see them. */
static bool store(const struct cli_command *command, const struct cli_option *option)
{
    bool ok = cli_store(command->name, option, optarg);

    if (option->node)
        cli_scrub(optarg);
    else if (option->node_list)
        cli_scrub_list(optarg);
    return ok;
}

static int take_option(struct line *line, int code, const struct option *options)
{
    const struct cli_command *command = line->command;
    const struct cli_option *option = option_of(command, code);

    if (code == 'h') {
        if (command->help)
            fputs(command->help, stdout);
        else
            command->write_help(stdout);
        return CLI_OK;
    }
    if (!option)
        complain(line, code, options);
    return !option || !store(command, option) ? cli_usage(command->name) : GO_ON;
}

/* What stands behind "--". */
static int take_rest(struct line *line, int argc)
{
    int result = GO_ON;

    if (line->command->command_line) {
        *line->command->command_line = line->argv + optind;
        return GO_ON;
    }
    while (result == GO_ON && optind < argc)
        result = take_word(line, line->argv[optind++]);
    return result;
}

static int take_all(struct line *line, int argc)
{
    struct option options[MOST_OPTIONS];
    char letters[MOST_OPTIONS * 2];
    int result = GO_ON;
    int code;

    translate(line->command, options, letters);
    optind = 0;
    opterr = 0;
    while (result == GO_ON && !line->ended) {
        code = getopt_long(argc, line->argv, letters, options, NULL);
        if (code == -1)
            return take_rest(line, argc);
        result = code == A_WORD ? take_word(line, optarg) : take_option(line, code, options);
    }
    return result;
}

int cli_parse(const struct cli_command *command, int argc, char **argv, const char **ret_operands)
{
    struct line line = {.command = command, .argv = argv, .operands = ret_operands};
    int result;

    if (argc > 1 && argv[1] == cli_complete_mark) {
        cli_complete(command, argc, argv);
        return CLI_OK;
    }
    for (size_t n = 0; command->operands[n]; n++)
        ret_operands[n] = NULL;
    result = take_all(&line, argc);
    for (size_t n = line.n_operands; result == GO_ON && command->operands[n]; n++)
        if (command->operands[n][0] != '[') {
            cli_error(command->name, "%s is missing", command->operands[n]);
            result = cli_usage(command->name);
        }
    return result;
}

/* --- What can stand at the end of a command line ------------------------------------------------------------------ */

/* What can stand at the end of a command line, for the completion of shells, told by the tables that parse it */

char cli_complete_mark[] = "__complete";

enum { FIRST_WORD = 2 };

struct typed {
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

    for (const struct cli_option *option = command->options; option->name; option++) {
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
    for (const struct cli_option *option = command->options; option->name; option++)
        if (option->letter == letter)
            return option;
    return NULL;
}

static void note(struct typed *line, const struct cli_option *option, bool has_argument)
{
    if (!option || option->flag)
        return;
    if (option->texts && (const void *)option->texts->items == (const void *)line->command->instead)
        line->instead = true;
    if (!has_argument)
        line->open = option;
}

static void take_letters(struct typed *line, const char *letters)
{
    for (; *letters != '\0'; letters++) {
        const struct cli_option *option = find_letter(line->command, *letters);

        if (!option || !option->flag) {
            note(line, option, letters[1] != '\0');
            return;
        }
    }
}

static void take(struct typed *line, const char *word)
{
    size_t length = strcspn(word, "=");

    if (line->open)
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
static bool runs(const struct typed *line, const char *word)
{
    if (!line->command->command_line || line->open)
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
    for (; *words; words++)
        offer(before, *words, word);
}

/* `before` stands in the same word: "--name=". */
static void offer_values(const struct cli_option *option, const char *before, const char *word)
{
    static const char *const waits[] = {"0", "forever", NULL};

    if (option->file || option->node_file)
        puts(":file");
    else if (option->words || option->wait_ms)
        offer_all(before, option->wait_ms ? waits : option->words, word);
}

static void offer_options(const struct cli_command *command, const char *word)
{
    for (const struct cli_option *option = command->options; option->name; option++)
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

static void offer_operands(const struct typed *line, const char *word)
{
    const struct cli_command *command = line->command;
    size_t n = 0;

    while (n < line->n_operands && command->operands[n])
        n++;
    if (!command->operands[n]) {
        if (command->command_line)
            offer("", "--", word);
    } else if (command->operand_words) {
        offer_all("", command->operand_words, word);
    } else if (strstr(command->operands[n], "FILE")) {
        puts(":file");
    } else if (strchr(command->operands[n], '|')) {
        offer_parts(command->operands[n], word);
    }
}

static void offer_for(const struct typed *line, const char *word)
{
    size_t length = strcspn(word, "=");
    const struct cli_option *option;

    if (line->open) {
        offer_values(line->open, "", word);
    } else if (line->ended || word[0] != '-') {
        offer_operands(line, word);
    } else if (word[1] == '-' && word[length] == '=') {
        char before[64];

        option = find_long(line->command, word + 2, length - 2);
        if (option && !option->flag &&
            (size_t)snprintf(before, sizeof before, "%.*s=", (int)length, word) < sizeof before)
            offer_values(option, before, word + length + 1);
    } else if (word[1] == '-' || word[1] == '\0') {
        offer_options(line->command, word);
    }
}

void cli_complete(const struct cli_command *command, int argc, char **argv)
{
    struct typed line = {.command = command};

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
