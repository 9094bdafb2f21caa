#include "cli/hold_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <redlock/semaphore.h>

#include "cli/clock.h"
#include "cli/common.h"
#include "cli/json.h"

enum {
    NS_PER_MS = 1000000,
    MOST_LOCK = REDLOCK_MAX_KEY_BYTES * 6 + 512, /* of JSON: each byte of a key may be an escape */
    MOST_FILE = CLI_MOST_TEXTS * (MOST_LOCK + REDLOCK_MAX_EXPORT_BYTES),
};

static bool is_same_clock(const char *written, const char *here)
{
    return written[0] != '\0' ? strcmp(written, here) == 0 : rl_clock_is_machines(here);
}

/* A clock whose identity is the same and that yet says more than the ttl has been set back, or was faked. */
const char *hold_foreign_clock(const struct hold *hold)
{
    struct rl_clock_identity here;
    struct instant now = instant_now();
    int64_t most_ns = (int64_t)hold->ttl_ms * NS_PER_MS;

    if (!rl_clock_identify(&here))
        return "/proc does not tell which clock this is";
    if (strcmp(hold->clock.boot, here.boot) != 0)
        return "it was written on another machine, or before this one was booted";
    if (!is_same_clock(hold->clock.name_space, here.name_space))
        return "it was written in another time namespace, which has a clock of its own";
    if (hold->valid_until.boot_ns - now.boot_ns > most_ns || hold->valid_until.raw_ns - now.raw_ns > most_ns)
        return "it tells of more time than the lock's ttl, so it was written by another clock";
    return NULL;
}

static int64_t left_ms(const struct hold *hold, struct instant until)
{
    int64_t left_ns = instant_left(until, instant_now());

    if (strcmp(hold->state, "held") != 0 || left_ns <= 0 || hold_foreign_clock(hold))
        return 0;
    return left_ns / NS_PER_MS;
}

int64_t hold_remaining_ms(const struct hold *hold)
{
    return left_ms(hold, hold->valid_until);
}

int64_t hold_keep_ms(const struct hold *hold)
{
    return left_ms(hold, hold->keep_until);
}

void hold_name(const struct hold_lock *lock, char ret_name[HOLD_NAME_SIZE])
{
    if (lock->permits != 0)
        snprintf(ret_name, HOLD_NAME_SIZE, "%s#%" PRIu32, lock->key, lock->slot);
    else
        snprintf(ret_name, HOLD_NAME_SIZE, "%s", lock->key);
}

static void print_lock(struct cli_json *json, const struct hold_lock *lock, bool with_token)
{
    char name[HOLD_NAME_SIZE];

    hold_name(lock, name);
    cli_json_key(json, name);
    if (lock->permits != 0)
        cli_json_int(json, "permits", lock->permits);
    if (with_token)
        cli_json_string(json, "token", lock->token);
    if (lock->fence != 0)
        cli_json_int(json, "fence", (int64_t)lock->fence);
}

void hold_print_locks(struct cli_json *json, const struct hold *hold, bool with_tokens)
{
    if (hold->n == 1) {
        print_lock(json, &hold->locks[0], with_tokens);
        return;
    }
    cli_json_begin(json, "locks", '[');
    for (size_t i = 0; i < hold->n; i++) {
        cli_json_begin(json, NULL, '{');
        print_lock(json, &hold->locks[i], with_tokens);
        cli_json_end(json, '}');
    }
    cli_json_end(json, ']');
}

void hold_print(FILE *out, const struct hold *hold)
{
    int64_t left_ns = instant_left(hold->valid_until, instant_now());
    struct rl_clock_identity clock;
    struct cli_json json = cli_json_open(out);

    rl_clock_identify(&clock); /* without /proc both are empty, and the file is of no clock */
    cli_json_string(&json, "state", hold->state);
    hold_print_locks(&json, hold, true);
    cli_json_int(&json, "ttl_ms", hold->ttl_ms);
    cli_json_int(&json, "remaining_ms", left_ns > 0 ? left_ns / NS_PER_MS : 0);
    cli_json_int(&json, "valid_until_ns", hold->valid_until.boot_ns);
    cli_json_int(&json, "valid_until_raw_ns", hold->valid_until.raw_ns);
    if (hold->keep_until.boot_ns != 0) {
        cli_json_int(&json, "keep_until_ns", hold->keep_until.boot_ns);
        cli_json_int(&json, "keep_until_raw_ns", hold->keep_until.raw_ns);
    }
    cli_json_string(&json, "boot_id", clock.boot);
    cli_json_string(&json, "time_namespace", clock.name_space);
    cli_json_string(&json, "nodes_ok", hold->nodes_ok);
    if (hold->exported)
        cli_json_string(&json, "handover", hold->exported);
    cli_json_close(&json);
}

bool hold_write(struct file_out *file, const struct hold *hold, int patience_ms)
{
    FILE *out = file_out_begin(file);

    if (!out)
        return false;
    hold_print(out, hold);
    return file_out_end(file, patience_ms);
}

/* --- Reading ----------------------------------------------------------------------------------------------------- */

int hold_open(const char *command, const char *path)
{
    int fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                                    : open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);

    if (fd < 0)
        cli_error(command, "cannot read '%s': %s%s", path, strerror(errno),
                  errno == ENOENT ? "; FILE is what 'redlock lock --token-file' has written" : "");
    return fd;
}

