#include "host/leader.h"

#include <string.h>

#include "host/environment.h"
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
