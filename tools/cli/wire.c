#include "cli/wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include <redlock/status.h>

#include "cli/clock.h"
#include "stream/plain.h"
#include "stream/tls.h"
#include "stream/tls_context.h"

static bool fail(struct wire *wire, const char *why)
{
    if (!wire->failed)
        snprintf(wire->why, sizeof wire->why, "%s", why);
    wire->failed = true;
    return false;
}

/* --- Waiting --------------------------------------------------------------------------------------------------- */

static int64_t deadline_of_step(const struct wire *wire)
{
    return clock_now_us() + (int64_t)wire->timeout_ms * 1000;
}

static bool fail_late(struct wire *wire)
{
    char why[WIRE_WHY_SIZE];

    if (!wire->stream.why)
        return fail(wire, "no answer in time");
    snprintf(why, sizeof why, "no answer in time: %s", wire->stream.why);
    return fail(wire, why);
}

/* After a call that has done nothing: true when it is to be repeated. */
static bool await(struct wire *wire, enum rl_io result, bool reads, int64_t deadline_us)
{
    bool readable = reads == (result == RL_IO_AGAIN);
    struct pollfd ready = {.fd = wire->stream.fd, .events = readable ? POLLIN : POLLOUT};
    int64_t left_us = deadline_us - clock_now_us();

    if (result == RL_IO_END)
        return fail(wire, "the server has closed the connection");
    if (result == RL_IO_ERROR)
        return fail(wire, wire->stream.why ? wire->stream.why : strerror(wire->stream.error));
    if (left_us <= 0)
        return fail_late(wire);
    if (poll(&ready, 1, (int)((left_us + 999) / 1000)) < 0 && errno != EINTR)
        return fail(wire, strerror(errno));
    return true;
}

/* --- Names ------------------------------------------------------------------------------------------------------ */

enum { MOST_ADDRESSES = 4, ADDRESS_SIZE = INET6_ADDRSTRLEN + 32 };

/* Numeric ones. */
struct addresses {
    size_t n;
    char at[MOST_ADDRESSES][ADDRESS_SIZE];
};

/* A lookup cannot be cancelled, and a name server may be silent for a minute: a thread of its own asks, for which
 * nobody waits longer than for any other step. Who comes last cleans up. */
struct lookup {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool done;
    bool abandoned;
    int error;
    struct addresses found;
    char host[];
};

static void lookup_free(struct lookup *lookup)
{
    pthread_mutex_destroy(&lookup->mutex);
    pthread_cond_destroy(&lookup->changed);
    free(lookup);
}

static int find_addresses(const char *host, int flags, struct addresses *ret_found)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags};
    struct addrinfo *all = NULL;
    int error = getaddrinfo(host, NULL, &hints, &all);

    ret_found->n = 0;
    for (const struct addrinfo *one = all; error == 0 && one && ret_found->n < MOST_ADDRESSES;
         one = one->ai_next)
        error = getnameinfo(one->ai_addr, one->ai_addrlen, ret_found->at[ret_found->n++], ADDRESS_SIZE, NULL, 0,
                            NI_NUMERICHOST);
    if (all)
        freeaddrinfo(all);
    return error;
}

static void *look_up(void *data)
{
    struct lookup *lookup = data;
    struct addresses found;
    int error = find_addresses(lookup->host, 0, &found);
    bool abandoned;

    pthread_mutex_lock(&lookup->mutex);
    lookup->done = true;
    lookup->error = error;
    lookup->found = found;
    abandoned = lookup->abandoned;
    pthread_cond_signal(&lookup->changed);
    pthread_mutex_unlock(&lookup->mutex);
    if (abandoned)
        lookup_free(lookup);
    return NULL;
}

static struct lookup *lookup_start(const char *host)
{
    struct lookup *lookup = calloc(1, sizeof *lookup + strlen(host) + 1);
    pthread_condattr_t clock;
    pthread_t thread;

    if (!lookup)
        return NULL;
    strcpy(lookup->host, host);
    pthread_mutex_init(&lookup->mutex, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&lookup->changed, &clock);
    pthread_condattr_destroy(&clock);
    if (pthread_create(&thread, NULL, look_up, lookup) == 0) {
        pthread_detach(thread);
        return lookup;
    }
    lookup_free(lookup);
    return NULL;
}

