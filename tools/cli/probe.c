#include "cli/probe.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/options.h>

#include "cli/clock.h"
#include "cli/common.h"
#include "cli/probe_key.h"
#include "cli/probe_server.h"
#include "cli/target.h"
#include "cli/wire.h"

struct look;
typedef void (*question)(struct wire *wire, const struct target *target, const struct look *look);

/* What all masters are asked. An answer goes to the place that its master has in an array; what is NULL is not asked
 * for. */
struct plan {
    question ask;
    const struct probe_masters *masters;
    const char *key;
    const struct probe_names *names; /* NULL: neither queues nor others are asked for */
    struct probe *probes;
    struct probe_votes *votes;
    struct probe_queue *queues;
    struct probe_others *others;
    struct probe_latch *latches;
    struct probe_rights *rights;
    struct wire *wires; /* where connections stay that are not closed */
};

/* A blocking look from a thread of its own: a silent master then costs the time-out once, however many are silent,
 * and the code reads from top to bottom. */
struct look {
    const struct plan *plan;
    size_t node;
    struct probe *probe;
    pthread_t thread;
};

/* A connection of the look's. */
static bool open_wire(struct wire *wire, const struct target *target, const struct look *look)
{
    return wire_open(wire, target, look->plan->masters->timeout_ms, look->plan->masters->tls);
}

/* Authentication and database; returns how many replies come before the first that matters. */
static int append_greeting(struct wire *wire, const struct target *target)
{
    const char *named[] = {"AUTH", target->user, target->password};
    const char *unnamed[] = {"AUTH", target->password};
    const char *database[] = {"SELECT", target->db};

    if (target->user && target->password)
        wire_append(wire, 3, named);
    else if (target->password)
        wire_append(wire, 2, unnamed);
    if (target->db)
        wire_append(wire, 2, database);
    return (target->password != NULL) + (target->db != NULL);
}

static bool greeted(struct wire *wire, int replies, struct probe *probe)
{
    for (int i = 0; i < replies; i++) {
        redisReply *reply = probe_reply(wire, probe);
        bool ok = reply && reply->type != REDIS_REPLY_ERROR;

        if (reply && !ok)
            probe_refused(probe, reply->str);
        freeReplyObject(reply);
        if (!ok)
            return false;
    }
    return true;
}

static void ask_for_votes(struct wire *wire, const struct look *look)
{
    struct probe_votes *votes = &look->plan->votes[look->node];

    probe_votes_ask(wire, look->plan->key);
    probe_votes_take(wire, look->probe, votes);
}

static void append_exists(struct wire *wire, const char *key)
{
    const char *exists[] = {"EXISTS", key};

    wire_append(wire, 2, exists);
}

static bool take_exists(struct wire *wire)
{
    redisReply *reply = wire_reply(wire);
    bool exists = reply && reply->type == REDIS_REPLY_INTEGER && reply->integer > 0;

    freeReplyObject(reply);
    return exists;
}

/* Most keys are no semaphore's: all slots at once, and one by one only if any of them is there. */
static void ask_for_slots(struct wire *wire, const char *key, struct probe_others *others)
{
    static const size_t size = REDLOCK_MAX_KEY_BYTES + 8;
    char *names = malloc(PROBE_SLOTS * size);
    const char *exists[PROBE_SLOTS + 1] = {"EXISTS"};

    if (!names)
        return;
    for (size_t i = 0; i < PROBE_SLOTS; i++) {
        snprintf(names + i * size, size, "%s#%zu", key, i);
        exists[i + 1] = names + i * size;
    }
    wire_append(wire, PROBE_SLOTS + 1, exists);
    if (take_exists(wire)) {
        for (size_t i = 0; i < PROBE_SLOTS; i++)
            append_exists(wire, exists[i + 1]);
        for (uint32_t i = 0; i < PROBE_SLOTS; i++)
            others->slots = take_exists(wire) ? i + 1 : others->slots;
    }
    free(names);
}

static void ask_for_others(struct wire *wire, const struct look *look)
{
    struct probe_others *others = &look->plan->others[look->node];

    append_exists(wire, look->plan->names->latch);
    others->latch = take_exists(wire);
    ask_for_slots(wire, look->plan->key, others);
}

