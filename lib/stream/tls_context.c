/* IMPLEMENTATION NOTES
 *
 * OpenSSL cleans up in an exit handler, or in a destructor of its library, while threads of the process still run: that
 * of a service, and those that turn its loop. A handler of OPENSSL_atexit(), which the clean-up calls first, shuts a
 * gate before all calls of OpenSSL and waits for the threads that are behind it. None of them blocks there, unless a
 * file of certificates does: therefore the wait has an end. A signal handler may have interrupted the very thread that
 * now ends the process; it does not wait for itself. */
#include "stream/tls_context.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <redlock/status.h>

#include "stream/tls_words.h"

enum { TEXTS = 7, FILES = 6, TROUBLE_MAX = 200, FILE_BYTES_MAX = 4 * 1024 * 1024, PARTING_MS = 2000 };

/* What is looked at to see whether a file or directory has changed. */
struct stamp {
    bool exists;
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec modified, changed;
};

struct rl_tls_context {
    struct rl_tls_remains remains; /* the first member */
    struct rl_tls_options options;
    SSL_CTX *ssl;
    unsigned generation;
    struct stamp stamps[FILES]; /* of what `ssl` was made of */
    time_t read_at;             /* by CLOCK_MONOTONIC, whatever came of it */
    bool read_again;
    char trouble[TROUBLE_MAX];
};

/* --- The end of the process ------------------------------------------------------------------------------------ */

static atomic_uint n_inside;
static atomic_bool shut;
static _Thread_local unsigned inside_here;
static _Atomic(struct rl_tls_remains *) all_remains;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A thread counts itself before it looks, and the end of the process looks after it has shut the gate: so one of them
 * sees the other. */
bool rl_tls_enter(void)
{
    atomic_fetch_add(&n_inside, 1);
    if (!atomic_load(&shut)) {
        inside_here = 1;
        return true;
    }
    atomic_fetch_sub(&n_inside, 1);
    return false;
}

void rl_tls_leave(void)
{
    inside_here = 0;
    atomic_fetch_sub(&n_inside, 1);
}

void rl_tls_keep(struct rl_tls_remains *remains)
{
    remains->next = atomic_exchange(&all_remains, remains);
}

static void on_clean_up(void)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    atomic_store(&shut, true);
    for (int ms = 0; ms < PARTING_MS && atomic_load(&n_inside) > inside_here; ms++)
        nanosleep(&pause, NULL);
}

/* The threads that were inside are not in the child. */
static void in_child(void)
{
    atomic_store(&n_inside, inside_here);
}

static void watch_for_end(void)
{
    OPENSSL_init_ssl(0, NULL);
    OPENSSL_atexit(on_clean_up);
    pthread_atfork(NULL, NULL, in_child);
}

/* --- Files ----------------------------------------------------------------------------------------------------- */

/* Where the system's store is, unless the options name another. */
static const char *system_place(const char *variable, const char *place)
{
    const char *set = secure_getenv(variable);

    return set ? set : place;
}

/* Bytes between the members are zero too, because stamps are compared as bytes. */
static void take_stamp(const char *path, struct stamp *ret_stamp)
{
    struct stat status;

    memset(ret_stamp, 0, sizeof *ret_stamp);
    if (!path || stat(path, &status) != 0)
        return;
    ret_stamp->exists = true;
    ret_stamp->device = status.st_dev;
    ret_stamp->inode = status.st_ino;
    ret_stamp->size = status.st_size;
    ret_stamp->modified = status.st_mtim;
    ret_stamp->changed = status.st_ctim;
}

static void take_stamps(const struct rl_tls_options *options, struct stamp *ret_stamps)
{
    bool named = options->ca_file || options->ca_dir;
    const char *file = system_place(X509_get_default_cert_file_env(), X509_get_default_cert_file());
    const char *dir = system_place(X509_get_default_cert_dir_env(), X509_get_default_cert_dir());

    take_stamp(options->ca_file, &ret_stamps[0]);
    take_stamp(options->ca_dir, &ret_stamps[1]);
    take_stamp(options->cert_file, &ret_stamps[2]);
    take_stamp(options->key_file, &ret_stamps[3]);
    take_stamp(named ? NULL : file, &ret_stamps[4]);
    take_stamp(named ? NULL : dir, &ret_stamps[5]);
}

/* Why a file cannot be read here and now; NULL if it can. The event loop must not wait for the writer of a pipe, nor
 * for the end of something that has none. A pipe that a program was started with is read at the start. */
static const char *unfit(const struct stat *status, bool again)
{
    if (S_ISDIR(status->st_mode))
        return "it is a directory";
    if (S_ISFIFO(status->st_mode))
        return again ? "a pipe is read only once" : NULL;
    if (!S_ISREG(status->st_mode))
        return "it is no regular file";
    return status->st_size > FILE_BYTES_MAX ? "it has more than 4 MiB" : NULL;
}

