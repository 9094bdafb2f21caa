/* How masters with rediss:// URLs are reached: the options --tls-..., and the variables that stand for them. */
#ifndef OPTIONS_TLS_H
#define OPTIONS_TLS_H

#include <stdbool.h>
#include <stddef.h>

#include <redlock/options.h>

/* As in struct redlock_options; NULL where nothing is given. */
struct cli_tls {
    const char *ca;
    const char *ca_dir;
    const char *cert;
    const char *key;
    const char *server_name;
    const char *min_version; /* "1.2" or "1.3", once cli_tls_complete() has been satisfied */
    const char *ciphers;
    const char *ciphersuites;
    bool insecure_skip_verify;
    bool no_resumption;
};

extern const char *const cli_tls_versions[];

#define CLI_TLS_OPTIONS(tls)                                                                                       \
    {.name = "tls-ca", .file = &(tls)->ca}, {.name = "tls-ca-dir", .file = &(tls)->ca_dir},                        \
        {.name = "tls-cert", .file = &(tls)->cert}, {.name = "tls-key", .file = &(tls)->key},                      \
        {.name = "tls-server-name", .text = &(tls)->server_name},                                                  \
        {.name = "tls-min-version", .text = &(tls)->min_version, .words = cli_tls_versions},                       \
        {.name = "tls-ciphers", .text = &(tls)->ciphers}, {.name = "tls-ciphersuites", .text = &(tls)->ciphersuites}, \
        {.name = "tls-insecure-skip-verify", .flag = &(tls)->insecure_skip_verify},                                \
        {.name = "tls-no-resumption", .flag = &(tls)->no_resumption}

/* The part of a help text that describes them. */
#define CLI_TLS_HELP                                                                                               \
    "TLS, for masters with rediss:// URLs; in the environment as REDLOCK_TLS_CA etc.:\n"                            \
    "  --tls-ca FILE        CAs to trust, in PEM (those of the system)\n"                                          \
    "  --tls-ca-dir DIR     a directory of them, made by 'openssl rehash'\n"                                       \
    "  --tls-cert FILE      the client's certificate, if masters want one\n"                                       \
    "  --tls-key FILE       its key, which must not be encrypted\n"                                                \
    "  --tls-server-name NAME\n"                                                                                   \
    "                       what all certificates must be for (each URL's host)\n"                                 \
    "  --tls-min-version V  the lowest version: 1.2 (default) or 1.3\n"                                            \
    "  --tls-ciphers LIST   for TLS 1.2, as in openssl-ciphers(1)\n"                                               \
    "  --tls-ciphersuites LIST\n"                                                                                  \
    "                       for TLS 1.3\n"                                                                         \
    "  --tls-insecure-skip-verify\n"                                                                               \
    "                       do not look at certificates: anybody may answer\n"                                     \
    "  --tls-no-resumption  make a whole handshake for each connection\n"

/* Where a help text only names them. */
#define CLI_TLS_NAMES                                                                                              \
    "  --tls-ca, --tls-ca-dir, --tls-cert, --tls-key, --tls-server-name,\n"                                        \
    "  --tls-min-version, --tls-ciphers, --tls-ciphersuites, --tls-no-resumption,\n"                               \
    "  --tls-insecure-skip-verify.\n"

/* To be called when the masters are known. An option that is given where no master has TLS is an error; what is not
 * given is taken from the environment, where it may stand for other masters. False, with a message: it makes no
 * sense. */
bool cli_tls_complete(const char *command, struct cli_tls *tls, const char *const *urls, size_t n);

bool cli_url_has_tls(const char *url);

/* Of options that are complete. */
enum redlock_tls_version cli_tls_lowest_version(const struct cli_tls *tls);

void cli_tls_apply(const struct cli_tls *tls, struct redlock_options *options);

#endif
