#include "host/trust/trust.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/status.h>

#include "codec/classify.h"
#include "codec/command.h"
#include "host/commands.h"
#include "host/host.h"
#include "host/trust/admission.h"
#include "host/trust/change.h"
#include "host/trust/epoch_check.h"
#include "host/trust/handshake.h"
#include "host/trust/join.h"
#include "host/trust/servers.h"
#include "host/trust/view.h"

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
    else if (tag->step == RL_TAG_CHANGE)
        rl_trust_change_reply(host, node, tag, reply, now);
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

int rl_trust_init(struct rl_host *host, const struct rl_deployment_names *names)
{
    struct rl_trust *trust = &host->trust;

    trust->guarded = host->options->profile == REDLOCK_PROFILE_GUARDED;
    trust->names = *names;
    memcpy(trust->configured, names->list_id, sizeof trust->configured);
    copy_prefix(host);
    for (size_t i = 0; i < sizeof trust->nodes / sizeof trust->nodes[0]; i++)
        rl_timer_init(&trust->nodes[i].timer, rl_trust_recheck);
    for (unsigned node = 0; node < host->engine.votes.config.n_nodes; node++)
        rl_trust_init_node(host, node);
    return encode_questions(trust) ? 0 : REDLOCK_E_NOMEM;
}

void rl_trust_fini(struct rl_host *host)
{
    free(host->trust.view);
    rl_bytes_fini(&host->trust.view_text);
    rl_bytes_fini(&host->trust.memory_question);
    rl_bytes_fini(&host->trust.clock_question);
}

/* An excluded master is looked at again by making its connection anew. A master that votes is, on the connection that
 * there is: what the handshake has found may be changed at run time (CONFIG SET of the eviction policy or of
 * persistence, REPLICAOF), and no reply to a lock's command tells. The questions are those of the handshake. Whatever
 * is odd ends the connection, and the next handshake decides. */

/* A question that cannot be sent is asked next time. */
static void ask_settings(struct rl_host *host, unsigned node, struct rl_instant now)
{
    if (host->engine.votes.links[node] != RL_LINK_READY)
        return;
    for (unsigned i = 0; i < RL_TRUST_N_SETTINGS; i++) {
        rl_bytes_clear(&host->scratch);
        if (!rl_trust_encode_setting((enum rl_trust_setting)i, &host->scratch) ||
            !rl_trust_send(host, node, RL_TAG_RECHECK_SETTING, i, now))
            return;
    }
}

/* In quarantine, or where a clock is slow, the marker and the time are asked for: an epoch check that fails ends the
 * connection. */
void rl_trust_recheck(struct rl_timer *timer, struct rl_instant now)
{
    struct rl_trust_node *known = RL_CONTAINER_OF(timer, struct rl_trust_node, timer);
    struct rl_host *host = known->host;
    unsigned node = (unsigned)(known - host->trust.nodes);
    struct rl_admission_status status = rl_trust_status(host, node, now);

    if (known->left_until.ns != RL_NEVER.ns) {
        if (rl_trust_dismiss(host, node, now))
            return;
    } else if (known->greeting) {
        rl_trust_update(host, node, now);
        return;
    } else if (status.fault == RL_FAULT_CLOCK_SLOW) {
        rl_trust_ask_epoch(host, node, now);
    } else if (status.kind == RL_ADMISSION_EXCLUDED && !status.keeps_ms) {
        snprintf(known->why, sizeof known->why, "looked at again: %s", rl_trust_fault_text(host, node, status.fault));
        rl_transport_fail(&host->transport, node, known->why);
    } else if (status.kind == RL_ADMISSION_QUARANTINED && status.epoch_checked) {
        rl_trust_ask_epoch(host, node, now);
    } else if (status.epoch_checked) {
        ask_settings(host, node, now);
    }
    rl_trust_update(host, node, now);
}

void rl_trust_recheck_setting(struct rl_host *host, unsigned node, const struct rl_tag *tag,
                           const struct rl_reply *reply, struct rl_instant now)
{
    rl_trust_note_setting(&host->trust.nodes[node], tag->flags, reply);
    if (tag->flags == RL_TRUST_N_SETTINGS - 1)
        rl_trust_ask_join(host, node, now);
}

/* A master without memory or time, or one that takes no writes for now, is asked again later: it may still extend what
 * is held. */
static bool is_passing(const struct rl_reply *reply)
{
    enum rl_detail detail;

    if (reply->root.type != RL_REPLY_ERROR)
        return false;
    detail = rl_classify_error(reply->root.text);
    return detail == RL_DETAIL_OOM || detail == RL_DETAIL_BUSY || detail == RL_DETAIL_MISCONF ||
           detail == RL_DETAIL_NOREPLICAS;
}

void rl_trust_recheck_join(struct rl_host *host, unsigned node, const struct rl_tag *tag,
                        const struct rl_reply *reply, struct rl_instant now)
{
    struct rl_trust_node *known = &host->trust.nodes[node];
    struct rl_join_report report;
    struct rl_slice view;
    const char *why = NULL;

    known->doubted = false;
    if (tag->round != host->trust.generation || (is_passing(reply) && !known->greeting))
        return;
    if (rl_says_noscript(reply)) {
        rl_trust_ask_join(host, node, now);
        return;
    }
    if (reply->root.type == RL_REPLY_ERROR || !rl_join_parse(reply, &report, &view)) {
        rl_transport_fail(&host->transport, node, "looked at again: it does not answer as it did");
        return;
    }
    if (report.event == RL_JOIN_OUTDATED)
        why = rl_trust_adopt(host, view, now);
    if (why)
        rl_transport_fail(&host->transport, node, why);
    if (report.event == RL_JOIN_OUTDATED)
        return;
    if (!known->greeting && strcmp(report.incarnation, known->report.incarnation) != 0) {
        rl_transport_fail(&host->transport, node, "looked at again: its memory is not the one that was admitted");
        return;
    }
    known->report = report;
    rl_trust_take_report(host, node, tag->sent, now);
}
