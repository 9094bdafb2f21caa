/* The floor: what locking costs at least. Fresh keys, SET NX PX to every master, at the quorum's +OK the lock is
 * held and given back by EVALSHA, at the last master's answer the next cycle begins - and nothing else: no lock
 * objects, no deadlines, no rollback, no reconnect, no random tokens, no error handling beyond giving up.
 *
 * It is as fast as we could make it with one write per master and turn of the loop: commands are templates in which
 * only 8 digits change, copied into one buffer per master; replies are told apart by their first byte and matched to
 * commands by their order. It takes the same three time stamps for each lock as the library's tasks do. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "floor.h"
#include "floor_command.h"
#include "floor_connect.h"

#define IN_SIZE 65536

struct slot {
    int64_t asked_ns;
    int64_t acquired_ns;
    uint32_t granted;
    uint32_t released;
    struct floor_command set;
    struct floor_command release;
};

struct master {
    int fd;
    uint32_t *ring;          /* slots in the order of their commands */
    uint32_t head, tail;
    size_t unsent;           /* bytes of out */
    size_t in_used;
    char *out;
    char in[IN_SIZE];
};

struct floor {
    struct bench_worker *worker;
    struct master *masters;
    struct slot *slots;
    uint32_t quorum;
    uint32_t n_masters;
    uint32_t ring_mask;
    uint32_t next_number;
    struct bench_totals totals;
    uint32_t cycles;         /* under way; at the end they are completed, so that no key is left */
    int epoll;
    bool quit, ok;
};

static void queue(struct floor *floor, uint32_t slot, const struct floor_command *command)
{
    for (uint32_t i = 0; i < floor->n_masters; i++) {
        struct master *master = &floor->masters[i];

        memcpy(master->out + master->unsent, command->bytes, command->size);
        master->unsent += command->size;
        master->ring[master->tail++ & floor->ring_mask] = slot;
    }
    floor->totals.commands += floor->n_masters;
}

static void begin_cycle(struct floor *floor, uint32_t index)
{
    struct slot *slot = &floor->slots[index];
    uint32_t number = floor->next_number++;

    floor_command_number(&slot->set, number);
    floor_command_number(&slot->release, number);
    slot->granted = slot->released = 0;
    floor->cycles++;
    slot->asked_ns = bench_now_ns();
    queue(floor, index, &slot->set);
}

static void on_granted(struct floor *floor, uint32_t index)
{
    struct slot *slot = &floor->slots[index];
    struct bench_record *record = floor->worker->record;

    if (++slot->granted != floor->quorum)
        return;
    slot->acquired_ns = bench_now_ns();
    if (record)
        histogram_add(&record->acquire, (uint64_t)(slot->acquired_ns - slot->asked_ns));
    bench_worker_count(floor->worker, floor->worker->first_task + index);
    queue(floor, index, &slot->release);
}

static void on_released(struct floor *floor, uint32_t index)
{
    struct slot *slot = &floor->slots[index];
    struct bench_record *record = floor->worker->record;

    if (++slot->released != floor->n_masters)
        return;
    if (record)
        histogram_add(&record->release, (uint64_t)(bench_now_ns() - slot->acquired_ns));
    floor->cycles--;
    if (!floor->quit)
        begin_cycle(floor, index);
}

static void give_up(struct floor *floor, const char *answer, size_t size)
{
    const char *line_end = memchr(answer, '\r', size);

    floor->quit = true;
    floor->ok = bench_worker_fail(floor->worker, "floor: unexpected answer: %.*s",
                                line_end ? (int)(line_end - answer) : 0, answer);
}

/* The answers are +OK and :1, 5 and 4 bytes long; anything else ends the run. Returns the bytes consumed. */
static size_t parse(struct floor *floor, struct master *master)
{
    const char *p = master->in;
    const char *end = p + master->in_used;

    while (end - p >= 4) {
        uint32_t slot = master->ring[master->head & floor->ring_mask];

        if (*p == '+' && end - p == 4)
            break;
        master->head++;
        if (memcmp(p, ":1\r\n", 4) == 0) {
            p += 4;
            on_released(floor, slot);
        } else if (memcmp(p, "+OK\r", 4) == 0) {
            p += 5;
            on_granted(floor, slot);
        } else {
            give_up(floor, p, (size_t)(end - p));
            break;
        }
    }
    return (size_t)(p - master->in);
}

static void read_master(struct floor *floor, struct master *master)
{
    ssize_t n = recv(master->fd, master->in + master->in_used, sizeof master->in - master->in_used, 0);
    size_t consumed;

    if (n <= 0 && !(n < 0 && errno == EAGAIN)) {
        floor->quit = true;
        floor->ok = bench_worker_fail(floor->worker, "floor: a master closed its connection");
    }
    if (n <= 0)
        return;
    master->in_used += (size_t)n;
    consumed = parse(floor, master);
    master->in_used -= consumed;
    if (master->in_used && consumed)
        memmove(master->in, master->in + consumed, master->in_used);
}