/* With O_NONBLOCK, since a pipe may have taken the file's place. */
static bool is_readable(const char *name, const char *path, bool again, char *why, size_t size)
{
    struct stat status;
    const char *what = NULL;
    int fd = -1;

    if (stat(path, &status) != 0)
        what = strerror(errno);
    else
        what = unfit(&status, again);
    if (!what && !S_ISFIFO(status.st_mode)) {
        fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        what = fd < 0 ? strerror(errno) : NULL;
    }
    if (fd >= 0)
        close(fd);
    if (what)
        snprintf(why, size, "%s %s: %s", name, path, what);
    return !what;
}

static bool is_directory(const char *name, const char *path, char *why, size_t size)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0)
        snprintf(why, size, "%s %s: %s", name, path, strerror(errno));
    else
        close(fd);
    return fd >= 0;
}

/* The system may have no file of CAs. */
static bool is_system_readable(bool again, char *why, size_t size)
{
    const char *path = system_place(X509_get_default_cert_file_env(), X509_get_default_cert_file());

    return access(path, F_OK) != 0 || is_readable("the system's CAs", path, again, why, size);
}

static bool are_cas_readable(const struct rl_tls_options *o, bool again, char *why, size_t size)
{
    if (!o->ca_file && !o->ca_dir)
        return is_system_readable(again, why, size);
    return (!o->ca_file || is_readable("tls_ca_file", o->ca_file, again, why, size)) &&
           (!o->ca_dir || is_directory("tls_ca_dir", o->ca_dir, why, size));
}

static bool are_readable(const struct rl_tls_options *o, bool again, char *why, size_t size)
{
    if (o->verifies && !are_cas_readable(o, again, why, size))
        return false;
    return !o->cert_file || (is_readable("tls_cert_file", o->cert_file, again, why, size) &&
                             is_readable("tls_key_file", o->key_file, again, why, size));
}

/* --- From options to a context --------------------------------------------------------------------------------- */

static bool refuse(const char *name, const char *value, const char *what, char *why, size_t size)
{
    char words[120];

    rl_tls_words_queue(words, sizeof words);
    snprintf(why, size, "%s %s: %s (%s)", name, value, what, words);
    return false;
}

static bool set_trust(SSL_CTX *ssl, const struct rl_tls_options *o, char *why, size_t size)
{
    if (!o->ca_file && !o->ca_dir)
        return SSL_CTX_set_default_verify_paths(ssl) == 1 || refuse("the system's CAs", "", "unusable", why, size);
    if (o->ca_file && SSL_CTX_load_verify_file(ssl, o->ca_file) != 1)
        return refuse("tls_ca_file", o->ca_file, "it holds no certificate that can be read", why, size);
    return !o->ca_dir || SSL_CTX_load_verify_dir(ssl, o->ca_dir) == 1 ||
           refuse("tls_ca_dir", o->ca_dir, "unusable", why, size);
}

/* OpenSSL would ask for it on the terminal. */
static int no_password(char *buffer, int size, int writing, void *ctx)
{
    return -1;
}

static bool set_identity(SSL_CTX *ssl, const struct rl_tls_options *o, char *why, size_t size)
{
    if (!o->cert_file)
        return true;
    SSL_CTX_set_default_passwd_cb(ssl, no_password);
    if (SSL_CTX_use_certificate_chain_file(ssl, o->cert_file) != 1)
        return refuse("tls_cert_file", o->cert_file, "it holds no certificate that can be used", why, size);
    if (SSL_CTX_use_PrivateKey_file(ssl, o->key_file, SSL_FILETYPE_PEM) != 1)
        return refuse("tls_key_file", o->key_file, "it holds no key of the certificate that can be used", why, size);
    return SSL_CTX_check_private_key(ssl) == 1 ||
           refuse("tls_key_file", o->key_file, "it is not the certificate's key", why, size);
}

static bool set_ciphers(SSL_CTX *ssl, const struct rl_tls_options *o, char *why, size_t size)
{
    if (o->ciphers && SSL_CTX_set_cipher_list(ssl, o->ciphers) != 1)
        return refuse("tls_ciphers", o->ciphers, "no cipher that there is", why, size);
    return !o->ciphersuites || SSL_CTX_set_ciphersuites(ssl, o->ciphersuites) == 1 ||
           refuse("tls_ciphersuites", o->ciphersuites, "no list of ciphersuites", why, size);
}

