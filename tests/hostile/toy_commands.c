/* What a toy master makes of each command. Scripts are told apart by the number of their keys and words. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "toy_inside.h"

#define FOREIGN ":-1\r\n"
#define MISSING ":0\r\n"

int64_t toy_wall_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* --- Locks --------------------------------------------------------------------------------------------------- */

static const char *set(struct toy *toy, const struct toy_word *words)
{
    toy->sets++;
    if (toy_find(toy, words[1]) || toy_has_other_votes(toy, words[1], words[2], words[2]))
        return "$-1\r\n";
    toy_store(toy, words[1], words[2], toy_number(words[5]));
    return "+OK\r\n";
}

static const char *expire(struct toy_key *at, struct toy_word ttl_ms)
{
    at->expires_ns = toy_now_ns() + toy_number(ttl_ms) * 1000000;
    return ":1\r\n";
}

/* Script, 1, key, value, ttl. */
static const char *run_extend(struct toy *toy, const struct toy_word *words)
{
    struct toy_key *at = toy_find(toy, words[3]);

    if (!at)
        return MISSING;
    if (!toy_is(words[4], at->value))
        return FOREIGN;
    return expire(at, words[5]);
}

static void lift_counter(struct toy *toy, int64_t number)
{
    if (toy->counter < number)
        toy->counter = number;
}

/* Script, 2 or 3, key, marker, [counter], value, ttl, incarnation, [token, counter's ttl]. */
static const char *run_repair(struct toy *toy, const struct toy_word *words)
{
    size_t value = toy_is(words[2], "3") ? 6 : 5;
    struct toy_key *at = toy_find(toy, words[3]);

    if (words[value + 2].size && !toy_is(words[value + 2], toy->incarnation))
        return ":-2\r\n";
    if (at && !toy_is(words[value], at->value))
        return FOREIGN;
    if (value == 6)
        lift_counter(toy, toy_number(words[9]));
    if (at)
        return expire(at, words[value + 1]);
    toy_store(toy, words[3], words[value], toy_number(words[value + 1]));
    toy->repairs++;
    return ":2\r\n";
}

/* Script, 2, key, counter, value, token, counter's ttl. */
static const char *run_raise(struct toy *toy, const struct toy_word *words)
{
    const struct toy_key *at = toy_find(toy, words[3]);

    if (!at)
        return MISSING;
    if (!toy_is(words[5], at->value))
        return FOREIGN;
    lift_counter(toy, toy_number(words[6]));
    toy->raises++;
    return ":1\r\n";
}

/* Script, 2, key, counter, value, ttl, proposal, counter's ttl. */
static const char *run_grant(struct toy *toy, const struct toy_word *words)
{
    if (toy_find(toy, words[3])) {
        snprintf(toy->reply, sizeof toy->reply, "*3\r\n:0\r\n:1000\r\n:%" PRId64 "\r\n", toy->counter);
        return toy->reply;
    }
    toy->counter++;
    lift_counter(toy, toy_number(words[7]));
    toy_store(toy, words[3], words[5], toy_number(words[6]));
    snprintf(toy->reply, sizeof toy->reply, "*2\r\n:1\r\n:%" PRId64 "\r\n", toy->counter);
    return toy->reply;
}

static bool names_counter(struct toy_word key)
{
    static const char begin[] = "redlock:fence:";

    return key.size >= sizeof begin - 1 && memcmp(key.bytes, begin, sizeof begin - 1) == 0;
}

/* EVAL, text, 5, key, queue, waiters, counter, marker: of the queue the toy says nothing. */
static const char *run_look(struct toy *toy, const struct toy_word *words)
{
    const struct toy_key *at = toy_find(toy, words[3]);
    char vote[128] = "";

    if (at)
        snprintf(vote, sizeof vote, "x 1000 %zu %s", strlen(at->value), at->value);
    snprintf(toy->reply, sizeof toy->reply,
             "*8\r\n$6\r\n%s\r\n:%d\r\n:%" PRId64 "\r\n:%d\r\n:0\r\n$%zu\r\n%s\r\n$0\r\n\r\n$%zu\r\n%s\r\n",
             at ? "string" : "absent", at ? 1000 : -2, toy->counter, at != NULL, strlen(vote), vote,
             strlen(toy->incarnation), toy->incarnation);
    return toy->reply;
}

/* EVAL, text, 1, key and eight arguments: each latch has been open for long. */
static bool is_latch(const struct toy_word *words, size_t n)
{
    static const char begin[] = "redlock:latch:";

    return n == 12 && toy_is(words[0], "EVAL") && words[3].size >= sizeof begin - 1 &&
           memcmp(words[3].bytes, begin, sizeof begin - 1) == 0;
}

static const char *run_latch(void)
{
    return "*4\r\n:1\r\n$0\r\n\r\n$3\r\n1@1\r\n$3\r\n1 a\r\n";
}

/* Script, number of keys, key, key, other slots and their queues, value, ttl, and two for tokens. The toy says of other
 * slots that they are free. */
static const char *run_claim_permit(struct toy *toy, const struct toy_word *words)
{
    const struct toy_word *value = &words[3 + toy_number(words[2])];

    if (toy_find(toy, words[3]))
        return "*4\r\n:0\r\n:1000\r\n:0\r\n:1\r\n";
    toy_store(toy, words[3], value[0], toy_number(value[1]));
    return "*3\r\n:1\r\n:0\r\n:1\r\n";
}

