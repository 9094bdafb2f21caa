/* IMPLEMENTATION NOTES
 *
 * The file is looked at for each request, and read if it has changed. The command is run when a master has refused what
 * it was given from the latest run, and not again before a pause is over: of a quarter of a second, and twice as long
 * each time that the command fails or prints the same, since then it is something else that must change. Meanwhile
 * masters are given what there is: theirs may be the side that changes. */
#include "cli/password.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "cli/clock.h"
#include "cli/hash.h"
#include "options/password.h"

enum { FIRST_PAUSE_MS = 250, LONGEST_PAUSE_MS = 30000, MOST_WAITING = 256, US_PER_MS = 1000 };

struct password_desk {
    struct cli_password password;
    struct event *timer;
    struct password_run run;
    bool running;
    bool ran;
    char why[CLI_PASSWORD_WHY_SIZE]; /* of the latest run; "" if it was good */
    int64_t next_run_us;
    int64_t pause_ms;
    unsigned generation;             /* grows with each good run */
    unsigned given[REDLOCK_MAX_MASTERS];
    uint64_t hash;
    size_t n_waiting;
    struct redlock_credentials_request *waiting[MOST_WAITING];
};

/* --- Answers ----------------------------------------------------------------------------------------------------- */

static void answer(const struct password_desk *desk, struct redlock_credentials_request *request)
{
    struct redlock_credentials credentials;

    redlock_credentials_init(&credentials);
    credentials.user = desk->password.user;
    credentials.password = cli_password_text(&desk->password);
    if (redlock_credentials_answer(request, &credentials) == REDLOCK_E_NOMEM)
        redlock_credentials_fail(request, redlock_strerror(REDLOCK_E_NOMEM));
}

static void answer_by_file(struct password_desk *desk, struct redlock_credentials_request *request,
                           enum redlock_credentials_why need)
{
    char why[CLI_PASSWORD_WHY_SIZE];

    if (cli_password_read(&desk->password, why) || need != REDLOCK_CREDENTIALS_REFUSED)
        answer(desk, request);
    else
        redlock_credentials_fail(request, why);
}

/* --- The command ------------------------------------------------------------------------------------------------- */

/* Only to see whether two passwords are the same. */
static uint64_t hash_of(const char *text)
{
    return cli_hash(text, text ? strlen(text) : 0);
}

static void answer_all(struct password_desk *desk)
{
    for (size_t i = 0; i < desk->n_waiting; i++) {
        if (desk->why[0] != '\0')
            redlock_credentials_fail(desk->waiting[i], desk->why);
        else
            answer(desk, desk->waiting[i]);
        redlock_credentials_drop(desk->waiting[i]);
    }
    desk->n_waiting = 0;
}

static void end_run(struct password_desk *desk, bool good)
{
    uint64_t hash = good ? hash_of(cli_password_text(&desk->password)) : desk->hash;

    desk->running = false;
    desk->ran = true;
    if (good) {
        desk->why[0] = '\0';
        desk->generation++;
    }
    desk->pause_ms = hash != desk->hash ? FIRST_PAUSE_MS : desk->pause_ms * 2;
    if (desk->pause_ms > LONGEST_PAUSE_MS)
        desk->pause_ms = LONGEST_PAUSE_MS;
    desk->hash = hash;
    desk->next_run_us = clock_now_us() + desk->pause_ms * US_PER_MS;
    answer_all(desk);
}

static void look_again(struct password_desk *desk)
{
    static const struct timeval soon = {0, PASSWORD_COMMAND_LOOK_MS * US_PER_MS};

    if (event_add(desk->timer, &soon) == 0)
        return;
    password_command_kill(&desk->run);
    snprintf(desk->why, sizeof desk->why, "the password command: no event");
    end_run(desk, false);
}

static void on_time(evutil_socket_t fd, short what, void *data)
{
    struct password_desk *desk = data;
    enum password_step step = password_command_step(&desk->run, &desk->password, desk->why);

    if (step == PASSWORD_RUNNING)
        look_again(desk);
    else
        end_run(desk, step == PASSWORD_DONE);
}

static void begin_run(struct password_desk *desk)
{
    desk->running = true;
    if (password_command_start(&desk->run, desk->password.command, desk->why))
        look_again(desk);
    else
        end_run(desk, false);
}

static void wait_for_run(struct password_desk *desk, struct redlock_credentials_request *request)
{
    if (desk->n_waiting == MOST_WAITING) {
        redlock_credentials_fail(request, "the password command is still running");
        return;
    }
    redlock_credentials_keep(request);
    desk->waiting[desk->n_waiting++] = request;
}

static void answer_by_command(struct password_desk *desk, struct redlock_credentials_request *request,
                              const struct redlock_credentials_wanted *wanted)
{
    bool refused = wanted->why == REDLOCK_CREDENTIALS_REFUSED && desk->given[wanted->node] == desk->generation;

    desk->given[wanted->node] = desk->generation;
    if (refused && !desk->running && clock_now_us() >= desk->next_run_us)
        begin_run(desk);
    if (refused && desk->running) {
        wait_for_run(desk, request);
        desk->given[wanted->node]++; /* what it is going to be given */
    } else if (refused && desk->why[0] != '\0') {
        redlock_credentials_fail(request, desk->why);
    } else {
        answer(desk, request);
    }
}

static void on_credentials(struct redlock_credentials_request *request,
                           const struct redlock_credentials_wanted *wanted, void *data)
{
    struct password_desk *desk = data;

    if (desk->password.file)
        answer_by_file(desk, request, wanted->why);
    else
        answer_by_command(desk, request, wanted);
}

/* --- The desk ---------------------------------------------------------------------------------------------------- */

struct password_desk *password_desk_open(struct event_base *base, const struct cli_password *password)
{
    struct password_desk *desk = calloc(1, sizeof *desk);

    if (!desk)
        return NULL;
    desk->password = *password;
    desk->run.output = -1;
    desk->pause_ms = FIRST_PAUSE_MS;
    desk->timer = evtimer_new(base, on_time, desk);
    if (!desk->timer) {
        free(desk);
        return NULL;
    }
    if (password->command)
        begin_run(desk);
    else
        desk->ran = true;
    return desk;
}

void password_desk_close(struct password_desk *desk)
{
    if (!desk)
        return;
    password_command_kill(&desk->run);
    snprintf(desk->why, sizeof desk->why, "the program ends");
    answer_all(desk);
    event_free(desk->timer);
    free(desk);
}

bool password_desk_ready(const struct password_desk *desk, const char **ret_why)
{
    *ret_why = desk->why[0] != '\0' ? desk->why : NULL;
    return desk->ran;
}

void password_desk_apply(struct password_desk *desk, struct redlock_options *options)
{
    options->on_credentials = on_credentials;
    options->credentials_data = desk;
}
