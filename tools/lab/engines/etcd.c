/* etcd: a lease for each attempt, and the lock service of etcd's v3 API under it, by the JSON gateway. As the manual
 * has it ("API reference: concurrency", Lock and Lease): the lease is kept alive every third of its ttl from the
 * start, its end frees the lock, waiters are served in their order, and the revision of the answer to Lock is a fencing
 * token: it is at least that at which the former holder's key went. */
#include <curl/curl.h>
#include <jansson.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine.h"

#define NS_PER_MS 1000000
#define CONNECT_MS 1000L
#define REVOKE_MS 1000
#define SINGLE_MS 200 /* of a single attempt: Lock waits, there is none that does not */
#define ANSWER_MAX ((size_t)1 << 20)

struct lease {
    char id[32];
    int64_t ttl_ms; /* as granted, which may be more than was asked for */
};

struct answer {
    char *text;
    size_t size;
    size_t endpoint; /* that was asked */
};

static char endpoints[ENGINE_NODES_MAX][128];
static size_t n_endpoints;
/* Which one is asked. It changes when that has not answered, and those who wait there for a lock turn to the next. */
static atomic_size_t current;

static size_t on_bytes(char *bytes, size_t one, size_t n, void *user_data)
{
    struct answer *answer = user_data;
    char *larger = answer->size + n < ANSWER_MAX ? realloc(answer->text, answer->size + n + 1) : NULL;

    if (!larger)
        return 0;
    answer->text = larger;
    memcpy(answer->text + answer->size, bytes, n);
    answer->size += n;
    answer->text[answer->size] = '\0';
    return n;
}

static int on_progress(void *user_data, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    const struct answer *answer = user_data;

    (void)a, (void)b, (void)c, (void)d;
    return answer->endpoint != current;
}

/* A connection of its own for each thread, which stays open. */
static CURL *handle(void)
{
    static _Thread_local CURL *easy;

    if (!easy)
        easy = curl_easy_init();
    if (easy)
        curl_easy_reset(easy);
    return easy;
}

static CURLcode post(const char *path, const char *body, int64_t timeout_ms, struct answer *answer)
{
    CURL *easy = handle();
    char url[256];

    if (!easy)
        return CURLE_OUT_OF_MEMORY;
    answer->endpoint = current;
    snprintf(url, sizeof url, "%s%s", endpoints[answer->endpoint], path);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, answer);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(easy, CURLOPT_XFERINFODATA, answer);
    return curl_easy_perform(easy);
}

/* The JSON of the answer; NULL: none has come. An error that etcd reports is an answer, too. */
static json_t *ask(const char *path, const char *body, int64_t timeout_ms)
{
    struct answer answer = {.text = NULL};
    CURLcode code = post(path, body, timeout_ms, &answer);
    json_t *json = code == CURLE_OK && answer.text ? json_loads(answer.text, 0, NULL) : NULL;

    if (!json)
        engine_say("%s%s: %s", endpoints[answer.endpoint], path, curl_easy_strerror(code));
    free(answer.text);
    if (code != CURLE_OK && code != CURLE_ABORTED_BY_CALLBACK) {
        size_t asked = answer.endpoint;

        atomic_compare_exchange_strong(&current, &asked, (asked + 1) % n_endpoints);
    }
    return json;
}

static bool is_error(const json_t *json)
{
    const char *text = json_string_value(json_object_get(json, "error"));

    if (text)
        engine_say("%s", text);
    return text != NULL;
}

/* 64-bit numbers are strings in etcd's JSON. */
static int64_t number_in(const json_t *json, const char *name)
{
    const char *text = json_string_value(json_object_get(json, name));

    return text ? strtoll(text, NULL, 10) : 0;
}

static int64_t left_ms(int64_t deadline_ns)
{
    int64_t left_ns = deadline_ns - engine_now_ns();

    return left_ns > 0 ? left_ns / NS_PER_MS + 1 : 0;
}

/* Asks each member in turn while time is left. NULL: none has answered without an error. */
static json_t *ask_any(const char *path, const char *body, int64_t deadline_ns, int64_t patience_ms)
{
    for (size_t i = 0; i < n_endpoints && left_ms(deadline_ns) > 0; i++) {
        int64_t left = left_ms(deadline_ns);
        json_t *json = ask(path, body, left < patience_ms ? left : patience_ms);

        if (json && !is_error(json))
            return json;
        json_decref(json);
    }
    return NULL;
}

static bool grant(struct engine_hold *hold, struct lease *lease, int64_t deadline_ns)
{
    int64_t since_ns = engine_now_ns();
    char body[64];
    json_t *json;

    snprintf(body, sizeof body, "{\"TTL\":%lld}", (long long)((hold->ttl_ms + 999) / 1000));
    json = ask_any("/v3/lease/grant", body, deadline_ns, hold->ttl_ms);
    if (!json)
        return false;
    snprintf(lease->id, sizeof lease->id, "%lld", (long long)number_in(json, "ID"));
    lease->ttl_ms = number_in(json, "TTL") * 1000;
    json_decref(json);
    engine_hold_until(hold, since_ns + lease->ttl_ms * NS_PER_MS);
    engine_renew_every(hold, lease->ttl_ms / 3);
    return true;
}

