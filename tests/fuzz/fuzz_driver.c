/* A whole client against masters that say anything at any time: whatever happens, each accepted operation calls back
 * once, nothing is left in the event base, and no lock is won without a quorum of masters having said +OK.
 *
 * Input: the number of masters, then a program of steps: see `steps`. Nothing depends on time except through the
 * client's timers, which are too long to fire. */
#include <errno.h>
#include <event2/event.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <redlock/redlock.h>

#include "fuzz.h"

#define MASTERS 3
#define LOCKS 3

/* The tail of what a master has said on its connection, enough to find "+OK" across two sayings. */
struct master {
    int listener;
    int fd;
    char url[128];
    char tail[8];
    bool served;  /* has said +PONG on this connection */
    bool granted; /* has said +OK behind that, on any connection */
};

static struct {
    struct event_base *base;
    struct redlock_client *client;
    struct redlock_lock *locks[LOCKS];
    unsigned n;
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
    snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/fuzz-master-%ld-%u", (long)getpid(), i);
    snprintf(master->url, sizeof(master->url), "unix://%s", address.sun_path);
    unlink(address.sun_path);
    master->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    HOLDS(bind(master->listener, (struct sockaddr *)&address, sizeof(address)) == 0);
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
    memset(master->tail, 0, sizeof(master->tail));
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
    memmove(master->tail, master->tail + 1, sizeof(master->tail) - 1);
    master->tail[sizeof(master->tail) - 1] = (char)byte;
    if (memcmp(master->tail + 1, "+PONG\r\n", 7) == 0)
        master->served = true;
    else if (master->served && memcmp(master->tail + 3, "+OK\r\n", 5) == 0)
        master->granted = true;
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

    while (master->fd >= 0 && recv(master->fd, buffer, sizeof(buffer), 0) > 0) {
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
        granted += masters[i].granted;
    if (result->op == REDLOCK_OP_ACQUIRE && result->status == REDLOCK_OK)
        HOLDS(granted >= result->quorum);
    HOLDS(redlock_lock_client(lock) == world.client);
    (void)user_data;
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

static void say_word(struct master *master)
{
    static const char *const words[] = {
        "+OK\r\n", "$-1\r\n", ":1\r\n", ":0\r\n", ":-1\r\n", "+PONG\r\n", "*0\r\n", "$2\r\nOK\r\n", "-READONLY x\r\n",
        "-NOSCRIPT x\r\n", "-ERR x\r\n", "-WRONGTYPE x\r\n", "+O", "K\r\n", "*2\r\n+OK\r\n", "-LOADING x\r\n",
    };
    const char *word = words[next() % (sizeof(words) / sizeof(words[0]))];

    say(master, word, strlen(word));
}

/* What a healthy master says to the handshake. */
static void shake_hands(struct master *master)
{
    static const char reply[] = "+OK\r\n$2\r\nab\r\n$2\r\ncd\r\n+PONG\r\n";

    accept_client(master);
    say(master, reply, sizeof(reply) - 1);
}

static struct redlock_lock *any_lock(void)
{
    size_t i = next() % LOCKS;

    if (!world.locks[i])
        (void)redlock_lock_create(world.client, "key", 3, &world.locks[i]);
    return world.locks[i];
}

static void acquire(void)
{
    struct redlock_acquire_options wish;
    struct redlock_lock *lock = any_lock();

    redlock_acquire_options_init(&wish);
    wish.timeout_ms = next() % 2 ? REDLOCK_FOREVER : 0;
    wish.retry_delay_ms = 60000;
    count(redlock_acquire(lock, &wish, on_done, NULL));
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
    case 4:
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
            say(&masters[i], "+OK\r\n", 5);
        break;
    }
}

/* --- From the start to the end --------------------------------------------------------------------------------- */

static void start(void)
{
    const char *urls[MASTERS];
    struct redlock_options options;

    world.n = 1 + next() % MASTERS;
    for (unsigned i = 0; i < world.n; i++) {
        listen_once(&masters[i], i);
        masters[i].granted = false;
        urls[i] = masters[i].url;
    }
    redlock_options_init(&options);
    options.profile = REDLOCK_PROFILE_CLASSIC; /* what masters say here are votes */
    options.node_timeout_ms = options.connect_timeout_ms = options.stall_timeout_ms = 60000;
    options.backoff_min_ms = options.backoff_max_ms = 1;
    world.base = event_base_new();
    HOLDS(redlock_client_create(world.base, urls, world.n, &options, &world.client, NULL) == 0);
    if (next() % 4) { /* most programs get further with a connection */
        for (unsigned i = 0; i < 3; i++)
            event_base_loop(world.base, EVLOOP_NONBLOCK);
        for (unsigned i = 0; i < world.n; i++)
            shake_hands(&masters[i]);
        event_base_loop(world.base, EVLOOP_NONBLOCK);
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
    memset(&world, 0, sizeof(world));
    world.data = data;
    world.size = size;
    start();
    while (world.size)
        step();
    finish();
}
