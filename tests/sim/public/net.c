#include "net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/script.h"
#include "kinds/names.h"
#include "simulated/redis_commands.h"
#include "simulated/resp.h"
#include "simulated/script_master.h"

struct net net;

/* Masters have clocks of their own. */
static int64_t time_of(unsigned master)
{
    return net.now + (int64_t)master * 7777777 * RL_NS_PER_US + INT64_C(1700000000) * 1000 * RL_NS_PER_MS;
}

static void start_master(struct net_master *master, bool forgets)
{
    if (forgets)
        keyspace_clear(&master->keys);
    master->up = true;
    master->has_scripts = false;
    master->runs++;
    master->hung_until = 0;
    snprintf(master->info, sizeof master->info,
             "#\nrun_id:m%ur%u\nrole:master\nmaster_replid2:0\nmaster_replid:m%ur%u\n",
             (unsigned)(master - net.masters), master->runs, (unsigned)(master - net.masters), master->runs);
}

void net_start(uint64_t seed, unsigned n_masters)
{
    struct lua_host *lua = net.lua ? net.lua : lua_host_create();
    struct message_pool messages = net.messages;

    memset(&net, 0, sizeof net);
    net.lua = lua;
    net.messages = messages;
    message_pool_clear(&net.messages);
    rng_init(&net.rng, seed, 1);
    net.now = 1000 * RL_NS_PER_MS;
    net.n_masters = n_masters;
    rl_list_init(&net.pipes);
    net.delay_min = rng_scaled(&net.rng, 50 * RL_NS_PER_US, 4 * RL_NS_PER_MS);
    net.delay_max = net.delay_min * rng_between(&net.rng, 1, 5);
    for (unsigned i = 0; i < n_masters; i++)
        start_master(&net.masters[i], true);
}

static void free_pipe(struct net_pipe *pipe)
{
    message_truncate(&net.messages, &pipe->requests, 0);
    message_truncate(&net.messages, &pipe->answers, 0);
    rl_list_remove(&pipe->link);
    free(pipe);
}

void net_end(void)
{
    while (!rl_list_empty(&net.pipes))
        free_pipe(RL_CONTAINER_OF(net.pipes.next, struct net_pipe, link));
}

struct rl_instant net_read_clock(void)
{
    if (net.hiccup_permille && rng_chance(&net.rng, net.hiccup_permille))
        net.now += rng_scaled(&net.rng, 100 * RL_NS_PER_US, 200 * RL_NS_PER_MS);
    return (struct rl_instant){net.now};
}

/* --- Connections -------------------------------------------------------------------------------------------------- */

static int64_t delay(void)
{
    if (rng_chance(&net.rng, net.odd_permille))
        return rng_scaled(&net.rng, RL_NS_PER_MS, 1500 * RL_NS_PER_MS);
    return rng_between(&net.rng, net.delay_min, net.delay_max);
}

/* Nothing overtakes what was sent before it. */
static int64_t arrival(int64_t *latest)
{
    int64_t at = net.now + delay();

    return *latest = at > *latest ? at : *latest;
}

struct net_pipe *net_connect(struct rl_driver *driver, unsigned master)
{
    struct net_pipe *pipe;

    if (!net.masters[master].up)
        return NULL;
    pipe = calloc(1, sizeof *pipe);
    if (!pipe)
        abort();
    pipe->driver = driver;
    pipe->master = master;
    pipe->requests = pipe->answers = MESSAGE_LIST_EMPTY;
    pipe->open_at = net.now + delay();
    pipe->closed_at = INT64_MAX;
    rl_list_append(&net.pipes, &pipe->link);
    return pipe;
}

static void lose_some(struct message_list *list)
{
    message_truncate(&net.messages, list, rng_below(&net.rng, list->count + 1));
}

void net_close(struct net_pipe *pipe)
{
    pipe->driver = NULL;
    message_truncate(&net.messages, &pipe->answers, 0);
    if (rng_chance(&net.rng, 500))
        lose_some(&pipe->requests);
    if (pipe->broken || !pipe->requests.count)
        free_pipe(pipe);
}

