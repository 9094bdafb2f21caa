#include "api/exposition.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <redlock/observe.h>

static void put(struct rl_text *text, const char *bytes, size_t n)
{
    if (text->length < text->size) {
        size_t room = text->size - text->length;

        memcpy(text->at + text->length, bytes, n < room ? n : room);
    }
    text->length += n;
}

static void put_string(struct rl_text *text, const char *string)
{
    put(text, string, strlen(string));
}

static void put_count(struct rl_text *text, int64_t number)
{
    char digits[24];

    put(text, digits, (size_t)snprintf(digits, sizeof digits, "%" PRId64, number));
}

static void put_seconds(struct rl_text *text, int64_t us)
{
    uint64_t size = us < 0 ? -(uint64_t)us : (uint64_t)us;
    char digits[32];

    put(text, digits, (size_t)snprintf(digits, sizeof digits, "%s%" PRIu64 ".%06" PRIu64, us < 0 ? "-" : "",
                                       size / 1000000, size % 1000000));
}

/* --- Labels ------------------------------------------------------------------------------------------------------ */

static bool is_continuation(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

/* The length of the character that begins here; 0: none does (RFC 3629: neither overlong forms nor surrogates). */
static size_t utf8_length(const unsigned char *at)
{
    if (at[0] < 0x80)
        return 1;
    if (at[0] >= 0xc2 && at[0] <= 0xdf)
        return is_continuation(at[1]) ? 2 : 0;
    if (at[0] >= 0xe0 && at[0] <= 0xef) {
        if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f))
            return 0;
        return is_continuation(at[1]) && is_continuation(at[2]) ? 3 : 0;
    }
    if (at[0] >= 0xf0 && at[0] <= 0xf4) {
        if ((at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
            return 0;
        return is_continuation(at[1]) && is_continuation(at[2]) && is_continuation(at[3]) ? 4 : 0;
    }
    return 0;
}

static void put_value(struct rl_text *text, const char *value)
{
    while (*value != '\0') {
        size_t length = utf8_length((const unsigned char *)value);

        if (*value == '\n')
            put_string(text, "\\n");
        else if (*value == '"' || *value == '\\')
            put(text, (const char[]){'\\', *value}, 2);
        else if (length > 0)
            put(text, value, length);
        else
            put_string(text, "\xef\xbf\xbd");
        value += length > 0 ? length : 1;
    }
}

static void put_label(struct rl_text *text, bool *first, const char *name, const char *value)
{
    put_string(text, *first ? "{" : ",");
    put_string(text, name);
    put_string(text, "=\"");
    put_value(text, value);
    put_string(text, "\"");
    *first = false;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name(const char *name)
{
    static const char *const own[] = {"key_class", "le", "node", "reason", "result", "vote", "version"};

    if (!is_letter(name[0]) || strncmp(name, "__", 2) == 0)
        return false;
    for (const char *at = name; *at != '\0'; at++)
        if (!is_letter(*at) && !(*at >= '0' && *at <= '9'))
            return false;
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (strcmp(name, own[i]) == 0)
            return false;
    return true;
}

bool rl_labels_are_usable(const struct redlock_metric_label *labels, size_t n)
{
    if (n > 0 && !labels)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!labels[i].name || !labels[i].value || !is_name(labels[i].name))
            return false;
        for (size_t before = 0; before < i; before++)
            if (strcmp(labels[before].name, labels[i].name) == 0)
                return false;
    }
    return true;
}

/* --- Samples ----------------------------------------------------------------------------------------------------- */

void rl_text_head(struct rl_text *text, const char *family, const char *kind, const char *help)
{
    const char *const words[] = {"# HELP ", family, " ", help, "\n# TYPE ", family, " ", kind, "\n"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        put_string(text, words[i]);
}

/* All of a sample but its number. `le` is that of a bucket; NULL: the sample is none. */
static void put_sample(struct rl_text *text, const char *family, const char *suffix, const struct rl_own_labels *own,
                       const char *le)
{
    bool first = true;

    put_string(text, family);
    put_string(text, suffix);
    for (size_t i = 0; i < text->n_labels; i++)
        put_label(text, &first, text->labels[i].name, text->labels[i].value);
    if (own->node)
        put_label(text, &first, "node", own->node);
    if (own->key_class)
        put_label(text, &first, "key_class", own->key_class);
    if (own->name)
        put_label(text, &first, own->name, own->value);
    if (le)
        put_label(text, &first, "le", le);
    put_string(text, first ? " " : "} ");
}

void rl_text_count(struct rl_text *text, const char *family, const struct rl_own_labels *own, int64_t number)
{
    put_sample(text, family, "", own, NULL);
    put_count(text, number);
    put_string(text, "\n");
}

void rl_text_seconds(struct rl_text *text, const char *family, const struct rl_own_labels *own, int64_t us)
{
    put_sample(text, family, "", own, NULL);
    put_seconds(text, us);
    put_string(text, "\n");
}

/* A bound in seconds, without zeros at its end. */
static const char *bound_text(size_t bucket, char text[24])
{
    int64_t us = redlock_histogram_bound_us(bucket);
    size_t length;

    if (us == INT64_MAX)
        return "+Inf";
    length = (size_t)snprintf(text, 24, "%" PRId64 ".%06" PRId64, us / 1000000, us % 1000000);
    while (text[length - 1] == '0')
        length--;
    text[text[length - 1] == '.' ? length - 1 : length] = '\0';
    return text;
}

/* A bucket of the text has those before it, too. */
void rl_text_histogram(struct rl_text *text, const char *family, const struct rl_own_labels *own,
                       const struct redlock_histogram *histogram)
{
    uint64_t sum = 0;
    char bound[24];

    for (size_t i = 0; i < REDLOCK_HISTOGRAM_BUCKETS; i++) {
        sum += histogram->buckets[i];
        put_sample(text, family, "_bucket", own, bound_text(i, bound));
        put_count(text, (int64_t)sum);
        put_string(text, "\n");
    }
    put_sample(text, family, "_sum", own, NULL);
    put_seconds(text, (int64_t)histogram->sum_us);
    put_string(text, "\n");
    put_sample(text, family, "_count", own, NULL);
    put_count(text, (int64_t)histogram->count);
    put_string(text, "\n");
}