/* What a full socket does not take waits for the next turn: the master's answers to what it has taken bring it on. */
static void write_master(struct master *master)
{
    ssize_t n = send(master->fd, master->out, master->unsent, MSG_NOSIGNAL);

    if (n <= 0)
        return; /* if the connection is broken, the next read says so */
    master->unsent -= (size_t)n;
    memmove(master->out, master->out + n, master->unsent);
}

static void on_message(struct floor *floor)
{
    struct load_message message;

    if (!load_receive(floor->worker->control, &message)) {
        floor->quit = true;
        floor->ok = false;
    } else if (message.word == LOAD_START) {
        for (uint32_t i = 0; i < floor->worker->n_tasks; i++)
            begin_cycle(floor, i);
    } else if (message.word == LOAD_RUN) {
        bench_worker_begin(floor->worker, message.phase, &floor->totals);
    } else if (message.word == LOAD_END) {
        bench_worker_end(floor->worker, &floor->totals);
    } else if (message.word == LOAD_QUIT) {
        floor->quit = true;
    }
}

static void turn(struct floor *floor)
{
    struct epoll_event events[MASTERS_MAX + 1];
    int n = epoll_wait(floor->epoll, events, MASTERS_MAX + 1, -1);

    for (int i = 0; i < n; i++) {
        if (events[i].data.u32 == floor->n_masters)
            on_message(floor);
        else
            read_master(floor, &floor->masters[events[i].data.u32]);
    }
    for (uint32_t i = 0; i < floor->n_masters; i++)
        if (floor->masters[i].unsent)
            write_master(&floor->masters[i]);
}

static bool watch(struct floor *floor, int fd, uint32_t who)
{
    struct epoll_event event = {.events = EPOLLIN, .data = {.u32 = who}};

    return epoll_ctl(floor->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static bool add_master(struct floor *floor, uint32_t index, char ret_sha1[FLOOR_SHA1_SIZE])
{
    struct master *master = &floor->masters[index];
    const char *url = floor->worker->urls[index];
    const char *reason;

    master->fd = floor_connect(url, ret_sha1, &reason);
    if (master->fd < 0)
        return bench_worker_fail(floor->worker, "%s: %s", url, reason);
    master->ring = malloc((floor->ring_mask + 1) * sizeof *master->ring);
    master->out = malloc(2 * (size_t)FLOOR_COMMAND_SIZE * floor->worker->n_tasks);
    if (!master->ring || !master->out || !watch(floor, master->fd, index))
        return bench_worker_fail(floor->worker, "floor: out of memory");
    return true;
}

static void prepare(struct slot *slot, const struct bench_worker *worker, const char sha1[FLOOR_SHA1_SIZE])
{
    char key[BENCH_KEY_SIZE];

    bench_key(worker->shared, worker->proc, 0, key);
    floor_command_set(&slot->set, key, sizeof key, worker->options->ttl_ms);
    floor_command_release(&slot->release, key, sizeof key, sha1);
}

static bool set_up(struct floor *floor)
{
    struct bench_worker *worker = floor->worker;
    char sha1[FLOOR_SHA1_SIZE];

    while (floor->ring_mask + 1 < 2 * worker->n_tasks)
        floor->ring_mask = 2 * floor->ring_mask + 1;
    floor->epoll = epoll_create1(EPOLL_CLOEXEC);
    floor->masters = calloc(floor->n_masters, sizeof *floor->masters);
    floor->slots = calloc(worker->n_tasks, sizeof *floor->slots);
    if (!floor->masters || !floor->slots || floor->epoll < 0 || !watch(floor, worker->control, floor->n_masters))
        return bench_worker_fail(worker, "floor: out of memory");
    for (uint32_t i = 0; i < floor->n_masters; i++)
        if (!add_master(floor, i, sha1))
            return false;
    for (uint32_t i = 0; i < worker->n_tasks; i++)
        prepare(&floor->slots[i], worker, sha1);
    return load_send(worker->control, LOAD_READY, 0);
}

/* The process ends after this: the kernel closes the connections. */
static void tear_down(struct floor *floor)
{
    for (uint32_t i = 0; floor->masters && i < floor->n_masters; i++) {
        free(floor->masters[i].ring);
        free(floor->masters[i].out);
    }
    free(floor->masters);
    free(floor->slots);
}

int bench_floor_worker(struct bench_worker *worker)
{
    struct floor floor = {.worker = worker, .n_masters = (uint32_t)worker->n_urls, .ok = true};

    floor.quorum = floor.n_masters / 2 + 1;
    floor.ok = set_up(&floor);
    while (floor.ok && (!floor.quit || floor.cycles > 0))
        turn(&floor);
    tear_down(&floor);
    return floor.ok ? 0 : 1;
}
