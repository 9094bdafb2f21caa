/* The host's part of each connection's handshake (rules 5.1, 5.4 and 5.6).
 *
 *     round 0   CONFIG GET, for each setting that counts: is it durable? SCRIPT EXISTS
 *     round 1   JOIN: what it says of itself, and whether its memory is the one that was known
 *     further   JOIN again, by a list that is newer, or since the script has gone meanwhile */
#include "host/trust/handshake.h"

#include <stdio.h>

#include "codec/classify.h"
#include "codec/command.h"
#include "host/host.h"
#include "host/trust/admission.h"
#include "host/trust/join.h"
#include "host/trust/servers.h"
#include "host/trust/node_clock.h"
#include "host/trust/view.h"

/* --- Round 0: settings and scripts -------------------------------------------------------------------------------- */

static int ask_settings(struct rl_bytes *out)
{
    for (int i = 0; i < RL_TRUST_N_SETTINGS; i++) {
        if (!rl_trust_encode_setting((enum rl_trust_setting)i, out))
            return -1;
    }
    return rl_scripts_ask(out) ? RL_TRUST_N_SETTINGS + 1 : -1;
}

int rl_trust_greet(void *ctx, unsigned node, unsigned round, struct rl_bytes *out)
{
    struct rl_host *host = ctx;

    if (!host->trust.guarded || (round > 1 && !host->trust.nodes[node].again))
        return 0;
    if (round == 0)
        return ask_settings(out);
    host->trust.nodes[node].again = host->trust.nodes[node].doubted = false;
    return rl_trust_encode_join(host, node, out) ? 1 : -1;
}

/* --- The report ------------------------------------------------------------------------------------------------- */

const char *rl_trust_take_report(struct rl_host *host, unsigned node, struct rl_instant sent, struct rl_instant now)
{
    struct rl_trust_node *known = &host->trust.nodes[node];
    const char *why;

    rl_trust_meet_server(host, node, sent, now);
    known->has_report = true;
    known->has_joined = true;
    known->sent = sent;
    known->received = now;
    why = rl_trust_learn(host, node, now);
    if (why)
        return why;
    rl_trust_evaluate_joined(host, node, now);
    /* Whatever it says would be taken for the answer of a master that has not been asked. */
    if (known->report.event == RL_JOIN_MISPLACED)
        return rl_fault_text(RL_FAULT_SAME_SERVER);
    rl_trust_read_clock(host, node, known->report.time_us, sent, now);
    rl_trust_end_greeting(host, node, rl_join_found_marker(known->report.event), now);
    return NULL;
}

static bool give_up(struct rl_trust_node *known, struct rl_slice text, const char **ret_why)
{
    snprintf(known->why, sizeof known->why, "JOIN: %.*s", (int)text.size, (const char *)text.data);
    *ret_why = known->why;
    return false;
}

static bool on_join_error(struct rl_host *host, const struct rl_greeting_answer *answer, const char **ret_why)
{
    struct rl_trust_node *known = &host->trust.nodes[answer->node];
    struct rl_slice text = answer->reply->root.text;
    struct rl_admission_status status;

    if (rl_says_noscript(answer->reply)) {
        known->again = true; /* with its text */
        return true;
    }
    if (!rl_trust_evaluate_error(host, text, &status))
        return give_up(known, text, ret_why);
    known->has_report = false;
    known->report = (struct rl_join_report){0};
    rl_trust_set_status(host, answer->node, &status, answer->now);
    return true;
}

static bool on_join(struct rl_host *host, const struct rl_greeting_answer *answer, const char **ret_why)
{
    static const struct rl_slice misshapen = {"unexpected reply", 16};
    struct rl_trust_node *known = &host->trust.nodes[answer->node];
    struct rl_join_report report;
    struct rl_slice view;

    rl_script_answered(host, answer->node, RL_SCRIPT_JOIN, answer->sent, answer->reply);
    if (answer->reply->root.type == RL_REPLY_ERROR)
        return on_join_error(host, answer, ret_why);
    if (!rl_join_parse(answer->reply, &report, &view))
        return give_up(known, misshapen, ret_why);
    if (known->asked != host->trust.generation) {
        known->again = true; /* it was asked by the list before */
        return true;
    }
    if (report.event == RL_JOIN_OUTDATED && !rl_trust_adopt(host, view, answer->now)) {
        known->again = true;
        return true;
    }
    known->report = report;
    *ret_why = rl_trust_take_report(host, answer->node, answer->sent, answer->now);
    return !*ret_why;
}

bool rl_trust_greeted(struct rl_host *host, const struct rl_greeting_answer *answer, const char **ret_why)
{
    if (answer->round > 0)
        return on_join(host, answer, ret_why);
    if (answer->index < RL_TRUST_N_SETTINGS)
        rl_trust_note_setting(&host->trust.nodes[answer->node], answer->index, answer->reply);
    else
        rl_scripts_learn(host, answer->node, answer->sent, answer->reply);
    return true;
}