void net_send(struct net_pipe *pipe, uint32_t message)
{
    if (pipe->broken) {
        message_give(&net.messages, message);
        return;
    }
    net.messages.messages[message].arrives = arrival(&pipe->latest_request);
    message_append(&net.messages, &pipe->requests, message);
}

static int64_t first_arrival(const struct message_list *list)
{
    return list->count ? net.messages.messages[list->head].arrives : INT64_MAX;
}

uint32_t net_receive(struct net_pipe *pipe)
{
    return first_arrival(&pipe->answers) <= net.now ? message_shift(&net.messages, &pipe->answers) : MESSAGE_NONE;
}

int64_t net_readable_at(const struct net_pipe *pipe)
{
    int64_t at = first_arrival(&pipe->answers);

    return at < pipe->closed_at ? at : pipe->closed_at;
}

static void answer(struct net_pipe *pipe, uint32_t message)
{
    net.messages.messages[message].arrives = arrival(&pipe->latest_answer);
    message_append(&net.messages, &pipe->answers, message);
}

/* --- Commands ----------------------------------------------------------------------------------------------------- */

static char *channel_of(struct net_pipe *pipe, struct rl_slice name)
{
    for (int i = 0; i < NET_CHANNELS; i++) {
        if (pipe->channels[i][0] && rl_slice_is(name, pipe->channels[i]))
            return pipe->channels[i];
    }
    return NULL;
}

/* The channel and the payload are the two items of the message. */
static bool publish(void *world, struct rl_slice channel, struct rl_slice payload)
{
    const struct net_master *master = world;

    for (struct rl_list *at = net.pipes.next; at != &net.pipes; at = at->next) {
        struct net_pipe *pipe = RL_CONTAINER_OF(at, struct net_pipe, link);
        struct rl_reply news = {.root = {.type = RL_REPLY_ARRAY, .text = channel}, .n_elements = 1};
        uint32_t message;

        if (!pipe->driver || pipe->broken || &net.masters[pipe->master] != master || !channel_of(pipe, channel))
            continue;
        news.elements[0] = (struct rl_reply_item){.type = RL_REPLY_STRING, .text = payload};
        message = message_take(&net.messages);
        message_pack_reply(&net.messages.messages[message], &news);
        net.messages.messages[message].kind = MESSAGE_PUBLISHED;
        answer(pipe, message);
    }
    return true;
}

/* The answer names the channel. */
static void subscribe(struct net_pipe *pipe, struct rl_slice word, struct rl_slice name, struct rl_reply *ret_reply)
{
    char *channel = channel_of(pipe, name);
    bool enters = rl_slice_is(word, "SUBSCRIBE");

    if (channel && !enters)
        channel[0] = '\0';
    for (int i = 0; i < NET_CHANNELS && enters && !channel; i++) {
        if (!pipe->channels[i][0])
            snprintf(channel = pipe->channels[i], NET_CHANNEL_BYTES, "%.*s", (int)name.size, (const char *)name.data);
    }
    *ret_reply = (struct rl_reply){.root = {.type = RL_REPLY_STRING, .integer = enters, .text = name}};
}

static enum rl_script which_script(struct rl_slice word, bool digest)
{
    for (int script = RL_SCRIPT_NONE + 1; script < RL_SCRIPT_COUNT; script++) {
        const struct rl_script_text *text = rl_script_text((enum rl_script)script);

        if (rl_slice_is(word, digest ? text->sha1 : text->text))
            return (enum rl_script)script;
    }
    abort();
}

static void run_script(struct net_master *master, const struct script_master *model, const struct rl_slice *argv,
                       size_t argc, struct rl_reply *ret_reply)
{
    bool digest = rl_slice_is(argv[0], "EVALSHA");
    int64_t n_keys = 0;
    struct script_call call;

    if (digest && !master->has_scripts) {
        reply_error(ret_reply, "NOSCRIPT No matching script. Please use EVAL.");
        return;
    }
    if (!redis_parse_integer(argv[2], &n_keys))
        abort();
    call = (struct script_call){which_script(argv[1], digest), (size_t)n_keys, argc - 3, argv + 3};
    master->has_scripts = true;
    script_master_call(model, &master->keys, time_of((unsigned)(master - net.masters)), &call, ret_reply);
}

