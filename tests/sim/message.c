#include "message.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void message_pool_fini(struct message_pool *pool)
{
    for (uint32_t i = 0; i < pool->capacity; i++)
        free(pool->messages[i].bytes);
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
    memset(pool->messages + before, 0, (pool->capacity - before) * sizeof *pool->messages);
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
    pool->messages[index].look = 0;
    pool->messages[index].latch = 0;
    pool->messages[index].channel = 0;
    pool->used++;
    return index;
}

void message_give(struct message_pool *pool, uint32_t index)
{
    pool->messages[index].next = pool->free;
    pool->free = index;
    pool->used--;
}

static void reserve(struct message *message, size_t size)
{
    if (size <= message->capacity)
        return;
    message->capacity = (uint32_t)(size < 256 ? 256 : 2 * size);
    message->bytes = realloc(message->bytes, message->capacity);
    if (!message->bytes) {
        fputs("sim: out of memory\n", stderr);
        abort();
    }
}

void message_set_bytes(struct message *message, const void *bytes, size_t size)
{
    reserve(message, size);
    if (size)
        memcpy(message->bytes, bytes, size);
    message->size = (uint32_t)size;
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

static void pack_item(struct message *message, const struct rl_reply_item *item)
{
    struct message_item *packed = &message->items[message->count++];

    packed->type = (uint8_t)item->type;
    packed->integer = item->integer;
    packed->start = message->size;
    packed->size = (uint32_t)item->text.size;
    reserve(message, message->size + item->text.size);
    if (item->text.size)
        memcpy(message->bytes + message->size, item->text.data, item->text.size);
    message->size += (uint32_t)item->text.size;
}

void message_pack_reply(struct message *message, const struct rl_reply *reply)
{
    assert(reply->n_elements < MESSAGE_ITEMS);
    message->kind = MESSAGE_REPLY;
    message->count = 0;
    message->size = 0;
    pack_item(message, &reply->root);
    for (size_t i = 0; i < reply->n_elements; i++)
        pack_item(message, &reply->elements[i]);
}

static struct rl_reply_item unpack_item(const struct message *message, const struct message_item *item)
{
    return (struct rl_reply_item){(enum rl_reply_type)item->type, item->integer,
                                  {message->bytes ? message->bytes + item->start : NULL, item->size}};
}

void message_unpack_reply(const struct message *message, struct rl_reply *ret_reply)
{
    ret_reply->root = unpack_item(message, &message->items[0]);
    ret_reply->n_elements = message->count - 1u;
    for (size_t i = 0; i < ret_reply->n_elements; i++)
        ret_reply->elements[i] = unpack_item(message, &message->items[i + 1]);
}
