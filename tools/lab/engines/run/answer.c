#include "answer.h"

#include <stddef.h>
#include <string.h>

#include "lab/engines/line.h"

static const struct {
    const char *word;
    size_t fields; /* with the word itself, without NAME=VALUE */
} shapes[] = {
    [ANSWER_HELLO] = {"hello", 4}, [ANSWER_OPENED] = {"opened", 1},     [ANSWER_ACQUIRED] = {"acquired", 4},
    [ANSWER_REFUSED] = {"refused", 6}, [ANSWER_VALID] = {"valid", 5},   [ANSWER_RELEASED] = {"released", 5},
    [ANSWER_RENEWED] = {"renewed", 3}, [ANSWER_LOST] = {"lost", 3},     [ANSWER_FAILED] = {"failed", 2},
    [ANSWER_BYE] = {"bye", 1},
};

enum { WORDS = sizeof shapes / sizeof shapes[0] };

static bool no(const char **ret_why, const char *why)
{
    *ret_why = why;
    return false;
}

/* The position of the word in the list up to NULL; -1 if it is not there. */
static int position(const char *const *list, const char *word)
{
    for (int i = 0; list[i]; i++)
        if (strcmp(list[i], word) == 0)
            return i;
    return -1;
}

static bool parse_can(char *list, unsigned *ret_can, const char **ret_why)
{
    static const char *const words[] = {"lease", "renewal", "fence", "fifo", "alarm", NULL};
    char *rest = NULL;

    *ret_can = 0;
    if (strcmp(list, "-") == 0 || !*list)
        return true;
    for (char *word = strtok_r(list, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        int bit = position(words, word);

        if (bit < 0)
            return no(ret_why, "it claims in can= what the protocol has no word for");
        *ret_can |= 1U << bit;
    }
    return true;
}

static bool parse_ttl(const char *value, int64_t *ret_ttl_ms, const char **ret_why)
{
    return (line_number(value, ret_ttl_ms) && *ret_ttl_ms > 0 && *ret_ttl_ms <= RUNNER_TTL_MS_MAX) ||
           no(ret_why, "ttl= is not a number of milliseconds, of one day at most");
}

static bool parse_named(char *field, struct answer *answer, const char **ret_why)
{
    char *value = strchr(field, '=');
    int64_t number;

    if (!value)
        return no(ret_why, "it has a field too many");
    *value++ = '\0';
    if (!line_decode(value))
        return no(ret_why, "it has a percent sign without two digits behind it");
    if (strcmp(field, "can") == 0)
        return parse_can(value, &answer->can, ret_why);
    if (strcmp(field, "ttl") == 0)
        return parse_ttl(value, &answer->ttl_ms, ret_why);
    if (strcmp(field, "on") == 0)
        answer->systems = value;
    else if (strcmp(field, "until") == 0 && !line_number(value, &answer->until_ns))
        return no(ret_why, "until= is not a number");
    else if (strcmp(field, "fence") == 0) {
        if (!line_number(value, &number))
            return no(ret_why, "fence= is not a number");
        answer->has_fence = true;
        answer->fence = (uint64_t)number;
    }
    return true;
}

static bool parse_times(char **words, struct answer *answer, const char **ret_why)
{
    if (!line_number(words[2], &answer->t0_ns) || !line_number(words[3], &answer->t1_ns))
        return no(ret_why, "T0 or T1 is not a number");
    return answer->t0_ns <= answer->t1_ns || no(ret_why, "T1 is before T0");
}

static bool parse_refusal(char **words, struct answer *answer, const char **ret_why)
{
    static const char *const reasons[] = {"held", "deadline", "unreachable", "error", NULL};
    int reason = position(reasons, words[4]);

    if (reason < 0)
        return no(ret_why, "there is no such reason");
    answer->reason = (enum runner_reason)reason;
    answer->text = words[5];
    return parse_times(words, answer, ret_why);
}

static bool parse_release(char **words, struct answer *answer, const char **ret_why)
{
    static const char *const outcomes[] = {"ok", "lost", "unconfirmed", "error", NULL};
    int outcome = position(outcomes, words[4]);

    if (outcome < 0)
        return no(ret_why, "there is no such outcome");
    answer->outcome = (enum runner_outcome)outcome;
    return parse_times(words, answer, ret_why);
}

static bool parse_validity(char **words, struct answer *answer, const char **ret_why)
{
    answer->remaining_ms = RUNNER_NO_END;
    if (strcmp(words[4], "-") != 0 && !line_number(words[4], &answer->remaining_ms))
        return no(ret_why, "REMAINING_MS is not a number");
    return parse_times(words, answer, ret_why);
}

static bool parse_fields(char **words, struct answer *answer, const char **ret_why)
{
    answer->id = words[1];
    switch (answer->word) {
    case ANSWER_HELLO:
        answer->name = words[2];
        answer->version = words[3];
        return strcmp(words[1], "1") == 0 || no(ret_why, "it speaks another version of the protocol than 1");
    case ANSWER_ACQUIRED:
        return parse_times(words, answer, ret_why);
    case ANSWER_REFUSED:
        return parse_refusal(words, answer, ret_why);
    case ANSWER_VALID:
        return parse_validity(words, answer, ret_why);
    case ANSWER_RELEASED:
        return parse_release(words, answer, ret_why);
    case ANSWER_RENEWED:
    case ANSWER_LOST:
        return line_number(words[2], &answer->t1_ns) || no(ret_why, "T is not a number");
    case ANSWER_FAILED:
        answer->text = words[1];
        return true;
    case ANSWER_OPENED:
    case ANSWER_BYE:
        break;
    }
    return true;
}

bool answer_parse(char *line, struct answer *ret_answer, const char **ret_why)
{
    char *words[LINE_WORDS_MAX];
    size_t n = line_split(line, words);
    size_t word = 0;

    *ret_answer = (struct answer){.until_ns = RUNNER_NO_END};
    if (n == 0)
        return no(ret_why, "it has no field, an empty one, or too many");
    while (word < WORDS && strcmp(shapes[word].word, words[0]) != 0)
        word++;
    if (word == WORDS)
        return no(ret_why, "its first word is not one of an engine's");
    if (n < shapes[word].fields)
        return no(ret_why, "it has too few fields");
    ret_answer->word = (enum answer_word)word;
    for (size_t i = 1; i < shapes[word].fields; i++)
        if (!line_decode(words[i]))
            return no(ret_why, "it has a percent sign without two digits behind it");
    for (size_t i = shapes[word].fields; i < n; i++)
        if (!parse_named(words[i], ret_answer, ret_why))
            return false;
    return parse_fields(words, ret_answer, ret_why);
}
