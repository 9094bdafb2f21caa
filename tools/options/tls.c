#include "options/tls.h"

#include <string.h>
#include <strings.h>

#include "options/message.h"
#include "options/option.h"
#include "options/secrets.h"

const char *const cli_tls_versions[] = {[REDLOCK_TLS_1_2] = "1.2", [REDLOCK_TLS_1_3] = "1.3", NULL};

bool cli_url_has_tls(const char *url)
{
    return strncasecmp(url, "rediss://", strlen("rediss://")) == 0;
}

static bool is_given(const struct cli_option *option)
{
    if (option->flag)
        return *option->flag;
    return *(option->text ? option->text : option->file) != NULL;
}

static bool take_variable(const char *command, const struct cli_option *option)
{
    char variable[CLI_VARIABLE_SIZE];
    const char *value = cli_variable(cli_variable_name(option->name, variable));

    if (!value || is_given(option))
        return true;
    if (!option->flag) {
        *(option->text ? option->text : option->file) = value;
        return true;
    }
    *option->flag = strcmp(value, "1") == 0;
    if (!*option->flag && strcmp(value, "0") != 0) {
        cli_error(command, "%s: '%s' is not 0 or 1", variable, value);
        return false;
    }
    return true;
}

static bool version_fits(const char *command, const char *version)
{
    for (size_t i = 0; version && cli_tls_versions[i]; i++)
        if (strcmp(cli_tls_versions[i], version) == 0)
            return true;
    if (version)
        cli_error(command, "--tls-min-version: '%s' is not one of 1.2, 1.3", version);
    return !version;
}

static bool any_has_tls(const char *const *urls, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (cli_url_has_tls(urls[i]))
            return true;
    return false;
}

bool cli_tls_complete(const char *command, struct cli_tls *tls, const char *const *urls, size_t n)
{
    const struct cli_option options[] = {CLI_TLS_OPTIONS(tls), {0}};
    bool used = any_has_tls(urls, n);

    for (const struct cli_option *option = options; option->name; option++) {
        if (!used && is_given(option)) {
            cli_error(command, "--%s is for masters with TLS, and no URL begins with rediss://", option->name);
            return false;
        }
        if (used && !take_variable(command, option))
            return false;
    }
    return version_fits(command, tls->min_version);
}

enum redlock_tls_version cli_tls_lowest_version(const struct cli_tls *tls)
{
    bool only_1_3 = tls->min_version && strcmp(tls->min_version, cli_tls_versions[REDLOCK_TLS_1_3]) == 0;

    return only_1_3 ? REDLOCK_TLS_1_3 : REDLOCK_TLS_1_2;
}

void cli_tls_apply(const struct cli_tls *tls, struct redlock_options *options)
{
    options->tls_ca_file = tls->ca;
    options->tls_ca_dir = tls->ca_dir;
    options->tls_cert_file = tls->cert;
    options->tls_key_file = tls->key;
    options->tls_server_name = tls->server_name;
    options->tls_ciphers = tls->ciphers;
    options->tls_ciphersuites = tls->ciphersuites;
    options->tls_min_version = cli_tls_lowest_version(tls);
    options->tls_insecure_skip_verify = tls->insecure_skip_verify;
    options->tls_no_resumption = tls->no_resumption;
}
