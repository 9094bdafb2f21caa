/* The text of the last failure, one for each thread. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

static _Thread_local char last_error[512];

bool fail(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(last_error, sizeof(last_error), format, args);
    va_end(args);
    return false;
}

/* The directory is gone when somebody reads the sentence, so it has the words of the log, and not its place. */
bool fail_with_log(const struct master *master, const char *format, ...)
{
    char what[256], path[SOCKET_PATH_MAX + 32], line[256], last[256] = "";
    va_list args;
    FILE *file;

    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    snprintf(path, sizeof(path), "%s/log", master->dir);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file)) {
        line[strcspn(line, "\n")] = '\0';
        if (*line)
            memcpy(last, line, sizeof(last));
    }
    if (file)
        fclose(file);
    return *last ? fail("%s; its log ends: %s", what, last) : fail("%s, and its log is empty", what);
}

const char *masters_error(void)
{
    return last_error;
}
