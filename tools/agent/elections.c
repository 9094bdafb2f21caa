/* Candidates, and observers of leaders. */
#include <stdlib.h>
#include <string.h>

#include <redlock/election.h>

#include "agent/agent.h"
#include "agent/fields.h"
#include "cli/clock.h"

struct candidate {
    struct thing thing;
    struct list link; /* among the agent's; an observer is not */
    struct redlock_election *election;
};

enum { DEFAULT_INTERVAL_MS = 5000, LEAST_GAIN_US = 1000 };

static const struct thing_kind candidate_kind, observer_kind;

static struct candidate *candidate_of(struct thing *thing)
{
    return LIST_OWNER(thing, struct candidate, thing);
}

/* Resigns if it leads. */
static void end_candidate(struct thing *thing)
{
    struct candidate *candidate = candidate_of(thing);

    thing->ending = true;
    redlock_election_destroy(candidate->election);
    list_remove(&candidate->link);
    thing_leave(thing);
    free(candidate);
}

static struct candidate *create(struct peer *peer, int64_t id, const struct thing_kind *kind, const char *key)
{
    struct candidate *candidate = calloc(1, sizeof *candidate);
    int status = candidate ? redlock_election_create(peer->agent->client, key, strlen(key), &candidate->election)
                           : REDLOCK_E_NOMEM;

    if (status == 0) {
        thing_begin(&candidate->thing, kind, peer);
        list_init(&candidate->link);
        return candidate;
    }
    answer_status(peer, id, status);
    free(candidate);
    return NULL;
}

static void answer_begun(struct candidate *candidate, int64_t id, int status)
{
    struct thing *thing = &candidate->thing;
    json_t *words;

    if (status != 0) {
        answer_status(thing->peer, id, status);
        end_candidate(thing);
        return;
    }
    words = answer_ok(id);
    json_object_set_new(words, thing->kind->name, json_integer((json_int_t)thing->number));
    answer(thing->peer, words);
}

/* --- Candidates --------------------------------------------------------------------------------------------------- */

static bool is_last(const struct redlock_election *election, enum redlock_election_event_kind kind)
{
    return kind == REDLOCK_ELECTION_RESIGNED || kind == REDLOCK_ELECTION_FAILED ||
           (kind == REDLOCK_ELECTION_LOST && redlock_election_state(election) == REDLOCK_ELECTION_IDLE);
}

static void add_times(json_t *words, struct candidate *candidate)
{
    int64_t boot_ns = rl_clock_kernel_ns(CLOCK_BOOTTIME);

    add_validity(words, &candidate->thing, boot_ns, redlock_election_remaining_ns(candidate->election));
}

void candidates_tell(struct agent *agent, bool all)
{
    for (struct list *node = agent->candidates.next; node != &agent->candidates; node = node->next) {
        struct candidate *candidate = LIST_OWNER(node, struct candidate, link);
        int64_t known_us = candidate->thing.told_us;
        bool leads = candidate->thing.peer && redlock_election_remaining_ns(candidate->election) > 0;
        json_t *words = event_of(&candidate->thing, "extended");

        if (leads) {
            json_object_set_new(words, "term", number_text(redlock_election_term(candidate->election)));
            add_times(words, candidate);
        }
        if (leads && (all || candidate->thing.told_us - known_us > LEAST_GAIN_US))
            answer(candidate->thing.peer, words);
        else
            json_decref(words);
    }
}

static void on_event(struct redlock_election *election, const struct redlock_election_event *event, void *data)
{
    static const char *const names[] = {
        [REDLOCK_ELECTION_ELECTED] = "elected", [REDLOCK_ELECTION_AT_RISK] = "at-risk",
        [REDLOCK_ELECTION_LOST] = "lost",       [REDLOCK_ELECTION_RESIGNED] = "resigned",
        [REDLOCK_ELECTION_FAILED] = "failed",
    };
    struct candidate *candidate = data;
    json_t *words = event_of(&candidate->thing, names[event->kind]);

    json_object_set_new(words, "term", number_text(event->term));
    add_times(words, candidate);
    if (event->kind == REDLOCK_ELECTION_LOST)
        json_object_set_new(words, "loss", json_string(redlock_loss_text(event->loss)));
    if (event->kind == REDLOCK_ELECTION_FAILED)
        json_object_set_new(words, "status", json_string(redlock_status_name(event->status)));
    if (event->result && is_utf8(event->result->why, strlen(event->result->why)))
        json_object_set_new(words, "why", json_string(event->result->why));
    answer(candidate->thing.peer, words);
    if (is_last(election, event->kind))
        end_candidate(&candidate->thing);
}

