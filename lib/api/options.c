/* The defaults of options, and the one place where options and keys are checked: each rule has a status code. */
#include "api/options.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <redlock/status.h>

#include "api/handle.h"
#include "api/public.h"
#include "kinds/mutex.h"
#include "kinds/names.h"
#include "kinds/shared.h"
#include "util/event_types.h"
#include "votes/quorum.h"

static const struct redlock_options defaults = {
    .quorum = 0,
    .max_ttl_ms = 60000,
    .drift_ppm = 10000,
    .drift_ms = 2,
    .guard_ms = 0,
    .node_timeout_ms = 500,
    .connect_timeout_ms = 1000,
    .stall_timeout_ms = 5000,
    .backoff_min_ms = 50,
    .backoff_max_ms = 1000,
    .max_claims = 1 << 20,
    .max_buffer_bytes = 1 << 20,
};

static const struct redlock_acquire_options acquire_defaults = {
    .ttl_ms = 10000,
    .timeout_ms = 0,
    .max_attempts = 0,
    .retry_delay_ms = 20,
    .retry_jitter_ms = 60,
    .min_validity_ms = 1,
};

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

void redlock_options_init_size(struct redlock_options *options, size_t size)
{
    memset(options, 0, size);
    memcpy(options, &defaults, smaller(size, sizeof defaults));
    options->size = size;
}

void redlock_acquire_options_init_size(struct redlock_acquire_options *options, size_t size)
{
    memset(options, 0, size);
    memcpy(options, &acquire_defaults, smaller(size, sizeof acquire_defaults));
    options->size = size;
}

static bool in_range(uint32_t value, uint32_t least, uint32_t most)
{
    return value >= least && value <= most;
}

/* A number, the range that it must be in, and the error if it is not. */
struct range {
    int status;
    const char *name;
    uint32_t value, least, most;
};

static int check_ranges(const struct range *ranges, size_t n, char *why, size_t size)
{
    for (const struct range *at = ranges; at < ranges + n; at++) {
        if (in_range(at->value, at->least, at->most))
            continue;
        snprintf(why, size, "%s is %u; it must be from %u to %u", at->name, at->value, at->least, at->most);
        return at->status;
    }
    return 0;
}

static int check_trust(struct redlock_options *o, char *why, size_t size)
{
    const struct range ranges[] = {
        {REDLOCK_E_PROFILE, "profile", (uint32_t)o->profile, 0, REDLOCK_PROFILE_CLASSIC},
        {REDLOCK_E_PROFILE, "join", (uint32_t)o->join, 0, REDLOCK_JOIN_ALLOW},
        {REDLOCK_E_PROFILE, "follow", (uint32_t)o->follow, 0, REDLOCK_FOLLOW_NOT},
        {REDLOCK_E_PROFILE, "allow_unverified", o->allow_unverified, 0, 1},
        {REDLOCK_E_PROFILE, "allow_eviction", o->allow_eviction, 0, 1},
    };

    return check_ranges(ranges, sizeof ranges / sizeof ranges[0], why, size);
}

static int check_prefix(struct redlock_options *options, char *why, size_t size)
{
    if (!options->key_prefix)
        options->key_prefix = "";
    if (strnlen(options->key_prefix, REDLOCK_MAX_PREFIX_BYTES + 1) <= REDLOCK_MAX_PREFIX_BYTES)
        return 0;
    snprintf(why, size, "key_prefix has more than %d characters", REDLOCK_MAX_PREFIX_BYTES);
    return REDLOCK_E_PREFIX;
}

static int check_quorum(uint32_t n_masters, struct redlock_options *options, char *why, size_t size)
{
    struct range range = {REDLOCK_E_QUORUM, "quorum", options->quorum, (uint32_t)rl_majority(n_masters), n_masters};

    if (!options->quorum)
        range.value = options->quorum = range.least;
    return check_ranges(&range, 1, why, size);
}

#define MAX_NAME 64

static int check_text(const char *name, const char *text, size_t most, char *why, size_t size)
{
    for (size_t i = 0; text[i]; i++) {
        unsigned char c = (unsigned char)text[i];

        if (i >= most || c <= ' ' || c > '~') {
            snprintf(why, size, "%s has more than %zu characters, or one that is not printable", name, most);
            return REDLOCK_E_CLIENT_NAME;
        }
    }
    return 0;
}

static int check_names(struct redlock_options *options, char *why, size_t size)
{
    int status;

    if (!options->client_name)
        options->client_name = "libredlock";
    if (!options->label)
        options->label = "";
    status = check_text("client_name", options->client_name, MAX_NAME, why, size);
    return status < 0 ? status : check_text("label", options->label, REDLOCK_MAX_LABEL_BYTES, why, size);
}

