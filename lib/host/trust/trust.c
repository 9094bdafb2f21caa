#include "host/trust/trust.h"

#include <stdio.h>
#include <string.h>

#include <redlock/status.h>

#include "codec/command.h"
#include "host/host.h"
#include "host/command_steps.h"
#include "host/trust/admission.h"
#include "host/trust/epoch_check.h"
#include "host/trust/recheck.h"

void rl_trust_reply(struct rl_host *host, unsigned node, const struct rl_tag *tag,
                    const struct rl_reply *reply, struct rl_instant now)
{
    if (tag->step == RL_TAG_EPOCH_MARKER)
        rl_trust_take_marker(host, node, reply);
    else if (tag->step == RL_TAG_EPOCH_CLOCK)
        rl_trust_take_time(host, node, tag->sent, reply, now);
    else if (tag->step == RL_TAG_RECHECK_SETTING)
        rl_trust_recheck_setting(host, node, tag, reply, now);
    else if (tag->step == RL_TAG_RECHECK_JOIN)
        rl_trust_recheck_join(host, node, tag, reply, now);
}

/* --- Life ------------------------------------------------------------------------------------------------------- */

/* The caller's prefix need not live on. */
static void copy_prefix(struct rl_host *host)
{
    struct rl_trust *trust = &host->trust;

    trust->prefix_size = strlen(host->options->key_prefix);
    memcpy(trust->prefix, host->options->key_prefix, trust->prefix_size + 1);
    snprintf(trust->marker, sizeof trust->marker, "%s%s", trust->prefix, RL_MARKER_NAME);
    trust->marker_size = strlen(trust->marker);
}

static bool encode_questions(struct rl_trust *trust)
{
    const struct rl_slice memory[] = {{"HGET", 4}, {trust->marker, strlen(trust->marker)}, {"inc", 3}};
    const struct rl_slice clock[] = {{"TIME", 4}};

    return rl_words_encode(memory, 3, &trust->memory_question) && rl_words_encode(clock, 1, &trust->clock_question);
}

static void init_node(struct rl_host *host, unsigned node)
{
    static const struct rl_admission_status votes = {.kind = RL_ADMISSION_VOTES};
    struct rl_trust_node *known = &host->trust.nodes[node];

    known->host = host;
    rl_timer_init(&known->timer, rl_trust_recheck);
    rl_node_clock_init(&known->clock);
    known->reported_kind = host->trust.guarded ? RL_ADMISSION_UNEVALUATED : RL_ADMISSION_VOTES;
    known->reported_fault = host->trust.guarded ? RL_FAULT_UNJUDGED : RL_FAULT_NONE;
    if (!host->trust.guarded)
        rl_engine_admission(&host->engine, node, &votes);
}

int rl_trust_init(struct rl_host *host, const struct rl_deployment_names *names)
{
    struct rl_trust *trust = &host->trust;

    trust->guarded = host->options->profile == REDLOCK_PROFILE_GUARDED;
    trust->names = *names;
    copy_prefix(host);
    for (unsigned node = 0; node < host->engine.votes.config.n_nodes; node++)
        init_node(host, node);
    return encode_questions(trust) ? 0 : REDLOCK_E_NOMEM;
}

void rl_trust_fini(struct rl_host *host)
{
    rl_bytes_fini(&host->trust.memory_question);
    rl_bytes_fini(&host->trust.clock_question);
}
