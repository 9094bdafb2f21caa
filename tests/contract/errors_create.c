/* What redlock_client_create() refuses. */
#include <string.h>

#include "errors.h"

/* --- Options of a client */

#define BAD_OPTION(member, wrong, expected)                                                                            \
    {                                                                                                                  \
        #member " = " #wrong, offsetof(struct redlock_options, member), (wrong), (expected)                            \
    }

static const struct bad_option {
    const char *what;
    size_t offset;
    uint32_t value;
    int status;
} bad_options[] = {
    BAD_OPTION(quorum, 1, REDLOCK_E_QUORUM),
    BAD_OPTION(quorum, 4, REDLOCK_E_QUORUM),
    BAD_OPTION(max_ttl_ms, 0, REDLOCK_E_MAX_TTL),
    BAD_OPTION(max_ttl_ms, REDLOCK_MAX_TTL_MS + 1, REDLOCK_E_MAX_TTL),
    BAD_OPTION(drift_ppm, 500001, REDLOCK_E_DRIFT),
    BAD_OPTION(drift_ms, 60001, REDLOCK_E_DRIFT),
    BAD_OPTION(guard_ms, 60001, REDLOCK_E_GUARD),
    BAD_OPTION(node_timeout_ms, 0, REDLOCK_E_NODE_TIMEOUT),
    BAD_OPTION(node_timeout_ms, 60001, REDLOCK_E_NODE_TIMEOUT),
    BAD_OPTION(connect_timeout_ms, 0, REDLOCK_E_CONNECT_TIMEOUT),
    BAD_OPTION(connect_timeout_ms, 60001, REDLOCK_E_CONNECT_TIMEOUT),
    BAD_OPTION(stall_timeout_ms, 499, REDLOCK_E_STALL_TIMEOUT),
    BAD_OPTION(stall_timeout_ms, 3600001, REDLOCK_E_STALL_TIMEOUT),
    BAD_OPTION(backoff_min_ms, 0, REDLOCK_E_BACKOFF),
    BAD_OPTION(backoff_min_ms, 1001, REDLOCK_E_BACKOFF),
    BAD_OPTION(backoff_max_ms, 60001, REDLOCK_E_BACKOFF),
    BAD_OPTION(profile, REDLOCK_PROFILE_CLASSIC + 1, REDLOCK_E_PROFILE),
    BAD_OPTION(join, REDLOCK_JOIN_ALLOW + 1, REDLOCK_E_PROFILE),
    BAD_OPTION(max_claims, 0, REDLOCK_E_LIMITS),
    BAD_OPTION(max_buffer_bytes, 65535, REDLOCK_E_LIMITS),
    BAD_OPTION(max_buffer_bytes, (1U << 30) + 1, REDLOCK_E_LIMITS),
};

static void refuse_client(struct rig *rig, const char *const *urls, size_t n, const struct redlock_options *options,
                          int expected, const char *what)
{
    struct redlock_client *client = NULL;
    struct redlock_error error = {0};

    errors_expect(redlock_client_create(rig->base, urls, n, options, &client, &error), expected, what);
    ck_assert_ptr_null(client);
    ck_assert_int_eq(error.status, expected);
    ck_assert_uint_gt(strlen(error.text), 0);
    ck_assert_ptr_null(strstr(error.text, "s3cret"));
}

static void errors_of_classes(struct rig *rig, struct redlock_options *options)
{
    static const struct redlock_key_class many[REDLOCK_MAX_KEY_CLASSES + 1];
    static const struct redlock_key_class wrong[] = {{NULL, "name"}, {"a", NULL}, {"a", ""}, {"a", "two words"}};

    options->n_key_classes = 1;
    refuse_client(rig, rig->urls, 3, options, REDLOCK_E_KEY_CLASSES, "classes that are not there");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        options->key_classes = &wrong[i];
        refuse_client(rig, rig->urls, 3, options, REDLOCK_E_KEY_CLASSES, "a class without a prefix or a name");
    }
    options->key_classes = many;
    options->n_key_classes = REDLOCK_MAX_KEY_CLASSES + 1;
    refuse_client(rig, rig->urls, 3, options, REDLOCK_E_KEY_CLASSES, "33 classes");
    options->key_classes = NULL;
    options->n_key_classes = 0;
}

