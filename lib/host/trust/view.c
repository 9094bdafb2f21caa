/* IMPLEMENTATION NOTES
 *
 * A client follows when a master's marker shows a newer view (RL_JOIN_OUTDATED). The members get places: those that the
 * client knows keep theirs, others get new ones, and masters that have left keep theirs until no vote of this client
 * can be there. Then every member is asked JOIN again, on the connection that there is, with the new view.
 *
 * A member under another name (rule 15.18) keeps its place, its votes and its connection; the next one is made by that
 * name. A client that is configured with such a name learns from the view which master it is.
 *
 *     OUTDATED -> memory for the held locks -> engine adopts -> each member: greeting -> JOIN answered -> it counts
 *
 * Between the question and its answer nothing that the member says counts: what was asked before is answered before,
 * and belongs to the list before. To attempts the member is one whose first connection is on its way. What is held has
 * a claim of its own for the new list, with the same value. */
#include "host/trust/view.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "engine/lock.h"
#include "host/effects.h"
#include "host/host.h"
#include "host/latch.h"
#include "host/lock.h"
#include "host/quorum_read.h"
#include "host/trust/admission.h"
#include "host/trust/join.h"
#include "host/trust/trust.h"
#include "votes/view.h"

uint32_t rl_trust_greeted_members(const struct rl_host *host)
{
    uint32_t nodes = 0;

    for (unsigned node = 0; node < host->engine.votes.config.n_nodes; node++)
        nodes |= host->trust.nodes[node].greeted ? rl_bit(node) : 0;
    return nodes & host->engine.votes.members;
}

int rl_trust_place_of(const struct rl_host *host, const char *node_id)
{
    size_t n = host->engine.votes.config.n_nodes;

    for (size_t place = 0; place < n; place++) {
        if (!host->trust.nodes[place].dismissed && strcmp(host->trust.names.node_ids[place], node_id) == 0)
            return (int)place;
    }
    return -1;
}

bool rl_trust_is_greeting(const struct rl_host *host, unsigned node)
{
    return host->trust.nodes[node].greeting;
}

/* --- The members' places ------------------------------------------------------------------------------------------ */

struct adoption {
    struct rl_view view;
    struct rl_bytes text;
    uint32_t members;                /* mask of places */
    uint32_t newcomers;              /* members that the client has not known until now ... */
    uint8_t places[RL_MAX_NODES];    /* ... and everybody's place, in the order of the view */
    size_t n_places;
    struct rl_claim **claims;        /* for the held locks, in the order of the host's list */
    size_t n_claims;
    const char *why_not[RL_MAX_NODES]; /* of places: why there is no connection */
};

/* A connection that is about to be closed has something to tell. */
static bool is_vacant(const struct rl_host *host, size_t place)
{
    return place >= host->engine.votes.config.n_nodes ||
           (host->trust.nodes[place].dismissed && host->engine.votes.links[place] == RL_LINK_DOWN);
}

static size_t find_place(const struct rl_host *host, uint32_t taken, const char *node_id)
{
    int known = rl_trust_place_of(host, node_id);
    size_t place = 0;

    if (known >= 0)
        return (size_t)known;
    while (!is_vacant(host, place) || (taken & rl_bit(place)))
        place++;
    return place;
}

/* Ids of the configured list are made of its names. A master that has had another name once has another id, by which no
 * vote has been counted. */
static void learn_ids(struct rl_host *host, const struct rl_member_list *list)
{
    if (*host->trust.view->epoch.run)
        return; /* it goes by a view, and its ids are those */
    for (size_t i = 0; i < list->n; i++) {
        const struct rl_member *member = &list->members[i];
        int place = host->sink->place_of(host, member->name);

        if (place >= 0 && rl_trust_place_of(host, member->node_id) < 0)
            memcpy(host->trust.names.node_ids[place], member->node_id, RL_ID_SIZE);
    }
}

static bool find_places(const struct rl_host *host, struct adoption *adoption)
{
    adoption->n_places = host->engine.votes.config.n_nodes;
    for (size_t i = 0; i < adoption->view.list.n; i++) {
        size_t place = find_place(host, adoption->newcomers, adoption->view.list.members[i].node_id);

        if (place >= RL_MAX_NODES)
            return false;
        if (is_vacant(host, place))
            adoption->newcomers |= rl_bit(place);
        if (place >= adoption->n_places)
            adoption->n_places = place + 1;
        adoption->members |= rl_bit(place);
        adoption->places[i] = (uint8_t)place;
    }
    return true;
}

