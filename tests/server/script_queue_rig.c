#include "script_queue_rig.h"

#include <arpa/inet.h>
#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "codec/classify.h"
#include "kinds/mutex.h"
#include "kinds/wait_queue.h"
#include "scripted.h"
#include "suite.h"

uint32_t queue_lease_ms;
const char *queue_incarnation;
uint64_t queue_proposal;
const char *queue_channel;

static int subscriber;
static char heard[4096];
static size_t n_heard;

void queue_start(void)
{
    counter_start();
    queue_lease_ms = 20000;
    queue_incarnation = NULL;
    queue_proposal = 0;
    queue_channel = "grants";
    subscriber = -1;
}

static struct rl_subject subject_of(const char *value)
{
    struct rl_subject about = counter_subject(value, queue_proposal);

    about.ttl_ms = queue_lease_ms;
    about.channel = (struct rl_slice){queue_channel, strlen(queue_channel)};
    about.proposed_ticket = 1000;
    if (queue_incarnation)
        about.incarnation = (struct rl_slice){queue_incarnation, strlen(queue_incarnation)};
    else
        about.marker = (struct rl_slice){NULL, 0};
    return about;
}

static const struct rl_kind *kind(void)
{
    return queue_proposal ? &rl_fenced_kind : &rl_mutex_kind;
}

static struct said said_by(const struct rl_reply *reply)
{
    struct said said;

    said.answer = rl_classify(kind(), RL_STEP_ENQUEUE, reply);
    said.placed = rl_queue_entry_report(reply, &said.place);
    return said;
}

struct said queue_enqueue(const char *value, uint32_t round, uint64_t ticket)
{
    struct rl_subject about = subject_of(value);
    struct rl_command command;
    struct scripted scripted;
    struct said said;

    about.round = round;
    about.ticket = ticket;
    kind()->command(RL_STEP_ENQUEUE, &about, &command);
    scripted = scripted_run(counter_master, 0, &command);
    said = said_by(&scripted.reply);
    scripted_free(&scripted);
    return said;
}

void queue_enqueue_many(size_t n, const char *const *values, struct said *ret_said)
{
    struct rl_subject about = subject_of(values[0]);
    struct rl_joins followers = {.n = n - 1};
    struct rl_command command;
    struct scripted scripted;

    for (size_t i = 1; i < n; i++) {
        followers.tokens[i - 1] = (struct rl_slice){values[i], strlen(values[i])};
        followers.proposals[i - 1] = queue_proposal;
    }
    kind()->command(RL_STEP_ENQUEUE, &about, &command);
    scripted = scripted_run_many(counter_master, 0, &command, &followers);
    for (size_t i = 0; i < n; i++) {
        struct rl_reply own;

        rl_queue_reply_of(&scripted.reply, i, n, &own);
        ret_said[i] = said_by(&own);
    }
    scripted_free(&scripted);
}

void queue_refresh_many(size_t n, struct refresh *refreshes)
{
    struct rl_subject about = subject_of(refreshes[0].value);
    struct rl_refresh_many many = {.n = n};
    struct rl_refreshed kept[RL_BATCH_MAX];
    struct rl_command command;
    struct scripted scripted;
    bool each;

    for (size_t i = 0; i < n; i++) {
        many.at[i].token = (struct rl_slice){refreshes[i].value, strlen(refreshes[i].value)};
        many.at[i].round = refreshes[i].round;
        many.at[i].ticket = refreshes[i].ticket;
        many.at[i].proposal = queue_proposal;
    }
    rl_queue_refresh_many_command(&about, &command);
    scripted = scripted_run_refresh(counter_master, 0, &command, &many);
    each = rl_queue_refreshed(&scripted.reply, n, kept);
    for (size_t i = 0; i < n; i++) {
        struct rl_reply own;

        refreshes[i].alone = each && kept[i].alone;
        rl_queue_refreshed_reply(&scripted.reply, each ? &kept[i] : NULL, refreshes[i].ticket, &own);
        refreshes[i].said = said_by(&own);
    }
    scripted_free(&scripted);
}

struct rl_answer queue_release(const char *value)
{
    struct rl_subject about = subject_of(value);

    return counter_take(kind(), RL_STEP_RELEASE, &about);
}

struct rl_answer queue_release_alone(const char *value)
{
    struct rl_subject about = subject_of(value);

    about.waiters = (struct rl_slice){NULL, 0};
    return counter_take(kind(), RL_STEP_RELEASE, &about);
}

void expect_said(struct said said, enum rl_outcome outcome, enum rl_detail detail)
{
    ck_assert_msg(said.answer.outcome == outcome && said.answer.detail == detail, "outcome %d (%s), expected %d (%s)",
                  said.answer.outcome, rl_detail_text(said.answer.detail), outcome, rl_detail_text(detail));
    ck_assert(said.placed == (outcome == RL_GRANTED || outcome == RL_QUEUED));
}

