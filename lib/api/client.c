/* Life of a client: creation from URLs and options, destruction at any time. */
#include "api/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/deployment_id.h"
#include "api/environment.h"
#include "api/events.h"
#include "api/handle.h"
#include "api/object.h"
#include "api/options.h"
#include "api/shutdown.h"
#include "driver/simulator.h"

/* --- Creation --------------------------------------------------------------------------------------------------- */

int rl_client_fail(struct redlock_error *ret_error, int status, const char *why)
{
    if (ret_error) {
        ret_error->status = status;
        snprintf(ret_error->text, sizeof ret_error->text, "%s", why ? why : redlock_strerror(status));
    }
    return status;
}

/* A URL by itself may have a user alone: a client that nobody can ask for the password refuses it. */
static int parse_url(const char *url, const struct redlock_options *options, struct rl_master *ret_master,
                     const char **ret_why)
{
    int status = rl_master_parse(url, ret_master, ret_why);

    if (status < 0 || !ret_master->user || ret_master->password || options->on_credentials)
        return status;
    rl_master_fini(ret_master);
    *ret_why = "credentials must be written as user:password@ or :password@";
    return REDLOCK_E_URL;
}

static int parse_one(const char *url, size_t index, const struct redlock_options *options,
                     struct rl_master *ret_master, struct redlock_error *ret_error)
{
    char text[sizeof ret_error->text];
    char masked[96];
    const char *why = "it is NULL";
    int status = url ? parse_url(url, options, ret_master, &why) : REDLOCK_E_ARGUMENT;

    if (status == 0)
        return 0;
    rl_url_mask(url ? url : "", masked, sizeof masked);
    snprintf(text, sizeof text, "master %zu, \"%s\": %s", index + 1, masked,
             status == REDLOCK_E_NOMEM ? redlock_strerror(status) : why);
    return rl_client_fail(ret_error, status, text);
}

static int check_distinct(const struct rl_master *masters, size_t n, struct redlock_error *ret_error)
{
    char text[sizeof ret_error->text];

    for (size_t i = 0; i < n; i++) {
        if (!rl_master_same(&masters[i], &masters[n]))
            continue;
        snprintf(text, sizeof text, "masters %zu and %zu are the same: %s", i + 1, n + 1, masters[n].name);
        return rl_client_fail(ret_error, REDLOCK_E_DUPLICATE_MASTER, text);
    }
    return 0;
}

static void free_masters(struct rl_master *masters, size_t n)
{
    for (size_t i = 0; i < n; i++)
        rl_master_fini(&masters[i]);
}

static int check_alike(const struct rl_master *masters, size_t n, struct redlock_error *ret_error)
{
    if (masters[n].simulated && (!rl_simulator() || !rl_simulator()->exists()))
        return rl_client_fail(ret_error, REDLOCK_E_URL, "simulated:// masters are in programs that are linked with "
                                                        "libredlock-test and have called redlock_simulation_create()");
    if (masters[n].simulated != masters[0].simulated)
        return rl_client_fail(ret_error, REDLOCK_E_URL, "simulated:// masters and others cannot be in one list");
    return check_distinct(masters, n, ret_error);
}

int rl_masters_parse(const char *const *urls, size_t n, const struct redlock_options *options,
                     struct rl_master *masters, struct redlock_error *ret_error)
{
    for (size_t i = 0; i < n; i++) {
        int status = parse_one(urls[i], i, options, &masters[i], ret_error);

        if (status == 0)
            status = check_alike(masters, i, ret_error);
        if (status < 0) {
            free_masters(masters, n);
            return status;
        }
    }
    return 0;
}

/* Renewals of many locks are sent together: one write for each master at every tick. With 100,000 locks that are
 * renewed every 10 s a tick of 100 ms costs 0.6 times the CPU time that one of 20 ms does, here and at the masters; in
 * the masters' queues it is a millisecond or two. Short intervals have shorter ticks: renew.c. */
#define RENEWAL_TICK_MS 100

/* More renewals than this at one tick, for many ticks, would be too many for the masters. */
#define RENEWALS_PER_TICK 256

/* The seed of the jitter only has to differ between clients. */
static uint64_t make_seed(void)
{
    uint64_t seed = 0;

    rl_random_bytes(&seed, sizeof seed);
    return seed;
}

static struct rl_config engine_config(struct redlock_client *client, size_t n_masters)
{
    const struct redlock_options *options = &client->options;

    return (struct rl_config){
        .n_nodes = n_masters,
        .quorum = options->quorum,
        .drift = {options->drift_ppm, rl_ms(options->drift_ms)},
        .guard = rl_ms(options->guard_ms),
        .node_timeout = rl_ms(options->node_timeout_ms),
        .tick = rl_ms(RENEWAL_TICK_MS),
        .renewals_per_tick = RENEWALS_PER_TICK,
        .max_ttl_ms = options->max_ttl_ms,
        .seed = make_seed(),
        .measures = &client->measures,
    };
}

