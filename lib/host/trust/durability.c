#include "host/trust/durability.h"

#include <string.h>

#include "codec/command.h"
#include "util/mutant.h"

static const char *const setting_names[RL_TRUST_N_SETTINGS] = {
    [RL_TRUST_APPEND_ONLY] = "appendonly",
    [RL_TRUST_APPEND_FSYNC] = "appendfsync",
    [RL_TRUST_NO_FSYNC_ON_REWRITE] = "no-appendfsync-on-rewrite",
    [RL_TRUST_CORRUPT_TAIL] = "aof-load-corrupt-tail-max-size",
};

bool rl_trust_encode_setting(enum rl_trust_setting setting, struct rl_bytes *out)
{
    const char *name = setting_names[setting];
    const struct rl_slice words[] = {{"CONFIG", 6}, {"GET", 3}, {name, strlen(name)}};

    return rl_words_encode(words, 3, out);
}

/* A server that does not know a setting says nothing of it: before Redis 8.4 no start drops a tail of the file that was
 * written in full. Any other answer than name and value: no right to see. */
void rl_trust_note_setting(struct rl_trust_node *known, unsigned index, const struct rl_reply *reply)
{
    const struct rl_reply_item *value = &reply->elements[1];
    char *setting = known->settings[index];

    setting[0] = '\0';
    if (reply->root.type == RL_REPLY_ARRAY && reply->n_elements == 0 && index == RL_TRUST_CORRUPT_TAIL)
        memcpy(setting, "0", 2);
    if (reply->root.type != RL_REPLY_ARRAY || reply->n_elements != 2 || value->type != RL_REPLY_STRING)
        return;
    if (value->text.size && value->text.size <= RL_TRUST_SETTING_MAX) {
        memcpy(setting, value->text.data, value->text.size);
        setting[value->text.size] = '\0';
    }
}

/* protocol 5.3: "Without the rights to see, assume not durable." One setting that is seen to be wrong is enough. */
enum rl_durability rl_trust_durability(const struct rl_trust_node *node)
{
    static const char *const wanted[RL_TRUST_N_SETTINGS] = {"yes", "always", "no", "0"};
    enum rl_durability durability = RL_DURABILITY_ALWAYS;

    for (int i = 0; i < RL_TRUST_N_SETTINGS; i++) {
        if (!node->settings[i][0])
            durability = RL_DURABILITY_UNKNOWN;
        else if (strcmp(node->settings[i], wanted[i]) != 0 &&
                 !(RL_MUTANT(DURABLE_EVERYSEC) && i == RL_TRUST_APPEND_FSYNC))
            return RL_DURABILITY_NONE;
    }
    return durability;
}
