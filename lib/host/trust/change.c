/* IMPLEMENTATION NOTES
 *
 *     go_on -> ask -> (answers, or node_timeout) -> end_round -> go_on ... -> DONE, STOPPED
 *
 * A round asks those whose connections are usable at its beginning. Answers to questions of a round that is over are
 * dropped: the run asks again, and what was written meanwhile shows in the answer. */
#include "host/trust/change.h"

#include <string.h>

#include "host/commands.h"
#include "host/host.h"
#include "host/effects.h"
#include "host/trust/admission.h"
#include "host/trust/join.h"
#include "host/trust/view.h"

/* Whether a first connection has come is looked at so often. */
#define JOINING_MS 10

void rl_trust_present_view(const struct rl_host *host, const struct rl_member_list *configured,
                           struct rl_view *ret_view)
{
    if (host->trust.view) {
        *ret_view = *host->trust.view;
        return;
    }
    memset(ret_view, 0, sizeof *ret_view);
    ret_view->list = *configured;
    ret_view->n_history = 1;
    memcpy(ret_view->history[0], configured->id, RL_ID_SIZE);
}

/* --- Connections -------------------------------------------------------------------------------------------------- */

/* Masters that other views have named have come meanwhile, perhaps. */
static void invite_all(struct rl_trust_change *change, struct rl_instant now)
{
    for (size_t i = 0; i < change->run.n; i++) {
        unsigned place = RL_NO_PLACE;

        change->why_not[i] = rl_trust_invite(change->host, &change->run.masters[i].member,
                                             rl_change_looks(&change->run, i), now, &place);
        change->places[i] = (uint8_t)place;
    }
    change->n_invited = change->run.n;
}

/* rule 15.18: what the handshakes have found under the new names. */
static void note_names(struct rl_trust_change *change)
{
    for (size_t i = 0; i < change->n_invited; i++) {
        unsigned place = change->places[i];

        if (place != RL_NO_PLACE && change->host->trust.nodes[place].has_report)
            rl_change_note_name(&change->run, i, &change->host->trust.nodes[place].report);
    }
}

static enum rl_link link_of(const struct rl_trust_change *change, size_t i)
{
    return change->places[i] == RL_NO_PLACE ? RL_LINK_DOWN : change->host->engine.votes.links[change->places[i]];
}

static bool is_joining(const struct rl_trust_change *change, struct rl_instant now)
{
    if (!rl_before(now, change->patience))
        return false;
    for (size_t i = 0; i < change->run.n; i++) {
        if (link_of(change, i) == RL_LINK_JOINING)
            return true;
    }
    return false;
}

/* --- Rounds ------------------------------------------------------------------------------------------------------- */

static bool ask(struct rl_trust_change *change, size_t i, struct rl_instant now)
{
    char buffer[RL_VIEW_TEXT_MAX];
    struct rl_slice view = {buffer, rl_change_text(rl_change_view(&change->run, i), buffer)};
    struct rl_host *host = change->host;
    struct rl_tag tag = {.sent = now, .round = change->round, .step = RL_TAG_CHANGE, .flags = (uint8_t)i,
                         .script = RL_SCRIPT_JOIN};
    struct rl_join_question question = {.known = host->trust.known, .view = view};

    rl_change_fill(&change->run, i, &question);
    rl_bytes_clear(&host->scratch);
    return rl_trust_encode_question(host, change->places[i], &question, &host->scratch) &&
           rl_transport_send(&host->transport, change->places[i], &host->scratch, RL_SENDING, &tag);
}

static void ask_all(struct rl_trust_change *change, struct rl_instant now)
{
    enum rl_join_mode mode;

    change->round++;
    change->asked = 0;
    for (size_t i = 0; i < change->run.n; i++) {
        bool is_up = change->places[i] != RL_NO_PLACE && rl_trust_is_up(change->host, change->places[i]);

        if (is_up && rl_change_question(&change->run, i, &mode) && ask(change, i, now))
            change->asked |= UINT64_C(1) << i;
    }
}

/* The change is meant for the list that the operator knows: what another one has made of it is not to be undone. */
static bool is_meant(const struct rl_trust_change *change)
{
    const struct rl_view *view = &change->run.view;

    return strcmp(view->list.id, change->base) == 0 || strcmp(view->list.id, change->run.goal.id) == 0 ||
           (view->before.n && strcmp(view->before.id, change->base) == 0);
}

