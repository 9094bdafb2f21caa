/* redlock top: which keys are held or awaited, and how the masters are, live. */
#include "cli/top/top.h"

#include <event2/event.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/clock.h"
#include "cli/commands.h"
#include "cli/status.h"

static const char top_help[] =
    "Usage: redlock top [PATTERN] [OPTION...]\n"
    "\n"
    "Shows again and again, until it is ended, which masters vote and which keys are\n"
    "held or awaited. PATTERN and the columns of keys are those of 'redlock ls'. Of a\n"
    "master it shows\n"
    "\n"
    "  standing    as 'redlock nodes' does\n"
    "  wait        what is left of a quarantine\n"
    "  commands/s  by its own count, those of this command included\n"
    "  told/s      messages to waiters: nearly all of them are hand-overs\n"
    "  answer      how long one question took\n"
    "\n"
    "Keys: q ends it; s sorts by the longest wait, the longest hold, or the name; /\n"
    "shows only keys that have a text in them; up and down, or k and j, choose a key,\n"
    "and Enter looks at it as 'redlock status' does; Esc goes back; space looks again.\n"
    "\n"
    "  --every DUR          the pause between two looks (2s)\n"
    "  --watch              print one look behind the other, for a log or a pipe\n"
    "  --sort ORDER         wait, hold or name, at first (wait)\n"
    "  --limit N            with --watch, show the first N keys (20)\n"
    LS_HELP
    "  --node-timeout DUR   how long to wait for a connection and for an answer\n"
    "                       (500ms)\n"
    "  --profile NAME       classic: ask the masters that are given, even if the list\n"
    "                       of masters has been changed\n"
    "\n"
    CLI_COMMON_HELP
    "\n"
    "The command only reads. Its user needs the right to SCAN, which users of locks\n"
    "do not, and to INFO for what masters count.\n"
    "\n"
    "Exit status: 0 it was ended; 2 wrong usage; 3 masters not reachable, or another\n"
    "failure.\n"
    "\n"
    "Example:\n"
    "  redlock top 'jobs:*' --nodes 10.0.0.1,10.0.0.2,10.0.0.3\n";

enum { EVERY_MS = 2000, LEAST_EVERY_MS = 100, MOST_EVERY_MS = 3600000, LIMIT = 20 };

/* --- Time and keys ------------------------------------------------------------------------------------------------ */

static bool is_wanted(const struct session *session, void *data)
{
    const struct top *top = data;

    return top->ended || top->due;
}

/* Between the steps of a look: false if it is not worth finishing. */
static bool rest(void *data, uint32_t ms)
{
    struct top *top = data;

    if (ms == 0)
        session_poll(top->session);
    else
        session_run_until(top->session, is_wanted, top, ms);
    return !top->ended && !top->due && top->session->caught == 0;
}

static void on_typed(evutil_socket_t fd, short what, void *data)
{
    struct top *top = data;
    char typed[4096]; /* as much as a terminal keeps, so that no sequence is cut in two */
    ssize_t n = read(fd, typed, sizeof typed);

    if (n > 0) {
        top_obey(top, typed, (size_t)n);
        top_draw(top);
    } else {
        top->ended = true; /* the terminal is gone, and stays readable */
        event_del(top->typed);
    }
}

static void on_resized(evutil_socket_t fd, short what, void *data)
{
    top_draw(data);
}

/* --- A look ------------------------------------------------------------------------------------------------------- */

/* The number behind the name in a section of INFO; `otherwise` if there is none, -1 if the user may not see it. */
static int64_t ask_for(struct wire *wire, const char *section, const char *name, int64_t otherwise)
{
    const char *info[] = {"INFO", section};
    redisReply *reply;
    const char *at = NULL;
    int64_t number = -1;

    wire_append(wire, 2, info);
    reply = wire_reply(wire);
    if (reply && reply->type == REDIS_REPLY_STRING) {
        at = strstr(reply->str, name);
        number = at ? strtoll(at + strlen(name), NULL, 10) : otherwise;
    }
    freeReplyObject(reply);
    return number;
}

