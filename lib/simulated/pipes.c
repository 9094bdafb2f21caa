/* What a server does with the commands that come on one connection. What has to do with keys is redis.c's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "codec/script.h"
#include "simulated/redis_commands.h"
#include "simulated/resp.h"
#include "simulated/script_master.h"
#include "simulated/world.h"

/* --- Answers ------------------------------------------------------------------------------------------------------ */

static void add(struct pipe *pipe, const void *bytes, size_t size)
{
    if (!rl_bytes_append(&pipe->answers, bytes, size))
        abort();
}

static void add_header(struct pipe *pipe, char kind, int64_t number)
{
    char line[32];

    add(pipe, line, (size_t)snprintf(line, sizeof line, "%c%lld\r\n", kind, (long long)number));
}

static void add_text(struct pipe *pipe, struct rl_slice text)
{
    add_header(pipe, '$', (int64_t)text.size);
    add(pipe, text.data, text.size);
    add(pipe, "\r\n", 2);
}

static void add_line(struct pipe *pipe, char kind, struct rl_slice text)
{
    add(pipe, &kind, 1);
    add(pipe, text.data, text.size);
    add(pipe, "\r\n", 2);
}

static void add_item(struct pipe *pipe, const struct rl_reply_item *item)
{
    if (item->type == RL_REPLY_STATUS)
        add_line(pipe, '+', item->text);
    else if (item->type == RL_REPLY_ERROR)
        add_line(pipe, '-', item->text);
    else if (item->type == RL_REPLY_INTEGER)
        add_header(pipe, ':', item->integer);
    else if (item->type == RL_REPLY_STRING)
        add_text(pipe, item->text);
    else
        add_header(pipe, '$', -1);
}

static void add_reply(struct pipe *pipe, const struct rl_reply *reply)
{
    if (reply->root.type != RL_REPLY_ARRAY) {
        add_item(pipe, &reply->root);
        return;
    }
    add_header(pipe, '*', (int64_t)reply->n_elements);
    for (size_t i = 0; i < reply->n_elements; i++)
        add_item(pipe, &reply->elements[i]);
}

/* --- Channels ----------------------------------------------------------------------------------------------------- */

static struct pipe_channel *find_channel(struct pipe *pipe, struct rl_slice name)
{
    for (struct rl_list *at = pipe->channels.next; at != &pipe->channels; at = at->next) {
        struct pipe_channel *channel = RL_CONTAINER_OF(at, struct pipe_channel, link);

        if (rl_slice_equals(name, (struct rl_slice){channel->name, channel->size}))
            return channel;
    }
    return NULL;
}

static void drop_channel(struct pipe *pipe, struct pipe_channel *channel)
{
    rl_list_remove(&channel->link);
    pipe->n_channels--;
    free(channel);
}

static void add_channel(struct pipe *pipe, struct rl_slice name)
{
    struct pipe_channel *channel = malloc(sizeof *channel + name.size);

    if (!channel)
        abort();
    channel->size = name.size;
    memcpy(channel->name, name.data, name.size);
    rl_list_append(&pipe->channels, &channel->link);
    pipe->n_channels++;
}

static void subscribe(struct pipe *pipe, const struct rl_slice *argv, size_t argc)
{
    bool enters = redis_word_is(argv[0], "SUBSCRIBE");

    for (size_t i = 1; i < argc; i++) {
        struct pipe_channel *channel = find_channel(pipe, argv[i]);

        if (enters && !channel)
            add_channel(pipe, argv[i]);
        else if (!enters && channel)
            drop_channel(pipe, channel);
        add_header(pipe, '*', 3);
        add_text(pipe, rl_slice_of(enters ? "subscribe" : "unsubscribe"));
        add_text(pipe, argv[i]);
        add_header(pipe, ':', pipe->n_channels);
    }
}

static bool publish(void *world, struct rl_slice channel, struct rl_slice payload)
{
    struct simulated_master *master = world;

    for (struct rl_list *at = master->pipes.next; at != &master->pipes; at = at->next) {
        struct pipe *pipe = RL_CONTAINER_OF(at, struct pipe, link);

        if (!find_channel(pipe, channel))
            continue;
        add_header(pipe, '*', 3);
        add_text(pipe, rl_slice_of("message"));
        add_text(pipe, channel);
        add_text(pipe, payload);
        pipe_ring(pipe);
    }
    return true;
}

/* --- Commands ----------------------------------------------------------------------------------------------------- */

static enum rl_script which_script(struct rl_slice word, bool digest)
{
    for (int script = RL_SCRIPT_NONE + 1; script < RL_SCRIPT_COUNT; script++) {
        const struct rl_script_text *text = rl_script_text((enum rl_script)script);

        if (rl_slice_is(word, digest ? text->sha1 : text->text))
            return (enum rl_script)script;
    }
    return RL_SCRIPT_NONE;
}

static void call(struct simulated_master *master, const struct script_call *call, struct rl_reply *reply)
{
    const struct redlock_simulation *simulation = master->simulation;
    const struct script_master model = {.lua = simulation->lua, .told = publish, .world = master, .info = master->info};

    script_master_call(&model, &master->keys, world_boot_ns(simulation) + simulation->wall_less_boot_ns, call, reply);
}

/* A memory without a marker is new here, since none is ever lost. So it is declared to be, as an operator declares new
 * masters before the first lock, and votes at once. */
