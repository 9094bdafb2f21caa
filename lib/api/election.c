/* Candidates. An election is made of a lock: who holds it leads, and its fencing token is the term. */
#include <redlock/election.h>

#include <stdlib.h>
#include <string.h>

#include <redlock/look.h>

#include "api/handle.h"
#include "api/lock.h"
#include "api/lock_state.h"
#include "api/object.h"
#include "api/options.h"
#include "api/public.h"
#include "engine/election.h"
#include "host/election.h"

/* What an observer was told last. */
struct rl_seen_leader {
    bool told;
    int status;
    struct rl_leader leader;
};

struct redlock_election {
    struct rl_object object;
    struct redlock_lock *lock;
    struct redlock_acquire_options options;
    char label[REDLOCK_MAX_LABEL_BYTES + 1]; /* of the options, if they have one */
    struct rl_candidate candidate;
    uint64_t term; /* of the latest leadership */
    redlock_election_fn cb;
    void *user_data;

    /* As an observer. */
    redlock_leader_fn observer; /* NULL: it does not observe */
    void *observer_data;
    struct rl_observer looks;   /* when it looks */
    struct rl_seen_leader seen;
};

/* --- Events ----------------------------------------------------------------------------------------------------- */

static void tell(struct redlock_election *election, const struct redlock_election_event *event)
{
    if (!election->object.destroyed && !rl_client_forked(election->object.client))
        election->cb(election, event, election->user_data);
}

/* Tells that the candidacy has ended. */
static void end(struct redlock_election *election, enum redlock_election_event_kind kind, int status,
                const struct redlock_result *result)
{
    const struct redlock_election_event event = {
        .kind = kind, .term = election->term, .status = status, .result = result};

    tell(election, &event);
}

static void on_released(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct redlock_election *election = user_data;

    if (election->object.destroyed)
        return;
    rl_object_enter(&election->object);
    rl_candidate_released(&election->candidate);
    end(election, REDLOCK_ELECTION_RESIGNED, election->term ? result->status : REDLOCK_CANCELED, result);
    rl_object_leave(&election->object);
}

static void on_acquired(struct redlock_lock *lock, const struct redlock_result *result, void *user_data);

static int campaign(struct redlock_election *election)
{
    int status = redlock_acquire(election->lock, &election->options, on_acquired, election);

    election->term = 0;
    rl_candidate_campaigns(&election->candidate, status == 0);
    return status;
}

static void campaign_again(struct redlock_election *election)
{
    int status = campaign(election);

    if (status < 0)
        end(election, REDLOCK_ELECTION_FAILED, status, NULL);
}

/* The candidate has been elected after it withdrew. */
static void release(struct redlock_election *election, const struct redlock_result *result)
{
    if (redlock_release(election->lock, on_released, election) == 0)
        return;
    rl_candidate_released(&election->candidate);
    end(election, REDLOCK_ELECTION_RESIGNED, REDLOCK_CANCELED, result);
}

static void lead(struct redlock_election *election, const struct redlock_result *result)
{
    const struct redlock_election_event event = {
        .kind = REDLOCK_ELECTION_ELECTED,
        .term = redlock_lock_fence(election->lock),
        .remaining_ms = redlock_remaining_ms(election->lock),
        .result = result,
    };
    const char *label = election->options.label ? election->label : election->object.client->label;

    election->term = event.term;
    election->object.client->stats.elected++;
    rl_leader_announce(&election->object.client->host, election->lock->host.key, event.term, rl_slice_of(label));
    tell(election, &event);
}

static void on_acquired(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct redlock_election *election = user_data;

    if (election->object.destroyed)
        return;
    rl_object_enter(&election->object);
    switch (rl_candidate_acquired(&election->candidate, result->status == REDLOCK_OK, redlock_remaining_ns(lock))) {
    case RL_CANDIDATE_ELECTED:
        lead(election, result);
        break;
    case RL_CANDIDATE_CAMPAIGN:
        campaign_again(election);
        break;
    case RL_CANDIDATE_RELEASE:
        release(election, result);
        break;
    case RL_CANDIDATE_WITHDRAWN:
        end(election, REDLOCK_ELECTION_RESIGNED, REDLOCK_CANCELED, result);
        break;
    default:
        end(election, REDLOCK_ELECTION_FAILED, result->status, result);
        break;
    }
    rl_object_leave(&election->object);
}