void errors_of_options(struct rig *rig)
{
    struct redlock_options options;

    for (size_t i = 0; i < sizeof bad_options / sizeof bad_options[0]; i++) {
        redlock_options_init(&options);
        memcpy((char *)&options + bad_options[i].offset, &bad_options[i].value, sizeof(uint32_t));
        refuse_client(rig, rig->urls, 3, &options, bad_options[i].status, bad_options[i].what);
    }
    redlock_options_init(&options);
    options.client_name = "two words";
    refuse_client(rig, rig->urls, 3, &options, REDLOCK_E_CLIENT_NAME, "a name with a space");
    options.client_name = "0123456789012345678901234567890123456789012345678901234567890123x";
    refuse_client(rig, rig->urls, 3, &options, REDLOCK_E_CLIENT_NAME, "a name of 65 characters");
    options.client_name = NULL;
    options.label = "two words";
    refuse_client(rig, rig->urls, 3, &options, REDLOCK_E_CLIENT_NAME, "a label with a space");
    options.label = "0123456789012345678901234567890123456789012345678901234567890123x";
    refuse_client(rig, rig->urls, 3, &options, REDLOCK_E_CLIENT_NAME, "a label of 65 characters");
    options.label = NULL;
    options.key_prefix = "0123456789012345678901234567890123456789012345678901234567890123x";
    refuse_client(rig, rig->urls, 3, &options, REDLOCK_E_PREFIX, "a prefix of 65 characters");
    options.key_prefix = NULL;
    errors_of_classes(rig, &options);
    options.tls_key_file = "a key without a certificate";
    refuse_client(rig, rig->urls, 3, &options, REDLOCK_E_TLS, "half of an identity");
    options.tls_key_file = NULL;
    options.tls_server_name = ".";
    refuse_client(rig, rig->urls, 3, &options, REDLOCK_E_TLS, "a server name that any certificate would be for");
    options.tls_server_name = NULL;
    options.allow_unverified = 2;
    refuse_client(rig, rig->urls, 3, &options, REDLOCK_E_PROFILE, "a flag that is 2");
    options.allow_unverified = 0;
    options.allow_eviction = 2;
    refuse_client(rig, rig->urls, 3, &options, REDLOCK_E_PROFILE, "the other flag");
    memset(&options, 0, sizeof options);
    refuse_client(rig, rig->urls, 3, &options, REDLOCK_E_OPTIONS_SIZE, "options without init");
}

/* --- The list of masters */

void errors_of_masters(struct rig *rig)
{
    static const char *const wrong[] = {"localhost:seven",    "http://localhost",    "redis://",
                                        "redis://h:70000",    "redis://h:x",         "unix://relative",
                                        "redis://u:s3cret@",  "redis://[::1",        "redis://h/notanumber",
                                        "redis://u:s3cret%zz@h", ""};
    const char *many[REDLOCK_MAX_MASTERS + 1];
    const char *twice[] = {"redis://h:7000", "redis://other:7000", "redis://u:s3cret@H:7000/3"};
    const char *with_null[] = {rig->urls[0], NULL, rig->urls[2]};
    struct redlock_client *client;

    refuse_client(rig, rig->urls, 0, NULL, REDLOCK_E_NO_MASTERS, "no masters");
    for (size_t i = 0; i <= REDLOCK_MAX_MASTERS; i++)
        many[i] = rig->urls[0];
    refuse_client(rig, many, REDLOCK_MAX_MASTERS + 1, NULL, REDLOCK_E_TOO_MANY_MASTERS, "too many masters");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        refuse_client(rig, &wrong[i], 1, NULL, REDLOCK_E_URL, wrong[i]);
    refuse_client(rig, twice, 3, NULL, REDLOCK_E_DUPLICATE_MASTER, "the same master twice");
    refuse_client(rig, with_null, 3, NULL, REDLOCK_E_ARGUMENT, "a NULL in the list");
    errors_expect(redlock_client_create(NULL, rig->urls, 3, NULL, &client, NULL), REDLOCK_E_ARGUMENT, "no base");
    errors_expect(redlock_client_create(rig->base, NULL, 3, NULL, &client, NULL), REDLOCK_E_ARGUMENT, "no list");
    errors_expect(redlock_client_create(rig->base, rig->urls, 3, NULL, NULL, NULL), REDLOCK_E_ARGUMENT, "no result");
}