static int start_host(struct redlock_client *client, const struct rl_master *masters, size_t n)
{
    struct rl_member_list list = {.quorum = (uint8_t)client->options.quorum};
    struct rl_deployment_names names;
    struct rl_host_config config = {
        .options = &client->options,
        .names = &names,
        .sink = &rl_client_sink,
        .environment = rl_client_environment(client),
        .engine = engine_config(client, n),
    };
    int status;

    for (size_t i = 0; i < n; i++) {
        rl_deployment_add_member(&list, &masters[i]);
        memcpy(names.node_ids[i], list.members[i].node_id, RL_UUID_SIZE);
    }
    rl_deployment_name_list(client->options.key_prefix, &list);
    memcpy(names.list_id, list.id, RL_UUID_SIZE);
    status = rl_host_init(&client->host, &config);
    client->options.key_prefix = client->host.trust.prefix; /* the caller's need not live on */
    return status;
}

/* Callbacks run before the turn's writing, so that what they start is part of it. */
static void on_turn(void *ctx)
{
    struct redlock_client *client = rl_client_of_host(ctx);

    rl_host_read_clock(&client->host);
    client->depth++;
    rl_objects_deliver(client);
    if (!client->destroyed)
        rl_shutdown_check(client);
    if (!client->destroyed)
        rl_host_end_turn(&client->host);
    client->depth--;
    rl_objects_free(client);
}

/* Whoever needs them has copies of its own; the caller's need not live on. */
static void forget_texts(struct redlock_options *options)
{
    options->client_name = NULL;
    options->tls_ca_file = options->tls_ca_dir = NULL;
    options->tls_cert_file = options->tls_key_file = NULL;
    options->tls_server_name = options->tls_ciphers = options->tls_ciphersuites = NULL;
    options->key_classes = NULL;
}

/* Takes over `tls`, on success. */
static int start_driver(struct redlock_client *client, struct event_base *base, struct rl_master *masters, size_t n,
                        struct rl_tls_context *tls)
{
    const struct redlock_options *options = &client->options;
    struct rl_transport_sink sink = rl_host_events;
    struct rl_driver_config config = {
        .base = base,
        .clock = &client->clock,
        .node_timeout = rl_ms(options->node_timeout_ms),
        .connect_timeout = rl_ms(options->connect_timeout_ms),
        .stall_timeout = rl_ms(options->stall_timeout_ms),
        .backoff_min = rl_ms(options->backoff_min_ms),
        .backoff_max = rl_ms(options->backoff_max_ms),
        .max_buffer_bytes = options->max_buffer_bytes,
        .simulated = masters[0].simulated,
        .client_name = options->client_name,
        .tls = tls,
        .credentials = rl_client_credentials(client),
        .seed = make_seed(),
    };
    int status;

    sink.ctx = &client->host;
    sink.turn = on_turn;
    status = rl_driver_create(&config, masters, n, &sink, &client->driver);
    if (status == 0)
        client->host.transport = rl_driver_transport(client->driver);
    forget_texts(&client->options);
    return status;
}

/* Copies what the options refer to. False: out of memory. */
static bool keep_options(struct redlock_client *client, const struct redlock_options *options)
{
    client->options = *options;
    memcpy(client->label, options->label, strlen(options->label));
    client->options.label = client->label;
    client->may_follow = options->may_follow ? strdup(options->may_follow) : NULL;
    client->options.may_follow = client->may_follow;
    return (client->may_follow || !options->may_follow) && rl_usage_init(&client->usage, options);
}

static int build(struct event_base *base, struct rl_master *masters, size_t n, const struct redlock_options *options,
                 struct rl_tls_context *tls, struct redlock_client **ret_client)
{
    struct redlock_client *client = calloc(1, sizeof *client);
    int status;

    if (!client)
        return REDLOCK_E_NOMEM;
    rl_clock_init(&client->clock);
    if (!rl_token_source_init(&client->tokens, rl_clock_now(&client->clock))) {
        free(client);
        return REDLOCK_E_SYSTEM;
    }
    client->n_configured = n;
    client->fork_generation = rl_fork_generation();
    rl_objects_init(client);
    status = keep_options(client, options) ? start_host(client, masters, n) : REDLOCK_E_NOMEM;
    if (status == 0) {
        status = start_driver(client, base, masters, n, tls);
        if (status < 0)
            rl_host_fini(&client->host);
    }
    if (status < 0) {
        rl_usage_fini(&client->usage);
        free(client->may_follow);
        free(client);
    } else {
        *ret_client = client;
    }
    return status;
}

int redlock_client_create(struct event_base *base, const char *const *masters, size_t n_masters,
                          const struct redlock_options *options, struct redlock_client **ret_client,
                          struct redlock_error *ret_error)
{
    struct rl_master parsed[REDLOCK_MAX_MASTERS];
    struct redlock_options checked;
    struct rl_tls_context *tls;
    char why[sizeof ret_error->text] = "";
    int status;

