#include "cli/probe_again.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "cli/clock.h"

/* A clock is looked at twice over so long; once more if it seems to stand, as it may have been set back meanwhile. */
enum { CLOCK_LOOK_US = 100000, CLOCK_LOOKS = 2 };

void probe_time_take(const redisReply *reply, int64_t before_us, struct probe_time *ret_time)
{
    *ret_time = (struct probe_time){.before_us = before_us, .after_us = clock_now_us()};
    if (reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 && reply->element[0]->type == REDIS_REPLY_STRING &&
        reply->element[1]->type == REDIS_REPLY_STRING)
        ret_time->shown_us = strtoll(reply->element[0]->str, NULL, 10) * 1000000 +
                             strtoll(reply->element[1]->str, NULL, 10);
}

static bool ask_for_time(struct wire *wire, struct probe_time *ret_time)
{
    const char *time[] = {"TIME"};
    int64_t before_us = clock_now_us();
    redisReply *reply;

    *ret_time = (struct probe_time){0};
    wire_append(wire, 1, time);
    reply = wire_reply(wire);
    if (reply != NULL)
        probe_time_take(reply, before_us, ret_time);
    freeReplyObject(reply);
    return ret_time->shown_us > 0;
}

bool probe_clock_stands(struct wire *wire, const struct probe_time *first)
{
    struct probe_time earlier = *first, later;

    if (first->shown_us <= 0)
        return false;
    for (int i = 0; i < CLOCK_LOOKS; i++) {
        int64_t left_us = earlier.after_us + CLOCK_LOOK_US - clock_now_us();

        if (left_us > 0)
            poll(NULL, 0, (int)((left_us + 999) / 1000));
        if (!ask_for_time(wire, &later) ||
            later.shown_us - earlier.shown_us >= (later.before_us - earlier.after_us) / 2)
            return false;
        earlier = later;
    }
    return true;
}

void probe_run_id_take(const char *info, struct probe_rights *rights)
{
    static const char name[] = "\r\nrun_id:";
    const char *at = strstr(info, name);
    size_t size = at != NULL ? strcspn(at + strlen(name), "\r\n") : 0;

    if (size == 0 || size >= PROBE_RUN_ID_SIZE || rights->met > PROBE_CONNECTIONS)
        return;
    memcpy(rights->run_ids[rights->met], at + strlen(name), size);
    rights->run_ids[rights->met++][size] = '\0';
}

void probe_note_crowd(const char *error, struct probe_rights *rights)
{
    rights->crowded |= strstr(error, "max number of clients") != NULL;
}

void probe_run_id_ask(struct wire *wire, struct probe_rights *rights)
{
    const char *info[] = {"INFO", "server"};
    redisReply *reply;

    wire_append(wire, 2, info);
    reply = wire_reply(wire);
    if (reply != NULL && reply->type == REDIS_REPLY_STRING)
        probe_run_id_take(reply->str, rights);
    else if (reply != NULL && reply->type == REDIS_REPLY_ERROR)
        probe_note_crowd(reply->str, rights);
    freeReplyObject(reply);
}
