#include "nodes_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tool tool;
struct masters *masters;

void use(const char *first)
{
    char list[2048];

    snprintf(list, sizeof list, "%s,%s,%s", first, masters_url(masters, 1), masters_url(masters, 2));
    setenv("REDLOCK_NODES", list, 1);
}

void setup_with(const struct masters_options *options)
{
    masters = ask_open(options);
    use(masters_url(masters, 0));
}

void setup(void)
{
    const struct masters_options options = {.count = N};

    setup_with(&options);
}

void teardown(void)
{
    masters_destroy(masters);
}

void run(const char *line, int exit_code)
{
    tool_expect_run(&tool, line, exit_code);
}

void declared(void)
{
    run("nodes --new-deployment --yes", 0);
    expect_out("safe quorum: 3 of 3 masters vote (2 needed); 1 more may fail");
}

/* Sentences may be broken anywhere: then a line goes on with four blanks. */
static const char *unbroken(const char *text)
{
    static char copy[TOOL_STREAM_SIZE];
    size_t n = 0;

    for (; *text != '\0'; text++) {
        bool broken = strncmp(text, "\n    ", 5) == 0 && text[5] != ' ';

        copy[n++] = broken ? ' ' : *text;
        text += broken ? 4 : 0;
    }
    copy[n] = '\0';
    return copy;
}

void expect_out(const char *text)
{
    ck_assert_msg(strstr(tool.out, text) || strstr(unbroken(tool.out), text), "no '%s' in:\n%s", text,
                  tool.out);
}

void expect_first(const char *standing, const char *text)
{
    run("nodes", 0);
    expect_out(standing);
    expect_out(text);
    expect_out("safe quorum: 2 of 3 masters vote (2 needed); 0 more may fail");
}