    if (!base || !ret_client || (!masters && n_masters))
        return rl_client_fail(ret_error, REDLOCK_E_ARGUMENT, "base, masters and ret_client must not be NULL");
    if (n_masters == 0)
        return rl_client_fail(ret_error, REDLOCK_E_NO_MASTERS, NULL);
    if (n_masters > REDLOCK_MAX_MASTERS) {
        snprintf(why, sizeof why, "%zu masters are listed; the limit is %d", n_masters, REDLOCK_MAX_MASTERS);
        return rl_client_fail(ret_error, REDLOCK_E_TOO_MANY_MASTERS, why);
    }
    status = rl_options_check(options, n_masters, &checked, why, sizeof why);
    if (status < 0)
        return rl_client_fail(ret_error, status, why);
    memset(parsed, 0, sizeof parsed);
    status = rl_masters_parse(masters, n_masters, &checked, parsed, ret_error);
    if (status < 0)
        return status;
    status = rl_tls_start(&checked, parsed, n_masters, why, sizeof why, &tls);
    if (status == 0) {
        status = build(base, parsed, n_masters, &checked, tls, ret_client);
        if (status < 0)
            rl_tls_context_destroy(tls);
    }
    if (status < 0) {
        free_masters(parsed, n_masters);
        return rl_client_fail(ret_error, status, why[0] ? why : NULL);
    }
    return 0;
}

/* --- Destruction ------------------------------------------------------------------------------------------------ */

/* Every object is ended as by its own destroy function; the driver then writes the releases, once. The driver's memory,
 * with the names that results on the stack refer to, goes with the client's. */
void redlock_client_destroy(struct redlock_client *client)
{
    if (!client || client->destroyed)
        return;
    client->host.closing = true;
    client->destroyed = true; /* a callback that destroys it again does no harm */
    client->depth++;
    rl_objects_destroy(client);
    rl_shutdown_cancel(client);
    if (!rl_client_forked(client))
        rl_batch_flush(&client->host);
    rl_driver_close(client->driver, rl_client_forked(client));
    client->depth--;
    rl_objects_free(client);
}

#define SMALLEST (offsetof(struct redlock_credentials, good_for_ms) + sizeof(uint32_t))

void redlock_credentials_init_size(struct redlock_credentials *credentials, size_t size)
{
    memset(credentials, 0, size);
    credentials->size = size;
}

static void ask(void *ctx, struct redlock_credentials_request *request, unsigned node, enum rl_credentials_need need)
{
    static const enum redlock_credentials_why whys[] = {
        [RL_CREDENTIALS_CONNECTING] = REDLOCK_CREDENTIALS_CONNECTING,
        [RL_CREDENTIALS_REFUSED] = REDLOCK_CREDENTIALS_REFUSED,
        [RL_CREDENTIALS_EXPIRING] = REDLOCK_CREDENTIALS_EXPIRING,
    };
    const struct redlock_client *client = ctx;
    const struct redlock_credentials_wanted wanted = {
        .node = node, .name = rl_driver_node_name(client->driver, node), .why = whys[need]};

    client->options.on_credentials(request, &wanted, client->options.credentials_data);
}

struct rl_credentials_source rl_client_credentials(struct redlock_client *client)
{
    return (struct rl_credentials_source){.ask = client->options.on_credentials ? ask : NULL, .ctx = client};
}

static bool is_too_long(const char *text, size_t most)
{
    return text && strnlen(text, most + 1) > most;
}

int redlock_credentials_answer(struct redlock_credentials_request *request,
                               const struct redlock_credentials *credentials)
{
    if (!request || !credentials)
        return REDLOCK_E_ARGUMENT;
    if (credentials->size < SMALLEST)
        return REDLOCK_E_OPTIONS_SIZE;
    if (rl_credentials_forked(request))
        return REDLOCK_E_FORKED;
    if (is_too_long(credentials->user, REDLOCK_MAX_USER_BYTES) ||
        is_too_long(credentials->password, REDLOCK_MAX_PASSWORD_BYTES) ||
        (credentials->user && !credentials->password))
        return REDLOCK_E_CREDENTIALS;
    return rl_credentials_answer(request, credentials->user, credentials->password, rl_ms(credentials->good_for_ms));
}

int redlock_credentials_fail(struct redlock_credentials_request *request, const char *why)
{
    if (!request)
        return REDLOCK_E_ARGUMENT;
    return rl_credentials_forked(request) ? REDLOCK_E_FORKED : rl_credentials_fail(request, why);
}

void redlock_credentials_keep(struct redlock_credentials_request *request)
{
    if (request)
        rl_credentials_ref(request);
}

void redlock_credentials_drop(struct redlock_credentials_request *request)
{
    if (request)
        rl_credentials_unref(request);
}