void op_elect(struct peer *peer, int64_t id, json_t *request)
{
    struct redlock_election_options options;
    const char *key = NULL, *given = NULL;
    bool once = false;
    const struct field fields[] = {{"key", FIELD_TEXT, &key, true},
                                   {"ttl", FIELD_DURATION, &options.ttl_ms, false},
                                   {"once", FIELD_FLAG, &once, false},
                                   {"label", FIELD_TEXT, &given, false},
                                   {0}};
    char why[FIELDS_WHY_SIZE], label[REDLOCK_MAX_LABEL_BYTES + 1];
    struct candidate *candidate = NULL;

    redlock_election_options_init(&options);
    if (!fields_read(request, fields, why))
        answer_wrong(peer, id, why);
    else if (peer_may_use(peer, id, key) && thing_fits(peer, id) && peer_label(peer, id, given, label))
        candidate = create(peer, id, &candidate_kind, key);
    if (!candidate)
        return;
    options.once = once;
    options.label = label;
    list_append(&peer->agent->candidates, &candidate->link);
    answer_begun(candidate, id, redlock_election_campaign(candidate->election, &options, on_event, candidate));
}

/* The request's thing of this kind; NULL, after the answer. */
static struct candidate *find(struct peer *peer, int64_t id, json_t *request, const struct thing_kind *kind)
{
    uint64_t number = 0;
    const struct field fields[] = {{kind->name, FIELD_NUMBER, &number, true}, {0}};
    char why[FIELDS_WHY_SIZE] = "this connection has none of that number";
    struct thing *thing = fields_read(request, fields, why) ? thing_find(peer, kind, number) : NULL;

    if (thing)
        return candidate_of(thing);
    answer_wrong(peer, id, why);
    return NULL;
}

void op_resign(struct peer *peer, int64_t id, json_t *request)
{
    struct candidate *candidate = find(peer, id, request, &candidate_kind);

    if (candidate)
        answer_status(peer, id, redlock_election_resign(candidate->election));
}

/* --- Observers ---------------------------------------------------------------------------------------------------- */

static void on_leader(struct redlock_election *election, const struct redlock_leader *leader, void *data)
{
    struct candidate *observer = data;
    json_t *words = event_of(&observer->thing, "changed");

    json_object_set_new(words, "known", json_boolean(leader->status == REDLOCK_OK));
    json_object_set_new(words, "leader", json_boolean(leader->present));
    json_object_set_new(words, "term", number_text(leader->term));
    if (is_utf8(leader->label, leader->label_size))
        json_object_set_new(words, "label", json_stringn(leader->label, leader->label_size));
    answer(observer->thing.peer, words);
}

void op_observe(struct peer *peer, int64_t id, json_t *request)
{
    const char *key = NULL;
    uint32_t interval_ms = DEFAULT_INTERVAL_MS;
    const struct field fields[] = {
        {"key", FIELD_TEXT, &key, true}, {"interval", FIELD_DURATION, &interval_ms, false}, {0}};
    char why[FIELDS_WHY_SIZE];
    struct candidate *observer;

    if (!fields_read(request, fields, why)) {
        answer_wrong(peer, id, why);
        return;
    }
    observer = peer_may_use(peer, id, key) && thing_fits(peer, id) ? create(peer, id, &observer_kind, key) : NULL;
    if (observer)
        answer_begun(observer, id, redlock_election_observe(observer->election, interval_ms, on_leader, observer));
}

void op_ignore(struct peer *peer, int64_t id, json_t *request)
{
    struct candidate *observer = find(peer, id, request, &observer_kind);

    if (!observer)
        return;
    end_candidate(&observer->thing);
    answer(peer, answer_ok(id));
}

static const struct thing_kind candidate_kind = {"election", end_candidate, NULL, NULL};
static const struct thing_kind observer_kind = {"observer", end_candidate, NULL, NULL};