/* Connections of newcomers are made from the next turn of the loop on. A member that this client must not connect to is
 * one that is down. */
static bool connect_newcomers(struct rl_host *host, struct adoption *adoption)
{
    uint32_t done = 0;

    for (size_t i = 0; i < adoption->view.list.n; i++) {
        unsigned place = adoption->places[i];

        if (!(adoption->newcomers & rl_bit(place)))
            continue;
        if (!host->sink->new_member(host, place, adoption->view.list.members[i].name, &adoption->why_not[place]))
            break;
        done |= rl_bit(place);
    }
    for (unsigned place = 0; done != adoption->newcomers && place < adoption->n_places; place++) {
        if (done & rl_bit(place))
            rl_transport_dismiss(&host->transport, place);
    }
    return done == adoption->newcomers;
}

/* --- Memory for the held locks ------------------------------------------------------------------------------------ */

static void dispose(struct rl_host *host, struct adoption *adoption)
{
    for (size_t i = 0; i < adoption->n_claims; i++)
        rl_host_claim_dispose(host, adoption->claims[i]);
    free(adoption->claims);
    rl_bytes_fini(&adoption->text);
}

static bool make_claims(struct rl_host *host, struct adoption *adoption)
{
    adoption->claims = calloc(host->engine.n_held + 1, sizeof adoption->claims[0]);
    if (!adoption->claims)
        return false;
    for (struct rl_list *at = host->locks.next; at != &host->locks; at = at->next) {
        const struct rl_lock *lock = &RL_CONTAINER_OF(at, struct rl_host_lock, link)->core;
        struct rl_claim *claim;

        if (!rl_lock_needs_claim(lock))
            continue;
        claim = rl_host_claim_copy(host, lock->claim, adoption->n_places);
        if (!claim)
            return false;
        adoption->claims[adoption->n_claims++] = claim;
    }
    return true;
}

/* --- The list is taken over --------------------------------------------------------------------------------------- */

/* There is no connection to it, nor will there be one. */
static void refuse_link(struct rl_host *host, unsigned node, const char *why, struct rl_instant now)
{
    host->sink->link(host, node, RL_LINK_DOWN, why);
    rl_engine_link(&host->engine, now, node, RL_LINK_DOWN);
}

static const char no_memory[] = "there is no memory to go by the new list of masters";
static const char no_room[] = "too many masters have come and gone: start this program again";

static void leave(struct rl_host *host, unsigned node, struct rl_instant now)
{
    static const struct rl_admission_status left = {.kind = RL_ADMISSION_EXCLUDED, .fault = RL_FAULT_NO_MEMBER};
    struct rl_trust_node *known = &host->trust.nodes[node];
    const struct rl_config *config = &host->engine.votes.config;

    known->greeting = false;
    if (known->left_until.ns != RL_NEVER.ns)
        return;
    known->left_until = rl_surely_expired(&config->drift, rl_after(now, config->node_timeout), config->max_ttl_ms);
    rl_trust_set_status(host, node, &left, now);
}

/* Nothing is known of it until it has answered. One that is not connected is greeted in its handshake. */
static void greet(struct rl_host *host, unsigned node, struct rl_instant now)
{
    static const struct rl_admission_status unevaluated = {.kind = RL_ADMISSION_UNEVALUATED, .epoch_checked = true};
    struct rl_trust_node *known = &host->trust.nodes[node];

    known->left_until = RL_NEVER;
    known->met[0].incarnation[0] = '\0'; /* a new list makes a new one */
    known->greeted = false;
    known->greeting = rl_trust_is_up(host, node);
    rl_trust_set_status(host, node, &unevaluated, now);
    if (known->greeting)
        rl_trust_ask_join(host, node, now);
    if (host->engine.votes.links[node] != RL_LINK_READY)
        host->engine.votes.greeting &= ~rl_bit(node);
}

static void name_members(struct rl_host *host, const struct adoption *adoption)
{
    struct rl_deployment_names *names = &host->trust.names;

    memcpy(names->list_id, adoption->view.list.id, RL_ID_SIZE);
    for (size_t i = 0; i < adoption->view.list.n; i++) {
        unsigned place = adoption->places[i];

        memcpy(names->node_ids[place], adoption->view.list.members[i].node_id, RL_ID_SIZE);
        if (adoption->newcomers & rl_bit(place))
            rl_trust_init_node(host, place);
        else
            host->sink->name_member(host, place, adoption->view.list.members[i].name);
    }
}