/* A callback that is told of the loss may resign or campaign: so the new campaign begins first. */
static void lose(struct redlock_election *election, const struct redlock_alarm *alarm)
{
    const struct redlock_election_event event = {
        .kind = REDLOCK_ELECTION_LOST,
        .term = election->term,
        .loss = alarm->loss,
        .status = REDLOCK_LOST,
        .result = &(struct redlock_result){.op = REDLOCK_OP_EXTEND,
                                           .status = REDLOCK_LOST,
                                           .n_nodes = alarm->n_nodes,
                                           .nodes = alarm->nodes,
                                           .loss = alarm->loss,
                                           .why = alarm->why}};
    int status = 0;

    election->object.client->stats.leaderships_lost++;
    if (rl_candidate_lost(&election->candidate) == RL_CANDIDATE_CAMPAIGN)
        status = campaign(election);
    tell(election, &event);
    if (status < 0 && election->candidate.state == RL_CANDIDATE_IDLE)
        end(election, REDLOCK_ELECTION_FAILED, status, NULL);
}

static void on_alarm(struct redlock_lock *lock, const struct redlock_alarm *alarm, void *user_data)
{
    struct redlock_election *election = user_data;
    const struct redlock_election_event at_risk = {.kind = REDLOCK_ELECTION_AT_RISK,
                                                   .term = election->term,
                                                   .remaining_ms = alarm->remaining_ms,
                                                   .result = &(struct redlock_result){
                                                       .op = REDLOCK_OP_EXTEND,
                                                       .remaining_ms = alarm->remaining_ms,
                                                       .n_nodes = alarm->n_nodes,
                                                       .nodes = alarm->nodes,
                                                       .why = alarm->why}};

    if (election->object.destroyed || election->candidate.state != RL_CANDIDATE_LEADING)
        return;
    rl_object_enter(&election->object);
    if (alarm->kind == REDLOCK_ALARM_LOST)
        lose(election, alarm);
    else
        tell(election, &at_risk);
    rl_object_leave(&election->object);
}

/* --- As an observer: looks at the key, whenever host/election.c says so ---------------------------------------- */

static struct rl_seen_leader leader_of(const struct redlock_look_result *result)
{
    struct rl_seen_leader seen = {.told = true, .status = result->status};

    if (result->verdict != REDLOCK_LOOK_EXCLUSIVE)
        return seen;
    for (size_t i = 0; i < result->n_holders; i++) {
        const struct redlock_look_value *value = &result->values[i];

        rl_leader_see(&seen.leader, rl_mode_of(value->mode), (struct rl_slice){value->value, value->value_size},
                      value->fence);
    }
    return seen;
}

static bool is_same(const struct rl_seen_leader *a, const struct rl_seen_leader *b)
{
    return a->told == b->told && a->status == b->status && rl_leader_is(&a->leader, &b->leader);
}

static void tell_observer(struct redlock_election *election)
{
    const struct rl_leader seen = election->seen.leader;
    char label[sizeof seen.label + 1] = "";
    const struct redlock_leader leader = {election->seen.status, seen.present, seen.term, label, seen.label_size};

    memcpy(label, seen.label, seen.label_size);
    election->observer(election, &leader, election->observer_data);
}

/* Without memory, and while the client ends, nothing is known, and nothing is told. */
static void on_look(struct redlock_client *client, const struct redlock_look_result *result, void *user_data)
{
    struct redlock_election *election = user_data;
    struct rl_seen_leader seen = leader_of(result);

    rl_object_enter(&election->object);
    rl_observer_looked(&election->looks, result->status == REDLOCK_OK, seen.leader.term);
    if (!election->object.destroyed && election->observer && !is_same(&seen, &election->seen) &&
        (result->status == REDLOCK_OK || result->status == REDLOCK_NO_QUORUM)) {
        election->seen = seen;
        tell_observer(election);
    }
    rl_object_leave(&election->object);
    rl_object_drop(&election->object);
}