void queue_wait(const char *value, uint64_t ticket)
{
    struct said said = queue_enqueue(value, 0, ticket);

    expect_said(said, RL_QUEUED, RL_DETAIL_NONE);
}

void expect_queue(const char *values)
{
    char *reply = ask(counter_master, 0, "ZRANGE queue 0 -1");

    for (char *at = strchr(reply, '\n'); at; at = strchr(at, '\n'))
        *at = ' ';
    ck_assert_str_eq(reply, values);
    free(reply);
}

void expect_holder(const char *value)
{
    ask_expect(counter_master, 0, "GET lock", value);
}

void expect_nothing_left(void)
{
    ck_assert_int_eq(ask_integer(counter_master, 0, "EXISTS lock queue waiters"), 0);
}

/* --- Notifications ---------------------------------------------------------------------------------------------- */

/* redis://127.0.0.1:PORT or unix:PATH, or whatever is behind "://" and begins with a slash. */
static int connect_to(const char *url)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_un path = {.sun_family = AF_UNIX};
    const char *slash = strchr(url, '/');
    unsigned port;
    bool tcp = sscanf(url, "redis://127.0.0.1:%u", &port) == 1;
    int fd = socket(tcp ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    ck_assert_int_ge(fd, 0);
    if (tcp) {
        address.sin_port = htons((uint16_t)port);
        ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
        return fd;
    }
    while (slash && slash[1] == '/')
        slash++;
    ck_assert_ptr_nonnull(slash);
    snprintf(path.sun_path, sizeof path.sun_path, "%s", slash);
    ck_assert_msg(connect(fd, (struct sockaddr *)&path, sizeof path) == 0, "%s", url);
    return fd;
}

/* Up to the next line feed, without the end of the line. */
static void read_line(char *ret_line, size_t size)
{
    char *end;

    while (!(end = memchr(heard, '\n', n_heard))) {
        struct pollfd readable = {.fd = subscriber, .events = POLLIN};
        ssize_t n;

        ck_assert_msg(poll(&readable, 1, SUITE_PATIENCE_S * 1000) == 1, "nothing was said");
        n = read(subscriber, heard + n_heard, sizeof heard - n_heard);
        ck_assert_int_gt(n, 0);
        n_heard += (size_t)n;
    }
    ck_assert_uint_lt((size_t)(end - heard), size);
    memcpy(ret_line, heard, (size_t)(end - heard));
    ret_line[end - heard] = '\0';
    ret_line[strcspn(ret_line, "\r")] = '\0';
    n_heard -= (size_t)(end + 1 - heard);
    memmove(heard, end + 1, n_heard);
}

/* An array of three: kind, channel, and a text or a number. */
static void read_message(const char *kind, char *ret_payload, size_t size)
{
    char line[256];

    read_line(line, sizeof line);
    ck_assert_str_eq(line, "*3");
    read_line(line, sizeof line);
    read_line(line, sizeof line);
    ck_assert_str_eq(line, kind);
    read_line(line, sizeof line);
    read_line(line, sizeof line);
    ck_assert_str_eq(line, "grants");
    read_line(ret_payload, size);
    if (ret_payload[0] == '$')
        read_line(ret_payload, size);
}

void subscriber_open(void)
{
    static const char subscribe[] = "SUBSCRIBE grants\r\n";
    char payload[64];

    n_heard = 0;
    subscriber = connect_to(masters_url(counter_master, 0));
    ck_assert_int_eq(write(subscriber, subscribe, sizeof subscribe - 1), sizeof subscribe - 1);
    read_message("subscribe", payload, sizeof payload);
}

void subscriber_close(void)
{
    if (subscriber >= 0)
        close(subscriber);
    counter_stop();
}

struct rl_notification subscriber_expect(const char *value, bool granted, uint32_t round, const char *incarnation)
{
    struct rl_slice told_value, told_incarnation;
    struct rl_notification call;
    char payload[256];

    read_message("message", payload, sizeof payload);
    ck_assert_msg(rl_notification_read((struct rl_slice){payload, strlen(payload)}, &told_value, &told_incarnation,
                                        &call),
                  "%s", payload);
    ck_assert_msg((call.kind == RL_TOLD_GRANTED) == granted && call.round == round, "%s", payload);
    ck_assert_msg(told_value.size == strlen(value) && memcmp(told_value.data, value, told_value.size) == 0, "%s",
                  payload);
    ck_assert_msg(told_incarnation.size == strlen(incarnation) &&
                      memcmp(told_incarnation.data, incarnation, told_incarnation.size) == 0,
                  "%s", payload);
    return call;
}

/* What is published after it comes after it. */
void subscriber_expect_silence(void)
{
    char payload[256];

    ask_expect(counter_master, 0, "PUBLISH grants end", "(integer) 1");
    read_message("message", payload, sizeof payload);
    ck_assert_str_eq(payload, "end");
}
