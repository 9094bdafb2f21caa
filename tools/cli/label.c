#include "cli/label.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/term.h"
#include "options/message.h"

/* Times of ten digits are those from 2001 to 2286. */
enum { UUID_LENGTH = 36, TIME_DIGITS = LABEL_TIME_SIZE - 1 };

#define US_PER_S INT64_C(1000000)
#define EARLIEST_US (1000000000 * US_PER_S)

/* --- Making one --------------------------------------------------------------------------------------------------- */

static bool is_printable(char c)
{
    return c > ' ' && c <= '~';
}

bool label_is_printable(const char *text)
{
    while (is_printable(*text))
        text++;
    return *text == '\0';
}

void label_clean(char *text)
{
    for (; *text != '\0'; text++)
        if (!is_printable(*text))
            *text = '_';
}

/* The process is what tells two holders on one host apart, so a long name of the host is what is cut. */
static void describe_process(char ret_label[REDLOCK_MAX_LABEL_BYTES + 1])
{
    const struct passwd *entry = isatty(STDERR_FILENO) == 1 ? getpwuid(getuid()) : NULL;
    char host[REDLOCK_MAX_LABEL_BYTES + 1] = "";
    char user[REDLOCK_MAX_LABEL_BYTES / 4 + 1] = "";
    char pid[16];
    int room;

    if (entry)
        snprintf(user, sizeof user, "%.*s@", (int)sizeof user - 2, entry->pw_name);
    if (gethostname(host, sizeof host - 1) != 0 || *host == '\0')
        strcpy(host, "localhost");
    snprintf(pid, sizeof pid, ":%ld", (long)getpid());
    room = REDLOCK_MAX_LABEL_BYTES - LABEL_TIME_SIZE - (int)strlen(user) - (int)strlen(pid);
    snprintf(ret_label, REDLOCK_MAX_LABEL_BYTES + 1, "%s%.*s%s", user, room, host, pid);
    label_clean(ret_label);
}

static bool fits(const char *command, const char *given)
{
    char safe[4 * REDLOCK_MAX_LABEL_BYTES];

    if (strlen(given) > REDLOCK_MAX_LABEL_BYTES) {
        cli_error(command, "--label: %zu characters are too many (at most %d)", strlen(given), REDLOCK_MAX_LABEL_BYTES);
        return false;
    }
    if (!label_is_printable(given))
        cli_error(command, "--label: '%s' is not made of printable ASCII characters without a blank",
                  shown(given, safe, sizeof safe));
    return label_is_printable(given);
}

void label_add_time(char label[REDLOCK_MAX_LABEL_BYTES + 1])
{
    size_t length = strlen(label);

    if (length > 0 && length + LABEL_TIME_SIZE <= REDLOCK_MAX_LABEL_BYTES)
        snprintf(label + length, LABEL_TIME_SIZE + 1, "+%0*lld", TIME_DIGITS, (long long)time(NULL));
}

bool label_make(const char *command, const char *given, char ret_label[REDLOCK_MAX_LABEL_BYTES + 1])
{
    if (given && !fits(command, given))
        return false;
    if (given)
        snprintf(ret_label, REDLOCK_MAX_LABEL_BYTES + 1, "%s", given);
    else
        describe_process(ret_label);
    label_add_time(ret_label);
    return true;
}

/* --- Reading one -------------------------------------------------------------------------------------------------- */

static bool is_uuid(const char *value)
{
    for (size_t i = 0; i < UUID_LENGTH; i++) {
        bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;

        if (value[i] == '\0' || (is_dash ? value[i] != '-' : !strchr("0123456789abcdefABCDEF", value[i])))
            return false;
    }
    return true;
}

struct label label_of(const char *value)
{
    struct label label = {.strange = !is_uuid(value)};
    size_t length;
    char *time;

    if (label.strange || value[UUID_LENGTH] != ':')
        return label;
    snprintf(label.name, sizeof label.name, "%s", value + UUID_LENGTH + 1);
    length = strlen(label.name);
    time = label.name + length - LABEL_TIME_SIZE;
    if (length > LABEL_TIME_SIZE && *time == '+' && strspn(time + 1, "0123456789") == TIME_DIGITS) {
        label.asked_us = strtoll(time + 1, NULL, 10) * US_PER_S;
        *time = '\0';
    }
    return label;
}

void label_json(struct cli_json *json, const struct label *label)
{
    if (label->name[0] != '\0')
        cli_json_string(json, "label", label->name);
    if (label->asked_us != 0)
        cli_json_int(json, "asked_us", label->asked_us);
}

const char *label_ago(int64_t since_us, char buffer[LABEL_AGO_SIZE])
{
    struct timespec now;
    char length[24];
    int64_t ago_us;

    clock_gettime(CLOCK_REALTIME, &now);
    ago_us = now.tv_sec * US_PER_S + now.tv_nsec / 1000 - since_us;
    if (since_us < EARLIEST_US || ago_us < 0)
        snprintf(buffer, LABEL_AGO_SIZE, "-");
    else
        snprintf(buffer, LABEL_AGO_SIZE, "%s ago", term_time(ago_us, length, sizeof length));
    return buffer;
}