static void ask_for_key(struct wire *wire, const struct target *target, const struct look *look)
{
    const struct plan *plan = look->plan;
    int64_t start = clock_now_us();
    int greetings;

    greetings = append_greeting(wire, target);
    probe_key_ask(wire, plan->key);
    if (!greeted(wire, greetings, look->probe) || !probe_key_take(wire, look->probe))
        return;
    look->probe->latency_us = clock_now_us() - start;
    if (plan->votes && look->probe->exists && !look->probe->is_text)
        ask_for_votes(wire, look);
    if (plan->names) {
        probe_queue_ask(wire, plan->names->queue);
        probe_queue_take(wire, &plan->queues[look->node]);
        probe_leases_ask(wire, plan->names->waiters, &plan->queues[look->node]);
        probe_leases_take(wire, &plan->queues[look->node]);
    }
    if (plan->names && !look->probe->exists)
        ask_for_others(wire, look);
}

static void ask_to_stay(struct wire *wire, const struct target *target, const struct look *look)
{
    look->probe->answered = greeted(wire, append_greeting(wire, target), look->probe);
}

static void ask_for_latch(struct wire *wire, const struct target *target, const struct look *look)
{
    int64_t start = clock_now_us();
    int greetings = append_greeting(wire, target);

    if (greeted(wire, greetings, look->probe) &&
        probe_latch_take(wire, look->plan->key, look->probe, &look->plan->latches[look->node]))
        look->probe->latency_us = clock_now_us() - start;
}

/* What the user may not do, or the server does not know, is told by probe_rights_take(). */
static bool is_about_rights(const char *error)
{
    return strncmp(error, "NOPERM", 6) == 0 || strstr(error, "unknown command");
}

/* The name may lead elsewhere the next time. */
static void look_again(const struct target *target, const struct look *look)
{
    struct probe_rights *rights = &look->plan->rights[look->node];
    struct target turned = *target;
    struct probe unused = {0};
    struct wire wire;
    bool met = true;

    for (turned.turn = 1; met && turned.turn < PROBE_CONNECTIONS; turned.turn++) {
        met = open_wire(&wire, &turned, look) && greeted(&wire, append_greeting(&wire, &turned), &unused);
        if (met)
            probe_run_id_ask(&wire, rights);
        else
            probe_note_crowd(unused.why, rights);
        wire_close(&wire);
    }
}

static void ask_for_rights(struct wire *wire, const struct target *target, const struct look *look)
{
    const char *time[] = {"TIME"};
    struct probe_rights *rights = &look->plan->rights[look->node];
    int64_t start = clock_now_us();
    int greetings = append_greeting(wire, target);
    redisReply *reply;
    char why[sizeof look->probe->why];
    struct probe_time first;

    wire_append(wire, 1, time);
    if (!greeted(wire, greetings, look->probe))
        return;
    reply = probe_reply(wire, look->probe);
    if (!reply)
        return;
    if (reply->type == REDIS_REPLY_ERROR && !is_about_rights(reply->str))
        probe_refused(look->probe, reply->str);
    probe_time_take(reply, start, &first);
    freeReplyObject(reply);
    look->probe->latency_us = first.after_us - start;
    if (look->probe->refused)
        return;
    look->probe->answered = true;
    if (!probe_rights_take(wire, look->plan->key, rights, why, sizeof why))
        probe_refused(look->probe, why);
    look_again(target, look);
    rights->clock_stands = probe_clock_stands(wire, &first);
    probe_run_id_ask(wire, rights);
}

static void ask_to_delete(struct wire *wire, const struct target *target, const struct look *look)
{
    const char *del[] = {"DEL", look->plan->key};
    int greetings = append_greeting(wire, target);

    wire_append(wire, 2, del);
    if (greeted(wire, greetings, look->probe))
        freeReplyObject(probe_reply(wire, look->probe));
}

/* Does it speak TLS where it should speak none, or the other way round? */
static bool speaks_the_other(const struct target *target, const struct look *look)
{
    static const struct cli_tls any = {.insecure_skip_verify = true};
    const char *ping[] = {"PING"};
    struct target other = *target;
    redisReply *reply = NULL;
    struct wire wire;
    bool speaks;

    if (target->path || strstr(look->probe->why, "resolving the name"))
        return false;
    other.tls = !target->tls;
    speaks = wire_open(&wire, &other, look->plan->masters->timeout_ms, &any);
    if (speaks && !other.tls) {
        wire_append(&wire, 1, ping);
        reply = wire_reply(&wire);
        speaks = reply != NULL;
        freeReplyObject(reply);
    }
    wire_close(&wire);
    return speaks;
}