static void declare_new(struct simulated_master *master, const struct script_call *join)
{
    struct rl_slice argv[RESP_MAX_WORDS];
    struct script_call declaration = *join;
    struct rl_reply reply;

    if (join->argc < 2 || !rl_slice_is(join->argv[1], "vote") ||
        keyspace_find(&master->keys, join->argv[0].data, join->argv[0].size))
        return;
    memcpy(argv, join->argv, join->argc * sizeof argv[0]);
    argv[1] = rl_slice_of("declare");
    declaration.argv = argv;
    call(master, &declaration, &reply);
}

static void run_script(struct simulated_master *master, const struct rl_slice *argv, size_t argc,
                       struct rl_reply *reply)
{
    bool digest = redis_word_is(argv[0], "EVALSHA");
    enum rl_script script = argc < 3 ? RL_SCRIPT_NONE : which_script(argv[1], digest);
    int64_t n_keys = 0;
    struct script_call wanted;

    if (script == RL_SCRIPT_NONE || (digest && !master->scripts[script])) {
        reply_error(reply, "NOSCRIPT No matching script. Please use EVAL.");
        return;
    }
    if (!redis_parse_integer(argv[2], &n_keys) || n_keys < 0 || (size_t)n_keys > argc - 3) {
        reply_error(reply, "ERR Number of keys can't be greater than number of args");
        return;
    }
    wanted = (struct script_call){script, (size_t)n_keys, argc - 3, argv + 3};
    master->scripts[script] = true;
    if (script == RL_SCRIPT_JOIN)
        declare_new(master, &wanted);
    call(master, &wanted, reply);
}

static void tell_scripts(struct pipe *pipe, const struct rl_slice *argv, size_t argc)
{
    add_header(pipe, '*', (int64_t)argc - 2);
    for (size_t i = 2; i < argc; i++)
        add_header(pipe, ':', pipe->master->scripts[which_script(argv[i], true)]);
}

static void tell_setting(struct pipe *pipe, struct rl_slice name)
{
    add_header(pipe, '*', 2);
    add_text(pipe, name);
    add_text(pipe, rl_slice_of("no"));
}

/* On a connection that listens it is answered as a message. */
static void answer_ping(struct pipe *pipe)
{
    if (pipe->n_channels) {
        add_header(pipe, '*', 2);
        add_text(pipe, rl_slice_of("pong"));
        add_text(pipe, rl_slice_of(""));
    } else {
        add_line(pipe, '+', rl_slice_of("PONG"));
    }
}

static void obey(struct pipe *pipe, const struct rl_slice *argv, size_t argc)
{
    struct rl_reply reply = {.root = {.type = RL_REPLY_STATUS, .text = rl_slice_of("OK")}};

    if (redis_word_is(argv[0], "SUBSCRIBE") || redis_word_is(argv[0], "UNSUBSCRIBE")) {
        subscribe(pipe, argv, argc);
    } else if (redis_word_is(argv[0], "SCRIPT") && argc > 2) {
        tell_scripts(pipe, argv, argc);
    } else if (redis_word_is(argv[0], "CONFIG") && argc > 2) {
        tell_setting(pipe, argv[2]);
    } else if (redis_word_is(argv[0], "PING")) {
        answer_ping(pipe);
    } else {
        if (redis_word_is(argv[0], "EVALSHA") || redis_word_is(argv[0], "EVAL"))
            run_script(pipe->master, argv, argc, &reply);
        else if (!redis_word_is(argv[0], "CLIENT") && !redis_word_is(argv[0], "AUTH")) /* any password is right */
            call(pipe->master, &(const struct script_call){.script = RL_SCRIPT_NONE, .argc = argc, .argv = argv},
                 &reply);
        add_reply(pipe, &reply);
    }
}

void pipe_execute(struct pipe *pipe, const void *bytes, size_t size)
{
    struct rl_slice argv[RESP_MAX_WORDS];
    const char *at = bytes;
    const char *end = at + size;
    size_t argc;

    while (at < end) {
        at += resp_parse(at, (size_t)(end - at), argv, &argc);
        obey(pipe, argv, argc);
    }
    pipe_ring(pipe);
}

/* --- Life --------------------------------------------------------------------------------------------------------- */

struct pipe *pipe_open(struct simulated_master *master, struct rl_simulated *client)
{
    struct pipe *pipe = calloc(1, sizeof *pipe);

    if (!pipe)
        return NULL;
    *pipe = (struct pipe){.master = master, .client = client, .fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    rl_list_init(&pipe->channels);
    rl_list_init(&pipe->link);
    if (pipe->fd < 0) {
        free(pipe);
        return NULL;
    }
    rl_list_append(&master->pipes, &pipe->link);
    return pipe;
}

void pipe_free(struct pipe *pipe)
{
    pipe_hush(pipe);
    while (!rl_list_empty(&pipe->channels))
        drop_channel(pipe, RL_CONTAINER_OF(pipe->channels.next, struct pipe_channel, link));
    rl_list_remove(&pipe->link);
    rl_bytes_fini(&pipe->answers);
    close(pipe->fd);
    free(pipe);
}

void pipe_break(struct pipe *pipe)
{
    pipe->broken = true;
    pipe_ring(pipe);
}

void pipe_ring(struct pipe *pipe)
{
    uint64_t one = 1;

    if (pipe->rung || (!pipe->broken && !rl_bytes_length(&pipe->answers)))
        return;
    pipe->rung = true;
    pipe->client->unread++;
    pipe->client->rests = false;
    if (write(pipe->fd, &one, sizeof one) != sizeof one)
        abort();
}

void pipe_hush(struct pipe *pipe)
{
    uint64_t rung;

    if (!pipe->rung || read(pipe->fd, &rung, sizeof rung) != sizeof rung)
        return;
    pipe->rung = false;
    pipe->client->unread--;
}