static void obey(struct net_pipe *pipe, const struct rl_slice *argv, size_t argc, struct rl_reply *ret_reply)
{
    struct net_master *master = &net.masters[pipe->master];
    const struct script_master model = {.lua = net.lua, .told = publish, .world = master, .info = master->info,
                                        .write_error = master->write_error};
    const struct script_call command = {.script = RL_SCRIPT_NONE, .argc = argc, .argv = argv};

    if (rl_slice_is(argv[0], "SUBSCRIBE") || rl_slice_is(argv[0], "UNSUBSCRIBE")) {
        subscribe(pipe, argv[0], argv[1], ret_reply);
    } else if (rl_slice_is(argv[0], "EVALSHA") || rl_slice_is(argv[0], "EVAL")) {
        run_script(master, &model, argv, argc, ret_reply);
    } else if (rl_slice_is(argv[0], "SCRIPT")) {
        ret_reply->root = (struct rl_reply_item){.type = RL_REPLY_ARRAY};
        ret_reply->n_elements = RL_SCRIPT_COUNT - 1;
        for (int i = 0; i < RL_SCRIPT_COUNT - 1; i++)
            ret_reply->elements[i] = (struct rl_reply_item){.type = RL_REPLY_INTEGER, .integer = master->has_scripts};
    } else if (rl_slice_is(argv[0], "CONFIG")) {
        ret_reply->root = (struct rl_reply_item){.type = RL_REPLY_ARRAY};
        ret_reply->n_elements = 2;
        ret_reply->elements[0] = (struct rl_reply_item){.type = RL_REPLY_STRING, .text = argv[2]};
        ret_reply->elements[1] = (struct rl_reply_item){.type = RL_REPLY_STRING, .text = rl_slice_of("no")};
    } else {
        script_master_call(&model, &master->keys, time_of(pipe->master), &command, ret_reply);
    }
}

/* The messages may move when another one is taken. */
static void execute(struct net_pipe *pipe, uint32_t request)
{
    struct message *message = &net.messages.messages[request];
    struct rl_slice argv[RESP_MAX_WORDS];
    struct rl_reply reply = {0};
    char *bytes = message->bytes;
    uint32_t reply_message;
    size_t argc;

    if (message->kind == MESSAGE_SETUP) {
        reply_status(&reply, "PONG");
    } else {
        if (resp_parse(bytes, message->size, argv, &argc) != message->size)
            abort();
        obey(pipe, argv, argc, &reply);
    }
    if (!pipe->driver)
        return;
    reply_message = message_take(&net.messages);
    message_pack_reply(&net.messages.messages[reply_message], &reply);
    answer(pipe, reply_message);
}

/* --- Masters at work ---------------------------------------------------------------------------------------------- */

static int64_t served_at(const struct net_pipe *pipe)
{
    int64_t at = first_arrival(&pipe->requests);
    int64_t hung_until = net.masters[pipe->master].hung_until;

    return at != INT64_MAX && at < hung_until ? hung_until : at;
}

static struct net_pipe *first_served(void)
{
    struct net_pipe *first = NULL;

    for (struct rl_list *at = net.pipes.next; at != &net.pipes; at = at->next) {
        struct net_pipe *pipe = RL_CONTAINER_OF(at, struct net_pipe, link);

        if (!first || served_at(pipe) < served_at(first))
            first = pipe;
    }
    return first;
}

int64_t net_due(void)
{
    const struct net_pipe *first = first_served();
    int64_t due = first ? served_at(first) : INT64_MAX;

    for (unsigned i = 0; i < net.n_masters; i++) {
        if (!net.masters[i].up && net.masters[i].back_at < due)
            due = net.masters[i].back_at;
    }
    return due;
}

