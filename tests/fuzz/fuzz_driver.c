/* A whole client against masters that say anything at any time: whatever happens, each accepted operation calls back
 * once, nothing is left in the event base, and no lock is won without a quorum of masters having said +OK.
 *
 * Input: the number of masters, and by its highest bit the profile; then a program of steps, see step(). Nothing
 * depends on time except through the client's timers, which but for the first connection's are too long to fire. */
#include <errno.h>
#include <event2/event.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <redlock/redlock.h>

#include "fuzz.h"

#define MASTERS 3
#define INCARNATION "$1\r\ni\r\n"
#define TIME "*2\r\n$10\r\n1790000000\r\n$1\r\n0\r\n"
#define LOCKS 3

/* The tail of what a master has said on its connection, enough to find "+OK" across two sayings. */
struct master {
    int listener;
    int fd;
    char url[128];
    char tail[8];
    bool served;  /* has said +PONG on this connection */
    bool granted; /* has said +OK behind that, on any connection */
    bool vouched; /* has named the incarnation of its marker behind that: only then may a guarded vote count */
};

static struct {
    struct event_base *base;
    struct redlock_client *client;
    struct redlock_lock *locks[LOCKS];
    unsigned n;
    bool guarded;
    unsigned accepted;
    unsigned called;
    const uint8_t *data;
    size_t size;
} world;

static struct master masters[MASTERS];

/* --- Masters ------------------------------------------------------------------------------------------------- */

static void listen_once(struct master *master, unsigned i)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (master->url[0])
        return;
    snprintf(address.sun_path, sizeof address.sun_path, "/tmp/fuzz-master-%ld-%u", (long)getpid(), i);
    snprintf(master->url, sizeof master->url, "unix://%s", address.sun_path);
    unlink(address.sun_path);
    master->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    HOLDS(bind(master->listener, (struct sockaddr *)&address, sizeof address) == 0);
    HOLDS(listen(master->listener, 64) == 0);
    master->fd = -1;
}

static void unlink_all(void)
{
    for (unsigned i = 0; i < MASTERS; i++) {
        if (masters[i].url[0])
            unlink(masters[i].url + strlen("unix://"));
    }
}

static void hang_up(struct master *master)
{
    if (master->fd >= 0)
        close(master->fd);
    master->fd = -1;
    master->served = false;
    memset(master->tail, 0, sizeof master->tail);
}

static void accept_client(struct master *master)
{
    int fd = accept4(master->listener, NULL, NULL, SOCK_NONBLOCK);

    if (fd < 0)
        return;
    hang_up(master);
    master->fd = fd;
}

static void note(struct master *master, uint8_t byte)
{
    memmove(master->tail, master->tail + 1, sizeof master->tail - 1);
    master->tail[sizeof master->tail - 1] = (char)byte;
    if (memcmp(master->tail + 1, "+PONG\r\n", 7) == 0)
        master->served = true;
    else if (master->served && memcmp(master->tail + 3, "+OK\r\n", 5) == 0)
        master->granted = true;
    else if (master->granted && memcmp(master->tail + 1, INCARNATION, 7) == 0)
        master->vouched = true;
}

static void say(struct master *master, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    ssize_t n = master->fd >= 0 ? send(master->fd, bytes, size, MSG_NOSIGNAL) : 0;

    for (ssize_t i = 0; i < n; i++)
        note(master, at[i]);
}

static void read_away(struct master *master)
{
    char buffer[16384];

    while (master->fd >= 0 && recv(master->fd, buffer, sizeof buffer, 0) > 0) {
    }
}

/* --- Steps --------------------------------------------------------------------------------------------------- */

static uint8_t next(void)
{
    if (!world.size)
        return 0;
    world.size--;
    return *world.data++;
}

static void on_done(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    unsigned granted = 0;

    world.called++;
    for (unsigned i = 0; i < world.n; i++)
        granted += world.guarded ? masters[i].vouched : masters[i].granted;
    if (result->op == REDLOCK_OP_ACQUIRE && result->status == REDLOCK_OK)
        HOLDS(granted >= result->quorum);
    HOLDS(redlock_lock_client(lock) == world.client);
}