static void renew(struct engine_hold *hold)
{
    const struct lease *lease = hold->state;
    int64_t since_ns = engine_now_ns();
    char body[64];
    json_t *json;
    const json_t *result;

    snprintf(body, sizeof body, "{\"ID\":\"%s\"}", lease->id);
    json = ask("/v3/lease/keepalive", body, lease->ttl_ms / 3);
    result = json_object_get(json, "result");
    if (result && number_in(result, "TTL") > 0)
        engine_hold_until(hold, since_ns + number_in(result, "TTL") * 1000 * NS_PER_MS);
    else if (result)
        engine_hold_lost(hold);
    json_decref(json);
}

static enum engine_release revoke(const struct lease *lease, int64_t timeout_ms)
{
    enum engine_release outcome = ENGINE_UNCONFIRMED;
    char body[64];

    snprintf(body, sizeof body, "{\"ID\":\"%s\"}", lease->id);
    for (size_t i = 0; i < n_endpoints && outcome == ENGINE_UNCONFIRMED; i++) {
        json_t *json = ask("/v3/lease/revoke", body, timeout_ms);
        const char *error = json_string_value(json_object_get(json, "error"));

        if (json && !error)
            outcome = ENGINE_RELEASED;
        else if (error && strstr(error, "lease not found"))
            outcome = ENGINE_LOST;
        json_decref(json);
    }
    return outcome;
}

/* Base64, as JSON has bytes. */
static bool encode_name(const char *key, char *ret_name, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t length = strlen(key);
    size_t n = 0;

    if ((length + 2) / 3 * 4 >= size)
        return false;
    for (size_t i = 0; i < length; i += 3) {
        unsigned a = (unsigned char)key[i];
        unsigned b = i + 1 < length ? (unsigned char)key[i + 1] : 0;
        unsigned c = i + 2 < length ? (unsigned char)key[i + 2] : 0;

        ret_name[n++] = digits[a >> 2];
        ret_name[n++] = digits[(a & 3) << 4 | b >> 4];
        ret_name[n++] = i + 1 < length ? digits[(b & 15) << 2 | c >> 6] : '=';
        ret_name[n++] = i + 2 < length ? digits[c & 63] : '=';
    }
    ret_name[n] = '\0';
    return true;
}

/* Waits until the lock is ours. A member that has ceased to answer is left for the next; the lease keeps our place. */
static bool lock(struct engine_hold *hold, const struct lease *lease, int64_t deadline_ns)
{
    struct timespec pause = {.tv_nsec = 20 * NS_PER_MS}; /* between errors */
    char name[2048], body[2304];

    if (!encode_name(hold->key, name, sizeof name))
        return false;
    snprintf(body, sizeof body, "{\"name\":\"%s\",\"lease\":\"%s\"}", name, lease->id);
    while (left_ms(deadline_ns) > 0) {
        json_t *json = ask("/v3/lock/lock", body, left_ms(deadline_ns));
        bool answered = json && !is_error(json);

        if (answered) {
            hold->fence = (uint64_t)number_in(json_object_get(json, "header"), "revision");
            hold->has_fence = true;
        }
        json_decref(json);
        if (answered)
            return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

static enum engine_verdict acquire(struct engine_hold *hold)
{
    int64_t timeout_ms = hold->timeout_ms > SINGLE_MS ? hold->timeout_ms : SINGLE_MS;
    int64_t deadline_ns = engine_now_ns() + timeout_ms * NS_PER_MS;
    struct lease *lease = calloc(1, sizeof *lease);

    if (!lease)
        return ENGINE_ERROR;
    hold->state = lease;
    if (!grant(hold, lease, deadline_ns))
        return ENGINE_UNREACHABLE;
    if (lock(hold, lease, deadline_ns))
        return ENGINE_ACQUIRED;
    return revoke(lease, REVOKE_MS) == ENGINE_UNCONFIRMED ? ENGINE_UNREACHABLE : ENGINE_HELD;
}

/* The end of the lease frees the lock. */
static enum engine_release release(struct engine_hold *hold)
{
    return revoke(hold->state, hold->ttl_ms);
}

static void forget(struct engine_hold *hold)
{
    free(hold->state);
}

static bool open_endpoints(const struct engine_settings *settings)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
    for (; n_endpoints < settings->n_nodes; n_endpoints++) {
        char address[100];

        engine_address(settings->nodes[n_endpoints], address, sizeof address);
        snprintf(endpoints[n_endpoints], sizeof endpoints[0], "http://%s", address);
    }
    return true;
}

int main(void)
{
    const struct engine engine = {
        .name = "etcd",
        .version = ENGINE_VERSION,
        .can = "lease,renewal,fence,fifo,alarm",
        .systems = "etcd",
        .ttl_ms = 60000, /* of a session of etcd's own client, clientv3/concurrency */
        .open = open_endpoints,
        .acquire = acquire,
        .release = release,
        .renew = renew,
        .forget = forget,
    };

    return engine_main(&engine);
}
