/* Trust in the masters between two looks: standings, and what follows from steps of their clocks. */
#include "host/trust.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/client.h"
#include "codec/command.h"

/* A master that votes is looked at again, since its settings may be changed; an excluded one, so that mending it is
 * enough; one in quarantine is asked for its marker, so that an operator's word for it is noticed. */
static const struct rl_span look_again_after = {10000 * RL_NS_PER_MS};
static const struct rl_span ask_again_after = {1000 * RL_NS_PER_MS};

/* --- Standing --------------------------------------------------------------------------------------------------- */

static struct rl_standing quarantined(struct rl_standing standing, enum rl_fault fault, struct rl_instant until)
{
    standing.kind = RL_STANDING_QUARANTINED;
    standing.fault = fault;
    standing.until = until;
    return standing;
}

struct rl_standing rl_trust_standing(const struct redlock_client *client, unsigned node, struct rl_instant now)
{
    struct rl_standing standing = client->engine.votes.standings[node];
    struct rl_instant stepped_until = client->engine.votes.stepped_until[node];

    if (standing.kind == RL_STANDING_UNJUDGED)
        standing.fault = RL_FAULT_UNJUDGED;
    if (!rl_standing_votes(&standing, now))
        return standing;
    if (rl_before(now, stepped_until))
        return quarantined(standing, RL_FAULT_CLOCK_STEP, stepped_until);
    standing.kind = RL_STANDING_VOTES;
    standing.fault = RL_FAULT_NONE;
    return standing;
}

static void tell_standing(struct redlock_client *client, unsigned node, const struct rl_standing *standing)
{
    struct rl_trust_node *known = &client->trust.nodes[node];

    if (known->told_kind == standing->kind && known->told_fault == standing->fault)
        return;
    known->told_kind = standing->kind;
    known->told_fault = standing->fault;
    rl_observe_validity(client, NULL);
    if (rl_observes(client, REDLOCK_EVENT_STANDING))
        rl_observe(client, &(struct redlock_event){.type = REDLOCK_EVENT_STANDING, .node = (int)node,
                                                   .standing = rl_public_standing(standing->kind),
                                                   .fault = rl_public_fault(standing->fault),
                                                   .text = rl_fault_text(standing->fault)});
}

/* Tells a change, and sets the timer for what comes next. */
static void follow(struct redlock_client *client, unsigned node, struct rl_instant now)
{
    struct rl_standing standing = rl_trust_standing(client, node, now);
    struct rl_instant next = RL_NEVER;

    tell_standing(client, node, &standing);
    if (standing.kind == RL_STANDING_EXCLUDED || (standing.kind == RL_STANDING_VOTES && standing.guarded))
        next = rl_after(now, look_again_after);
    else if (standing.kind == RL_STANDING_QUARANTINED)
        next = rl_earlier(standing.until, rl_after(now, ask_again_after));
    rl_timers_arm(rl_driver_timers(client->driver), &client->trust.nodes[node].timer, next);
}

void rl_trust_judged(struct redlock_client *client, unsigned node, const struct rl_standing *standing,
                     struct rl_instant now)
{
    rl_engine_standing(&client->engine, now, node, standing);
    follow(client, node, now);
}

void rl_trust_doubt(struct redlock_client *client, unsigned node)
{
    if (client->engine.votes.standings[node].guarded)
        rl_driver_fail_node(client->driver, node, "it is read-only: no master any more");
}

static void on_timer(struct rl_timer *timer, struct rl_instant now)
{
    struct rl_trust_node *known = RL_CONTAINER_OF(timer, struct rl_trust_node, timer);
    struct redlock_client *client = known->client;
    unsigned node = (unsigned)(known - client->trust.nodes);
    struct rl_standing standing = rl_trust_standing(client, node, now);

    if (standing.kind == RL_STANDING_EXCLUDED) {
        snprintf(known->why, sizeof known->why, "looked at again: %s", rl_fault_text(standing.fault));
        rl_driver_fail_node(client->driver, node, known->why);
    } else if (standing.kind == RL_STANDING_QUARANTINED && standing.guarded) {
        rl_trust_ask(client, node, now);
    } else if (standing.kind == RL_STANDING_VOTES && standing.guarded) {
        rl_trust_look(client, node, now);
    }
    follow(client, node, now);
}

/* --- Clocks ----------------------------------------------------------------------------------------------------- */

