#include "cli/common.h"

#include <string.h>
#include <unistd.h>

#include "cli/label.h"
#include "options/duration.h"

const char *const cli_profile_words[] = {
    [REDLOCK_PROFILE_GUARDED] = "guarded", [REDLOCK_PROFILE_CLASSIC] = "classic", NULL};

void cli_common_init(struct cli_common *common)
{
    struct redlock_options defaults;

    redlock_options_init(&defaults);
    memset(common, 0, sizeof(*common));
    common->max_ttl_ms = defaults.max_ttl_ms;
    common->node_timeout_ms = defaults.node_timeout_ms;
    common->profile = defaults.profile;
    common->join = defaults.join;
    common->prefix = "";
}

void cli_common_fini(struct cli_common *common)
{
    cli_masters_fini(&common->masters);
}

uint32_t cli_quorum(const struct cli_common *common)
{
    return common->quorum != 0 ? common->quorum : (uint32_t)common->masters.count / 2 + 1;
}

bool cli_label_fits(const char *command, struct cli_common *common)
{
    return label_make(command, common->label_given, common->label);
}

bool cli_ttl_fits(const char *command, uint32_t ttl_ms, const struct cli_common *common)
{
    char ttl[DURATION_TEXT_SIZE];
    char most[DURATION_TEXT_SIZE];

    if (ttl_ms <= common->max_ttl_ms)
        return true;
    cli_error(command, "--ttl %s is above --max-ttl, the limit for all users of the masters (%s)",
              duration_text(ttl_ms * INT64_C(1000), ttl), duration_text(common->max_ttl_ms * INT64_C(1000), most));
    return false;
}

bool cli_hold_fits(const char *command, uint32_t hold_ms, uint32_t *ttl_ms, const struct cli_common *common)
{
    char hold[DURATION_TEXT_SIZE];
    char most[DURATION_TEXT_SIZE];

    if (hold_ms <= common->max_ttl_ms) {
        *ttl_ms = *ttl_ms > hold_ms ? *ttl_ms : hold_ms;
        return true;
    }
    cli_error(command, "--hold-at-least %s is above --max-ttl (%s): masters keep no lock for longer on their own",
              duration_text(hold_ms * INT64_C(1000), hold), duration_text(common->max_ttl_ms * INT64_C(1000), most));
    return false;
}

uint32_t cli_hold_least_ms(uint32_t hold_ms)
{
    return hold_ms - hold_ms / 20;
}

bool cli_shows_votes(bool verbose, bool quiet, bool json)
{
    return verbose || (!quiet && !json && isatty(STDERR_FILENO) == 1);
}

bool cli_one_volume(const char *command, bool verbose, bool quiet)
{
    if (verbose && quiet)
        cli_error(command, "--verbose and --quiet exclude each other");
    return !(verbose && quiet);
}