void net_run_due(void)
{
    struct net_pipe *pipe = first_served();
    uint32_t request;

    for (unsigned i = 0; i < net.n_masters; i++) {
        if (!net.masters[i].up && net.masters[i].back_at <= net.now) {
            start_master(&net.masters[i], false);
            return;
        }
        if (net.masters[i].write_error_until <= net.now)
            net.masters[i].write_error = NULL;
    }
    if (!pipe || served_at(pipe) > net.now)
        return;
    request = message_shift(&net.messages, &pipe->requests);
    execute(pipe, request);
    message_give(&net.messages, request);
    if (!pipe->driver && !pipe->requests.count)
        free_pipe(pipe);
}

/* --- Faults ------------------------------------------------------------------------------------------------------- */

static void break_pipe(struct net_pipe *pipe)
{
    if (pipe->broken)
        return;
    message_truncate(&net.messages, &pipe->requests, 0);
    if (!pipe->driver) {
        free_pipe(pipe);
        return;
    }
    pipe->broken = true;
    lose_some(&pipe->answers);
    pipe->closed_at = arrival(&pipe->latest_answer);
}

void net_crash(unsigned number, bool forgets, int64_t back_at)
{
    struct net_master *master = &net.masters[number];

    for (struct rl_list *at = net.pipes.next, *next; at != &net.pipes; at = next) {
        struct net_pipe *pipe = RL_CONTAINER_OF(at, struct net_pipe, link);

        next = at->next;
        if (pipe->master == number)
            break_pipe(pipe);
    }
    master->up = false;
    master->back_at = back_at;
    if (forgets)
        keyspace_clear(&master->keys);
}

void net_flush(unsigned master)
{
    keyspace_clear(&net.masters[master].keys);
}

static struct net_pipe *pipe_number(unsigned choice)
{
    unsigned n = 0;

    for (struct rl_list *at = net.pipes.next; at != &net.pipes; at = at->next)
        n++;
    choice = n ? choice % n : 0;
    for (struct rl_list *at = net.pipes.next; at != &net.pipes; at = at->next) {
        if (choice-- == 0)
            return RL_CONTAINER_OF(at, struct net_pipe, link);
    }
    return NULL;
}

void net_cut(unsigned choice)
{
    struct net_pipe *pipe = pipe_number(choice);

    if (pipe)
        break_pipe(pipe);
}

void net_stick(unsigned choice, int64_t until)
{
    struct net_pipe *pipe = pipe_number(choice);

    if (pipe)
        pipe->stuck_until = until;
}

void net_heal(void)
{
    net.odd_permille = net.hiccup_permille = 0;
    for (unsigned i = 0; i < net.n_masters; i++) {
        net.masters[i].hung_until = 0;
        net.masters[i].write_error = NULL;
        if (!net.masters[i].up)
            net.masters[i].back_at = net.now;
    }
    for (struct rl_list *at = net.pipes.next; at != &net.pipes; at = at->next)
        RL_CONTAINER_OF(at, struct net_pipe, link)->stuck_until = 0;
}

/* --- What masters have -------------------------------------------------------------------------------------------- */

static bool begins(const struct text *key, const char *prefix)
{
    return key->size >= strlen(prefix) && memcmp(key->bytes, prefix, strlen(prefix)) == 0;
}

static bool outlasts_locks(const struct text *key)
{
    return begins(key, RL_MARKER_NAME) || begins(key, RL_COUNTER_NAME) || begins(key, RL_LATCH_NAME);
}

unsigned net_count_locks(char *ret_example, size_t size)
{
    unsigned n = 0;

    for (unsigned i = 0; i < net.n_masters; i++) {
        struct keyspace *keys = &net.masters[i].keys;

        script_master_purge(keys, time_of(i) / RL_NS_PER_MS);
        for (uint32_t k = 0; k < keys->count; k++) {
            const struct text *key = &keys->entries[k].key;

            if (outlasts_locks(key))
                continue;
            snprintf(ret_example, size, "master %u has %.*s", i, (int)key->size, key->bytes);
            n++;
        }
    }
    return n;
}
