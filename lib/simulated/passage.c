/* What libredlock asks of simulated masters: streams, and time.
 *
 * Time is advanced in steps. When each client rests, and nothing is on its way to one of them, the clocks are put
 * forward to the earliest of their timers, and the bells of all are rung: they run what is due, and rest again. Where
 * the next timer is beyond the end, the clocks are put to the end, and everybody looks once more: what a client has to
 * tell its program by then has been told when that is over. */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <redlock/status.h>

#include "simulated/world.h"
#include "util/instant.h"

/* --- Time --------------------------------------------------------------------------------------------------------- */

static struct rl_simulated *client_at(struct rl_list *at)
{
    return RL_CONTAINER_OF(at, struct rl_simulated, link);
}

static void ring_all(struct redlock_simulation *simulation)
{
    uint64_t one = 1;

    for (struct rl_list *at = simulation->clients.next; at != &simulation->clients; at = at->next) {
        client_at(at)->rests = false;
        atomic_store(&client_at(at)->heard, false);
        if (write(client_at(at)->bell, &one, sizeof one) != sizeof one && errno != EAGAIN)
            abort();
    }
}

static bool all_rest(struct redlock_simulation *simulation, int64_t *ret_next_boot_ns)
{
    *ret_next_boot_ns = INT64_MAX;
    for (struct rl_list *at = simulation->clients.next; at != &simulation->clients; at = at->next) {
        const struct rl_simulated *client = client_at(at);

        if (!client->rests || client->unread)
            return false;
        if (client->wakes_boot_ns < *ret_next_boot_ns)
            *ret_next_boot_ns = client->wakes_boot_ns;
    }
    return true;
}

static void put_forward(struct redlock_simulation *simulation, int64_t to_boot_ns)
{
    int64_t by_ns = to_boot_ns - world_boot_ns(simulation);

    if (by_ns > 0)
        atomic_fetch_add_explicit(simulation->ahead_ns, by_ns, memory_order_acq_rel);
}

/* True: the time has been advanced, and `done` is to be called without the mutex. */
static bool go_on(struct redlock_simulation *simulation)
{
    int64_t next_boot_ns;

    if (!simulation->moving || !all_rest(simulation, &next_boot_ns))
        return false;
    if (simulation->arriving) {
        simulation->moving = simulation->arriving = false;
        return true;
    }
    if (next_boot_ns <= simulation->target_boot_ns) {
        put_forward(simulation, next_boot_ns);
    } else {
        put_forward(simulation, simulation->target_boot_ns);
        simulation->arriving = true;
    }
    ring_all(simulation);
    return simulation->arriving && rl_list_empty(&simulation->clients) && go_on(simulation);
}

/* The time may go on, since something has changed. */
static void unlock(struct redlock_simulation *simulation)
{
    bool arrived = go_on(simulation);
    redlock_simulation_fn done = simulation->done;
    void *done_data = simulation->done_data;

    pthread_mutex_unlock(&simulation->mutex);
    if (arrived)
        done(done_data);
}

int redlock_simulation_begin(struct redlock_simulation *simulation, uint64_t ms, redlock_simulation_fn done,
                             void *user_data)
{
    if (!simulation || !done || ms > INT64_MAX / 4 / RL_NS_PER_MS)
        return REDLOCK_E_ARGUMENT;
    pthread_mutex_lock(&simulation->mutex);
    if (simulation->moving) {
        pthread_mutex_unlock(&simulation->mutex);
        return REDLOCK_E_BUSY;
    }
    simulation->moving = true;
    simulation->target_boot_ns = world_boot_ns(simulation) + (int64_t)ms * RL_NS_PER_MS;
    simulation->done = done;
    simulation->done_data = user_data;
    ring_all(simulation);
    unlock(simulation);
    return REDLOCK_OK;
}

struct arrival {
    struct redlock_simulation *simulation;
    bool over;
};

static void on_arrival(void *data)
{
    struct arrival *arrival = data;

    pthread_mutex_lock(&arrival->simulation->mutex);
    arrival->over = true;
    pthread_cond_broadcast(&arrival->simulation->rested);
    pthread_mutex_unlock(&arrival->simulation->mutex);
}

int redlock_simulation_advance(struct redlock_simulation *simulation, uint64_t ms)
{
    struct arrival arrival = {.simulation = simulation};
    int status = redlock_simulation_begin(simulation, ms, on_arrival, &arrival);

    if (status < 0)
        return status;
    pthread_mutex_lock(&simulation->mutex);
    while (!arrival.over)
        pthread_cond_wait(&simulation->rested, &simulation->mutex);
    pthread_mutex_unlock(&simulation->mutex);
    return REDLOCK_OK;
}

/* --- Streams ------------------------------------------------------------------------------------------------------ */

static enum rl_io on_handshake(struct rl_stream *stream)
{
    return RL_IO_OK;
}

static enum rl_io on_read(struct rl_stream *stream, void *buffer, size_t size, size_t *ret_size)
{
    struct pipe *pipe = stream->simulated;
    struct redlock_simulation *simulation = pipe->master->simulation;
    enum rl_io result = RL_IO_OK;
    size_t length;

