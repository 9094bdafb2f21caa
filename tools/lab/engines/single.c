/* One Redis: SET NX PX with a random value, and a script that deletes the key if it still has this value. As Redis'
 * manual has it ("Distributed Locks with Redis", correct implementation with a single instance): who finds the key
 * taken tries again after a random delay. Nothing renews the key; the holder believes until the ttl has passed since
 * the command was sent.
 *
 * Behind Sentinel the master is asked for by name, and +switch-master is followed, as "Guidelines for Redis clients
 * with support for Redis Sentinel" has it: connections to the former master are closed. */
#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/time.h>
#include <time.h>

#include "engine.h"

#define NS_PER_MS 1000000
#define PATIENCE_MS 500 /* for a connection, and for an answer */
#define LEAST_PAUSE_MS 10
#define PAUSE_SPREAD_MS 20
#define VALUE_SIZE 33

static const char release_script[] =
    "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end";

static char sentinels[ENGINE_NODES_MAX][128];
static size_t n_sentinels;
static char master_name[128];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char address[128];          /* of the server, or of the master as far as is known; "" if it is not */
static atomic_uint generation = 1; /* of the address */

static int64_t left_ms(int64_t deadline_ns)
{
    int64_t left_ns = deadline_ns - engine_now_ns();

    return left_ns > 0 ? left_ns / NS_PER_MS + 1 : 0;
}

static void pause_ms(int64_t ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * NS_PER_MS}, NULL);
}

static redisContext *connect_to(const char *place, int64_t patience_ms)
{
    const char *colon = strrchr(place, ':');
    struct timeval patience = {patience_ms / 1000, patience_ms % 1000 * 1000};
    char host[128];
    redisContext *context;

    if (!colon) {
        engine_say("the master is not known");
        return NULL;
    }
    snprintf(host, sizeof host, "%.*s", (int)(colon - place), place);
    context = redisConnectWithTimeout(host, atoi(colon + 1), patience);
    if (context && !context->err)
        return context;
    engine_say("%s: %s", place, context ? context->errstr : "out of memory");
    if (context)
        redisFree(context);
    return NULL;
}

/* --- Sentinel ----------------------------------------------------------------------------------------------------- */

static void set_address(const char *host, const char *port)
{
    char place[128];

    snprintf(place, sizeof place, "%s:%s", host, port);
    pthread_mutex_lock(&lock);
    if (strcmp(place, address) != 0) {
        snprintf(address, sizeof address, "%s", place);
        generation++;
    }
    pthread_mutex_unlock(&lock);
}

static void ask_for_master(redisContext *sentinel)
{
    redisReply *reply = redisCommand(sentinel, "SENTINEL get-master-addr-by-name %s", master_name);

    if (reply && reply->type == REDIS_REPLY_ARRAY && reply->elements == 2)
        set_address(reply->element[0]->str, reply->element[1]->str);
    freeReplyObject(reply);
}

/* "NAME OLD-HOST OLD-PORT NEW-HOST NEW-PORT" */
static void hear_switch(const redisReply *reply)
{
    char name[128], host[64], port[16];

    if (reply->type == REDIS_REPLY_ARRAY && reply->elements == 3 && reply->element[2]->type == REDIS_REPLY_STRING &&
        sscanf(reply->element[2]->str, "%127s %*s %*s %63s %15s", name, host, port) == 3 &&
        strcmp(name, master_name) == 0)
        set_address(host, port);
}

static void listen_to(redisContext *sentinel)
{
    redisReply *reply;

    ask_for_master(sentinel);
    freeReplyObject(redisCommand(sentinel, "SUBSCRIBE +switch-master"));
    redisSetTimeout(sentinel, (struct timeval){0});
    redisEnableKeepAlive(sentinel);
    while (!sentinel->err && redisGetReply(sentinel, (void **)&reply) == REDIS_OK) {
        hear_switch(reply);
        freeReplyObject(reply);
    }
}

/* One Sentinel after the other. */
static void *follow_master(void *user_data)
{
    for (size_t i = 0;; i = (i + 1) % n_sentinels) {
        redisContext *sentinel = connect_to(sentinels[i], PATIENCE_MS);

        if (sentinel) {
            listen_to(sentinel);
            redisFree(sentinel);
        }
        pause_ms(LEAST_PAUSE_MS);
    }
    return NULL;
}

static bool open_sentinels(const struct engine_settings *settings)
{
    pthread_t thread;

    snprintf(master_name, sizeof master_name, "%s", *settings->master ? settings->master : "mymaster");
    n_sentinels = settings->n_nodes;
    for (size_t i = 0; i < n_sentinels; i++) {
        redisContext *sentinel;

        engine_address(settings->nodes[i], sentinels[i], sizeof sentinels[i]);
        sentinel = connect_to(sentinels[i], PATIENCE_MS);
        if (sentinel)
            ask_for_master(sentinel);
        if (sentinel)
            redisFree(sentinel);
    }
    return pthread_create(&thread, NULL, follow_master, NULL) == 0;
}

/* --- Commands ----------------------------------------------------------------------------------------------------- */

/* Of this thread, to the master of now. */
static _Thread_local redisContext *connection;
static _Thread_local unsigned connected_to; /* the generation */

static void hang_up(void)
{
    if (connection)
        redisFree(connection);
    connection = NULL;
}