static void stepped_forward(struct redlock_client *client, unsigned node, struct rl_span step, struct rl_instant now)
{
    client->stats.clock_steps++;
    rl_engine_clock_stepped(&client->engine, now, node);
    for (struct rl_list *at = client->locks.next; at != &client->locks; at = at->next) {
        struct redlock_lock *lock = RL_CONTAINER_OF(at, struct redlock_lock, link);

        rl_lock_clock_stepped(&client->engine, &lock->core, now, node, step);
        rl_host_rearm(lock);
    }
    follow(client, node, now);
}

void rl_trust_read_clock(struct redlock_client *client, unsigned node, int64_t node_us, struct rl_instant sent,
                         struct rl_instant now)
{
    struct rl_nodeclock *clock = &client->trust.nodes[node].clock;
    enum rl_clock_finding finding = rl_nodeclock_read(clock, client->options.drift_ppm, node_us, sent, now);

    if (finding == RL_CLOCK_STEADY)
        return;
    rl_observe_validity(client, NULL);
    if (rl_observes(client, REDLOCK_EVENT_CLOCK))
        rl_observe(client, &(struct redlock_event){.type = REDLOCK_EVENT_CLOCK, .node = (int)node,
                                                   .delay_us = clock->last_step.ns / RL_NS_PER_US});
    if (finding == RL_CLOCK_FORWARD)
        stepped_forward(client, node, clock->last_step, now);
}

/* --- Life ------------------------------------------------------------------------------------------------------- */

struct rl_slice rl_trust_prefix(const struct redlock_client *client)
{
    return (struct rl_slice){client->trust.prefix, client->trust.prefix_size};
}

static struct rl_slice where_guarded(const struct redlock_client *client, unsigned node, const char *text)
{
    return (struct rl_slice){text, client->engine.votes.standings[node].guarded ? strlen(text) : 0};
}

struct rl_slice rl_trust_marker(const struct redlock_client *client, unsigned node)
{
    return where_guarded(client, node, client->trust.marker);
}

struct rl_slice rl_trust_incarnation(const struct redlock_client *client, unsigned node)
{
    return where_guarded(client, node, client->trust.nodes[node].report.incarnation);
}

/* The caller's prefix need not live on. */
static void copy_prefix(struct redlock_client *client)
{
    struct rl_trust *trust = &client->trust;

    trust->prefix_size = strlen(client->options.key_prefix);
    memcpy(trust->prefix, client->options.key_prefix, trust->prefix_size + 1);
    client->options.key_prefix = trust->prefix;
    snprintf(trust->marker, sizeof trust->marker, "%s%s", trust->prefix, RL_MARKER_NAME);
    trust->marker_size = strlen(trust->marker);
}

static bool encode_guard(struct rl_trust *trust)
{
    const struct rl_slice memory[] = {{"HGET", 4}, {trust->marker, strlen(trust->marker)}, {"inc", 3}};
    const struct rl_slice clock[] = {{"TIME", 4}};

    return rl_words_encode(memory, 3, &trust->memory_question) && rl_words_encode(clock, 1, &trust->clock_question);
}

static void init_node(struct redlock_client *client, unsigned node)
{
    static const struct rl_standing votes = {.kind = RL_STANDING_VOTES};
    struct rl_trust_node *known = &client->trust.nodes[node];

    known->client = client;
    rl_timer_init(&known->timer, on_timer);
    rl_nodeclock_init(&known->clock);
    known->told_kind = client->trust.guarded ? RL_STANDING_UNJUDGED : RL_STANDING_VOTES;
    known->told_fault = client->trust.guarded ? RL_FAULT_UNJUDGED : RL_FAULT_NONE;
    if (!client->trust.guarded)
        rl_engine_standing(&client->engine, client->now, node, &votes);
}

int rl_trust_init(struct redlock_client *client, const struct rl_master *masters, size_t n)
{
    struct rl_trust *trust = &client->trust;

    trust->guarded = client->options.profile == REDLOCK_PROFILE_GUARDED;
    trust->max_ttl_ms = client->options.max_ttl_ms;
    copy_prefix(client);
    for (unsigned node = 0; node < n; node++)
        init_node(client, node);
    return encode_guard(trust) && rl_trust_make_ring(client, masters, n) ? 0 : REDLOCK_E_NOMEM;
}

void rl_trust_fini(struct redlock_client *client)
{
    rl_bytes_fini(&client->trust.memory_question);
    rl_bytes_fini(&client->trust.clock_question);
}
