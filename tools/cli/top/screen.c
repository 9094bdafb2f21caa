#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "cli/quorum_status.h"
#include "cli/top/top.h"
#include "cli/votes.h"
#include "options/message.h"

enum { LEAST_ROWS = 3, OTHER_LINES = 6, LEAST_WIDTH = 60, MARK = 2 };
enum { TIME_SIZE = 16, MASTER_COLUMNS = 58, LEAST_WHY = 16 };

static struct termios before;

/* --- The terminal ------------------------------------------------------------------------------------------------- */

/* Keys are read one by one and not shown. Ctrl-C is a signal as ever; there is no Ctrl-Z. */
void top_begin(void)
{
    struct termios raw;

    tcgetattr(STDIN_FILENO, &before);
    raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    raw.c_cc[VSUSP] = _POSIX_VDISABLE;
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    fputs("\033[?1049h\033[?25l\033[?7l", stdout); /* another screen, no cursor, long lines are cut */
}

void top_end(void)
{
    fputs("\033[?7h\033[?25h\033[?1049l", stdout);
    fflush(stdout);
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

static struct winsize size_of_screen(void)
{
    struct winsize size = {0};

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_row == 0 || size.ws_col == 0)
        size = (struct winsize){.ws_row = 24, .ws_col = 80};
    return size;
}

/* Of a long list of masters those in front, so that some rows of locks have room. */
static size_t masters_shown(const struct top *top)
{
    size_t lines = size_of_screen().ws_row;
    size_t most = lines > 2 * OTHER_LINES + LEAST_ROWS ? (lines - OTHER_LINES) / 2 : LEAST_ROWS;

    return top->request.common.masters.count < most ? top->request.common.masters.count : most;
}

size_t top_rows(const struct top *top)
{
    size_t taken = OTHER_LINES + masters_shown(top);
    size_t lines = size_of_screen().ws_row;

    return lines > taken + LEAST_ROWS ? lines - taken : LEAST_ROWS;
}

/* --- Masters ------------------------------------------------------------------------------------------------------ */

static enum term_style style_of(const struct redlock_node_info *info)
{
    if (!quorum_status_answers(info))
        return TERM_RED;
    return info->standing == REDLOCK_STANDING_VOTES ? TERM_GREEN : TERM_YELLOW;
}

static void print_master(const struct term *term, const struct top *top, const struct redlock_node_info *info,
                         const struct top_master *master, double hand_overs, int width)
{
    char name[64], answer[TIME_SIZE] = "-", commands[24] = "-", told[24] = "-", left[TIME_SIZE] = "-";
    const char *why = info->fault_text[0] != '\0' ? info->fault_text : info->last_error;
    char safe[256];
    int room = term->tty ? term->width - width - MASTER_COLUMNS : (int)sizeof safe;

    if (master && master->answer_us >= 0)
        term_time(master->answer_us, answer, sizeof answer);
    if (master && master->commands >= 0)
        snprintf(commands, sizeof commands, "%" PRId64, master->commands);
    if (master && hand_overs >= 0)
        snprintf(told, sizeof told, "%.0f", hand_overs);
    if (info->quarantine_ms > 0)
        term_time(info->quarantine_ms * 1000, left, sizeof left);
    fprintf(term->out, "  %-*s  ", width, term_fit(info->name, width, name, sizeof name));
    term_print(term, style_of(info), "%-11s", quorum_status_word(info));
    fprintf(term->out, "  %8s  %10s  %6s  %9s", left, commands, told, answer);
    if ((info->standing != REDLOCK_STANDING_VOTES || !quorum_status_answers(info)) && room >= LEAST_WHY)
        fprintf(term->out, "  %.*s", room, shown(why, safe, sizeof safe));
    putc('\n', term->out);
}

static void print_masters(const struct term *term, const struct top *top, size_t most)
{
    struct redlock_node_info infos[REDLOCK_MAX_MASTERS];
    const struct top_frame *frame = top->shown;
    int width = votes_name_width(top->client);

    width = width > 30 ? 30 : width;
    quorum_status_read(top->client, infos);
    term_print(term, TERM_DIM, "  %-*s  %-11s  %8s  %10s  %6s  %9s\n", width, "master", "standing", "wait",
               "commands/s", "told/s", "answer");
    for (size_t i = 0; i < most; i++) {
        size_t node = top->request.places[i].node;

        print_master(term, top, &infos[node], frame ? &frame->masters[i] : NULL, top->hand_overs[i], width);
    }
}