    pthread_mutex_lock(&simulation->mutex);
    length = rl_bytes_length(&pipe->answers);
    *ret_size = length < size ? length : size;
    if (length) {
        memcpy(buffer, rl_bytes_front(&pipe->answers), *ret_size);
        rl_bytes_consume(&pipe->answers, *ret_size);
    } else {
        result = pipe->broken ? RL_IO_END : RL_IO_AGAIN;
    }
    if (!pipe->broken && !rl_bytes_length(&pipe->answers))
        pipe_hush(pipe);
    pthread_mutex_unlock(&simulation->mutex);
    return result;
}

static enum rl_io on_write(struct rl_stream *stream, const void *data, size_t size, size_t *ret_size)
{
    struct pipe *pipe = stream->simulated;
    struct redlock_simulation *simulation = pipe->master->simulation;
    bool broken;

    pthread_mutex_lock(&simulation->mutex);
    broken = pipe->broken;
    if (!broken)
        pipe_execute(pipe, data, size);
    pthread_mutex_unlock(&simulation->mutex);
    *ret_size = size;
    stream->error = broken ? EPIPE : 0;
    return broken ? RL_IO_ERROR : RL_IO_OK;
}

/* A forked child has no part in what is the parent's: the mutex may be locked for ever. */
static void on_close(struct rl_stream *stream, enum rl_close how)
{
    struct pipe *pipe = stream->simulated;
    struct redlock_simulation *simulation = pipe->master->simulation;

    stream->fd = -1;
    stream->simulated = NULL;
    if (how == RL_CLOSE_SILENT) {
        close(pipe->fd);
        return;
    }
    pthread_mutex_lock(&simulation->mutex);
    pipe_free(pipe);
    pthread_mutex_unlock(&simulation->mutex);
}

static const struct rl_stream_type stream_type = {
    .handshake = on_handshake, .read = on_read, .write = on_write, .close = on_close};

/* --- What the library asks ---------------------------------------------------------------------------------------- */

static bool exists(void)
{
    bool there;

    pthread_mutex_lock(&world_presence);
    there = world_present && !world_present->ended;
    pthread_mutex_unlock(&world_presence);
    return there;
}

static bool begin(struct rl_simulated *client)
{
    bool begun = false;

    pthread_mutex_lock(&world_presence);
    if (world_present && !world_present->ended) {
        pthread_mutex_lock(&world_present->mutex);
        rl_list_append(&world_present->clients, &client->link);
        pthread_mutex_unlock(&world_present->mutex);
        begun = true;
    }
    pthread_mutex_unlock(&world_presence);
    return begun;
}

static void end(struct rl_simulated *client)
{
    struct redlock_simulation *simulation;
    bool was_last;

    pthread_mutex_lock(&world_presence);
    simulation = world_present;
    pthread_mutex_lock(&simulation->mutex);
    rl_list_remove(&client->link);
    was_last = simulation->ended && rl_list_empty(&simulation->clients);
    if (was_last)
        world_present = NULL;
    pthread_mutex_unlock(&world_presence);
    unlock(simulation);
    if (was_last)
        world_dispose(simulation);
}

/* The client is one of the world_present simulation, which it keeps. */
static int connect_to(struct rl_simulated *client, const char *number, struct rl_stream *stream)
{
    struct redlock_simulation *simulation = world_present;
    size_t i = (size_t)strtoul(number, NULL, 10) - 1;
    struct pipe *pipe = NULL;

    if (i >= simulation->n_masters)
        return ECONNREFUSED;
    pthread_mutex_lock(&simulation->mutex);
    if (!simulation->masters[i]->down && !simulation->ended)
        pipe = pipe_open(simulation->masters[i], client);
    pthread_mutex_unlock(&simulation->mutex);
    if (!pipe)
        return ECONNREFUSED;
    *stream = (struct rl_stream){.type = &stream_type, .fd = pipe->fd, .simulated = pipe};
    return 0;
}

static void rest(struct rl_simulated *client, int64_t left_ns)
{
    struct redlock_simulation *simulation = world_present;

    pthread_mutex_lock(&simulation->mutex);
    client->rests = left_ns > 0 && atomic_load(&client->heard);
    client->wakes_boot_ns = left_ns == INT64_MAX ? INT64_MAX : world_boot_ns(simulation) + left_ns;
    unlock(simulation);
}

static bool draw(void *bytes, size_t size)
{
    bool seeded = false;

    pthread_mutex_lock(&world_presence);
    if (world_present && world_present->seeded && size == 16) {
        pthread_mutex_lock(&world_present->mutex);
        world_draw_uuid(world_present, bytes);
        pthread_mutex_unlock(&world_present->mutex);
        seeded = true;
    }
    pthread_mutex_unlock(&world_presence);
    return seeded;
}

const struct rl_simulator world_simulator = {
    .exists = exists, .begin = begin, .end = end, .connect = connect_to, .rest = rest, .draw = draw};