static bool look(struct rl_observer *observer)
{
    struct redlock_election *election = RL_CONTAINER_OF(observer, struct redlock_election, looks);
    size_t size;
    const void *key = redlock_lock_key(election->lock, &size);
    struct redlock_client *client = election->object.client;

    if (rl_client_forked(client) || redlock_look(client, key, size, on_look, election) != 0)
        return false;
    rl_object_keep(&election->object);
    return true;
}

/* No callback follows. A look that is under way keeps the election's memory. */
static void stop_observing(struct redlock_election *election)
{
    election->observer = NULL;
    rl_observer_stop(&election->looks, rl_client_forked(election->object.client));
}

/* A look that is under way is for the new observer, too. */
int redlock_election_observe(struct redlock_election *election, uint32_t interval_ms, redlock_leader_fn cb,
                             void *user_data)
{
    struct rl_object *object = election ? &election->object : NULL;
    int status = cb ? rl_object_check_new(object) : rl_object_check(object);

    if (status < 0)
        return status;
    if (cb && (interval_ms < 10 || interval_ms > 3600000))
        return REDLOCK_E_TIMEOUT;
    stop_observing(election);
    if (!cb)
        return 0;
    election->observer = cb;
    election->observer_data = user_data;
    election->seen.told = false;
    rl_observer_start(&election->looks, rl_ms(interval_ms));
    return 0;
}

/* --- Life ------------------------------------------------------------------------------------------------------- */

static struct redlock_election *election_of(const struct rl_object *object)
{
    return RL_CONTAINER_OF((struct rl_object *)(uintptr_t)object, struct redlock_election, object);
}

/* In a forked child the look that is under way never calls back. */
static void destroy(struct rl_object *object)
{
    struct redlock_election *election = election_of(object);

    stop_observing(election);
    rl_object_destroy(&election->lock->object);
    if (election->looks.looking && rl_client_forked(object->client))
        rl_object_drop(object);
}

static bool end_lock(struct rl_object *object)
{
    return rl_lock_type.end(&election_of(object)->lock->object);
}

static bool is_busy(const struct rl_object *object)
{
    return rl_lock_is_busy(election_of(object)->lock);
}

static void give_memory_back(struct rl_object *object)
{
    free(election_of(object));
}

/* The callbacks of an election run in those of its lock and of its looks. */
static const struct rl_object_type type = {
    .kind = RL_OBJECT_ELECTION,
    .destroy = destroy,
    .end = end_lock,
    .is_busy = is_busy,
    .free = give_memory_back,
};

int redlock_election_create(struct redlock_client *client, const void *key, size_t key_size,
                            struct redlock_election **ret_election)
{
    struct redlock_election *election;
    struct redlock_lock *lock;
    int status = ret_election ? redlock_lock_create(client, key, key_size, &lock) : REDLOCK_E_ARGUMENT;

    if (status < 0)
        return status;
    election = calloc(1, sizeof *election);
    if (!election) {
        redlock_lock_destroy(lock);
        return REDLOCK_E_NOMEM;
    }
    rl_object_init(&election->object, client, &type);
    election->lock = lock;
    rl_object_give_away(&lock->object);
    rl_observer_init(&election->looks, &client->host, lock->host.key, look);
    redlock_lock_watch(lock, on_alarm, election);
    *ret_election = election;
    return 0;
}

void redlock_election_destroy(struct redlock_election *election)
{
    rl_object_destroy(election ? &election->object : NULL);
}

/* --- Operations ------------------------------------------------------------------------------------------------- */

static const struct redlock_election_options defaults = {.ttl_ms = 10000};

void redlock_election_options_init_size(struct redlock_election_options *options, size_t size)
{
    memset(options, 0, size);
    memcpy(options, &defaults, size < sizeof defaults ? size : sizeof defaults);
    options->size = size;
}