static bool connect_to_master(int64_t patience_ms)
{
    char place[128];

    if (connection && connected_to == generation)
        return true;
    hang_up();
    pthread_mutex_lock(&lock);
    snprintf(place, sizeof place, "%s", address);
    connected_to = generation;
    pthread_mutex_unlock(&lock);
    connection = connect_to(place, patience_ms);
    return connection != NULL;
}

/* NULL: no answer; a connection that has been silent is not used again. */
static redisReply *command(int64_t timeout_ms, int argc, const char **argv)
{
    int64_t patience_ms = timeout_ms < PATIENCE_MS ? timeout_ms : PATIENCE_MS;
    redisReply *reply;

    if (!connect_to_master(patience_ms))
        return NULL;
    redisSetTimeout(connection, (struct timeval){.tv_usec = patience_ms * 1000 % 1000000});
    reply = redisCommandArgv(connection, argc, argv, NULL);
    if (!reply) {
        engine_say("%s", connection->errstr);
        hang_up();
    } else if (reply->type == REDIS_REPLY_ERROR) {
        engine_say("%s", reply->str);
        if (strncmp(reply->str, "READONLY", 8) == 0)
            hang_up();
    }
    return reply;
}

/* --- The lock ----------------------------------------------------------------------------------------------------- */

static bool make_value(char ret_value[VALUE_SIZE])
{
    unsigned char bytes[(VALUE_SIZE - 1) / 2];

    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(ret_value + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

static enum engine_verdict try_once(struct engine_hold *hold, int64_t patience_ms)
{
    char ttl[24];
    const char *argv[] = {"SET", hold->key, hold->state, "NX", "PX", ttl};
    int64_t since_ns = engine_now_ns();
    enum engine_verdict verdict;
    redisReply *reply;

    snprintf(ttl, sizeof ttl, "%" PRId64, hold->ttl_ms);
    reply = command(patience_ms, 6, argv);
    if (!reply)
        return ENGINE_UNREACHABLE;
    if (reply->type == REDIS_REPLY_STATUS) {
        engine_hold_until(hold, since_ns + hold->ttl_ms * NS_PER_MS);
        verdict = ENGINE_ACQUIRED;
    } else {
        verdict = reply->type == REDIS_REPLY_NIL ? ENGINE_HELD : ENGINE_ERROR;
    }
    freeReplyObject(reply);
    return verdict;
}

static enum engine_release drop(struct engine_hold *hold, int64_t patience_ms)
{
    const char *argv[] = {"EVAL", release_script, "1", hold->key, hold->state};
    redisReply *reply = command(patience_ms, 5, argv);
    enum engine_release outcome = ENGINE_UNCONFIRMED;

    if (reply && reply->type == REDIS_REPLY_INTEGER)
        outcome = reply->integer == 1 ? ENGINE_RELEASED : ENGINE_LOST;
    else if (reply)
        outcome = ENGINE_FAILED;
    freeReplyObject(reply);
    return outcome;
}

/* A command without an answer may have been executed: its key is deleted by its value, once somebody answers. */
static enum engine_verdict acquire(struct engine_hold *hold)
{
    int64_t deadline_ns = engine_now_ns() + hold->timeout_ms * NS_PER_MS;
    int64_t left = hold->timeout_ms > 0 ? hold->timeout_ms : PATIENCE_MS;
    enum engine_verdict verdict;
    bool doubtful = false;

    hold->state = malloc(VALUE_SIZE);
    if (!hold->state || !make_value(hold->state))
        return ENGINE_ERROR;
    for (;;) {
        verdict = try_once(hold, left);
        if (verdict == ENGINE_ACQUIRED)
            return verdict;
        doubtful = doubtful || verdict == ENGINE_UNREACHABLE;
        left = left_ms(deadline_ns);
        if (left == 0)
            break;
        pause_ms(LEAST_PAUSE_MS + rand() % PAUSE_SPREAD_MS);
        left = left_ms(deadline_ns);
        if (left == 0)
            break;
    }
    if (doubtful)
        drop(hold, PATIENCE_MS);
    return verdict;
}

static enum engine_release release(struct engine_hold *hold)
{
    enum engine_release outcome = drop(hold, PATIENCE_MS);

    return outcome == ENGINE_UNCONFIRMED ? drop(hold, PATIENCE_MS) : outcome;
}

static void forget(struct engine_hold *hold)
{
    free(hold->state);
}

static bool open_server(const struct engine_settings *settings)
{
    unsigned seed;

    if (getrandom(&seed, sizeof seed, 0) == (ssize_t)sizeof seed)
        srand(seed);
    if (strcmp(settings->system, "sentinel") == 0)
        return open_sentinels(settings);
    if (settings->n_nodes != 1) {
        engine_say("a single Redis is one node");
        return false;
    }
    engine_address(settings->nodes[0], address, sizeof address);
    return true;
}

int main(void)
{
    static char version[32];
    static const struct engine engine = {
        .name = "single",
        .version = version,
        .can = "lease",
        .systems = "redis:1,sentinel",
        .open = open_server,
        .acquire = acquire,
        .release = release,
        .forget = forget,
    };

    snprintf(version, sizeof version, "hiredis-%d.%d.%d", HIREDIS_MAJOR, HIREDIS_MINOR, HIREDIS_PATCH);
    return engine_main(&engine);
}
