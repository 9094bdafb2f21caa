#include "run_rig.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "suite.h"

enum { WORDS = 32 };

const char *rig_path(const char *name)
{
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", masters_dir(masters), name);
    return path;
}

const char *rig_read(const char *path)
{
    static char text[32768];
    FILE *file = fopen(path, "re");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;

    if (file)
        fclose(file);
    text[n] = '\0';
    return text;
}

void rig_read_error(struct tool *run, const char *text)
{
    while (!strstr(run->err, text)) {
        struct pollfd fd = {.fd = run->fds[1], .events = POLLIN};
        ssize_t n;

        ck_assert_msg(poll(&fd, 1, SUITE_PATIENCE_S * 1000) == 1, "no '%s' in:\n%s", text, run->err);
        n = read(run->fds[1], run->err + run->err_size, TOOL_STREAM_SIZE - 1 - run->err_size);
        ck_assert_msg(n > 0, "ended without '%s':\n%s", text, run->err);
        run->err_size += (size_t)n;
        run->err[run->err_size] = '\0';
    }
}

static void join(const char *const *words, const char **ret_all)
{
    static const char *const lead[] = {"run", "--key", "job"};
    size_t n = 0;

    for (; n < 3; n++)
        ret_all[n] = lead[n];
    for (; *words; n++) {
        ck_assert_msg(n < WORDS, "more than %d words: '%s' has no room", WORDS, *words);
        ret_all[n] = *words++;
    }
    ret_all[n] = NULL;
}

void rig_run(int exit_code, const char *const *words)
{
    const char *all[WORDS + 1];

    join(words, all);
    tool_start(&tool, all);
    tool_expect_end(&tool, exit_code);
}

void rig_start(struct tool *run, const char *const *words)
{
    const char *all[WORDS + 1];

    join(words, all);
    tool_start(run, all);
    tool_read_until(run, "ready");
}

void rig_expect_free(void)
{
    ck_assert_uint_eq(masters_count_key(masters, "job"), 0);
}
