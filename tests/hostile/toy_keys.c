#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "toy_inside.h"

int64_t toy_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool is_of(struct toy_key *at, struct toy_word key)
{
    if (at->size && at->expires_ns <= toy_now_ns())
        at->size = 0;
    return at->size == key.size && memcmp(at->key, key.bytes, key.size) == 0;
}

struct toy_key *toy_find(struct toy *toy, struct toy_word key)
{
    for (size_t i = 0; i < TOY_KEYS; i++) {
        if (is_of(&toy->keys[i], key) && !toy->keys[i].shared)
            return &toy->keys[i];
    }
    return NULL;
}

struct toy_key *toy_find_vote(struct toy *toy, struct toy_word key, struct toy_word value)
{
    for (size_t i = 0; i < TOY_KEYS; i++) {
        if (is_of(&toy->keys[i], key) && toy->keys[i].shared && toy_is(value, toy->keys[i].value))
            return &toy->keys[i];
    }
    return NULL;
}

bool toy_has_other_votes(struct toy *toy, struct toy_word key, struct toy_word mine, struct toy_word also_mine)
{
    for (size_t i = 0; i < TOY_KEYS; i++) {
        struct toy_key *at = &toy->keys[i];

        if (is_of(at, key) && at->shared && !toy_is(mine, at->value) && !toy_is(also_mine, at->value))
            return true;
    }
    return false;
}

static struct toy_key *store(struct toy *toy, struct toy_word key, struct toy_word value, int64_t ttl_ms)
{
    size_t i = 0;

    while (i < TOY_KEYS && toy->keys[i].size)
        i++;
    ck_assert(i < TOY_KEYS && key.size <= TOY_KEY_BYTES && value.size < sizeof toy->keys[i].value);
    memcpy(toy->keys[i].key, key.bytes, key.size);
    memcpy(toy->keys[i].value, value.bytes, value.size);
    toy->keys[i].value[value.size] = '\0';
    toy->keys[i].expires_ns = toy_now_ns() + ttl_ms * 1000000;
    toy->keys[i].size = key.size;
    return &toy->keys[i];
}

void toy_store(struct toy *toy, struct toy_word key, struct toy_word value, int64_t ttl_ms)
{
    store(toy, key, value, ttl_ms)->shared = false;
}

void toy_store_vote(struct toy *toy, struct toy_word key, struct toy_word value, int64_t ttl_ms)
{
    store(toy, key, value, ttl_ms)->shared = true;
}

bool toy_is(struct toy_word word, const char *text)
{
    return word.size == strlen(text) && memcmp(word.bytes, text, word.size) == 0;
}

int64_t toy_number(struct toy_word word)
{
    char digits[24] = "";

    memcpy(digits, word.bytes, word.size < sizeof digits - 1 ? word.size : sizeof digits - 1);
    return strtoll(digits, NULL, 10);
}

static struct toy_word word_of(const char *text)
{
    return (struct toy_word){(const unsigned char *)text, strlen(text)};
}

void toy_set(struct toy *toy, const char *key, const char *value)
{
    toy_store(toy, word_of(key), word_of(value), 3600 * 1000);
}

const char *toy_value(struct toy *toy, const char *key)
{
    const struct toy_key *at = toy_find(toy, word_of(key));

    return at ? at->value : NULL;
}

size_t toy_count(struct toy *toy)
{
    size_t count = 0;

    toy_find(toy, word_of(" "));
    for (size_t i = 0; i < TOY_KEYS; i++)
        count += toy->keys[i].size > 0;
    return count;
}

void toy_forget(struct toy *toy)
{
    for (size_t i = 0; i < TOY_KEYS; i++)
        toy->keys[i].size = 0;
}
