/* Events as lines of a log. */
#include <check.h>
#include <redlock/log.h>
#include <stdlib.h>
#include <string.h>

#include "service_rig.h"

GROUP(alone, "log", NULL, NULL)

TEST(alone, levels_tell_what_matters)
{
    struct redlock_event event = {.type = REDLOCK_EVENT_LOST, .node = -1, .text = ""};

    ck_assert_int_eq(redlock_event_level(&event), REDLOCK_LEVEL_ERROR);
    event.type = REDLOCK_EVENT_NODE;
    event.link = REDLOCK_LINK_DOWN;
    ck_assert_int_eq(redlock_event_level(&event), REDLOCK_LEVEL_WARNING);
    event.link = REDLOCK_LINK_READY;
    ck_assert_int_eq(redlock_event_level(&event), REDLOCK_LEVEL_INFO);
    event.type = REDLOCK_EVENT_FAILED;
    event.status = REDLOCK_HELD;
    ck_assert_int_eq(redlock_event_level(&event), REDLOCK_LEVEL_INFO);
    event.status = REDLOCK_NO_QUORUM;
    ck_assert_int_eq(redlock_event_level(&event), REDLOCK_LEVEL_WARNING);
    event.status = REDLOCK_DEADLINE;
    event.cause = REDLOCK_NO_QUORUM;
    ck_assert_int_eq(redlock_event_level(&event), REDLOCK_LEVEL_WARNING);
    event.cause = 0;
    ck_assert_int_eq(redlock_event_level(&event), REDLOCK_LEVEL_WARNING);
    event.cause = REDLOCK_HELD;
    ck_assert_int_eq(redlock_event_level(&event), REDLOCK_LEVEL_INFO);
    event.status = REDLOCK_CANCELED;
    event.cause = REDLOCK_NO_QUORUM;
    ck_assert_int_eq(redlock_event_level(&event), REDLOCK_LEVEL_INFO);
    event.type = REDLOCK_EVENT_VOTE;
    ck_assert_int_eq(redlock_event_level(&event), REDLOCK_LEVEL_DEBUG);
    event.type = (enum redlock_event_type)999;
    ck_assert_int_eq(redlock_event_level(&event), REDLOCK_LEVEL_DEBUG);
    ck_assert_str_eq(redlock_level_name(REDLOCK_LEVEL_ERROR), "error");
    ck_assert_str_eq(redlock_level_name((enum redlock_level)0), "?");
}

TEST(alone, a_line_fits_whatever_room_there_is)
{
    struct redlock_event event = {.type = REDLOCK_EVENT_NODE, .node = 3, .link = REDLOCK_LINK_DOWN,
                                  .text = "a\nb\\\x01\xff"};
    char line[REDLOCK_MAX_LINE_BYTES];

    ck_assert_str_eq(redlock_event_line(&event, line, sizeof line),
                     "node, master 3: down (a\\x0ab\\x5c\\x01\\xff)");
    for (size_t size = 1; size < 50; size++) {
        memset(line, '!', sizeof line);
        redlock_event_line(&event, line, size);
        ck_assert_uint_lt(strlen(line), size);
        ck_assert_int_eq(line[size], '!');
    }
    line[0] = '!';
    redlock_event_line(&event, line, 0);
    ck_assert_int_eq(line[0], '!');
}

static void tell_of_first_master(struct redlock_client *client, void *line)
{
    const struct redlock_event event = {.type = REDLOCK_EVENT_NODE, .client = client, .link = REDLOCK_LINK_DOWN,
                                        .text = ""};

    redlock_event_line(&event, line, REDLOCK_MAX_LINE_BYTES);
}

TEST(alone, the_path_of_a_master_does_not_break_the_line)
{
    static const char *const masters[] = {"unix:///nowhere/a%0ab%1b%5c"};
    struct redlock_service *service;
    char line[REDLOCK_MAX_LINE_BYTES];

    ck_assert_int_eq(redlock_service_create(masters, 1, NULL, &service, NULL), 0);
    ck_assert_int_eq(redlock_service_run(service, tell_of_first_master, line), 0);
    ck_assert_str_eq(line, "node, master /nowhere/a\\x0ab\\x1b\\x5c: down");
    redlock_service_destroy(service);
}

/* --- Of a real lock --------------------------------------------------------------------------------------------- */

struct log {
    char text[65536];
    size_t size;
    size_t longest;
};

static void write_line(const struct redlock_event *event, void *user_data)
{
    struct log *log = user_data;
    char line[REDLOCK_MAX_LINE_BYTES];
    size_t size = strlen(redlock_event_line(event, line, sizeof line));

    ck_assert_uint_lt(log->size + size + 1, sizeof log->text);
    memcpy(log->text + log->size, line, size);
    log->size += size;
    log->text[log->size++] = '\n';
    log->longest = size > log->longest ? size : log->longest;
}

static void hook(struct redlock_options *options, void *log)
{
    options->on_event = write_line;
    options->event_data = log;
}

TEST(alone, the_life_of_a_lock_can_be_read_without_its_token)
{
    static struct log log;
    struct redlock_mutex *mutex;
    char token[REDLOCK_MAX_TOKEN_BYTES + 1];

    world_open_with(3, hook, &log);
    mutex = world_hold("some\tkey", 10000);
    ck_assert_int_eq(redlock_mutex_token(mutex, token, sizeof token), 0);
    ck_assert_int_eq(redlock_mutex_unlock(mutex), REDLOCK_OK);
    world_close();
    ck_assert_ptr_nonnull(strstr(log.text, "attempt some\\x09key\n"));
    ck_assert_ptr_nonnull(strstr(log.text, "acquired some\\x09key, "));
    ck_assert_ptr_nonnull(strstr(log.text, "vote some\\x09key, master "));
    ck_assert_ptr_nonnull(strstr(log.text, "acquire granted"));
    ck_assert_ptr_nonnull(strstr(log.text, "released some\\x09key: success\n"));
    ck_assert_ptr_null(strstr(log.text, token));
    ck_assert_uint_lt(log.longest, REDLOCK_MAX_LINE_BYTES - 1);
}

SUITE_WITH_SERVER("log")
