/* Trust: what the host knows of each master's memory (rules 5). The handshake is one step here: that its
 * answer takes time only makes the quarantine longer. */
#include <string.h>

#include "engine/answer.h"
#include "tiny_parts.h"

/* What join.lua does, and rl_admission_evaluate() makes of it. */
static struct rl_admission_status status_of(struct tiny_master *master, unsigned now, const struct tiny_setup *setup)
{
    struct rl_admission_status status = {.kind = RL_ADMISSION_VOTES, .epoch_checked = setup->quarantine > 0};

    if (!setup->quarantine)
        return status;
    if (!master->memory) {
        master->memory = ++master->latest;
        master->until = (uint8_t)(now + setup->quarantine);
    }
    if (master->until > now) {
        status.kind = RL_ADMISSION_QUARANTINED;
        status.fault = RL_FAULT_NEW_MEMORY;
        status.until = tiny_instant(master->until);
    }
    return status;
}

void tiny_join(struct tiny *tiny, const struct tiny_setup *setup, unsigned client, unsigned master)
{
    struct rl_admission_status status = status_of(&tiny->masters[master], tiny->now, setup);

    tiny->open[client][master] = true;
    tiny->memory[client][master] = tiny->masters[master].memory;
    rl_engine_admission(&tiny->engines[client], master, &status);
    rl_engine_link(&tiny->engines[client], tiny_instant(tiny->now), master, RL_LINK_READY);
}

void tiny_guard(struct tiny *tiny, const struct tiny_setup *setup, unsigned client)
{
    uint32_t nodes = rl_engine_take_unchecked(&tiny->engines[client]);

    for (unsigned master = 0; master < setup->masters; master++) {
        if ((nodes >> master & 1u) && tiny->open[client][master])
            tiny_push(&tiny->up[client][master], (struct tiny_message){.step = TINY_EPOCH_CHECK});
    }
}

/* Another memory: nothing on this connection is worth anything any more. */
void tiny_guarded(struct tiny *tiny, const struct tiny_setup *setup, unsigned client, unsigned master, uint8_t found)
{
    bool same = found == tiny->memory[client][master];

    rl_engine_epoch_checked(&tiny->engines[client], tiny_instant(tiny->now), master, same);
    tiny_pump(tiny, setup, client);
    if (!same)
        tiny_give_up(tiny, setup, client, master);
}

bool tiny_may_flush(const struct tiny *tiny, const struct tiny_setup *setup, unsigned master)
{
    return tiny->flushes < setup->flushes && (!setup->same_again || tiny->masters[master].latest > 1);
}
