#include "cli/hold_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common.h"
#include "cli/json.h"
#include "cli/json_read.h"
#include "cli/replace.h"
#include "cli/run_clock.h"

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
    int64_t left_ns = run_time_left(hold->valid_until, run_instant_now());

    read_boot(boot, sizeof(boot));
    if (strcmp(hold->state, "held") != 0 || strcmp(hold->boot, boot) != 0 || left_ns <= 0)
        return 0;
    return left_ns / NS_PER_MS;
}

static void print(FILE *out, const struct hold *hold)
{
    char boot[HOLD_BOOT_SIZE];
    int64_t left_ns = run_time_left(hold->valid_until, run_instant_now());
    struct cli_json json;

    read_boot(boot, sizeof(boot));
    cli_json_init(&json, out);
    cli_json_begin(&json, NULL, '{');
    cli_json_string(&json, "state", hold->state);
    cli_json_string(&json, "key", hold->key);
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

bool hold_write(const char *command, const char *path, const struct hold *hold)
{
    struct replacement replacement;

    if (!replace_begin(&replacement, path, 0600)) {
        cli_error(command, "cannot write '%s': %s", path, strerror(errno));
        return false;
    }
    print(replacement.out, hold);
    if (replace_end(&replacement))
        return true;
    cli_error(command, "cannot write '%s': %s", path, strerror(errno));
    return false;
}

/* --- Reading ----------------------------------------------------------------------------------------------------- */

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = calloc(1, MOST_FILE);
    size_t n = 0;

    if (file != NULL && text != NULL)
        n = fread(text, 1, MOST_FILE - 1, file);
    if (file != NULL)
        fclose(file);
    if (n > 0)
        return text;
    free(text);
    return NULL;
}

static int64_t number(const char *text, const char *name)
{
    char value[32] = "";

    json_read(text, name, value, sizeof(value));
    return strtoll(value, NULL, 10);
}

static bool parse(const char *text, struct hold *hold)
{
    hold->fence = (uint64_t)number(text, "fence");
    hold->ttl_ms = (uint32_t)number(text, "ttl_ms");
    hold->valid_until.boot_ns = number(text, "valid_until_ns");
    hold->valid_until.raw_ns = number(text, "valid_until_raw_ns");
    json_read(text, "nodes_ok", hold->nodes_ok, sizeof(hold->nodes_ok));
    json_read(text, "handover", hold->handover, sizeof(hold->handover));
    return json_read(text, "state", hold->state, sizeof(hold->state)) &&
           json_read(text, "key", hold->key, sizeof(hold->key)) &&
           json_read(text, "token", hold->token, sizeof(hold->token)) &&
           json_read(text, "boot_id", hold->boot, sizeof(hold->boot));
}

bool hold_read(const char *command, const char *path, struct hold *ret_hold)
{
    char *text = read_text(path);
    bool ok = text != NULL;

    memset(ret_hold, 0, sizeof(*ret_hold));
    if (!ok)
        cli_error(command, "cannot read '%s': %s", path, errno != 0 ? strerror(errno) : "it is empty");
    if (ok && !parse(text, ret_hold)) {
        cli_error(command, "'%s' is not a token or lock file of this tool", path);
        ok = false;
    }
    if (text != NULL)
        explicit_bzero(text, MOST_FILE);
    free(text);
    return ok;
}
