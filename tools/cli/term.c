#include "cli/term.h"

#include <langinfo.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "options/message.h"

enum { DEFAULT_WIDTH = 80, LEAST_WIDTH = 40, MOST_WIDTH = 100, MOST_FITTED = 1024 };

static int columns(int fd)
{
    struct winsize size;

    if (ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_col < LEAST_WIDTH)
        return DEFAULT_WIDTH;
    return size.ws_col > MOST_WIDTH ? MOST_WIDTH : size.ws_col;
}

/* NO_COLOR counts when it is set and not empty (no-color.org). */
static bool colors_wanted(void)
{
    const char *no_color = getenv("NO_COLOR");
    const char *type = getenv("TERM");

    return (!no_color || *no_color == '\0') && type && strcmp(type, "dumb") != 0;
}

void term_init(struct term *term, FILE *out)
{
    int fd = fileno(out);

    term->out = out;
    term->tty = isatty(fd) == 1;
    term->color = term->tty && colors_wanted();
    term->unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    term->width = term->tty ? columns(fd) : DEFAULT_WIDTH;
}

const char *term_on(const struct term *term, enum term_style style)
{
    static const char *const sequences[] = {
        [TERM_PLAIN] = "",         [TERM_BOLD] = "\033[1m",    [TERM_DIM] = "\033[2m",   [TERM_GREEN] = "\033[32m",
        [TERM_RED] = "\033[1;31m", [TERM_YELLOW] = "\033[33m", [TERM_CYAN] = "\033[36m",
    };

    return term->color ? sequences[style] : "";
}

const char *term_off(const struct term *term)
{
    return term->color ? "\033[0m" : "";
}

void term_print(const struct term *term, enum term_style style, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    if (style != TERM_PLAIN)
        fputs(term_on(term, style), term->out);
    vfprintf(term->out, format, arguments);
    if (style != TERM_PLAIN)
        fputs(term_off(term), term->out);
    va_end(arguments);
}

void term_key(const struct term *term, const char *key)
{
    fputs(" '", term->out);
    shown_put(term->out, key);
    putc('\'', term->out);
}

static const char *bar_piece(const struct term *term, int eighths)
{
    static const char *const pieces[] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};

    if (!term->unicode)
        return eighths >= 4 ? "#" : " ";
    return pieces[eighths];
}

static int bar_eighths(const struct term *term, double value, double full, int cells)
{
    int least = term->unicode ? 1 : 8;
    int eighths = full > 0 ? (int)(value / full * cells * 8 + 0.5) : 0;

    if (value > 0 && eighths < least)
        return least;
    return eighths > cells * 8 ? cells * 8 : eighths;
}

void term_bar(const struct term *term, enum term_style style, double value, double full, int cells)
{
    int eighths = bar_eighths(term, value, full, cells);

    fputs(term_on(term, style), term->out);
    for (int i = 0; i < cells; i++) {
        int here = eighths - i * 8;

        fputs(bar_piece(term, here < 0 ? 0 : here > 8 ? 8 : here), term->out);
    }
    fputs(term_off(term), term->out);
}

void term_rule(const struct term *term)
{
    fputs(term_on(term, TERM_DIM), term->out);
    for (int i = 0; i < term->width; i++)
        fputs(term->unicode ? "─" : "-", term->out);
    fprintf(term->out, "%s\n", term_off(term));
}

const char *term_fit(const char *text, int limit, char *buffer, size_t size)
{
    char safe[MOST_FITTED];
    size_t length;

    text = shown(text, safe, sizeof safe);
    length = strlen(text);
    if (length <= (size_t)limit)
        snprintf(buffer, size, "%s", text);
    else
        snprintf(buffer, size, "..%s", text + length - (size_t)limit + 2);
    return buffer;
}

/* Rounded up, since it is the end of something that is waited for. */
static void long_time(int64_t s, char *buffer, size_t size)
{
    if (s < 120)
        snprintf(buffer, size, "%d s", (int)s);
    else if (s < 7200)
        snprintf(buffer, size, "%d min %d s", (int)(s / 60), (int)(s % 60));
    else
        snprintf(buffer, size, "%d h %d min", (int)((s + 59) / 3600), (int)((s + 59) % 3600 / 60));
}

const char *term_time(int64_t us, char *buffer, size_t size)
{
    double ms = (double)us / 1000;
    double s = ms / 1000;

    if (us < 1000)
        snprintf(buffer, size, "%d us", (int)us);
    else if (ms < 999.5)
        snprintf(buffer, size, "%.*f ms", ms < 9.995 ? 2 : ms < 99.95 ? 1 : 0, ms);
    else if (s < 9.995)
        snprintf(buffer, size, "%.2f s", s);
    else if (s < 59.95)
        snprintf(buffer, size, "%.1f s", s);
    else
        long_time((us + 999999) / 1000000, buffer, size);
    return buffer;
}

bool term_types(const char *word)
{
    char answer[16];
    size_t size = strlen(word);

    fprintf(stderr, "Type '%s' to go on: ", word);
    return fgets(answer, sizeof answer, stdin) && strncmp(answer, word, size) == 0 && strcmp(answer + size, "\n") == 0;
}