static void ask_master(struct wire *wire, struct top_master *master)
{
    master->asked_us = clock_now_us();
    master->commands = ask_for(wire, "stats", "instantaneous_ops_per_sec:", -1);
    if (!wire->failed)
        master->answer_us = clock_now_us() - master->asked_us;
    master->notices = ask_for(wire, "commandstats", "cmdstat_publish:calls=", 0);
}

/* Between two frames; a master that was started in between has counted anew. */
static double rate_of(const struct top_master *then, const struct top_master *now)
{
    int64_t us = now->asked_us - then->asked_us;

    if (then->notices < 0 || now->notices < then->notices || us <= 0)
        return -1;
    return (double)(now->notices - then->notices) * 1e6 / (double)us;
}

/* `before`: NULL: there is none. */
static void note_hand_overs(struct top *top, const struct top_frame *before, const struct top_frame *frame)
{
    for (size_t i = 0; i < frame->ls.n; i++)
        top->hand_overs[i] = before ? rate_of(&before->masters[i], &frame->masters[i]) : -1;
}

/* The filter is a text, and no pattern. */
static void make_pattern(const char *filter, char pattern[2 * TOP_FILTER_SIZE + 2])
{
    char *end = pattern;

    *end++ = '*';
    for (; *filter != '\0'; *end++ = *filter++)
        if (strchr("*?[]\\", *filter))
            *end++ = '\\';
    *end++ = '*';
    *end = '\0';
}

/* False: it was not finished. */
static bool take_frame(struct top *top, struct top_frame *frame)
{
    struct ls_request request = top->request;
    char pattern[2 * TOP_FILTER_SIZE + 2];
    struct ls *ls = &frame->ls;

    if (top->filter[0] != '\0') {
        make_pattern(top->filter, pattern);
        request.pattern = pattern;
    }
    *ls = (struct ls){.request = &request, .client = top->client, .n = request.common.masters.count,
                      .quorum = cli_quorum(&request.common), .pace = {.rate = request.rate, .rest = rest, .data = top}};
    ls_walk(ls);
    for (size_t i = 0; i < ls->n; i++) {
        frame->masters[i] = (struct top_master){.answer_us = -1, .commands = -1, .notices = -1};
        if (ls->masters[i].open && !ls->wires[i].failed)
            ask_master(&ls->wires[i], &frame->masters[i]);
    }
    ls_look(ls);
    ls->request = &top->request;
    ls_sort(ls);
    return !top->ended && !top->due && top->session->caught == 0;
}

static void show_frame(struct top *top)
{
    struct top_frame *old = top->shown;
    static struct top_frame frames[2]; /* too large for a stack */

    if (!top->next)
        top->next = &frames[0];
    if (!take_frame(top, top->next)) {
        ls_free(&top->next->ls);
        return;
    }
    note_hand_overs(top, old, top->next);
    top->shown = top->next;
    top->next = top->shown == &frames[0] ? &frames[1] : &frames[0];
    if (old)
        ls_free(&old->ls);
    if (top->chosen >= top->shown->ls.n_rows)
        top->chosen = top->from = 0;
}

static bool watch_terminal(const struct top *top)
{
    return event_add(top->typed, NULL) == 0 && event_add(top->resized, NULL) == 0;
}

/* What `redlock status` prints of the key, kept as text. Meanwhile nothing is typed, since that may leave the key, and
 * nothing else is drawn. */