/* Always through the wait queue, without end. */
static int keep_options(struct redlock_election *election, const struct redlock_election_options *options)
{
    struct redlock_election_options own = defaults;

    if (options && options->size < RL_SMALLEST_OPTIONS)
        return REDLOCK_E_OPTIONS_SIZE;
    if (options)
        memcpy(&own, options, options->size < sizeof own ? options->size : sizeof own);
    else if (own.ttl_ms > election->object.client->options.max_ttl_ms)
        own.ttl_ms = election->object.client->options.max_ttl_ms;
    if (own.once > 1)
        return REDLOCK_E_RENEWAL;
    if (own.label && strlen(own.label) > REDLOCK_MAX_LABEL_BYTES)
        return REDLOCK_E_CLIENT_NAME;
    election->candidate.once = own.once;
    redlock_acquire_options_init(&election->options);
    election->options.ttl_ms = own.ttl_ms;
    election->options.renew_ms = own.renew_ms;
    election->options.at_risk_ms = own.at_risk_ms;
    election->options.max_hold_ms = own.max_hold_ms;
    election->options.timeout_ms = REDLOCK_FOREVER;
    election->options.wait = REDLOCK_WAIT_FIFO;
    election->options.fenced = 1;
    if (own.label)
        election->options.label = strcpy(election->label, own.label);
    return 0;
}

int redlock_election_campaign(struct redlock_election *election, const struct redlock_election_options *options,
                              redlock_election_fn cb, void *user_data)
{
    int status = cb ? rl_object_check_new(election ? &election->object : NULL) : REDLOCK_E_ARGUMENT;

    if (status < 0)
        return status;
    if (election->candidate.state != RL_CANDIDATE_IDLE)
        return REDLOCK_E_BUSY;
    status = keep_options(election, options);
    if (status < 0)
        return status;
    election->cb = cb;
    election->user_data = user_data;
    return campaign(election);
}

/* Where only the callback of the acquisition is to come, that one gives up what was won. */
int redlock_election_resign(struct redlock_election *election)
{
    int status = rl_object_check(election ? &election->object : NULL);

    if (status < 0)
        return status;
    if (redlock_election_state(election) == REDLOCK_ELECTION_IDLE)
        return REDLOCK_E_NOT_HELD;
    if (election->candidate.state == RL_CANDIDATE_RESIGNING)
        return REDLOCK_E_BUSY;
    if (rl_candidate_resign(&election->candidate) == RL_CANDIDATE_CANCEL)
        redlock_cancel(election->lock);
    else
        status = redlock_release(election->lock, on_released, election);
    rl_candidate_resigns(&election->candidate, status == 0);
    return status;
}

int64_t redlock_election_remaining_ns(const struct redlock_election *election)
{
    return election ? rl_candidate_remaining(&election->candidate, redlock_remaining_ns(election->lock)) : 0;
}

uint64_t redlock_election_term(const struct redlock_election *election)
{
    return redlock_election_remaining_ns(election) > 0 ? redlock_lock_fence(election->lock) : 0;
}

enum redlock_election_state redlock_election_state(const struct redlock_election *election)
{
    static const enum redlock_election_state states[] = {[RL_CANDIDATE_IDLE] = REDLOCK_ELECTION_IDLE,
                                                         [RL_CANDIDATE_CAMPAIGNING] = REDLOCK_ELECTION_CAMPAIGNING,
                                                         [RL_CANDIDATE_LEADING] = REDLOCK_ELECTION_LEADING,
                                                         [RL_CANDIDATE_RESIGNING] = REDLOCK_ELECTION_RESIGNING};

    if (!election)
        return REDLOCK_ELECTION_IDLE;
    return states[rl_candidate_state(&election->candidate, redlock_election_remaining_ns(election),
                                     election->object.client->host.closing)];
}

const char *redlock_election_state_name(enum redlock_election_state state)
{
    static const char *const names[] = {[REDLOCK_ELECTION_IDLE] = "idle",
                                        [REDLOCK_ELECTION_CAMPAIGNING] = "campaigning",
                                        [REDLOCK_ELECTION_LEADING] = "leading",
                                        [REDLOCK_ELECTION_RESIGNING] = "resigning"};

    return (unsigned)state <= REDLOCK_ELECTION_RESIGNING ? names[state] : "?";
}
