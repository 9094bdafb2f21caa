/* JOIN as the client asks it: in a handshake, and on a connection that there is. */
#include "host/trust/join.h"

#include "codec/command.h"
#include "host/commands.h"
#include "host/host.h"
#include "host/trust/node_clock.h"
#include "host/trust/servers.h"
#include "host/trust/view.h"

void rl_trust_init_node(struct rl_host *host, unsigned node)
{
    static const struct rl_admission_status votes = {.kind = RL_ADMISSION_VOTES};
    struct rl_trust_node *known = &host->trust.nodes[node];

    if (known->host) /* another master has had its place */
        rl_transport_disarm(&host->transport, &known->timer);
    *known = (struct rl_trust_node){.host = host, .timer = known->timer};
    rl_scripts_forget(host, node);
    known->left_until = RL_NEVER;
    rl_node_clock_init(&known->clock);
    known->reported_kind = host->trust.guarded ? RL_ADMISSION_UNEVALUATED : RL_ADMISSION_VOTES;
    known->reported_fault = host->trust.guarded ? RL_FAULT_UNJUDGED : RL_FAULT_NONE;
    if (!host->trust.guarded)
        rl_engine_admission(&host->engine, node, &votes);
}

/* The operator's word holds for the first look only: what is lost after that is a loss. */
static enum rl_join_mode mode_for(const struct rl_host *host, const struct rl_trust_node *known)
{
    static const enum rl_join_mode modes[] = {
        [REDLOCK_JOIN_VOTE] = RL_JOIN_VOTE,       [REDLOCK_JOIN_LOOK] = RL_JOIN_READ,
        [REDLOCK_JOIN_DECLARE] = RL_JOIN_DECLARE, [REDLOCK_JOIN_ANNOUNCE] = RL_JOIN_ANNOUNCE,
        [REDLOCK_JOIN_CONFIRM] = RL_JOIN_CONFIRM, [REDLOCK_JOIN_ALLOW] = RL_JOIN_ALLOW,
    };

    if (known->looks)
        return RL_JOIN_READ;
    return host->options->join == REDLOCK_JOIN_DECLARE && known->has_joined ? RL_JOIN_VOTE : modes[host->options->join];
}

/* A declaration has a number of its own, and says nothing of what the client has learned. */
static struct rl_deployment knowledge_for(const struct rl_host *host, enum rl_join_mode mode)
{
    if (mode == RL_JOIN_VOTE || mode == RL_JOIN_READ)
        return host->trust.known;
    return (struct rl_deployment){.number = host->options->declaration};
}

bool rl_trust_encode_question(struct rl_host *host, unsigned node, struct rl_join_question *question,
                              struct rl_bytes *out)
{
    struct rl_command command;
    char incarnation[RL_UUID_SIZE];

    host->environment.make_uuid(host->environment.ctx, incarnation);
    question->marker = rl_slice_of(host->trust.marker);
    question->incarnation = (struct rl_slice){incarnation, sizeof incarnation - 1};
    question->max_ttl_ms = host->options->max_ttl_ms;
    question->durability = rl_trust_durability(&host->trust.nodes[node]);
    rl_join_command(question, &command);
    command.by_digest = rl_script_goes_by_digest(host, node, RL_SCRIPT_JOIN);
    if (!command.by_digest)
        rl_script_written(host, node, RL_SCRIPT_JOIN);
    return rl_command_encode(&command, out);
}

bool rl_trust_encode_join(struct rl_host *host, unsigned node, struct rl_bytes *out)
{
    struct rl_trust_node *known = &host->trust.nodes[node];
    struct rl_join_question question = {
        .mode = mode_for(host, known),
        .list_id = rl_slice_of(host->trust.names.list_id),
        .node_id = rl_slice_of(host->trust.names.node_ids[node]),
        .view = rl_trust_view(host),
        .configured = rl_slice_of(host->trust.change ? "" : host->trust.configured),
    };

    question.known = knowledge_for(host, question.mode);
    known->asked = host->trust.generation;
    return rl_trust_encode_question(host, node, &question, out);
}

bool rl_trust_send(struct rl_host *host, unsigned node, enum rl_tag_step step, unsigned index,
                   struct rl_instant sent)
{
    struct rl_tag tag = {.sent = sent, .round = host->trust.generation, .step = (uint8_t)step,
                         .flags = (uint8_t)index};

    if (step == RL_TAG_RECHECK_JOIN)
        tag.script = RL_SCRIPT_JOIN;
    return rl_transport_send(&host->transport, node, &host->scratch, RL_SENDING, &tag);
}

/* A greeting that cannot be sent is made up for by a new handshake. */
void rl_trust_ask_join(struct rl_host *host, unsigned node, struct rl_instant now)
{
    rl_bytes_clear(&host->scratch);
    if ((!rl_trust_encode_join(host, node, &host->scratch) ||
         !rl_trust_send(host, node, RL_TAG_RECHECK_JOIN, 0, now)) &&
        (host->trust.nodes[node].greeting || !host->trust.nodes[node].same_memory))
        rl_transport_fail(&host->transport, node, "no memory to greet it by the new list of masters");
}