static bool set_up(SSL_CTX *ssl, const struct rl_tls_options *o, char *why, size_t size)
{
    SSL_CTX_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_options(ssl, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_read_ahead(ssl, 1);
    SSL_CTX_set_session_cache_mode(
        ssl, o->resumes ? SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL : SSL_SESS_CACHE_OFF);
    SSL_CTX_set_verify(ssl, o->verifies ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, NULL);
    if (SSL_CTX_set_min_proto_version(ssl, o->only_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION) != 1)
        return refuse("tls_min_version", o->only_1_3 ? "1.3" : "1.2", "not supported by OpenSSL", why, size);
    return set_ciphers(ssl, o, why, size) && (!o->verifies || set_trust(ssl, o, why, size)) &&
           set_identity(ssl, o, why, size);
}

static time_t seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* Stamps are taken first: files that change meanwhile are read once more. */
static bool load(struct rl_tls_context *context, char *why, size_t size)
{
    struct stamp stamps[FILES];
    SSL_CTX *ssl;

    take_stamps(&context->options, stamps);
    context->read_at = seconds();
    if (!are_readable(&context->options, context->ssl, why, size))
        return false;
    ERR_clear_error();
    ssl = SSL_CTX_new(TLS_client_method());
    if (!ssl || !set_up(ssl, &context->options, why, size)) {
        if (!ssl)
            rl_tls_words_queue(why, size);
        SSL_CTX_free(ssl);
        ERR_clear_error();
        return false;
    }
    ERR_clear_error(); /* a certificate of a file that is no certificate */
    SSL_CTX_free(context->ssl);
    context->ssl = ssl;
    context->generation++;
    context->read_again = false;
    memcpy(context->stamps, stamps, sizeof stamps);
    return true;
}

static bool is_to_be_tried_again(const struct rl_tls_context *context)
{
    return context->read_again && seconds() - context->read_at > 1;
}

struct rl_tls_current rl_tls_context_current(struct rl_tls_context *context)
{
    struct stamp stamps[FILES];

    take_stamps(&context->options, stamps);
    context->trouble[0] = '\0';
    if (memcmp(stamps, context->stamps, sizeof stamps) != 0 || is_to_be_tried_again(context))
        load(context, context->trouble, sizeof context->trouble);
    return (struct rl_tls_current){context->ssl, context->generation, context->trouble};
}

void rl_tls_context_read_again(struct rl_tls_context *context)
{
    context->read_again = true;
}

/* --- Life ------------------------------------------------------------------------------------------------------ */

/* The texts of the options, which are the context's own. */
static void list_texts(struct rl_tls_options *options, const char **ret_texts[TEXTS])
{
    ret_texts[0] = &options->ca_file;
    ret_texts[1] = &options->ca_dir;
    ret_texts[2] = &options->cert_file;
    ret_texts[3] = &options->key_file;
    ret_texts[4] = &options->server_name;
    ret_texts[5] = &options->ciphers;
    ret_texts[6] = &options->ciphersuites;
}

static bool copy_options(struct rl_tls_context *context, const struct rl_tls_options *options)
{
    const char **texts[TEXTS];
    bool complete = true;

    context->options = *options;
    list_texts(&context->options, texts);
    for (size_t i = 0; i < TEXTS; i++) {
        if (!*texts[i])
            continue;
        *texts[i] = strdup(*texts[i]);
        complete &= *texts[i] != NULL;
    }
    return complete;
}

static void dispose(struct rl_tls_context *context)
{
    const char **texts[TEXTS];

    SSL_CTX_free(context->ssl);
    list_texts(&context->options, texts);
    for (size_t i = 0; i < TEXTS; i++)
        free((void *)(uintptr_t)*texts[i]);
    free(context);
}

void rl_tls_context_destroy(struct rl_tls_context *context)
{
    if (!context)
        return;
    if (!rl_tls_enter()) {
        rl_tls_keep(&context->remains);
        return;
    }
    dispose(context);
    rl_tls_leave();
}

static int create(const struct rl_tls_options *options, char *why, size_t size, struct rl_tls_context **ret_context)
{
    struct rl_tls_context *context = calloc(1, sizeof *context);
    int status = REDLOCK_OK;

    if (!context)
        return REDLOCK_E_NOMEM;
    if (!copy_options(context, options))
        status = REDLOCK_E_NOMEM;
    else if (!load(context, why, size))
        status = REDLOCK_E_TLS;
    if (status == REDLOCK_OK)
        *ret_context = context;
    else
        dispose(context);
    return status;
}

int rl_tls_context_create(const struct rl_tls_options *options, char *why, size_t size,
                          struct rl_tls_context **ret_context)
{
    int status;

    pthread_once(&once, watch_for_end);
    if (!rl_tls_enter()) {
        snprintf(why, size, "%s", RL_TLS_GONE);
        return REDLOCK_E_TLS;
    }
    status = create(options, why, size, ret_context);
    rl_tls_leave();
    return status;
}

const struct rl_tls_options *rl_tls_context_options(const struct rl_tls_context *context)
{
    return &context->options;
}
