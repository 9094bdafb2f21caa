#include "cli/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include <redlock/status.h>

#include "cli/clock.h"
#include "stream/plain.h"
#include "stream/tls.h"
#include "stream/tls_context.h"

static bool fail(struct wire *wire, const char *why)
{
    if (!wire->failed)
        snprintf(wire->why, sizeof(wire->why), "%s", why);
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

    if (wire->stream.why == NULL)
        return fail(wire, "no answer in time");
    snprintf(why, sizeof(why), "no answer in time: %s", wire->stream.why);
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
        return fail(wire, wire->stream.why != NULL ? wire->stream.why : strerror(wire->stream.error));
    if (left_us <= 0)
        return fail_late(wire);
    if (poll(&ready, 1, (int)((left_us + 999) / 1000)) < 0 && errno != EINTR)
        return fail(wire, strerror(errno));
    return true;
}

/* --- Life ------------------------------------------------------------------------------------------------------ */

/* A socket that is connected, and does not block. */
static bool open_socket(struct wire *wire, const struct target *target)
{
    struct timeval timeout = {(time_t)(wire->timeout_ms / 1000), (suseconds_t)(wire->timeout_ms % 1000 * 1000)};
    redisContext *context = target->path != NULL ? redisConnectUnixWithTimeout(target->path, timeout)
                                                 : redisConnectWithTimeout(target->host, target->port, timeout);

    if (context == NULL)
        return fail(wire, "out of memory");
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

    switch (rl_tls_context_create(&wanted, why, sizeof(why), &wire->tls)) {
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
    if (wire->reader == NULL)
        return fail(wire, "out of memory");
    if (target->tls && !set_up_tls(wire, target, options))
        return false;
    return open_socket(wire, target) && shake_hands(wire);
}

void wire_close(struct wire *wire)
{
    if (wire->stream.fd >= 0)
        wire->stream.type->close(&wire->stream, RL_CLOSE_ORDERLY);
    if (wire->stream.type->fini != NULL)
        wire->stream.type->fini(&wire->stream);
    rl_tls_context_destroy(wire->tls);
    if (wire->reader != NULL)
        redisReaderFree(wire->reader);
    if (wire->output != NULL)
        explicit_bzero(wire->output, wire->output_size); /* a password may be in it */
    free(wire->output);
}

/* --- Traffic --------------------------------------------------------------------------------------------------- */

/* Commands carry passwords: what they are copied from is wiped. */
static bool keep(struct wire *wire, const char *bytes, size_t size)
{
    char *output = malloc(wire->output_size + size);

    if (output == NULL)
        return fail(wire, "out of memory");
    if (wire->output != NULL) {
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
    if (wire->output != NULL)
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

    while ((result = wire->stream.type->read(&wire->stream, buffer, sizeof(buffer), &n)) != RL_IO_OK)
        if (!await(wire, result, true, deadline_us))
            return false;
    return redisReaderFeed(wire->reader, buffer, n) == REDIS_OK || fail(wire, "out of memory");
}

redisReply *wire_reply(struct wire *wire)
{
    int64_t deadline_us = deadline_of_step(wire);
    void *reply = NULL;

    if (wire->failed || !write_commands(wire, deadline_us))
        return NULL;
    for (;;) {
        if (redisReaderGetReply(wire->reader, &reply) != REDIS_OK)
            fail(wire, wire->reader->errstr);
        if (reply != NULL || wire->failed || !read_bytes(wire, deadline_us))
            return reply;
    }
}