static void take_picture(struct top *top)
{
    struct status_request request = {.common = top->request.common, .key = top->key};
    int file = memfd_create("picture", MFD_CLOEXEC), out = dup(STDOUT_FILENO);
    off_t size;

    memcpy(request.places, top->request.places, sizeof request.places);
    event_del(top->typed);
    event_del(top->resized);
    fflush(stdout);
    if (file >= 0 && out >= 0 && dup2(file, STDOUT_FILENO) >= 0) {
        status_look(top->session, top->client, &request);
        fflush(stdout);
        dup2(out, STDOUT_FILENO);
        size = lseek(file, 0, SEEK_END);
        free(top->picture);
        top->picture = calloc(1, (size_t)(size > 0 ? size : 0) + 1);
        if (top->picture && pread(file, top->picture, (size_t)size, 0) != size)
            top->picture[0] = '\0';
    }
    close(file);
    close(out);
    top->ended |= !watch_terminal(top);
}

/* --- The command -------------------------------------------------------------------------------------------------- */

static bool goes_on(const struct top *top)
{
    return !top->ended && top->session->caught == 0 && !ferror(stdout);
}

static void show_again_and_again(struct top *top)
{
    while (goes_on(top)) {
        top->due = false;
        if (top->key)
            take_picture(top);
        else
            show_frame(top);
        if (top->due || !goes_on(top))
            continue;
        if (top->watch)
            top_print(top);
        else
            top_draw(top);
        session_run_until(top->session, is_wanted, top, top->every_ms);
    }
}

static bool show_live(struct top *top)
{
    bool ok;

    top->typed = event_new(top->session->base, STDIN_FILENO, EV_READ | EV_PERSIST, on_typed, top);
    top->resized = evsignal_new(top->session->base, SIGWINCH, on_resized, top);
    ok = top->typed && top->resized && watch_terminal(top);
    if (ok) {
        top_begin();
        top_draw(top);
        show_again_and_again(top);
        top_end();
    } else {
        cli_error("top", "the system refuses to watch the terminal");
    }
    if (top->typed)
        event_free(top->typed);
    if (top->resized)
        event_free(top->resized);
    return ok;
}

static void free_frames(struct top *top)
{
    if (top->shown)
        ls_free(&top->shown->ls);
    free(top->key);
    free(top->picture);
}

static int work(struct session *session, struct redlock_client *client, void *data)
{
    struct top *top = data;
    bool ok;

    top->session = session;
    top->client = client;
    ok = session_follow(session, client, &top->request.common, top->request.places);
    if (ok && top->watch)
        show_again_and_again(top);
    else if (ok)
        ok = show_live(top);
    free_frames(top);
    return ok ? CLI_OK : CLI_INFRASTRUCTURE;
}

static bool fits(struct top *top)
{
    if (!ls_request_fits("top", &top->request))
        return false;
    if (!top->watch && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))) {
        cli_error("top", "this is no terminal: --watch prints one look behind the other");
        return false;
    }
    if (!top->watch)
        top->request.limit = 0;
    else if (top->request.limit == 0)
        top->request.limit = LIMIT;
    return true;
}

int top_main(int argc, char **argv)
{
    struct top top = {.request = {.rate = LS_RATE}, .every_ms = EVERY_MS};
    const struct cli_option options[] = {
        {.name = "every", .duration_ms = &top.every_ms, .least = LEAST_EVERY_MS, .most = MOST_EVERY_MS},
        {.name = "watch", .flag = &top.watch},
        LS_OPTIONS(&top.request),
        CLI_LOCK_OPTIONS(&top.request.common),
        {0},
    };
    const struct cli_command command = {.name = "top", .help = top_help, .options = options,
                                        .operands = (const char *const[]){"[PATTERN]", NULL}};
    int code;

    cli_common_init(&top.request.common);
    top.request.common.join = REDLOCK_JOIN_LOOK;
    code = cli_common_parse(&command, argc, argv, &top.request.pattern, &top.request.common);
    if (code < 0)
        code = fits(&top) ? session_command(&(struct session){.tells_members = true}, "top", &top.request.common, 0,
                                            work, &top)
                          : cli_usage("top");
    cli_common_fini(&top.request.common);
    return code;
}