/* False: nothing came in time, and the lookup is no longer the caller's. */
static bool lookup_await(struct lookup *lookup, uint32_t timeout_ms)
{
    struct timespec end;
    bool done;

    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += timeout_ms / 1000 + (end.tv_nsec + timeout_ms % 1000 * 1000000L) / 1000000000L;
    end.tv_nsec = (end.tv_nsec + timeout_ms % 1000 * 1000000L) % 1000000000L;
    pthread_mutex_lock(&lookup->mutex);
    while (!lookup->done && pthread_cond_timedwait(&lookup->changed, &lookup->mutex, &end) == 0)
        continue;
    done = lookup->done;
    lookup->abandoned = !done;
    pthread_mutex_unlock(&lookup->mutex);
    return done;
}

static bool resolve(struct wire *wire, const char *host, struct addresses *ret_found)
{
    struct lookup *lookup;
    char why[WIRE_WHY_SIZE];
    bool ok;

    if (find_addresses(host, AI_NUMERICHOST, ret_found) == 0)
        return true;
    lookup = lookup_start(host);
    if (!lookup)
        return fail(wire, "out of memory");
    if (!lookup_await(lookup, wire->timeout_ms)) {
        snprintf(why, sizeof why, "resolving the name: no answer for %u ms", wire->timeout_ms);
        return fail(wire, why);
    }
    ok = lookup->error == 0;
    *ret_found = lookup->found;
    snprintf(why, sizeof why, "resolving the name: %s", ok ? "" : gai_strerror(lookup->error));
    lookup_free(lookup);
    return ok || fail(wire, why);
}

/* --- Life ------------------------------------------------------------------------------------------------------ */

/* All addresses together have as long as one. NULL: out of memory. */
static redisContext *connect_to_any(const struct wire *wire, const struct addresses *found, const struct target *target)
{
    int64_t each_us = (int64_t)wire->timeout_ms * 1000 / (int64_t)found->n;
    struct timeval timeout = {(time_t)(each_us / 1000000), (suseconds_t)(each_us % 1000000)};
    redisContext *context = NULL;

    for (size_t i = 0; i < found->n; i++) {
        if (context)
            redisFree(context);
        context = redisConnectWithTimeout(found->at[(target->turn + i) % found->n], target->port, timeout);
        if (!context || context->err == 0)
            break;
    }
    return context;
}

static redisContext *connect_to(struct wire *wire, const struct target *target)
{
    struct timeval timeout = {(time_t)(wire->timeout_ms / 1000), (suseconds_t)(wire->timeout_ms % 1000 * 1000)};
    struct addresses found;
    redisContext *context;

    if (!target->path && !resolve(wire, target->host, &found))
        return NULL;
    context = target->path ? redisConnectUnixWithTimeout(target->path, timeout)
                                   : connect_to_any(wire, &found, target);
    if (!context)
        fail(wire, "out of memory");
    return context;
}

/* A socket that is connected, and does not block. */
static bool open_socket(struct wire *wire, const struct target *target)
{
    redisContext *context = connect_to(wire, target);

    if (!context)
        return false;
    if (context->err != 0) {
        fail(wire, context->errstr);
        redisFree(context);
        return false;
    }
    wire->stream.fd = redisFreeKeepFd(context);
    return fcntl(wire->stream.fd, F_SETFL, O_NONBLOCK) == 0 || fail(wire, strerror(errno));
}

static bool set_up_tls(struct wire *wire, const struct target *target, const struct cli_tls *options)
{
    const struct rl_tls_options wanted = {
        .ca_file = options->ca,
        .ca_dir = options->ca_dir,
        .cert_file = options->cert,
        .key_file = options->key,
        .server_name = options->server_name,
        .ciphers = options->ciphers,
        .ciphersuites = options->ciphersuites,
        .only_1_3 = cli_tls_lowest_version(options) == REDLOCK_TLS_1_3,
        .verifies = !options->insecure_skip_verify,
    };
    char why[WIRE_WHY_SIZE];

    switch (rl_tls_context_create(&wanted, why, sizeof why, &wire->tls)) {
    case REDLOCK_OK:
        rl_stream_tls_init(&wire->stream, wire->tls, target->host);
        return true;
    case REDLOCK_E_NOMEM:
        return fail(wire, "out of memory");
    default:
        return fail(wire, why);
    }
}

