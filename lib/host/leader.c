#include "host/leader.h"

#include <string.h>

#include "codec/command.h"
#include "host/environment.h"
#include "host/host.h"
#include "host/command_steps.h"
#include "util/decimal.h"
#include "util/mutant.h"

/* The label stands behind the UUID in a value of this library: 36 characters and a colon. */
static void read_label(struct rl_leader *leader, struct rl_slice value)
{
    const size_t begin = RL_UUID_SIZE;
    const char *bytes = value.data;

    if (value.size <= begin || bytes[begin - 1] != ':' || value.size - begin > sizeof leader->label)
        return;
    leader->label_size = value.size - begin;
    memcpy(leader->label, bytes + begin, leader->label_size);
}

/* While the upgradeable holder of a key becomes its exclusive one, both its values may have a quorum. */
void rl_leader_see(struct rl_leader *leader, enum rl_mode mode, struct rl_slice value, uint64_t counter)
{
    if (mode != RL_EXCLUSIVE)
        return;
    *leader = (struct rl_leader){.present = true, .term = RL_MUTANT(TERM_OF_32_BITS) ? (uint32_t)counter : counter};
    read_label(leader, value);
}

bool rl_leader_is(const struct rl_leader *leader, const struct rl_leader *other)
{
    return leader->present == other->present && leader->term == other->term &&
           leader->label_size == other->label_size && memcmp(leader->label, other->label, leader->label_size) == 0;
}

/* --- What leaders tell ------------------------------------------------------------------------------------------ */

struct rl_slice rl_leader_channel(const struct rl_host *host, const struct rl_key *key,
                                  unsigned char buffer[RL_LEADER_CHANNEL_BYTES])
{
    return rl_key_name(key, host->trust.prefix_size, RL_LEADER_NAME, buffer);
}

static struct rl_slice write_announcement(uint64_t term, struct rl_slice label,
                                          char buffer[RL_DECIMAL_MAX + 1 + REDLOCK_MAX_LABEL_BYTES])
{
    size_t size = rl_decimal(term, buffer);

    if (label.size) {
        buffer[size++] = ' ';
        memcpy(buffer + size, label.data, label.size);
    }
    return (struct rl_slice){buffer, size + label.size};
}

/* Nothing depends on the answers, or on who is reached: observers look at intervals, too. */
void rl_leader_announce(struct rl_host *host, const struct rl_key *key, uint64_t term, struct rl_slice label)
{
    const struct rl_tag tag = {.sent = host->now, .step = RL_TAG_ANNOUNCEMENT};
    unsigned char channel[RL_LEADER_CHANNEL_BYTES];
    char text[RL_DECIMAL_MAX + 1 + REDLOCK_MAX_LABEL_BYTES];
    const struct rl_slice words[] = {rl_slice_of("PUBLISH"), rl_leader_channel(host, key, channel),
                                     write_announcement(term, label, text)};

    rl_bytes_clear(&host->scratch);
    if (!rl_words_encode(words, 3, &host->scratch) || RL_MUTANT(LEADER_UNANNOUNCED))
        return;
    for (unsigned node = 0; node < host->engine.votes.config.n_nodes; node++)
        host->counters.commands += rl_transport_send(&host->transport, node, &host->scratch, RL_SENDING_CLAIM, &tag);
}

static bool read_term(struct rl_slice *rest, uint64_t *ret_term)
{
    const char *digits = rest->data;
    size_t n = rl_decimal_read(digits, rest->size, ret_term);

    *rest = (struct rl_slice){digits + n, rest->size - n};
    return n > 0 && digits[0] != '0';
}

bool rl_leader_said(struct rl_slice payload, struct rl_leader *ret_leader)
{
    struct rl_leader leader = {.present = true};
    const char *label;

    if (!read_term(&payload, &leader.term))
        return false;
    label = payload.data;
    if (payload.size == 1 || payload.size > 1 + sizeof leader.label || (payload.size && label[0] != ' '))
        return false;
    for (size_t i = 1; i < payload.size; i++) {
        if (label[i] <= ' ' || label[i] > '~')
            return false;
        leader.label[leader.label_size++] = label[i];
    }
    *ret_leader = leader;
    return true;
}
