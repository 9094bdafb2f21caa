#include "trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "codec/classify.h"
#include "engine/hold.h"
#include "simulated/redis_commands.h"
#include "simulated/resp.h"
#include "world.h"

/* --- Names -------------------------------------------------------------------------------------------------------- */

const char *name_of_client(unsigned client)
{
    static const char *const names[MAX_CLIENTS] = {"A", "B", "C", "D"};

    return names[client];
}

const char *name_of_master(unsigned master)
{
    static const char *const names[MAX_MASTERS] = {"m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9"};

    return names[master];
}

const char *name_of_place(const struct client *client, unsigned place)
{
    return client->machines[place] == NO_MACHINE ? "a master that has left" : name_of_master(client->machines[place]);
}

const char *name_of_handle(const struct client *client, const struct handle *handle)
{
    static const char *const names[MAX_CLIENTS][MAX_HANDLES] = {
        {"A", "A'", "A''", "A'''"},
        {"B", "B'", "B''", "B'''"},
        {"C", "C'", "C''", "C'''"},
        {"D", "D'", "D''", "D'''"},
    };

    return names[client->index][handle->index];
}

const char *name_of_key(unsigned key)
{
    static const char *const names[MAX_KEYS] = {"k", "other", "s#gate", "s#0", "s#1", "s#2", "s#3"};

    return names[key];
}

const char *name_of_party(unsigned party)
{
    static const char *const names[MAX_PARTIES] = {"p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8"};

    return names[party];
}

const char *name_of_queue(unsigned key)
{
    static const char *const names[MAX_KEYS] = {
        RL_QUEUE_NAME "k",
        RL_QUEUE_NAME "other",
        RL_QUEUE_NAME "s#gate",
        RL_QUEUE_NAME "s#0",
        RL_QUEUE_NAME "s#1",
        RL_QUEUE_NAME "s#2",
        RL_QUEUE_NAME "s#3",
    };

    return names[key];
}

const char *name_of_waiters(unsigned key)
{
    static const char *const names[MAX_KEYS] = {
        RL_WAITERS_NAME "k",
        RL_WAITERS_NAME "other",
        RL_WAITERS_NAME "s#gate",
        RL_WAITERS_NAME "s#0",
        RL_WAITERS_NAME "s#1",
        RL_WAITERS_NAME "s#2",
        RL_WAITERS_NAME "s#3",
    };

    return names[key];
}

const char *name_of_end(enum rl_end end)
{
    static const char *const names[N_ENDS] = {"none",     "ok",       "held", "no quorum",       "too slow",
                                              "deadline", "canceled", "lost", "refused by host"};

    return names[end];
}

const char *name_of_op(enum rl_op op)
{
    static const char *const names[N_OPS] = {"nothing", "acquire", "extend", "release", "convert"};

    return names[op];
}

const char *name_of_step(enum rl_step step)
{
    static const char *const names[RL_STEP_COUNT] = {"claim",  "enqueue", "raise",   "extend",
                                                     "repair", "release", "rollback"};

    return names[step];
}

const char *name_of_join(enum rl_join_event event)
{
    static const char *const names[RL_JOIN_EVENT_COUNT] = {
        "marker kept", "new memory", "restarted", "resumed", "declared", "no marker", "another deployment's marker",
        "another master's marker", "a newer view", "not taken: a view that does not lead there", "an older view",
        "another memory"};

    return names[event];
}

const char *name_of_outcome(enum rl_outcome outcome)
{
    static const char *const names[N_OUTCOMES] = {"not asked", "pending", "granted", "refused", "failed",
                                                  "unknown",   "queued"};

    return names[outcome];
}

/* --- Lines -------------------------------------------------------------------------------------------------------- */

static void begin_line(const struct world *world, const char *who)
{
    fprintf(world->trace, "%10.3f  %-4s", (double)(world->acting ? client_true_now(world->acting) : world->now) / 1e6,
            who);
}

/* What one step sends to several masters is one line, which ends with the next one of another kind. */
static void end_sending(struct world *world)
{
    if (world->sending)
        fputc('\n', world->trace);
    world->sending = BOX_NONE;
}

void trace_flush(struct world *world)
{
    if (world->trace)
        end_sending(world);
}

void world_trace(struct world *world, const char *who, const char *format, ...)
{
    va_list arguments;

    end_sending(world);
    begin_line(world, who);
    va_start(arguments, format);
    vfprintf(world->trace, format, arguments);
    va_end(arguments);
    fputc('\n', world->trace);
}

void trace_send(struct client *client, const struct box *box, unsigned node, enum rl_step step)
{
    struct world *world = client->world;

    if (!world->trace)
        return;
    if (world->sending != box->id || world->sending_step != (uint8_t)step) {
        end_sending(world);
        begin_line(world, name_of_client(client->index));
        fprintf(world->trace, "%s %s ->", name_of_step(step), box->token);
        world->sending = box->id;
        world->sending_step = (uint8_t)step;
    }
    fprintf(world->trace, " %s", name_of_place(client, node));
}

