#include "message.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void message_pool_fini(struct message_pool *pool)
{
    free(pool->messages);
    *pool = (struct message_pool){0};
}

static void chain(struct message_pool *pool, uint32_t from)
{
    for (uint32_t i = from; i < pool->capacity; i++)
        pool->messages[i].next = i + 1 < pool->capacity ? i + 1 : MESSAGE_NONE;
    pool->free = from;
}

void message_pool_clear(struct message_pool *pool)
{
    pool->used = 0;
    pool->free = MESSAGE_NONE;
    if (pool->capacity)
        chain(pool, 0);
}

static void grow(struct message_pool *pool)
{
    uint32_t before = pool->capacity;

    pool->capacity = before ? 2 * before : 128;
    pool->messages = realloc(pool->messages, pool->capacity * sizeof *pool->messages);
    if (!pool->messages) {
        fputs("sim: out of memory\n", stderr);
        abort();
    }
    chain(pool, before);
}

uint32_t message_take(struct message_pool *pool)
{
    uint32_t index;

    if (pool->used == pool->capacity)
        grow(pool);
    index = pool->free;
    pool->free = pool->messages[index].next;
    pool->messages[index].next = MESSAGE_NONE;
    pool->used++;
    return index;
}

void message_give(struct message_pool *pool, uint32_t index)
{
    pool->messages[index].next = pool->free;
    pool->free = index;
    pool->used--;
}

void message_copy(struct message *message, const struct message *source)
{
    size_t items = source->kind == MESSAGE_REPLY ? source->count * sizeof source->items[0] : 0;

    memcpy(message, source, offsetof(struct message, items) + items);
}

void message_append(struct message_pool *pool, struct message_list *list, uint32_t index)
{
    pool->messages[index].next = MESSAGE_NONE;
    if (list->tail == MESSAGE_NONE)
        list->head = index;
    else
        pool->messages[list->tail].next = index;
    list->tail = index;
    list->count++;
}

uint32_t message_shift(struct message_pool *pool, struct message_list *list)
{
    uint32_t index = list->head;

    if (index == MESSAGE_NONE)
        return index;
    list->head = pool->messages[index].next;
    if (list->head == MESSAGE_NONE)
        list->tail = MESSAGE_NONE;
    list->count--;
    return index;
}

void message_truncate(struct message_pool *pool, struct message_list *list, uint32_t keep)
{
    struct message_list kept = MESSAGE_LIST_EMPTY;

    while (list->count) {
        uint32_t index = message_shift(pool, list);

        if (kept.count < keep)
            message_append(pool, &kept, index);
        else
            message_give(pool, index);
    }
    *list = kept;
}

void message_pack_command(struct message *message, const struct rl_command *command)
{
    size_t size = 0;

    message->kind = MESSAGE_COMMAND;
    message->send_as = (uint8_t)command->send_as;
    message->script = (uint8_t)command->script;
    message->n_keys = (uint8_t)command->n_keys;
    message->count = (uint8_t)command->argc;
    for (size_t i = 0; i < command->argc; i++) {
        assert(size + command->argv[i].size <= MESSAGE_TEXT);
        if (command->argv[i].size)
            memcpy(message->text + size, command->argv[i].data, command->argv[i].size);
        size += command->argv[i].size;
        message->ends[i] = (uint8_t)size;
    }
}

void message_unpack_command(const struct message *message, struct rl_slice *ret_argv)
{
    size_t start = 0;

    for (size_t i = 0; i < message->count; i++) {
        ret_argv[i] = (struct rl_slice){message->text + start, message->ends[i] - start};
        start = message->ends[i];
    }
}

static void pack_item(struct message *message, size_t *size, const struct rl_reply_item *item)
{
    struct message_item *packed = &message->items[message->count++];
    size_t room = MESSAGE_TEXT - *size;
    size_t length = item->text.size < room ? item->text.size : room;

    packed->type = (uint8_t)item->type;
    packed->integer = item->integer;
    packed->start = (uint8_t)*size;
    packed->size = (uint8_t)length;
    if (length)
        memcpy(message->text + *size, item->text.data, length);
    *size += length;
}

void message_pack_reply(struct message *message, const struct rl_reply *reply)
{
    size_t size = 0;

    assert(reply->n_elements < MESSAGE_ITEMS);
    message->kind = MESSAGE_REPLY;
    message->count = 0;
    pack_item(message, &size, &reply->root);
    for (size_t i = 0; i < reply->n_elements; i++)
        pack_item(message, &size, &reply->elements[i]);
}

static struct rl_reply_item unpack_item(const struct message *message, const struct message_item *item)
{
    return (struct rl_reply_item){(enum rl_reply_type)item->type, item->integer,
                                  {message->text + item->start, item->size}};
}

void message_unpack_reply(const struct message *message, struct rl_reply *ret_reply)
{
    ret_reply->root = unpack_item(message, &message->items[0]);
    ret_reply->n_elements = message->count - 1u;
    for (size_t i = 0; i < ret_reply->n_elements; i++)
        ret_reply->elements[i] = unpack_item(message, &message->items[i + 1]);
}

void message_pack_call(struct message *message, struct rl_slice payload)
{
    assert(payload.size <= MESSAGE_TEXT);
    message->kind = MESSAGE_CALL;
    message->claim = 0;
    message->count = 1;
    message->ends[0] = (uint8_t)payload.size;
    memcpy(message->text, payload.data, payload.size);
}

struct rl_slice message_call(const struct message *message)
{
    return (struct rl_slice){message->text, message->ends[0]};
}