static int check_classes(const struct redlock_options *options, char *why, size_t size)
{
    if (options->n_key_classes > REDLOCK_MAX_KEY_CLASSES || (options->n_key_classes && !options->key_classes)) {
        snprintf(why, size, "n_key_classes is %zu; key_classes must be there, and have at most %d",
                 options->n_key_classes, REDLOCK_MAX_KEY_CLASSES);
        return REDLOCK_E_KEY_CLASSES;
    }
    for (size_t i = 0; i < options->n_key_classes; i++) {
        const struct redlock_key_class *given = &options->key_classes[i];

        if (given->prefix && given->name && *given->name &&
            check_text("the name", given->name, REDLOCK_MAX_LABEL_BYTES, why, size) == 0)
            continue;
        snprintf(why, size, "key_classes[%zu] needs a prefix, and a name of 1 to %d printable characters without a "
                 "space", i, REDLOCK_MAX_LABEL_BYTES);
        return REDLOCK_E_KEY_CLASSES;
    }
    return 0;
}

/* One row for each number with a fixed range. */
static int check_numbers(const struct redlock_options *o, char *why, size_t size)
{
    const struct range ranges[] = {
        {REDLOCK_E_MAX_TTL, "max_ttl_ms", o->max_ttl_ms, 1, REDLOCK_MAX_TTL_MS},
        {REDLOCK_E_DRIFT, "drift_ppm", o->drift_ppm, 0, 500000},
        {REDLOCK_E_DRIFT, "drift_ms", o->drift_ms, 0, 60000},
        {REDLOCK_E_GUARD, "guard_ms", o->guard_ms, 0, 60000},
        {REDLOCK_E_NODE_TIMEOUT, "node_timeout_ms", o->node_timeout_ms, 1, 60000},
        {REDLOCK_E_CONNECT_TIMEOUT, "connect_timeout_ms", o->connect_timeout_ms, 1, 60000},
        {REDLOCK_E_STALL_TIMEOUT, "stall_timeout_ms", o->stall_timeout_ms, o->node_timeout_ms, 3600000},
        {REDLOCK_E_BACKOFF, "backoff_max_ms", o->backoff_max_ms, 1, 60000},
        {REDLOCK_E_BACKOFF, "backoff_min_ms", o->backoff_min_ms, 1, o->backoff_max_ms},
        {REDLOCK_E_LIMITS, "max_claims", o->max_claims, 1, UINT32_MAX},
        {REDLOCK_E_LIMITS, "max_buffer_bytes", o->max_buffer_bytes, 64 << 10, 1 << 30},
    };

    return check_ranges(ranges, sizeof ranges / sizeof ranges[0], why, size);
}

int rl_options_check(const struct redlock_options *given, size_t n_masters, struct redlock_options *ret_options,
                     char *why, size_t why_size)
{
    struct redlock_options options = defaults;
    int status;

    if (given && given->size < RL_SMALLEST_OPTIONS) {
        snprintf(why, why_size, "options.size is %zu: call redlock_options_init() first", given->size);
        return REDLOCK_E_OPTIONS_SIZE;
    }
    if (given)
        memcpy(&options, given, smaller(given->size, sizeof options));
    options.size = sizeof options;
    options.event_types = rl_event_types(&options);
    status = check_numbers(&options, why, why_size);
    if (status == 0)
        status = check_quorum((uint32_t)n_masters, &options, why, why_size);
    if (status == 0)
        status = check_trust(&options, why, why_size);
    if (status == 0)
        status = check_prefix(&options, why, why_size);
    if (status == 0)
        status = check_names(&options, why, why_size);
    if (status == 0)
        status = check_classes(&options, why, why_size);
    if (status == 0)
        status = rl_tls_check(&options, why, why_size);
    if (status == 0)
        *ret_options = options;
    return status;
}

static int64_t usable_ns(const struct redlock_client *client, uint32_t ttl_ms)
{
    const struct rl_config *config = &client->host.engine.votes.config;

    return rl_usable_validity(&config->drift, config->guard, ttl_ms).ns;
}

int rl_ttl_check(const struct redlock_client *client, uint32_t ttl_ms)
{
    if (!in_range(ttl_ms, 1, client->options.max_ttl_ms) || usable_ns(client, ttl_ms) <= 0)
        return REDLOCK_E_TTL;
    return 0;
}