static void take_text(struct rl_host *host, struct adoption *adoption)
{
    *host->trust.view = adoption->view;
    rl_bytes_fini(&host->trust.view_text);
    host->trust.view_text = adoption->text;
    adoption->text = (struct rl_bytes){0};
    host->trust.generation++;
}

/* rule 15.3: "A view with the same list is the same view for clients: nothing is begun anew." Questions that are under
 * way carry the epoch before it; those that somebody waits for are asked once more. */
static void take_epoch(struct rl_host *host, struct adoption *adoption, struct rl_instant now)
{
    take_text(host, adoption);
    for (unsigned i = 0; i < host->engine.votes.config.n_nodes; i++) {
        if (host->trust.nodes[i].greeting || host->trust.nodes[i].doubted)
            rl_trust_ask_join(host, i, now);
    }
}

static void take_over(struct rl_host *host, struct adoption *adoption, struct rl_instant now)
{
    size_t at_claim = 0;

    rl_engine_adopt(&host->engine, &(struct rl_engine_list){adoption->n_places, adoption->view.list.quorum,
                                                            adoption->members, adoption->newcomers});
    take_text(host, adoption);
    host->trust.followed = true;
    name_members(host, adoption);
    for (struct rl_list *at = host->locks.next; at != &host->locks; at = at->next) {
        struct rl_lock *lock = &RL_CONTAINER_OF(at, struct rl_host_lock, link)->core;
        bool held = rl_lock_needs_claim(lock);

        rl_lock_adopt(&host->engine, lock, now, held ? adoption->claims[at_claim++] : NULL);
    }
    adoption->n_claims = 0; /* they are the locks' */
    for (unsigned i = 0; i < adoption->n_places; i++) {
        if (adoption->members & rl_bit(i))
            greet(host, i, now);
        else
            leave(host, i, now);
        if (adoption->why_not[i])
            refuse_link(host, i, adoption->why_not[i], now);
    }
    for (struct rl_list *at = host->locks.next; at != &host->locks; at = at->next)
        rl_host_rearm(RL_CONTAINER_OF(at, struct rl_host_lock, link));
    rl_latches_adopt(host, adoption->newcomers);
    rl_quorum_reads_adopt(host, adoption->newcomers);
    host->sink->validity(host, NULL);
    host->sink->members_changed(host);
}

/* rule 15.8: views of strangers are not followed, nor older ones. */
static bool may_follow(const struct rl_host *host, const struct rl_view *view)
{
    const struct rl_trust *trust = &host->trust;

    if (!*trust->view->epoch.run)
        return rl_view_remembers(view, trust->names.list_id);
    if (rl_epoch_compare(&trust->view->epoch, &view->epoch) >= 0)
        return false;
    for (size_t i = 0; i < view->n_history; i++) {
        if (rl_view_remembers(trust->view, view->history[i]))
            return true;
    }
    return false;
}

static const char *adopt(struct rl_host *host, struct adoption *adoption, struct rl_slice text, struct rl_instant now)
{
    if (!rl_view_parse(text, &adoption->view))
        return "its marker has a list of masters that cannot be read";
    if (host->options->follow == REDLOCK_FOLLOW_NOT)
        return "its list of masters has changed, and this client's options say that it does not follow";
    if (!may_follow(host, &adoption->view))
        return "its marker has a list of masters that does not follow from this client's";
    if (!rl_bytes_append(&adoption->text, text.data, text.size))
        return no_memory;
    learn_ids(host, &adoption->view.list);
    if (strcmp(adoption->view.list.id, host->trust.names.list_id) == 0) {
        take_epoch(host, adoption, now);
        return NULL;
    }
    if (!find_places(host, adoption))
        return no_room;
    if (!make_claims(host, adoption) || !connect_newcomers(host, adoption))
        return no_memory;
    take_over(host, adoption, now);
    return NULL;
}

const char *rl_trust_adopt(struct rl_host *host, struct rl_slice view, struct rl_instant now)
{
    struct adoption *adoption = calloc(1, sizeof *adoption);
    const char *why = no_memory;

    if (!host->trust.view)
        host->trust.view = calloc(1, sizeof *host->trust.view);
    if (adoption && host->trust.view)
        why = adopt(host, adoption, view, now);
    if (adoption)
        dispose(host, adoption);
    free(adoption);
    if (host->trust.view && !*host->trust.view->epoch.run) {
        free(host->trust.view);
        host->trust.view = NULL;
    }
    return why;
}