static void *look_at(void *data)
{
    const struct look *look = data;
    const struct probe_masters *masters = look->plan->masters;
    struct target target;
    struct wire here, *wire = look->plan->wires ? &look->plan->wires[look->node] : &here;

    if (masters->places && masters->places[look->node].why_not[0] != '\0') {
        probe_failed(look->probe, masters->places[look->node].why_not);
        return NULL;
    }
    if (!target_parse(masters->urls[look->node], &target) || !target_authenticate(&target, masters->password)) {
        probe_failed(look->probe, "out of memory");
    } else {
        if (open_wire(wire, &target, look))
            look->plan->ask(wire, &target, look);
        else
            probe_failed(look->probe, wire->why);
        if (!look->plan->wires || !look->probe->answered)
            wire_close(wire);
        if (look->plan->rights && !look->probe->answered && !look->probe->refused)
            look->probe->other_tls = speaks_the_other(&target, look);
    }
    target_fini(&target);
    return NULL;
}

static void ask_all(const struct plan *plan)
{
    struct look looks[REDLOCK_MAX_MASTERS] = {0};
    size_t n = plan->masters->n;
    sigset_t all, before;

    /* Signals are for the main thread: they must not cut a read short here. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (size_t i = 0; i < n; i++) {
        plan->probes[i] = (struct probe){.node = plan->masters->places ? plan->masters->places[i].node : i,
                                         .latency_us = -1};
        looks[i] = (struct look){.plan = plan, .node = i, .probe = &plan->probes[i]};
        if (pthread_create(&looks[i].thread, NULL, look_at, &looks[i]) != 0) {
            looks[i].thread = 0;
            look_at(&looks[i]);
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    for (size_t i = 0; i < n; i++)
        if (looks[i].thread != 0)
            pthread_join(looks[i].thread, NULL);
}

struct probe_masters probe_masters_of(const struct cli_common *common)
{
    const struct cli_masters *masters = &common->masters;

    return (struct probe_masters){.urls = masters->urls, .n = masters->count, .timeout_ms = common->node_timeout_ms,
                                  .tls = &masters->tls, .password = &masters->password};
}

void probe_key(const struct probe_masters *masters, const char *key, struct probe *ret_probes)
{
    ask_all(&(struct plan){.ask = ask_for_key, .masters = masters, .key = key, .probes = ret_probes});
}

void probe_key_and_votes(const struct probe_masters *masters, const char *key, struct probe *ret_probes,
                         struct probe_votes *ret_votes)
{
    memset(ret_votes, 0, masters->n * sizeof ret_votes[0]);
    ask_all(&(struct plan){.ask = ask_for_key, .masters = masters, .key = key, .probes = ret_probes,
                           .votes = ret_votes});
}

void probe_all(const struct probe_masters *masters, const char *key, const struct probe_names *names,
               struct probe_all *ret_all)
{
    memset(ret_all, 0, sizeof *ret_all);
    ask_all(&(struct plan){.ask = ask_for_key, .masters = masters, .key = key, .names = names,
                           .probes = ret_all->probes, .votes = ret_all->votes, .queues = ret_all->queues,
                           .others = ret_all->others});
}

void probe_latches(const struct probe_masters *masters, const char *key, struct probe *ret_probes,
                   struct probe_latch *ret_latches)
{
    memset(ret_latches, 0, masters->n * sizeof ret_latches[0]);
    ask_all(&(struct plan){.ask = ask_for_latch, .masters = masters, .key = key, .probes = ret_probes,
                           .latches = ret_latches});
}

void probe_rights(const struct probe_masters *masters, const char *prefix, struct probe *ret_probes,
                  struct probe_rights *ret_rights)
{
    memset(ret_rights, 0, masters->n * sizeof ret_rights[0]);
    ask_all(&(struct plan){.ask = ask_for_rights, .masters = masters, .key = prefix, .probes = ret_probes,
                           .rights = ret_rights});
}

void probe_open(const struct probe_masters *masters, struct probe *ret_probes, struct wire *ret_wires)
{
    ask_all(&(struct plan){.ask = ask_to_stay, .masters = masters, .probes = ret_probes, .wires = ret_wires});
}

void probe_delete(const struct probe_masters *masters, const char *key)
{
    struct probe probes[REDLOCK_MAX_MASTERS];

    ask_all(&(struct plan){.ask = ask_to_delete, .masters = masters, .key = key, .probes = probes});
}