static int check_retry(const struct redlock_acquire_options *o)
{
    if (o->timeout_ms < REDLOCK_FOREVER || o->timeout_ms > REDLOCK_MAX_TIMEOUT_MS)
        return REDLOCK_E_TIMEOUT;
    if (o->timeout_ms == 0 && o->max_attempts > 1)
        return REDLOCK_E_RETRY;
    if (o->retry_delay_ms > 60000 || o->retry_jitter_ms > 60000 || !(o->retry_delay_ms || o->retry_jitter_ms))
        return REDLOCK_E_RETRY;
    return 0;
}

static int check_wait(const struct redlock_acquire_options *o)
{
    bool strict = o->wait == REDLOCK_WAIT_FIFO && o->timeout_ms != 0;

    return !in_range((uint32_t)o->wait, 0, REDLOCK_WAIT_SPIN) || (strict && o->max_attempts) ? REDLOCK_E_WAIT : 0;
}

/* An entry in the wait queues is no attempt that could be counted, so max_attempts excludes it. */
static enum rl_wait wait_of(const struct redlock_acquire_options *o)
{
    if (o->max_attempts || o->wait == REDLOCK_WAIT_SPIN)
        return RL_WAIT_SPIN;
    return o->wait == REDLOCK_WAIT_FIFO ? RL_WAIT_FIFO : RL_WAIT_QUEUE;
}

/* After two thirds of the validity there would be no time left to try a renewal again. */
static int check_renewal(const struct redlock_acquire_options *o, int64_t usable)
{
    bool chosen = o->renew_ms && o->renew_ms != REDLOCK_NO_RENEWAL;

    if (chosen && rl_ms(o->renew_ms).ns > usable / 3 * 2)
        return REDLOCK_E_RENEWAL;
    return rl_ms(o->at_risk_ms).ns >= usable || o->fenced > 1 || o->own_token > 1 ? REDLOCK_E_RENEWAL : 0;
}

/* The defaults are a third of the validity that the ttl gives. */
static void add_renewal(const struct redlock_acquire_options *o, int64_t usable, struct rl_acquire *request)
{
    uint32_t third_ms = (uint32_t)(usable / 3 / RL_NS_PER_MS);

    request->renew_ms = o->renew_ms ? o->renew_ms : third_ms;
    if (!request->renew_ms)
        request->renew_ms = 1;
    if (o->renew_ms == REDLOCK_NO_RENEWAL)
        request->renew_ms = 0;
    request->at_risk_ms = o->at_risk_ms ? o->at_risk_ms : third_ms;
    request->max_hold_ms = o->max_hold_ms;
    request->kind = o->fenced ? &rl_fenced_kind : &rl_mutex_kind;
    request->mode = (uint8_t)rl_mode_of(o->mode);
    if (request->mode != RL_EXCLUSIVE)
        request->kind = rl_shared_form(request->kind);
    request->own_token = o->own_token;
    request->label = o->label;
}

static int check_mode(const struct redlock_acquire_options *o)
{
    return rl_mode_is_valid(o->mode) ? 0 : REDLOCK_E_MODE;
}

static void make_request(const struct redlock_acquire_options *o, struct rl_instant now, struct rl_acquire *ret_request)
{
    *ret_request = (struct rl_acquire){
        .ttl_ms = o->ttl_ms,
        .max_attempts = o->max_attempts,
        .retry_delay = rl_ms(o->retry_delay_ms),
        .retry_jitter = rl_ms(o->retry_jitter_ms),
        .min_validity = rl_ms(o->min_validity_ms),
        .deadline = o->timeout_ms > 0 ? rl_after(now, rl_ms(o->timeout_ms)) : RL_NEVER,
        .once = o->timeout_ms == 0,
        .wait = (uint8_t)(o->timeout_ms == 0 ? RL_WAIT_SPIN : wait_of(o)),
    };
}

int rl_acquire_options_check(const struct redlock_client *client, const struct redlock_acquire_options *given,
                             struct rl_instant now, struct rl_acquire *ret_request)
{
    struct redlock_acquire_options options = acquire_defaults;
    char why[100];
    int status;

