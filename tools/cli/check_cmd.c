/* redlock check: whether a lock is still held, by the clock and the file alone. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/hold_file.h"
#include "cli/json.h"

static const char check_help[] =
    "Usage: redlock check [FILE] [OPTION...]\n"
    "\n"
    "Prints for how many milliseconds what FILE describes is still held for certain:\n"
    "the lock, or all of several. FILE is that of 'redlock lock --token-file' or of\n"
    "'redlock run --lock-file'; '-' is standard input. Without FILE,\n"
    "REDLOCK_LOCK_FILE names it, which 'redlock run' sets for its command.\n"
    "\n"
    "  --at-least DUR       count the lock as lost if less than this is left (1ms)\n"
    "  -j, --json           print one line of JSON\n"
    "  -q, --quiet          print nothing\n"
    "\n"
    "No master is asked: FILE says until when the lock is held, by the clock of this\n"
    "machine, and of this time namespace. FILE of another clock counts as lost. Check\n"
    "before each step that needs the lock, with --at-least for the time that the\n"
    "step takes.\n"
    "\n"
    "Exit status: 0 held; 1 not held, or not for so long; 2 wrong usage, or FILE\n"
    "cannot be read or is no such file.\n"
    "\n"
    "Example, in a script that 'redlock run --lock-file' has started:\n"
    "  redlock check --quiet --at-least 5s || exit\n";

struct request {
    const char *path;
    uint32_t at_least_ms;
    bool json;
    bool quiet;
};

/* NULL: it is held. */
static const char *why_not_held(const struct hold *hold, int64_t left_ms)
{
    const char *foreign = hold_foreign_clock(hold);

    if (left_ms > 0)
        return NULL;
    if (strcmp(hold->state, "held") != 0)
        return "it says that the lock was lost";
    return foreign != NULL ? foreign : "the time of the lock is over";
}

static void print_json(const struct hold *hold, int64_t left_ms, const char *why)
{
    struct cli_json json;

    cli_json_init(&json, stdout);
    cli_json_begin(&json, NULL, '{');
    hold_print_locks(&json, hold, false);
    cli_json_string(&json, "state", left_ms > 0 ? "held" : "lost");
    cli_json_int(&json, "remaining_ms", left_ms);
    if (why != NULL)
        cli_json_string(&json, "why", why);
    cli_json_end(&json, '}');
    putchar('\n');
}

static void tell(const struct request *request, const struct hold *hold, int64_t left_ms)
{
    const char *why = why_not_held(hold, left_ms);

    if (request->quiet)
        return;
    if (request->json)
        print_json(hold, left_ms, why);
    else
        printf("%" PRId64 "\n", left_ms);
    if (why != NULL)
        cli_error("check", "'%s': not held: %s", request->path, why);
}

static int check(const struct request *request)
{
    int fd = hold_open("check", request->path);
    struct hold hold;
    bool understood;
    int64_t left_ms = 0;

    if (fd < 0)
        return CLI_USAGE;
    understood = hold_read("check", request->path, fd, &hold);
    close(fd);
    if (understood) {
        left_ms = hold_remaining_ms(&hold);
        tell(request, &hold, left_ms);
    }
    hold_fini(&hold);
    if (!understood)
        return CLI_USAGE;
    return left_ms > 0 && left_ms >= request->at_least_ms ? CLI_OK : CLI_NOT_HELD;
}

int check_main(int argc, char **argv)
{
    struct request request = {.at_least_ms = 1};
    const struct cli_option options[] = {
        {.name = "at-least", .duration_ms = &request.at_least_ms},
        {.name = "json", .letter = 'j', .flag = &request.json},
        {.name = "quiet", .letter = 'q', .flag = &request.quiet},
        {0},
    };
    const struct cli_command command = {.name = "check", .help = check_help, .options = options,
                                        .operands = (const char *const[]){"[FILE]", NULL}};
    int code = cli_parse(&command, argc, argv, &request.path);

    if (code < 0 && request.json && request.quiet) {
        cli_error("check", "--json and --quiet exclude each other");
        code = cli_usage("check");
    }
    if (code >= 0)
        return code;
    if (request.path == NULL)
        request.path = getenv("REDLOCK_LOCK_FILE");
    if (request.path != NULL)
        return check(&request);
    cli_error("check", "FILE is missing, and there is no REDLOCK_LOCK_FILE");
    return cli_usage("check");
}