static void count(int status)
{
    world.accepted += status == 0;
}

static void say_raw(struct master *master)
{
    size_t size = next();

    if (size > world.size)
        size = world.size;
    say(master, world.data, size);
    world.data += size;
    world.size -= size;
}

static void say_text(struct master *master, const char *text)
{
    say(master, text, strlen(text));
}

/* What the guarded profile asks in addition. The servers differ in their identities, or they would be one. */
static void say_join(struct master *master)
{
    char reply[400];
    int id = (int)(master - masters);

    snprintf(reply, sizeof reply,
             "*24\r\n$4\r\nKEPT\r\n" INCARNATION "$4\r\nrun%d\r\n$4\r\nrep%d\r\n$6\r\nmaster\r\n"
             "$5\r\nredis\r\n$10\r\nnoeviction\r\n:0\r\n:60000\r\n:0\r\n:0\r\n:1790000000000000\r\n"
             ":0\r\n:0\r\n:0\r\n:60000\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n$0\r\n\r\n", id, id);
    say_text(master, reply);
}

static void say_guarded_word(struct master *master)
{
    static const char *const words[] = {
        INCARNATION, TIME, INCARNATION TIME, "+OK\r\n" INCARNATION TIME, "+OK\r\n", ":1\r\n" INCARNATION TIME,
        ":0\r\n" INCARNATION TIME, "$1\r\nj\r\n", "*2\r\n$10\r\n1800000000\r\n$1\r\n0\r\n",
        "*2\r\n$1\r\n0\r\n$1\r\n0\r\n", "*0\r\n*0\r\n*0\r\n*0\r\n", "-READONLY x\r\n", ":2\r\n", ":-2\r\n",
        "-NOPERM x\r\n", "$-1\r\n" INCARNATION TIME,
    };
    uint8_t which = next();

    if (which & 0x10)
        say_join(master);
    else
        say_text(master, words[which & 15]);
}

static void say_word(struct master *master)
{
    static const char *const words[] = {
        "+OK\r\n", "$-1\r\n", ":1\r\n", ":0\r\n", ":-1\r\n", "+PONG\r\n", "*0\r\n", "$2\r\nOK\r\n", "-READONLY x\r\n",
        "-NOSCRIPT x\r\n", "-ERR x\r\n", "-WRONGTYPE x\r\n", "+O", "K\r\n", "*2\r\n+OK\r\n", "-LOADING x\r\n",
    };

    say_text(master, words[next() % (sizeof words / sizeof words[0])]);
}

/* The first connections are made by a timer, which is due within a millisecond or two. */
static void wait_for_client(struct master *master)
{
    while (master->fd < 0) {
        event_base_loop(world.base, EVLOOP_ONCE);
        accept_client(master);
    }
}

/* Enough for an exchange: to write and to read. */
static void some_turns(void)
{
    for (unsigned i = 0; i < 3; i++)
        event_base_loop(world.base, EVLOOP_NONBLOCK);
}

/* What a healthy master says to the handshake. */
static void shake_hands(struct master *master)
{
    accept_client(master);
    say_text(master, "+OK\r\n");
    say_text(master, "+PONG\r\n");
    if (!world.guarded)
        return;
    some_turns();
    say_text(master, "*0\r\n*0\r\n*0\r\n*0\r\n*0\r\n"); /* no right to see settings and scripts */
    some_turns();
    say_join(master);
}

static struct redlock_lock *any_lock(void)
{
    size_t i = next() % LOCKS;

    if (!world.locks[i] && redlock_lock_create(world.client, "key", 3, &world.locks[i]) < 0)
        return NULL;
    return world.locks[i];
}

static void acquire(void)
{
    struct redlock_acquire_options request;
    struct redlock_lock *lock = any_lock();

    redlock_acquire_options_init(&request);
    request.timeout_ms = next() % 2 ? REDLOCK_FOREVER : 0;
    request.retry_delay_ms = 60000;
    count(redlock_acquire(lock, &request, on_done, NULL));
}

static void destroy_lock(void)
{
    size_t i = next() % LOCKS;

    redlock_lock_destroy(world.locks[i]);
    world.locks[i] = NULL;
}