    if (given && given->size < RL_SMALLEST_OPTIONS)
        return REDLOCK_E_OPTIONS_SIZE;
    if (given)
        memcpy(&options, given, smaller(given->size, sizeof options));
    else if (options.ttl_ms > client->options.max_ttl_ms)
        options.ttl_ms = client->options.max_ttl_ms;
    status = rl_ttl_check(client, options.ttl_ms);
    if (status == 0)
        status = check_retry(&options);
    if (status == 0)
        status = check_wait(&options);
    if (status == 0 && usable_ns(client, options.ttl_ms) <= rl_ms(options.min_validity_ms).ns)
        status = REDLOCK_E_MIN_VALIDITY;
    if (status == 0)
        status = check_renewal(&options, usable_ns(client, options.ttl_ms));
    if (status == 0)
        status = check_mode(&options);
    if (status == 0 && options.label)
        status = check_text("label", options.label, REDLOCK_MAX_LABEL_BYTES, why, sizeof why);
    if (status < 0)
        return status;
    make_request(&options, now, ret_request);
    add_renewal(&options, usable_ns(client, options.ttl_ms), ret_request);
    return 0;
}

enum { MOST_NAME = 253 };

static void drop_empty(const char **text)
{
    if (*text && !**text)
        *text = NULL;
}

int rl_tls_check(struct redlock_options *o, char *why, size_t size)
{
    const char **const texts[] = {&o->tls_ca_file, &o->tls_ca_dir, &o->tls_cert_file, &o->tls_key_file,
                                  &o->tls_server_name, &o->tls_ciphers, &o->tls_ciphersuites};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        drop_empty(texts[i]);
    if (!o->tls_cert_file != !o->tls_key_file)
        snprintf(why, size, "tls_cert_file and tls_key_file belong together: %s is missing",
                 o->tls_key_file ? "tls_cert_file" : "tls_key_file");
    else if (o->tls_server_name && strlen(o->tls_server_name) > MOST_NAME)
        snprintf(why, size, "tls_server_name has more than %d characters", MOST_NAME);
    else if (o->tls_server_name && strchr(".%", o->tls_server_name[0]))
        snprintf(why, size, "tls_server_name %s: a host's name does not begin like that", o->tls_server_name);
    else if ((unsigned)o->tls_min_version > REDLOCK_TLS_1_3)
        snprintf(why, size, "tls_min_version is outside its range");
    else if (o->tls_insecure_skip_verify > 1 || o->tls_no_resumption > 1)
        snprintf(why, size, "tls_insecure_skip_verify and tls_no_resumption must be 0 or 1");
    else
        return 0;
    return REDLOCK_E_TLS;
}

static bool any_has_tls(const struct rl_master *masters, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (masters[i].tls)
            return true;
    }
    return false;
}

int rl_tls_start(const struct redlock_options *options, const struct rl_master *masters, size_t n, char *why,
                 size_t size, struct rl_tls_context **ret_context)
{
    const struct rl_tls_options tls = {
        .ca_file = options->tls_ca_file,
        .ca_dir = options->tls_ca_dir,
        .cert_file = options->tls_cert_file,
        .key_file = options->tls_key_file,
        .server_name = options->tls_server_name,
        .ciphers = options->tls_ciphers,
        .ciphersuites = options->tls_ciphersuites,
        .only_1_3 = options->tls_min_version == REDLOCK_TLS_1_3,
        .verifies = !options->tls_insecure_skip_verify,
        .resumes = !options->tls_no_resumption,
    };

    *ret_context = NULL;
    return any_has_tls(masters, n) ? rl_tls_context_create(&tls, why, size, ret_context) : 0;
}

/* --- Keys ------------------------------------------------------------------------------------------------------- */

static bool begins_with(const void *key, size_t size, const char *name)
{
    return size >= strlen(name) && memcmp(key, name, strlen(name)) == 0;
}

/* Behind the prefix, such a key would be the marker, or a key that belongs to another lock. */
static bool is_reserved(const void *key, size_t size)
{
    return (size == strlen(RL_MARKER_NAME) && begins_with(key, size, RL_MARKER_NAME)) ||
           begins_with(key, size, RL_COUNTER_NAME) || begins_with(key, size, RL_QUEUE_NAME) ||
           begins_with(key, size, RL_WAITERS_NAME) || begins_with(key, size, RL_PERMITS_NAME) ||
           begins_with(key, size, RL_PERMIT_WAITERS_NAME) || begins_with(key, size, RL_LATCH_NAME);
}

int rl_key_check(const struct redlock_client *client, const void *key, size_t key_size, size_t longest_suffix)
{
    if (rl_client_forked(client))
        return REDLOCK_E_FORKED;
    if (client->host.closing)
        return REDLOCK_E_CLOSING;
    if (key_size == 0)
        return REDLOCK_E_KEY_EMPTY;
    if (key_size + client->host.trust.prefix_size + longest_suffix > REDLOCK_MAX_KEY_BYTES)
        return REDLOCK_E_KEY_TOO_LONG;
    return is_reserved(key, key_size) ? REDLOCK_E_KEY_RESERVED : 0;
}
