/* IMPLEMENTATION NOTES
 *
 * hiredis' reader parses; its object functions, instead of allocating, fill the one reply that the reader object
 * owns. hiredis discards consumed input before it hands a reply out, so no text may point into its buffer: texts are
 * copied to the reader's own queue. While a reply grows that queue may move, so an item keeps an offset until the
 * reply is complete.
 *
 * An object function refuses by returning NULL. hiredis then reports "out of memory", which is why the true reason
 * is noted in `error` first. */
#include "codec/reply.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

#include "util/bytes.h"

/* hiredis 1.0 changed the type of an array's length. */
#if HIREDIS_MAJOR >= 1
typedef size_t array_length;
#else
typedef int array_length;
#endif

/* hiredis frees an empty input buffer with more free room than this at the next feed. */
#define KEPT_INPUT_BYTES (128 * 1024)

struct rl_reply_reader {
    redisReader *hiredis;
    redisReplyObjectFunctions functions;
    struct rl_reply reply;
    struct rl_bytes texts;
    size_t root_offset;
    size_t offsets[RL_REPLY_MAX_ELEMENTS];
    bool complete; /* the reply was handed out: the next one starts afresh */
    const char *error;
};

static void *refuse(struct rl_reply_reader *reader, const char *why)
{
    if (!reader->error)
        reader->error = why;
    return NULL;
}

static struct rl_reply_item *item_of(const redisReadTask *task, size_t **ret_offset)
{
    struct rl_reply_reader *reader = task->privdata;

    if (!task->parent) {
        *ret_offset = &reader->root_offset;
        return &reader->reply.root;
    }
    *ret_offset = &reader->offsets[task->idx];
    return &reader->reply.elements[task->idx];
}

static void *put_item(const redisReadTask *task, enum rl_reply_type type, int64_t integer, struct rl_slice text)
{
    struct rl_reply_reader *reader = task->privdata;
    size_t *offset;
    struct rl_reply_item *item = item_of(task, &offset);

    *offset = reader->texts.size;
    if (!rl_bytes_append(&reader->texts, text.data, text.size))
        return refuse(reader, "out of memory");
    *item = (struct rl_reply_item){.type = type, .integer = integer, .text = {NULL, text.size}};
    return item;
}

static void *on_string(const redisReadTask *task, char *text, size_t size)
{
    struct rl_reply_reader *reader = task->privdata;
    struct rl_slice slice = {text, size};

    if (reader->texts.size + size > RL_REPLY_MAX_BYTES)
        return refuse(reader, "the reply is too long");
    switch (task->type) {
    case REDIS_REPLY_STRING:
        return put_item(task, RL_REPLY_STRING, 0, slice);
    case REDIS_REPLY_STATUS:
        return put_item(task, RL_REPLY_STATUS, 0, slice);
    case REDIS_REPLY_ERROR:
        return put_item(task, RL_REPLY_ERROR, 0, slice);
    default:
        return refuse(reader, "a reply type that RESP2 does not have");
    }
}

static void *on_integer(const redisReadTask *task, long long value)
{
    return put_item(task, RL_REPLY_INTEGER, value, (struct rl_slice){NULL, 0});
}

/* RESP2's nil is a string or array of length -1; RESP3's has a type of its own. */
static void *on_nil(const redisReadTask *task)
{
    if (task->type != REDIS_REPLY_STRING && task->type != REDIS_REPLY_ARRAY)
        return refuse(task->privdata, "a reply type that RESP2 does not have");
    return put_item(task, RL_REPLY_NIL, 0, (struct rl_slice){NULL, 0});
}

/* Nothing is allocated for the announced length: it is checked against the room that is always there. */
static void *on_array(const redisReadTask *task, array_length length)
{
    struct rl_reply_reader *reader = task->privdata;

    if (task->type != REDIS_REPLY_ARRAY)
        return refuse(reader, "a reply type that RESP2 does not have");
    if (task->parent)
        return refuse(reader, "an array inside an array");
    if (length > RL_REPLY_MAX_ELEMENTS)
        return refuse(reader, "an array with too many elements");
    reader->reply.n_elements = (size_t)length;
    return put_item(task, RL_REPLY_ARRAY, 0, (struct rl_slice){NULL, 0});
}