/* A master stores it: the client goes by it, too, and its greetings tell those that were out of reach. */
static void follow(struct rl_trust_change *change, struct rl_instant now)
{
    char buffer[RL_VIEW_TEXT_MAX];
    struct rl_slice view = {buffer, rl_change_text(&change->run.known, buffer)};

    if (view.size && !rl_slice_equals(view, rl_trust_view(change->host)))
        rl_trust_adopt(change->host, view, now);
}

static void stop_if_not_meant(struct rl_trust_change *change)
{
    if (is_meant(change))
        return;
    change->run.why = "the list of masters has been changed since: name the masters and the quorum that there are now";
    change->run.name = change->run.name_of = NULL;
    rl_change_find_spelling(&change->run);
    change->run.stage = RL_CHANGE_STOPPED;
}

static void end_round(struct rl_trust_change *change, struct rl_instant now)
{
    bool begins = change->run.stage == RL_CHANGE_BEGIN && !change->run.told_once;

    if (change->run.stage == RL_CHANGE_TELL)
        follow(change, now);
    note_names(change);
    rl_change_end_round(&change->run, now);
    if (begins && change->run.told_once)
        stop_if_not_meant(change);
    change->on_change(change);
}

static void arm(struct rl_trust_change *change, struct rl_instant at)
{
    rl_transport_arm(&change->host->transport, &change->timer, at);
}

static void go_on(struct rl_trust_change *change, struct rl_instant now)
{
    while (change->run.stage != RL_CHANGE_DONE && change->run.stage != RL_CHANGE_STOPPED) {
        invite_all(change, now);
        if (is_joining(change, now)) {
            arm(change, rl_after(now, rl_ms(JOINING_MS)));
            return;
        }
        if (change->plan_only) {
            note_names(change);
            if (!rl_change_names_proven(&change->run, &change->run.goal, true))
                change->run.stage = RL_CHANGE_STOPPED;
            stop_if_not_meant(change);
            change->on_change(change);
            break;
        }
        if (rl_before(now, change->run.until)) {
            arm(change, change->run.until);
            return;
        }
        ask_all(change, now);
        if (change->asked) {
            arm(change, rl_after(now, change->host->engine.votes.config.node_timeout));
            return;
        }
        end_round(change, now);
    }
    rl_transport_disarm(&change->host->transport, &change->timer);
}

static void on_timer(struct rl_timer *timer, struct rl_instant now)
{
    struct rl_trust_change *change = RL_CONTAINER_OF(timer, struct rl_trust_change, timer);
    struct rl_host *host = change->host;

    host->now = now;
    if (change->asked) {
        change->asked = 0;
        end_round(change, now);
    }
    go_on(change, now);
    rl_host_run(host);
}

void rl_trust_change_reply(struct rl_host *host, unsigned node, const struct rl_tag *tag, const struct rl_reply *reply,
                           struct rl_instant now)
{
    struct rl_trust_change *change = host->trust.change;
    struct rl_join_report report;
    struct rl_slice view;

    if (!change || tag->round != change->round || !(change->asked >> tag->flags & 1))
        return;
    change->asked &= ~(UINT64_C(1) << tag->flags);
    if (reply->root.type != RL_REPLY_ERROR && rl_join_parse(reply, &report, &view))
        rl_change_answer(&change->run, tag->flags, &report, view);
    if (change->asked)
        return;
    end_round(change, now);
    go_on(change, now);
}

/* --- Life --------------------------------------------------------------------------------------------------------- */

void rl_trust_change_begin(struct rl_host *host, struct rl_trust_change *change)
{
    struct rl_instant now = host->now;

    change->host = host;
    change->patience = rl_after(now, rl_ms(host->options->connect_timeout_ms));
    change->asked = 0;
    change->round = 0;
    host->trust.change = change;
    rl_timer_init(&change->timer, on_timer);
    arm(change, now);
}

void rl_trust_change_end(struct rl_trust_change *change)
{
    struct rl_host *host = change->host;

    rl_transport_disarm(&host->transport, &change->timer);
    host->trust.change = NULL;
    rl_trust_uninvite(host);
}
