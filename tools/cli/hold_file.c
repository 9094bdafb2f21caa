#include "cli/hold_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/clock.h"
#include "cli/common.h"
#include "cli/json.h"

enum { NS_PER_MS = 1000000, MOST_FILE = 65536 };

/* The clocks begin anew with each boot. */
static void read_boot(char *ret_boot, size_t size)
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

    ret_boot[0] = '\0';
    if (file != NULL && fgets(ret_boot, (int)size, file) == NULL)
        ret_boot[0] = '\0';
    ret_boot[strcspn(ret_boot, "\n")] = '\0';
    if (file != NULL)
        fclose(file);
}

int64_t hold_remaining_ms(const struct hold *hold)
{
    char boot[HOLD_BOOT_SIZE];
    int64_t left_ns = instant_left(hold->valid_until, instant_now());

    read_boot(boot, sizeof(boot));
    if (strcmp(hold->state, "held") != 0 || strcmp(hold->boot, boot) != 0 || left_ns <= 0)
        return 0;
    return left_ns / NS_PER_MS;
}

static void print(FILE *out, const struct hold *hold)
{
    char boot[HOLD_BOOT_SIZE];
    int64_t left_ns = instant_left(hold->valid_until, instant_now());
    struct cli_json json;

    read_boot(boot, sizeof(boot));
    cli_json_init(&json, out);
    cli_json_begin(&json, NULL, '{');
    cli_json_string(&json, "state", hold->state);
    cli_json_key(&json, hold->key);
    cli_json_string(&json, "token", hold->token);
    if (hold->fence != 0)
        cli_json_int(&json, "fence", (int64_t)hold->fence);
    cli_json_int(&json, "ttl_ms", hold->ttl_ms);
    cli_json_int(&json, "remaining_ms", left_ns > 0 ? left_ns / NS_PER_MS : 0);
    cli_json_int(&json, "valid_until_ns", hold->valid_until.boot_ns);
    cli_json_int(&json, "valid_until_raw_ns", hold->valid_until.raw_ns);
    cli_json_string(&json, "boot_id", boot);
    cli_json_string(&json, "nodes_ok", hold->nodes_ok);
    if (hold->handover[0] != '\0')
        cli_json_string(&json, "handover", hold->handover);
    cli_json_end(&json, '}');
    putc('\n', out);
}

bool hold_write(struct file_out *file, const struct hold *hold, int patience_ms)
{
    FILE *out = file_out_begin(file);

    if (out == NULL)
        return false;
    print(out, hold);
    return file_out_end(file, patience_ms);
}

/* --- Reading ----------------------------------------------------------------------------------------------------- */

int hold_open(const char *command, const char *path)
{
    int fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                                    : open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);

    if (fd < 0)
        cli_error(command, "cannot read '%s': %s", path, strerror(errno));
    return fd;
}

/* NULL with errno, which is 0 if there is nothing, or more than any hold has. */
static char *read_text(int fd)
{
    char *text = calloc(1, MOST_FILE);
    size_t size = 0;
    ssize_t n = -1;

    while (text != NULL && size < MOST_FILE - 1 && n != 0) {
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

static bool take_members(const json_t *object, struct hold *hold)
{
    hold->fence = (uint64_t)cli_json_read_int(object, "fence");
    hold->ttl_ms = (uint32_t)cli_json_read_int(object, "ttl_ms");
    hold->valid_until.boot_ns = cli_json_read_int(object, "valid_until_ns");
    hold->valid_until.raw_ns = cli_json_read_int(object, "valid_until_raw_ns");
    cli_json_read_string(object, "nodes_ok", hold->nodes_ok, sizeof(hold->nodes_ok));
    cli_json_read_string(object, "handover", hold->handover, sizeof(hold->handover));
    return cli_json_read_int(object, "schema") == JSON_SCHEMA &&
           cli_json_read_string(object, "state", hold->state, sizeof(hold->state)) &&
           cli_json_read_key(object, hold->key, sizeof(hold->key)) &&
           cli_json_read_string(object, "token", hold->token, sizeof(hold->token)) &&
           cli_json_read_string(object, "boot_id", hold->boot, sizeof(hold->boot));
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

    memset(ret_hold, 0, sizeof(*ret_hold));
    if (!ok)
        cli_error(command, "cannot read '%s': %s", path,
                  errno != 0 ? strerror(errno) : "it is empty, or too large for a token or lock file");
    if (ok && !parse(text, ret_hold)) {
        cli_error(command, "'%s' is not a token or lock file of this tool", path);
        ok = false;
    }
    if (text != NULL)
        explicit_bzero(text, MOST_FILE);
    free(text);
    return ok;
}
