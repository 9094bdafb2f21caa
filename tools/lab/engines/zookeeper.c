/* ZooKeeper: the lock recipe of its manual ("ZooKeeper Recipes and Solutions", Locks). Each attempt makes an ephemeral
 * sequential node; the lowest has the lock, every other one watches its predecessor. One session for all of them. The
 * zxid that made the node is the fencing token: it grows in the order of the nodes. The end of the session ends the
 * locks. A client that has heard nothing for two thirds of the session's time calls itself disconnected; a third later
 * its session may have ended, and holders are told. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zookeeper/zookeeper.h>

#include "engine.h"

#define NS_PER_MS 1000000
#define CHECK_MS 100
#define PATH_SIZE 1024
#define OPEN_MS 10000
#define PAUSE_MS 20
#define DIRECTORY "/redlock"

/* State of one attempt. */
struct node {
    char parent[PATH_SIZE / 2];
    char path[PATH_SIZE];
    long long session; /* that the node belongs to */
};

static zhandle_t *handle;
static char hosts[2048];
static int session_ms;

/* Every event of the session, and of a predecessor that has gone, wakes all that wait. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static unsigned long events;
static int64_t disconnected_ns; /* since when the session has had no connection */

static void on_event(zhandle_t *zh, int type, int state, const char *path, void *context)
{
    pthread_mutex_lock(&lock);
    if (type == ZOO_SESSION_EVENT && state != ZOO_CONNECTED_STATE)
        disconnected_ns = engine_now_ns();
    events++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* Sleeps until something has happened since `seen`, or the time is up. */
static void wait_for_event(unsigned long seen, int64_t deadline_ns)
{
    struct timespec until = {.tv_sec = deadline_ns / 1000000000, .tv_nsec = deadline_ns % 1000000000};

    pthread_mutex_lock(&lock);
    while (events == seen && pthread_cond_timedwait(&changed, &lock, &until) == 0)
        ;
    pthread_mutex_unlock(&lock);
}

static unsigned long events_so_far(void)
{
    unsigned long seen;

    pthread_mutex_lock(&lock);
    seen = events;
    pthread_mutex_unlock(&lock);
    return seen;
}

static bool is_connected(void)
{
    return handle && zoo_state(handle) == ZOO_CONNECTED_STATE;
}

static long long session_id(void)
{
    return (long long)zoo_client_id(handle)->client_id;
}

/* An expired session never comes back: the next attempt begins another one. */
static bool revive(void)
{
    static pthread_mutex_t reviving = PTHREAD_MUTEX_INITIALIZER;
    bool alive = true;

    pthread_mutex_lock(&reviving);
    if (!handle || zoo_state(handle) == ZOO_EXPIRED_SESSION_STATE) {
        /* The old handle is kept: other threads may be in it. Sessions end seldom. */
        zhandle_t *fresh = zookeeper_init(hosts, on_event, session_ms, NULL, NULL, 0);

        alive = fresh != NULL;
        if (fresh)
            handle = fresh;
    }
    pthread_mutex_unlock(&reviving);
    return alive;
}

static bool wait_until_connected(int64_t deadline_ns)
{
    while (revive()) {
        unsigned long seen = events_so_far();

        if (is_connected())
            return true;
        if (engine_now_ns() >= deadline_ns)
            break;
        wait_for_event(seen, deadline_ns);
    }
    engine_say("no server of ZooKeeper can be reached");
    return false;
}

static bool make_parents(const char *parent)
{
    int code = zoo_create(handle, DIRECTORY, NULL, -1, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0);

    if (code == ZOK || code == ZNODEEXISTS)
        code = zoo_create(handle, parent, NULL, -1, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0);
    return code == ZOK || code == ZNODEEXISTS;
}

/* The name is part of the path that others list, and tells which attempt a lost answer belonged to. */
static int make_node(struct engine_hold *hold, struct node *node)
{
    static atomic_ulong counter;
    char wanted[PATH_SIZE];
    struct Stat stat;
    int code;

    snprintf(wanted, sizeof wanted, "%s/%llx-%lu-", node->parent, session_id(), ++counter);
    node->session = session_id();
    for (int i = 0; i < 2; i++) {
        code = zoo_create2(handle, wanted, NULL, -1, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL | ZOO_SEQUENCE, node->path,
                           sizeof node->path, &stat);
        if (code != ZNONODE || !make_parents(node->parent))
            break;
    }
    if (code == ZOK) {
        hold->fence = (uint64_t)stat.czxid;
        hold->has_fence = true;
    } else {
        /* It may have been made all the same: its name but for the number says whose it is. */
        snprintf(node->path, sizeof node->path, "%s", wanted);
    }
    return code;
}

static const char *number_of(const char *name)
{
    const char *dash = strrchr(name, '-');

    return dash ? dash + 1 : name;
}

/* The greatest number below ours; "" if there is none. False: ours is not among them. */
static bool find_predecessor(const struct String_vector *names, const char *own, char *ret_name, size_t size)
{
    const char *best = NULL;
    bool found = false;

    for (int i = 0; i < names->count; i++) {
        int order = strcmp(number_of(names->data[i]), number_of(own));

        if (order == 0)
            found = true;
        else if (order < 0 && (!best || strcmp(number_of(names->data[i]), number_of(best)) > 0))
            best = names->data[i];
    }
    snprintf(ret_name, size, "%s", best ? best : "");
    return found;
}

/* One look. ZOK: ours; ZNOTEMPTY: somebody is before us, and is watched; ZNONODE: our node is gone; else an error. */
static int look(const struct node *node)
{
    struct String_vector names = {0};
    char name[256], path[PATH_SIZE];
    bool found;
    int code = zoo_get_children(handle, node->parent, 0, &names);

    if (code != ZOK)
        return code;
    found = find_predecessor(&names, node->path, name, sizeof name);
    deallocate_String_vector(&names);
    if (!found || name[0] == '\0')
        return found ? ZOK : ZNONODE;
    snprintf(path, sizeof path, "%s/%s", node->parent, name);
    code = zoo_wexists(handle, path, on_event, NULL, NULL);
    return code == ZOK ? ZNOTEMPTY : code == ZNONODE ? look(node) : code;
}

static enum engine_verdict wait_for_turn(const struct node *node, int64_t deadline_ns)
{
    int code = ZNOTEMPTY;

    do {
        unsigned long seen = events_so_far();

        code = look(node);
        if (code == ZOK)
            return ENGINE_ACQUIRED;
        if (code == ZNONODE || code == ZSESSIONEXPIRED || node->session != session_id())
            break;
        if (code == ZNOTEMPTY)
            wait_for_event(seen, deadline_ns);
        else if (!wait_until_connected(deadline_ns))
            break;
    } while (engine_now_ns() < deadline_ns);
    if (code != ZNOTEMPTY)
        engine_say("%s", zerror(code));
    return code == ZNOTEMPTY ? ENGINE_HELD : ENGINE_UNREACHABLE;
}

/* A slash would make another directory. */
static bool set_parent(struct node *node, const char *key)
{
    int length = snprintf(node->parent, sizeof node->parent, DIRECTORY "/%s", key);

    for (char *c = node->parent + strlen(DIRECTORY "/"); *c; c++)
        if (*c == '/')
            *c = '\\';
    return length < (int)sizeof node->parent;
}

/* Until it is known to be gone, or its session is. */
static enum engine_release delete_node(const struct node *node, int64_t deadline_ns)
{
    struct timespec pause = {.tv_nsec = PAUSE_MS * NS_PER_MS};

    while (node->session == session_id()) {
        int code = zoo_delete(handle, node->path, -1);

        if (code == ZOK)
            return ENGINE_RELEASED;
        if (code == ZNONODE || code == ZSESSIONEXPIRED)
            return ENGINE_LOST;
        if (engine_now_ns() >= deadline_ns)
            return ENGINE_UNCONFIRMED;
        nanosleep(&pause, NULL);
    }
    return ENGINE_LOST;
}

/* What is left of an attempt whose answer was lost has an unknown number at its end. */
static void delete_unnumbered(const struct node *node)
{
    struct String_vector names = {0};
    const char *own = strrchr(node->path, '/') + 1;
    char path[PATH_SIZE];

    if (zoo_get_children(handle, node->parent, 0, &names) != ZOK)
        return;
    for (int i = 0; i < names.count; i++)
        if (strncmp(names.data[i], own, strlen(own)) == 0) {
            snprintf(path, sizeof path, "%s/%.400s", node->parent, names.data[i]);
            zoo_delete(handle, path, -1);
        }
    deallocate_String_vector(&names);
}

static enum engine_verdict acquire(struct engine_hold *hold)
{
    int64_t deadline_ns = engine_now_ns() + hold->timeout_ms * NS_PER_MS;
    struct node *node = calloc(1, sizeof *node);
    enum engine_verdict verdict;
    int code;

    hold->state = node;
    if (!node || !set_parent(node, hold->key))
        return ENGINE_ERROR;
    if (!wait_until_connected(deadline_ns))
        return ENGINE_UNREACHABLE;
    code = make_node(hold, node);
    if (code != ZOK) {
        engine_say("%s", zerror(code));
        delete_unnumbered(node);
        return ENGINE_UNREACHABLE;
    }
    verdict = wait_for_turn(node, deadline_ns);
    if (verdict != ENGINE_ACQUIRED)
        delete_node(node, deadline_ns);
    else
        engine_renew_every(hold, CHECK_MS);
    return verdict;
}

static bool has_ended(const struct node *node)
{
    return node->session != session_id() || zoo_state(handle) == ZOO_EXPIRED_SESSION_STATE;
}

static int64_t remaining_ms(struct engine_hold *hold)
{
    int64_t left_ms = zoo_recv_timeout(handle) / 3;

    if (has_ended(hold->state))
        return 0;
    if (is_connected())
        return left_ms;
    pthread_mutex_lock(&lock);
    left_ms -= (engine_now_ns() - disconnected_ns) / NS_PER_MS;
    pthread_mutex_unlock(&lock);
    return left_ms > 0 ? left_ms : 0;
}

/* The client renews its session by itself; what is looked at is whether it still has it. */
static void check(struct engine_hold *hold)
{
    if (remaining_ms(hold) == 0)
        engine_hold_lost(hold);
}

static enum engine_release release(struct engine_hold *hold)
{
    return delete_node(hold->state, engine_now_ns() + hold->ttl_ms * NS_PER_MS);
}

static void forget(struct engine_hold *hold)
{
    free(hold->state);
}

static bool open_session(const struct engine_settings *settings)
{
    pthread_condattr_t attributes;
    size_t length = 0;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &attributes);
    pthread_condattr_destroy(&attributes);
    zoo_set_debug_level(0);
    for (size_t i = 0; i < settings->n_nodes; i++) {
        char address[64];

        engine_address(settings->nodes[i], address, sizeof address);
        length += (size_t)snprintf(hosts + length, sizeof hosts - length, "%s%s", i ? "," : "", address);
    }
    session_ms = settings->ttl_ms > 0 ? (int)settings->ttl_ms : 10000;
    return wait_until_connected(engine_now_ns() + (int64_t)OPEN_MS * NS_PER_MS);
}

int main(void)
{
    const struct engine engine = {
        .name = "zookeeper",
        .version = ZOO_VERSION,
        .can = "lease,renewal,fence,fifo,alarm",
        .systems = "zookeeper",
        .open = open_session,
        .acquire = acquire,
        .release = release,
        .remaining_ms = remaining_ms,
        .renew = check,
        .forget = forget,
    };

    return engine_main(&engine);
}