#if HIREDIS_MAJOR >= 1
static void *on_double(const redisReadTask *task, double value, char *text, size_t size)
{
    return refuse(task->privdata, "a reply type that RESP2 does not have");
}

static void *on_bool(const redisReadTask *task, int value)
{
    return refuse(task->privdata, "a reply type that RESP2 does not have");
}
#endif

/* Items belong to the reader. */
static void on_free(void *item)
{
}

static const redisReplyObjectFunctions functions = {
    .createString = on_string,
    .createArray = on_array,
    .createInteger = on_integer,
    .createNil = on_nil,
    .freeObject = on_free,
#if HIREDIS_MAJOR >= 1
    .createDouble = on_double,
    .createBool = on_bool,
#endif
};

struct rl_reply_reader *rl_reply_reader_create(void)
{
    struct rl_reply_reader *reader = calloc(1, sizeof *reader);

    if (!reader)
        return NULL;
    reader->functions = functions;
    reader->hiredis = redisReaderCreateWithFunctions(&reader->functions);
    if (!reader->hiredis) {
        free(reader);
        return NULL;
    }
    reader->hiredis->privdata = reader;
    reader->hiredis->maxbuf = KEPT_INPUT_BYTES;
    return reader;
}

void rl_reply_reader_destroy(struct rl_reply_reader *reader)
{
    if (!reader)
        return;
    redisReaderFree(reader->hiredis);
    rl_bytes_fini(&reader->texts);
    free(reader);
}

void rl_reply_reader_wipe(struct rl_reply_reader *reader)
{
    if (reader->texts.capacity)
        explicit_bzero(reader->texts.data, reader->texts.capacity);
    if (reader->hiredis->len)
        explicit_bzero(reader->hiredis->buf, reader->hiredis->len);
}

bool rl_reply_reader_feed(struct rl_reply_reader *reader, const void *data, size_t size)
{
    return !reader->error && redisReaderFeed(reader->hiredis, data, size) == REDIS_OK;
}

static void start_afresh(struct rl_reply_reader *reader)
{
    if (reader->texts.size)
        rl_bytes_consume(&reader->texts, reader->texts.size);
    reader->reply.n_elements = 0;
    reader->complete = false;
}

static struct rl_reply_item located(const struct rl_reply_reader *reader, struct rl_reply_item item, size_t offset)
{
    if (item.text.size)
        item.text.data = reader->texts.data + offset;
    else
        item.text.data = "";
    return item;
}

/* Copies what the reply has, not the whole array that it may have. */
static void hand_out(const struct rl_reply_reader *reader, struct rl_reply *ret_reply)
{
    ret_reply->root = located(reader, reader->reply.root, reader->root_offset);
    ret_reply->n_elements = reader->reply.n_elements;
    for (size_t i = 0; i < reader->reply.n_elements; i++)
        ret_reply->elements[i] = located(reader, reader->reply.elements[i], reader->offsets[i]);
}

enum rl_read_result rl_reply_reader_next(struct rl_reply_reader *reader, struct rl_reply *ret_reply)
{
    const redisReader *hiredis = reader->hiredis;
    void *object = NULL;

    if (reader->complete)
        start_afresh(reader);
    if (reader->error || redisReaderGetReply(reader->hiredis, &object) != REDIS_OK)
        return RL_READ_ERROR;
    if (!object && reader->texts.size + (hiredis->len - hiredis->pos) > RL_REPLY_MAX_BYTES) {
        refuse(reader, "the reply is too long");
        return RL_READ_ERROR;
    }
    if (!object)
        return RL_READ_MORE;
    hand_out(reader, ret_reply);
    reader->complete = true;
    return RL_READ_REPLY;
}

const char *rl_reply_reader_error(const struct rl_reply_reader *reader)
{
    return reader->error ? reader->error : reader->hiredis->errstr;
}
