#include "cli/wire.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/wire_tls.h"

static bool fail(struct wire *wire, const char *why)
{
    if (!wire->failed)
        snprintf(wire->why, sizeof(wire->why), "%.*s", (int)sizeof(wire->why) - 1, why);
    wire->failed = true;
    return false;
}

static bool start_tls(struct wire *wire, const struct target *target, struct wire_tls *tls)
{
    char why[WIRE_WHY_SIZE];

    wire->ssl = wire_tls_open(tls, wire->context->fd, target->host, why, sizeof(why));
    return wire->ssl != NULL || fail(wire, why);
}

bool wire_open(struct wire *wire, const struct target *target, struct timeval timeout, struct wire_tls *tls)
{
    *wire = (struct wire){0};
    wire->context = target->path != NULL ? redisConnectUnixWithTimeout(target->path, timeout)
                                         : redisConnectWithTimeout(target->host, target->port, timeout);
    if (wire->context == NULL)
        return fail(wire, "out of memory");
    if (wire->context->err != 0)
        return fail(wire, wire->context->errstr);
    if (redisSetTimeout(wire->context, timeout) != REDIS_OK)
        return fail(wire, "the system refuses a time limit");
    return !target->tls || start_tls(wire, target, tls);
}

void wire_close(struct wire *wire)
{
    wire_tls_close(wire->ssl);
    if (wire->context != NULL)
        redisFree(wire->context);
    *wire = (struct wire){0};
}

void wire_append(struct wire *wire, int argc, const char **argv, const size_t *sizes)
{
    char why[WIRE_WHY_SIZE];
    char *bytes;
    int length;

    if (wire->ssl == NULL) {
        redisAppendCommandArgv(wire->context, argc, argv, sizes);
        return;
    }
    length = redisFormatCommandArgv(&bytes, argc, argv, sizes);
    if (length < 0) {
        fail(wire, "out of memory");
        return;
    }
    if (!wire->failed && !wire_tls_write(wire->ssl, bytes, (size_t)length, why, sizeof(why)))
        fail(wire, why);
    redisFreeCommand(bytes);
}

static void *reply_by_tls(struct wire *wire)
{
    char why[WIRE_WHY_SIZE];
    char buffer[4096];
    void *reply = NULL;

    while (!wire->failed) {
        size_t n = 0;

        if (redisReaderGetReply(wire->context->reader, &reply) != REDIS_OK)
            fail(wire, wire->context->reader->errstr);
        else if (reply != NULL)
            return reply;
        else if (!wire_tls_read(wire->ssl, buffer, sizeof(buffer), &n, why, sizeof(why)))
            fail(wire, why);
        else if (redisReaderFeed(wire->context->reader, buffer, n) != REDIS_OK)
            fail(wire, "out of memory");
    }
    return NULL;
}

redisReply *wire_reply(struct wire *wire)
{
    void *reply = NULL;

    if (wire->failed)
        return NULL;
    if (wire->ssl != NULL)
        return reply_by_tls(wire);
    if (redisGetReply(wire->context, &reply) == REDIS_OK)
        return reply;
    fail(wire, wire->context->err == REDIS_ERR_IO && errno == EAGAIN ? "no answer in time"
                                                                        : wire->context->errstr);
    return NULL;
}
