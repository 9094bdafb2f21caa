/* An operator's run on the connections of a client (rules 15.12 to 15.17): it asks the masters what the run wants to
 * know (votes/change.h), and brings it their answers. Masters that the client does not know are invited: they are
 * connected and greeted, and are no members. The client itself goes by each view as soon as a master stores it. */
#ifndef RL_HOST_TRUST_CHANGE_H
#define RL_HOST_TRUST_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "util/instant.h"
#include "util/resp.h"
#include "util/wheel.h"
#include "votes/change.h"
#include "votes/change_round.h"

struct rl_host;
struct rl_tag;

#define RL_NO_PLACE 0xff

struct rl_trust_change {
    struct rl_change run;
    struct rl_host *host;
    struct rl_timer timer;      /* end of the round, or of a pause */
    struct rl_instant patience; /* until then first connections are waited for */
    bool plan_only;             /* nothing is asked: on_change when the masters are known */
    char base[RL_ID_SIZE];      /* the list that the change is meant for */
    size_t n_invited;           /* masters of the run that have places */
    uint64_t asked;             /* masters of the run whose answers are due */
    uint32_t round;
    uint8_t places[2 * RL_MAX_NODES];      /* among the client's masters; RL_NO_PLACE */
    const char *why_not[2 * RL_MAX_NODES]; /* there is no connection: why; NULL */

    /* Something has changed, or the run has ended (DONE, STOPPED). It may not end the run at once. */
    void (*on_change)(struct rl_trust_change *change);
};

/* The view that the client goes by, with the list that it is configured with for want of another one. */
void rl_trust_present_view(const struct rl_host *host, const struct rl_member_list *configured,
                           struct rl_view *ret_view);

/* The run is to lead from `base` (an id) to its goal: rl_change_start() has been called on change->run. One run of a
 * client at a time. */
void rl_trust_change_begin(struct rl_host *host, struct rl_trust_change *change);

/* Takes it out: masters that are no members are let go. */
void rl_trust_change_end(struct rl_trust_change *change);

/* The reply to a question of the run. */
void rl_trust_change_reply(struct rl_host *host, unsigned node, const struct rl_tag *tag, const struct rl_reply *reply,
                           struct rl_instant now);

#endif
