/* Fills in the parts of the page: tools/lab/failover/page/report.html and scenario.html. */
#include <string.h>

#include "html.h"

void fo_html_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '>')
            fputs("&gt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else if (*text == '"')
            fputs("&quot;", out);
        else if ((unsigned char)*text >= ' ')
            putc(*text, out);
    }
}

const char *fo_html_duration(int64_t ns, char *buffer, size_t size)
{
    char plain[16];
    size_t length = strlen(fo_duration(ns, plain, sizeof(plain)));

    if (length > 3 && strcmp(plain + length - 3, " us") == 0)
        snprintf(buffer, size, "%.*s\u00b5s", (int)length - 2, plain);
    else
        snprintf(buffer, size, "%s", plain);
    return buffer;
}

static const struct fo_html_slot *find(const struct fo_html_slot *slots, size_t n, const char *name, size_t length)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(slots[i].name) == length && memcmp(slots[i].name, name, length) == 0)
            return &slots[i];
    return NULL;
}

static void fill(FILE *out, const struct fo_html_slot *slot, const struct fo_report *report,
                 const struct fo_outcome *outcome)
{
    if (slot->write)
        slot->write(out, report, outcome);
    else if (slot->text)
        fo_html_text(out, slot->text);
    else
        fprintf(out, "%llu", (unsigned long long)slot->number);
}

/* A mark that has no slot stays in the page, where the tests look for one. */
void fo_html_fill(FILE *out, const char *part, const struct fo_html_slot *slots, size_t n,
                  const struct fo_report *report, const struct fo_outcome *outcome)
{
    const char *mark;

    while ((mark = strstr(part, "{{"))) {
        const char *end = strstr(mark, "}}");
        const struct fo_html_slot *slot = end ? find(slots, n, mark + 2, (size_t)(end - mark - 2)) : NULL;

        fwrite(part, 1, (size_t)(mark - part), out);
        if (slot)
            fill(out, slot, report, outcome);
        else
            fputs("{{", out);
        part = slot ? end + 2 : mark + 2;
    }
    fputs(part, out);
}
