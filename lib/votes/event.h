/* The end of one command, as votes and engine are told of it. */
#ifndef RL_VOTES_EVENT_H
#define RL_VOTES_EVENT_H

#include <stdint.h>

#include "util/instant.h"
#include "votes/claim.h"
#include "votes/kind.h"
#include "votes/outcome.h"

struct rl_event {
    struct rl_instant now;
    struct rl_claim *claim;
    enum rl_step step;
    uint32_t round; /* the claim's round in which the command was sent */
    unsigned node;
    struct rl_answer answer; /* the master's, or the news that there will be none */
    uint32_t latency_us;     /* RL_NO_LATENCY: not known */
};

/* Does it end a command of the claim's latest round? */
static inline bool rl_event_is_latest(const struct rl_event *event)
{
    return event->round == event->claim->round;
}

#endif