static bool shake_hands(struct wire *wire)
{
    int64_t deadline_us = deadline_of_step(wire);
    enum rl_io result;

    while ((result = wire->stream.type->handshake(&wire->stream)) != RL_IO_OK)
        if (!await(wire, result, false, deadline_us))
            return false;
    return true;
}

bool wire_open(struct wire *wire, const struct target *target, uint32_t timeout_ms, const struct cli_tls *options)
{
    *wire = (struct wire){.stream = {.type = &rl_stream_plain, .fd = -1}, .timeout_ms = timeout_ms};
    wire->reader = redisReaderCreate();
    if (!wire->reader)
        return fail(wire, "out of memory");
    if (target->tls && !set_up_tls(wire, target, options))
        return false;
    return open_socket(wire, target) && shake_hands(wire);
}

void wire_close(struct wire *wire)
{
    if (wire->stream.fd >= 0)
        wire->stream.type->close(&wire->stream, RL_CLOSE_ORDERLY);
    if (wire->stream.type->fini)
        wire->stream.type->fini(&wire->stream);
    rl_tls_context_destroy(wire->tls);
    if (wire->reader)
        redisReaderFree(wire->reader);
    if (wire->output)
        explicit_bzero(wire->output, wire->output_size); /* a password may be in it */
    free(wire->output);
}

/* --- Traffic --------------------------------------------------------------------------------------------------- */

/* Commands carry passwords: what they are copied from is wiped. */
static bool keep(struct wire *wire, const char *bytes, size_t size)
{
    char *output = malloc(wire->output_size + size);

    if (!output)
        return fail(wire, "out of memory");
    if (wire->output) {
        memcpy(output, wire->output, wire->output_size);
        explicit_bzero(wire->output, wire->output_size);
        free(wire->output);
    }
    memcpy(output + wire->output_size, bytes, size);
    wire->output = output;
    wire->output_size += size;
    return true;
}

void wire_append(struct wire *wire, int argc, const char **argv)
{
    char *bytes = NULL;
    long long size = redisFormatCommandArgv(&bytes, argc, argv, NULL);

    if (size < 0) {
        fail(wire, "out of memory");
        return;
    }
    keep(wire, bytes, (size_t)size);
    explicit_bzero(bytes, (size_t)size);
    redisFreeCommand(bytes);
}

static bool write_commands(struct wire *wire, int64_t deadline_us)
{
    size_t written = 0;

    while (written < wire->output_size) {
        size_t n = 0;
        enum rl_io result = wire->stream.type->write(&wire->stream, wire->output + written,
                                                     wire->output_size - written, &n);

        if (result != RL_IO_OK && !await(wire, result, false, deadline_us))
            return false;
        written += n;
    }
    if (wire->output)
        explicit_bzero(wire->output, wire->output_size);
    free(wire->output);
    wire->output = NULL;
    wire->output_size = 0;
    return true;
}

static bool read_bytes(struct wire *wire, int64_t deadline_us)
{
    char buffer[4096];
    size_t n = 0;
    enum rl_io result;

    while ((result = wire->stream.type->read(&wire->stream, buffer, sizeof buffer, &n)) != RL_IO_OK)
        if (!await(wire, result, true, deadline_us))
            return false;
    return redisReaderFeed(wire->reader, buffer, n) == REDIS_OK || fail(wire, "out of memory");
}

/* A server that has no room for a client says so and closes, perhaps before anything could be written to it. */
void wire_flush(struct wire *wire)
{
    if (!wire->failed && !write_commands(wire, deadline_of_step(wire)))
        read_bytes(wire, 0);
}

redisReply *wire_reply(struct wire *wire)
{
    int64_t deadline_us = deadline_of_step(wire);
    void *reply = NULL;

    if (wire->failed)
        return NULL;
    wire_flush(wire);
    for (;;) {
        if (redisReaderGetReply(wire->reader, &reply) != REDIS_OK)
            fail(wire, wire->reader->errstr);
        if (reply || wire->failed || !read_bytes(wire, deadline_us))
            return reply;
    }
}