void rl_trust_doubt(struct rl_host *host, unsigned node, struct rl_instant now)
{
    struct rl_trust_node *known = &host->trust.nodes[node];

    if (!known->doubted && !known->greeting)
        rl_trust_ask_join(host, node, now);
    known->doubted = true;
}

/* --- Greetings end ------------------------------------------------------------------------------------------------ */

static void tell_locks(struct rl_host *host, unsigned node, bool counts, struct rl_instant now)
{
    for (struct rl_list *at = host->locks.next; at != &host->locks; at = at->next) {
        struct rl_lock *lock = &RL_CONTAINER_OF(at, struct rl_host_lock, link)->core;

        rl_lock_joined(&host->engine, lock, now, node);
        if (counts)
            rl_lock_greeted(&host->engine, lock, now, node);
    }
    rl_quorum_reads_link(host, node);
}

void rl_trust_end_greeting(struct rl_host *host, unsigned node, bool counts, struct rl_instant now)
{
    bool greeting = host->trust.nodes[node].greeting;

    host->trust.nodes[node].greeted |= counts;
    if (!greeting && (!counts || !rl_trust_view(host).size))
        return;
    host->trust.nodes[node].greeting = false;
    rl_engine_greeted(&host->engine, now, node);
    tell_locks(host, node, counts, now);
}

void rl_trust_greeting_is_late(struct rl_host *host, unsigned node, struct rl_instant now)
{
    if (!host->trust.nodes[node].greeting)
        return;
    rl_engine_greeted(&host->engine, now, node);
    tell_locks(host, node, false, now);
}

/* --- Masters that have left --------------------------------------------------------------------------------------- */

static bool has_rollbacks(struct rl_votes *votes, unsigned node)
{
    struct rl_list *head = &votes->pending_rollbacks;

    for (struct rl_list *at = head->next; at != head; at = at->next) {
        const struct rl_claim *claim = RL_CONTAINER_OF(at, struct rl_claim, link);

        if (node < claim->n_nodes && (claim->votes[node].rollback == RL_ROLLBACK_PENDING ||
                                      claim->votes[node].rollback == RL_ROLLBACK_SENT))
            return true;
    }
    return false;
}

bool rl_trust_dismiss(struct rl_host *host, unsigned node, struct rl_instant now)
{
    struct rl_trust_node *known = &host->trust.nodes[node];

    if (known->dismissed)
        return true;
    if (known->invited || rl_before(now, known->left_until) || has_rollbacks(&host->engine.votes, node))
        return false;
    known->dismissed = true;
    rl_transport_dismiss(&host->transport, node);
    return true;
}

/* --- Masters that an operator's run needs ------------------------------------------------------------------------- */

/* Connects a master that is asked to join as members are, and has no vote. */
static const char *connect_guest(struct rl_host *host, unsigned place, const struct rl_member *member,
                                 struct rl_instant now)
{
    const char *why_not = NULL;

    if (!host->sink->new_member(host, place, member->name, &why_not))
        return why_not ? why_not : no_memory;
    rl_engine_invite(&host->engine, place);
    memcpy(host->trust.names.node_ids[place], member->node_id, RL_ID_SIZE);
    rl_trust_init_node(host, place);
    leave(host, place, now);
    if (why_not)
        refuse_link(host, place, why_not, now);
    return why_not;
}

const char *rl_trust_invite(struct rl_host *host, const struct rl_member *member, bool looks, struct rl_instant now,
                            unsigned *ret_place)
{
    size_t place = find_place(host, 0, member->node_id);
    const char *why_not = NULL;

    if (place >= RL_MAX_NODES)
        return no_room;
    if (is_vacant(host, place))
        why_not = connect_guest(host, (unsigned)place, member, now);
    if (is_vacant(host, place))
        return why_not;
    host->trust.nodes[place].invited = true;
    host->trust.nodes[place].looks = looks;
    *ret_place = (unsigned)place;
    return why_not;
}

void rl_trust_uninvite(struct rl_host *host)
{
    for (unsigned node = 0; node < host->engine.votes.config.n_nodes; node++)
        host->trust.nodes[node].invited = host->trust.nodes[node].looks = false;
}