static void use_lock(void)
{
    struct redlock_lock *lock = any_lock();

    switch (next() % 6) {
    case 0:
        count(redlock_extend(lock, 0, on_done, NULL));
        break;
    case 1:
        count(redlock_release(lock, on_done, NULL));
        break;
    case 2:
        (void)redlock_cancel(lock);
        break;
    case 3:
        count(redlock_release_token(lock, "token", on_done, NULL));
        break;
    case 4:
        (void)redlock_lock_detach(lock);
        break;
    default:
        HOLDS(redlock_remaining_ns(lock) == 0 || redlock_state(lock) != REDLOCK_STATE_IDLE);
        break;
    }
}

static void step(void)
{
    uint8_t what = next();
    struct master *master = &masters[(what >> 4) % world.n];

    switch (what & 15) {
    case 0:
    case 1:
        event_base_loop(world.base, EVLOOP_NONBLOCK);
        break;
    case 2:
        say_raw(master);
        break;
    case 3:
        say_word(master);
        break;
    case 4:
        if (world.guarded)
            say_guarded_word(master);
        else
            say_word(master);
        break;
    case 5:
        shake_hands(master);
        break;
    case 6:
        accept_client(master);
        break;
    case 7:
        hang_up(master);
        break;
    case 8:
        read_away(master);
        break;
    case 9:
    case 10:
        acquire();
        break;
    case 11:
    case 12:
    case 13:
        use_lock();
        break;
    case 14:
        destroy_lock();
        break;
    default:
        for (unsigned i = 0; i < world.n; i++)
            say_text(&masters[i], world.guarded ? "+OK\r\n" INCARNATION TIME : "+OK\r\n");
        break;
    }
}

/* If the handshake were out of date no program would get beyond it, and nobody would notice. */
static void expect_ready(void)
{
    struct redlock_node_info info;

    for (unsigned i = 0; i < world.n; i++) {
        HOLDS(redlock_client_node_info(world.client, i, &info, sizeof info) == 0);
        HOLDS(info.link == REDLOCK_LINK_READY && info.standing == REDLOCK_STANDING_VOTES);
    }
}

/* --- From the start to the end --------------------------------------------------------------------------------- */

static void start(void)
{
    const char *urls[MASTERS];
    struct redlock_options options;
    uint8_t shape = next();

    world.n = 1 + shape % MASTERS;
    world.guarded = shape & 0x80;
    for (unsigned i = 0; i < world.n; i++) {
        listen_once(&masters[i], i);
        masters[i].granted = masters[i].vouched = false;
        urls[i] = masters[i].url;
    }
    redlock_options_init(&options);
    options.profile = world.guarded ? REDLOCK_PROFILE_GUARDED : REDLOCK_PROFILE_CLASSIC;
    options.node_timeout_ms = options.connect_timeout_ms = options.stall_timeout_ms = 60000;
    options.backoff_min_ms = options.backoff_max_ms = 1;
    world.base = event_base_new();
    HOLDS(redlock_client_create(world.base, urls, world.n, &options, &world.client, NULL) == 0);
    if (next() % 4) { /* most programs get further with a connection */
        for (unsigned i = 0; i < world.n; i++) {
            wait_for_client(&masters[i]);
            shake_hands(&masters[i]);
        }
        some_turns();
        expect_ready();
    }
}

static void finish(void)
{
    redlock_client_destroy(world.client);
    HOLDS(world.called == world.accepted);
    HOLDS(event_base_get_num_events(world.base, EVENT_BASE_COUNT_ADDED | EVENT_BASE_COUNT_ACTIVE) == 0);
    event_base_free(world.base);
    for (unsigned i = 0; i < world.n; i++) {
        accept_client(&masters[i]);
        hang_up(&masters[i]);
    }
}

void fuzz_driver(const uint8_t *data, size_t size)
{
    static bool registered;

    if (!registered)
        registered = atexit(unlink_all) == 0;
    memset(&world, 0, sizeof world);
    world.data = data;
    world.size = size;
    start();
    while (world.size)
        step();
    finish();
}