/* A step of a permit that is none of a lock; NULL: any other command. */
static const char *run_permit(struct toy *toy, const struct toy_word *words, size_t n)
{
    size_t n_keys = (size_t)toy_number(words[2]);

    if (!memchr(words[3].bytes, '#', words[3].size))
        return NULL;
    if (n_keys == 4 && n == 3 + n_keys + 4)
        return run_claim_permit(toy, words);
    return (n_keys == 3 || n_keys == 7) && n == 3 + n_keys + 1 ? toy_release_permit(toy, words) : NULL;
}

/* Of how many values; 0: it is no release of several in the short form, which names two keys for each, or three. */
static size_t released_values(const struct toy_word *words, size_t n)
{
    static const char queue[] = "redlock:queue:";
    size_t n_keys = (size_t)toy_number(words[2]);
    size_t n_values = n - 3 - n_keys;
    bool fits = n_values > 1 && (n_keys == 2 * n_values || n_keys == 3 * n_values);

    return fits && memmem(words[4].bytes, words[4].size, queue, sizeof queue - 1) ? n_values : 0;
}

static const char *run_script(struct toy *toy, const struct toy_word *words, size_t n)
{
    const char *permit, *shared;

    if (released_values(words, n))
        return toy_release_many(toy, words, released_values(words, n));
    permit = run_permit(toy, words, n);
    if (permit)
        return permit;
    shared = toy_run_shared(toy, words, n);
    if (shared)
        return shared;
    if (toy_is(words[2], "1"))
        return run_extend(toy, words);
    if (toy_is(words[2], "2") && n == 6)
        return toy_release_alone(toy, words);
    if (toy_is(words[2], "5") && n == 8)
        return run_look(toy, words);
    if (toy_is(words[2], "5") && toy_is_keep_many(words, n))
        return toy_keep_many(toy, words, n);
    if (toy_is(words[2], "5"))
        return n == 9 ? toy_release(toy, words) : toy_enqueue(toy, words);
    if (n == 9)
        return run_grant(toy, words);
    return n == 8 && names_counter(words[4]) ? run_raise(toy, words) : run_repair(toy, words);
}

/* --- Handshake and guard ------------------------------------------------------------------------------------- */

static bool is_script(const struct toy_word *words)
{
    return toy_is(words[0], "EVAL") || toy_is(words[0], "EVALSHA");
}

static bool is_join(const struct toy_word *words, size_t n)
{
    return n > 7 && is_script(words) && toy_is(words[2], "1"); /* EXTEND has 6, or 7 with a mode */
}

/* A marker that was always there, but for the quarantine after toy_lose(). */
static const char *join(struct toy *toy, const struct toy_word *words)
{
    const char *id = strrchr(toy->dir, '/') + 1;
    int64_t left_ns = toy->quarantine_ends_ns - toy_now_ns();

    toy->joins++;
    snprintf(toy->reply, sizeof toy->reply,
             "*24\r\n$4\r\nKEPT\r\n$%zu\r\n%s\r\n$%zu\r\n%s\r\n$%zu\r\n%s\r\n$6\r\nmaster\r\n$9\r\nredis 7.0\r\n"
             "$10\r\nnoeviction\r\n:%" PRId64 "\r\n:%" PRId64 "\r\n:0\r\n:0\r\n:%" PRId64 "\r\n:0\r\n:0\r\n:0\r\n"
             ":%" PRId64 "\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n$0\r\n\r\n",
             strlen(toy->incarnation), toy->incarnation, strlen(id), id, strlen(id), id,
             left_ns > 0 ? left_ns / 1000000 + 1 : 0, toy_number(words[7]), toy_wall_us(),
             toy_number(words[7]));
    return toy->reply;
}

/* Nothing is durable here: "no" is an answer to all that is asked. */
static const char *config(struct toy *toy, struct toy_word name)
{
    snprintf(toy->reply, sizeof toy->reply, "*2\r\n$%zu\r\n%.*s\r\n$2\r\nno\r\n", name.size, (int)name.size,
             (const char *)name.bytes);
    return toy->reply;
}

static const char *marker(struct toy *toy)
{
    snprintf(toy->reply, sizeof toy->reply, "$%zu\r\n%s\r\n", strlen(toy->incarnation), toy->incarnation);
    return toy->reply;
}

static const char *wall_time(struct toy *toy)
{
    int64_t now = toy_wall_us();

    snprintf(toy->reply, sizeof toy->reply, "*2\r\n$10\r\n%010" PRId64 "\r\n$6\r\n%06" PRId64 "\r\n", now / 1000000,
             now % 1000000);
    return toy->reply;
}

const char *toy_execute(struct toy *toy, const struct toy_word *words, size_t n)
{
    const char *reply;

    if (toy_is(words[0], "PING"))
        return toy->pong ? toy->pong : "+PONG\r\n";
    if (toy_is(words[0], "CONFIG"))
        return config(toy, words[2]);
    if (toy_is(words[0], "HGET"))
        return marker(toy);
    if (toy_is(words[0], "TIME"))
        return wall_time(toy);
    if (toy_is(words[0], "EVALSHA") && toy->forgetful)
        return "-NOSCRIPT No matching script. Please use EVAL.\r\n";
    if (is_latch(words, n))
        return run_latch();
    if (is_join(words, n))
        return join(toy, words);
    if (toy_is(words[0], "SET"))
        reply = set(toy, words);
    else if (is_script(words))
        reply = run_script(toy, words, n);
    else
        return "+OK\r\n"; /* the rest of the handshake */
    return toy->says ? toy->says : reply;
}