static struct quorum_status quorum_of(const struct top *top)
{
    struct redlock_node_info infos[REDLOCK_MAX_MASTERS];
    size_t n = quorum_status_read(top->client, infos);

    return quorum_status_of(infos, n, cli_quorum(&top->request.common));
}

static void print_title(const struct term *term, const struct top *top)
{
    const struct quorum_status sum = quorum_of(top);
    time_t now = time(NULL);
    struct tm local;
    char clock[16];

    strftime(clock, sizeof clock, "%H:%M:%S", localtime_r(&now, &local));
    fprintf(term->out, "%s  ", clock);
    if (sum.voting < sum.quorum)
        term_print(term, TERM_RED, "%zu of %zu masters vote, %zu are needed", sum.voting, sum.n, sum.quorum);
    else
        term_print(term, sum.voting == sum.quorum ? TERM_YELLOW : TERM_GREEN,
                   "%zu of %zu masters vote, %zu more may fail", sum.voting, sum.n, sum.voting - sum.quorum);
    putc('\n', term->out);
}

/* --- Frames ------------------------------------------------------------------------------------------------------- */

static void print_counts(const struct term *term, const struct top *top)
{
    const struct ls *ls = &top->shown->ls;
    size_t awaited = 0, waiters = 0;

    for (size_t i = 0; i < ls->n_rows; i++) {
        awaited += ls->rows[i].waiting > 0;
        waiters += ls->rows[i].waiting;
    }
    fprintf(term->out, "%zu key%s, %zu awaited by %zu%s\n", ls->n_rows, ls->n_rows == 1 ? "" : "s", awaited, waiters,
            ls_is_whole(ls) ? "" : ", as far as is known");
}

static void print_foot(const struct term *term, const struct top *top)
{
    char safe[4 * TOP_FILTER_SIZE];

    if (top->typing)
        fprintf(term->out, "filter: %s_  (Enter, Esc: none)", shown(top->filter, safe, sizeof safe));
    else if (top->key)
        term_print(term, TERM_DIM, "q quit   Esc back to the list   space look again");
    else
        term_print(term, TERM_DIM, "q quit   s sort: %s   / filter%s%s   up, down, Enter look at a key",
                   ls_sort_words[top->request.sort], top->filter[0] != '\0' ? ": " : "",
                   shown(top->filter, safe, sizeof safe));
}

/* As many lines as there is room for. */
static void print_picture(const struct term *term, const char *text, size_t lines)
{
    for (; *text != '\0' && lines > 0; lines--) {
        size_t size = strcspn(text, "\n");

        fprintf(term->out, "%.*s\n", (int)size, text);
        text += size + (text[size] == '\n');
    }
}

void top_draw(struct top *top)
{
    const struct winsize size = size_of_screen();
    struct term term, list;
    size_t chosen = top->chosen, rows = top_rows(top);

    term_init(&term, stdout);
    term.width = size.ws_col < LEAST_WIDTH ? LEAST_WIDTH : size.ws_col;
    list = term;
    list.width -= MARK;
    fputs("\033[H\033[J", stdout);
    print_title(&term, top);
    print_masters(&term, top, masters_shown(top));
    if (top->key) {
        putchar('\n');
        term_key(&term, top->key);
        putchar('\n');
        print_picture(&term, top->picture ? top->picture : "...", rows);
    } else if (top->shown) {
        print_counts(&term, top);
        putchar('\n');
        ls_print_rows(&top->shown->ls, &list, top->from, rows, chosen);
    } else {
        fputs("looking ...\n", stdout);
    }
    printf("\033[%d;1H", size.ws_row);
    print_foot(&term, top);
    fflush(stdout);
}

void top_print(const struct top *top)
{
    struct term term;

    term_init(&term, stdout);
    print_title(&term, top);
    print_masters(&term, top, top->request.common.masters.count);
    ls_print_rows(&top->shown->ls, &term, 0, top->shown->ls.n_rows, SIZE_MAX);
    ls_print_sum(&top->shown->ls, &term);
    putchar('\n');
    fflush(stdout);
}