/* Without what every channel begins with, and the padding of what stands for UUIDs. */
static size_t put_clean(char *out, size_t room, const char *text, size_t size)
{
    size_t used = 0;
    size_t at = 0;

    while (at < size && used + 1 < room) {
        if (strncmp(text + at, RL_CHANNEL_NAME, sizeof RL_CHANNEL_NAME - 1) == 0)
            at += sizeof RL_CHANNEL_NAME - 1;
        else if (text[at] == '_')
            at++;
        else
            out[used++] = text[at++];
    }
    out[used] = '\0';
    return used;
}

void trace_notification(struct client *client, unsigned node, struct rl_slice payload, bool known)
{
    char text[200];

    if (!client->world->trace)
        return;
    put_clean(text, sizeof text, payload.data, payload.size);
    world_trace(client->world, name_of_client(client->index), "%s calls: %s%s", name_of_place(client, node), text,
                known ? "" : " (who?)");
}

static void format_item(const struct rl_reply_item *item, char *text, size_t size)
{
    if (item->type == RL_REPLY_INTEGER)
        snprintf(text, size, "%lld", (long long)item->integer);
    else if (item->type == RL_REPLY_NIL)
        snprintf(text, size, "nil");
    else
        snprintf(text, size, "%.*s", (int)item->text.size, (const char *)item->text.data);
}

static void format_reply(const struct rl_reply *reply, char *text, size_t size)
{
    size_t used = 0;

    if (reply->root.type != RL_REPLY_ARRAY)
        format_item(&reply->root, text, size);
    for (size_t i = 0; i < reply->n_elements && used < size; i++) {
        if (i)
            text[used++] = ' ';
        format_item(&reply->elements[i], text + used, size - used);
        used += strlen(text + used);
    }
}

/* The keys of the queues say nothing that the key does not. */
static bool is_worth_telling(const struct message *message, int64_t n_keys, size_t argument)
{
    bool queue = message->step == RL_STEP_ENQUEUE || message->step == RL_STEP_RELEASE ||
                 message->step == RL_STEP_ROLLBACK || message->look;

    return !queue || argument == 0 || argument >= (size_t)n_keys;
}

void trace_command(struct world *world, const struct master *master, const struct message *message, bool ghost,
                   const struct rl_reply *reply)
{
    struct rl_slice words[RESP_MAX_WORDS];
    struct rl_slice *argv = words;
    char command[300] = "";
    char answer[100] = "";
    int64_t n_keys = 0;
    size_t size = 0;
    size_t argc;

    if (!world->trace)
        return;
    resp_parse(message->bytes, message->size, words, &argc);
    if (rl_slice_is(argv[0], "EVAL") || rl_slice_is(argv[0], "EVALSHA")) {
        size = (size_t)snprintf(command, sizeof command, "%s ",
                                message->look    ? "look"
                                : message->latch ? "latch"
                                                 : name_of_step((enum rl_step)message->step));
        redis_parse_integer(argv[2], &n_keys);
        argv += 3;
        argc -= 3;
    }
    for (size_t i = 0; i < argc && size + 2 < sizeof command; i++) {
        if (!is_worth_telling(message, n_keys, i))
            continue;
        if (i)
            command[size++] = ' ';
        size += put_clean(command + size, sizeof command - size, argv[i].data, argv[i].size);
    }
    format_reply(reply, answer, sizeof answer);
    world_trace(world, name_of_master(master->index), "%s = %s%s", command, answer, ghost ? "  (ghost)" : "");
}

void trace_answer(struct client *client, const struct box *box, enum rl_step step, unsigned node,
                  struct rl_answer answer)
{
    TRACE(client->world, name_of_client(client->index), "%s: %s %s %s%s%s", name_of_place(client, node),
          name_of_step(step), box->token, name_of_outcome(answer.outcome),
          answer.detail == RL_DETAIL_NONE ? "" : ", ", rl_detail_text(answer.detail));
}

void trace_completion(struct client *client, const struct handle *handle, enum rl_op op, enum rl_end status)
{
    struct rl_instant deadline = rl_lock_deadline(&client->host.engine, &handle->host.core);
    double left_ms = (double)rl_until(client->host.now, deadline).ns / 1e6;

    if (left_ms > 0)
        TRACE(client->world, name_of_handle(client, handle), "%s: %s, valid for %.3f ms", name_of_op(op),
              name_of_end(status), left_ms);
    else
        TRACE(client->world, name_of_handle(client, handle), "%s: %s", name_of_op(op),
              name_of_end(status));
}