/* NULL with errno, which is 0 if there is nothing, or more than any hold has. */
static char *read_text(int fd)
{
    char *text = calloc(1, MOST_FILE);
    size_t size = 0;
    ssize_t n = -1;

    while (text && size < MOST_FILE - 1 && n != 0) {
        n = read(fd, text + size, MOST_FILE - 1 - size);
        if (n < 0 && errno != EINTR)
            break;
        size += n > 0 ? (size_t)n : 0;
    }
    if (n == 0 && size > 0)
        return text;
    if (n >= 0)
        errno = 0;
    free(text);
    return NULL;
}

/* "KEY#SLOT" in two parts. */
static bool take_slot(struct hold_lock *lock)
{
    char *mark = strrchr(lock->key, '#');
    char *end;
    unsigned long slot;

    if (!mark || mark == lock->key || mark[1] < '0' || mark[1] > '9')
        return false;
    slot = strtoul(mark + 1, &end, 10);
    if (*end != '\0' || slot >= lock->permits)
        return false;
    lock->slot = (uint32_t)slot;
    *mark = '\0';
    return true;
}

static bool take_lock(const json_t *object, struct hold_lock *lock)
{
    int64_t permits = cli_json_read_int(object, "permits");

    lock->fence = (uint64_t)cli_json_read_int(object, "fence");
    lock->permits = permits > 0 && permits <= REDLOCK_MAX_PERMITS ? (uint32_t)permits : 0;
    return lock->permits == permits && cli_json_read_key(object, lock->key, sizeof lock->key) &&
           cli_json_read_string(object, "token", lock->token, sizeof lock->token) &&
           (permits == 0 || take_slot(lock));
}

/* Several permits are of one semaphore, and several keys are not permits. */
static bool belong_together(const struct hold *hold)
{
    const struct hold_lock *first = &hold->locks[0];

    for (size_t i = 1; i < hold->n; i++)
        if (hold->locks[i].permits != first->permits ||
            (first->permits != 0 && strcmp(hold->locks[i].key, first->key) != 0))
            return false;
    return true;
}

static bool take_locks(const json_t *object, struct hold *hold)
{
    const json_t *several = json_object_get(object, "locks");

    hold->n = several ? json_array_size(several) : 1;
    if (!several)
        return take_lock(object, &hold->locks[0]);
    if (hold->n < 2 || hold->n > CLI_MOST_TEXTS)
        return false;
    for (size_t i = 0; i < hold->n; i++)
        if (!take_lock(json_array_get(several, i), &hold->locks[i]))
            return false;
    return belong_together(hold);
}

static bool take_exported(const json_t *object, struct hold *hold)
{
    const char *text = json_string_value(json_object_get(object, "handover"));

    hold->exported = text ? strdup(text) : NULL;
    return !text || hold->exported;
}

static bool take_members(const json_t *object, struct hold *hold)
{
    hold->ttl_ms = (uint32_t)cli_json_read_int(object, "ttl_ms");
    hold->valid_until.boot_ns = cli_json_read_int(object, "valid_until_ns");
    hold->valid_until.raw_ns = cli_json_read_int(object, "valid_until_raw_ns");
    hold->keep_until.boot_ns = cli_json_read_int(object, "keep_until_ns");
    hold->keep_until.raw_ns = cli_json_read_int(object, "keep_until_raw_ns");
    cli_json_read_string(object, "time_namespace", hold->clock.name_space, sizeof hold->clock.name_space);
    cli_json_read_string(object, "nodes_ok", hold->nodes_ok, sizeof hold->nodes_ok);
    return cli_json_read_int(object, "schema") == JSON_SCHEMA &&
           cli_json_read_string(object, "state", hold->state, sizeof hold->state) && take_locks(object, hold) &&
           cli_json_read_string(object, "boot_id", hold->clock.boot, sizeof hold->clock.boot) &&
           take_exported(object, hold);
}

static bool parse(const char *text, struct hold *hold)
{
    json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    bool ok = take_members(object, hold);

    json_decref(object);
    return ok;
}

bool hold_read(const char *command, const char *path, int fd, struct hold *ret_hold)
{
    char *text = read_text(fd);
    bool ok = text != NULL;

    memset(ret_hold, 0, sizeof *ret_hold);
    if (!ok)
        cli_error(command, "cannot read '%s': %s", path,
                  errno != 0 ? strerror(errno) : "it is empty, or too large for a token or lock file");
    if (ok && !parse(text, ret_hold)) {
        cli_error(command, "'%s' is not a token or lock file of this tool", path);
        ok = false;
    }
    if (text)
        explicit_bzero(text, MOST_FILE);
    free(text);
    return ok;
}

void hold_fini(struct hold *hold)
{
    if (hold->exported)
        explicit_bzero(hold->exported, strlen(hold->exported));
    free(hold->exported);
    explicit_bzero(hold, sizeof *hold);
}

bool hold_spec(const struct hold *hold, struct lock_spec *ret_spec)
{
    *ret_spec = (struct lock_spec){.permits = hold->locks[0].permits};
    if (ret_spec->permits != 0)
        ret_spec->n_permits = (uint32_t)hold->n;
    ret_spec->keys.n = ret_spec->permits != 0 ? 1 : hold->n;
    for (size_t i = 0; i < ret_spec->keys.n; i++)
        ret_spec->keys.items[i] = hold->locks[i].key;
    return lock_spec_name(ret_spec);
}
