/* Which settings make a master durable (rule 5.6). */
#include "host/trust/servers.h"

#include <string.h>

#include "suite.h"

#define N RL_TRUST_N_SETTINGS

/* What CONFIG GET says of each setting: a value, "" for nothing since the server does not know the setting, NULL for an
 * error. */
static enum rl_durability durability_of(const char *const values[N])
{
    struct rl_trust_node node = {0};

    for (unsigned i = 0; i < N; i++) {
        struct rl_reply reply = {.root = {.type = values[i] ? RL_REPLY_ARRAY : RL_REPLY_ERROR}};

        if (values[i] && *values[i]) {
            reply.n_elements = 2;
            reply.elements[0] = (struct rl_reply_item){.type = RL_REPLY_STRING, .text = {"name", 4}};
            reply.elements[1] = (struct rl_reply_item){.type = RL_REPLY_STRING, .text = {values[i], strlen(values[i])}};
        }
        rl_trust_note_setting(&node, i, &reply);
    }
    return rl_trust_durability(&node);
}

static const struct {
    const char *values[N];
    enum rl_durability durability;
} cases[] = {
    {{"yes", "always", "no", "0"}, RL_DURABILITY_ALWAYS},
    {{"yes", "always", "no", ""}, RL_DURABILITY_ALWAYS}, /* before Redis 8.4 */
    {{"yes", "always", "no", "1024"}, RL_DURABILITY_NONE},
    {{"yes", "always", "no", "18446744073709551615"}, RL_DURABILITY_NONE},
    {{"yes", "everysec", "no", "0"}, RL_DURABILITY_NONE},
    {{"yes", "always", "yes", "0"}, RL_DURABILITY_NONE},
    {{"no", "always", "no", "0"}, RL_DURABILITY_NONE},
    {{"yes", "always", "no", NULL}, RL_DURABILITY_UNKNOWN},
    {{"yes", "", "no", "0"}, RL_DURABILITY_UNKNOWN},
    {{NULL, NULL, NULL, NULL}, RL_DURABILITY_UNKNOWN},
    {{NULL, "everysec", NULL, NULL}, RL_DURABILITY_NONE},
};

GROUP(settings, "settings", NULL, NULL)

TESTS(settings, a_master_is_durable_that_keeps_every_write_and_loads_all_of_it, 0, sizeof cases / sizeof cases[0])
{
    ck_assert_int_eq(durability_of(cases[_i].values), cases[_i].durability);
}

SUITE("durability")
