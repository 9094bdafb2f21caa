#include "api/tls.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <redlock/status.h>

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
