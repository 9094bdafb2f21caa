#include "host/commands.h"

#include "codec/classify.h"
#include "codec/script.h"
#include "engine/answer.h"
#include "engine/wait.h"
#include "host/claims.h"
#include "host/host.h"
#include "host/trust/admission.h"
#include "host/trust/view.h"
#include "kinds/look.h"
#include "kinds/names.h"
#include "kinds/wait_queue.h"

/* --- Scripts ------------------------------------------------------------------------------------------------------ */

void rl_scripts_forget(struct rl_host *host, unsigned node)
{
    for (size_t i = 0; i < RL_SCRIPT_COUNT; i++)
        host->scripting.had_since[node][i] = RL_NEVER;
}

bool rl_scripts_ask(struct rl_bytes *out)
{
    struct rl_slice words[1 + RL_SCRIPT_COUNT] = {rl_slice_of("SCRIPT"), rl_slice_of("EXISTS")};

    for (int i = RL_SCRIPT_NONE + 1; i < RL_SCRIPT_COUNT; i++)
        words[1 + i] = rl_slice_of(rl_script_text((enum rl_script)i)->sha1);
    return rl_words_encode(words, 1 + RL_SCRIPT_COUNT, out);
}

void rl_scripts_learn(struct rl_host *host, unsigned node, struct rl_instant sent, const struct rl_reply *reply)
{
    if (reply->root.type != RL_REPLY_ARRAY || reply->n_elements != RL_SCRIPT_COUNT - 1)
        return; /* no right to ask */
    for (int i = RL_SCRIPT_NONE + 1; i < RL_SCRIPT_COUNT; i++)
        host->scripting.had_since[node][i] = reply->elements[i - 1].integer ? sent : RL_NEVER;
}

bool rl_script_goes_by_digest(const struct rl_host *host, unsigned node, enum rl_script script)
{
    return host->scripting.had_since[node][script].ns != RL_NEVER.ns;
}

void rl_script_written(struct rl_host *host, unsigned node, enum rl_script script)
{
    host->scripting.had_since[node][script] = host->now;
}

void rl_script_answered(struct rl_host *host, unsigned node, enum rl_script script, struct rl_instant sent,
                        const struct rl_reply *reply)
{
    struct rl_instant *since = &host->scripting.had_since[node][script];

    if (script == RL_SCRIPT_NONE)
        return;
    if (reply->root.type != RL_REPLY_ERROR) {
        *since = rl_earlier(*since, sent);
    } else if (rl_says_noscript(reply) && !rl_before(sent, *since)) {
        *since = RL_NEVER;
    }
}

/* --- Subjects --------------------------------------------------------------------------------------------------- */

/* Room for the names that one command makes. */
struct room {
    struct rl_names names;
    unsigned char bytes[RL_NAMES_MAX * (REDLOCK_MAX_KEY_BYTES + RL_NAME_MAX_BYTES)];
};

static struct rl_names *open_room(const struct rl_host *host, struct room *room)
{
    room->names = (struct rl_names){.prefix_size = host->trust.prefix_size, .room = room->bytes};
    return &room->names;
}

static void add_fence(const struct rl_host *host, const struct rl_claim *claim, struct rl_subject *subject)
{
    const struct rl_fence *fence = rl_claim_fence(claim);

    if (!fence)
        return;
    rl_subject_name_counter(subject);
    subject->counter_ttl_ms = rl_counter_idle_ttl_ms(host);
    subject->proposal = fence->proposal;
    subject->lead_us = rl_trust_lead(host);
    subject->fence = fence->token;
}

/* Do commands that look at a queue there name the marker, with which its entries are compared? Not where nothing but
 * the classic profile is possible. Whether the master is admitted at present plays no part. */
static bool has_marker(const struct rl_host *host, unsigned node)
{
    const struct rl_admission_status *status = &host->engine.votes.admissions[node];
    bool unverified = status->kind == RL_ADMISSION_VOTES && !status->epoch_checked;

    return host->trust.guarded && !unverified;
}

/* Most releases find an empty wait queue, and need not name all keys that belong to a queue: they would double the size
 * of the command. A release that finds a waiter is told so, and repeated in full: not by a client that ends, which
 * reads no answers. */
static bool queue_is_likely(struct rl_host *host, const struct rl_claim *claim)
{
    const struct rl_host_claim *part = rl_host_claim_of(claim);

    return host->closing || part->token.own.in_queue ||
           rl_contended(&host->contended, rl_host_wanted_key(claim), host->now);
}

static void add_queue(const struct rl_host *host, unsigned node, struct rl_subject *subject)
{
    rl_subject_name_queue(subject, false);
    if (has_marker(host, node))
        subject->marker = (struct rl_slice){host->trust.marker, host->trust.marker_size};
}

static void add_waiter(const struct rl_host *host, unsigned node, struct rl_subject *subject)
{
    subject->incarnation = rl_trust_incarnation(host, node);
    subject->channel = rl_slice_of(host->waiters.channel);
}

static void add_place(const struct rl_host *host, const struct rl_claim *claim, unsigned node, uint32_t round,
                      struct rl_subject *subject)
{
    add_waiter(host, node, subject);
    subject->round = round;
    subject->ticket = rl_lock_ticket(claim->lock, &subject->proposed_ticket);
    if (subject->proposed_ticket > rl_trust_lead(host))
        subject->proposed_ticket -= rl_trust_lead(host); /* tickets need none: all waiters go by one list */
}

static bool is_rollback(enum rl_step step)
{
    return step == RL_STEP_RELEASE || step == RL_STEP_ROLLBACK;
}

static bool respects_queue(const struct rl_claim *claim, enum rl_step step)
{
    return claim->kind->respects_queue && (step == RL_STEP_CLAIM || (step == RL_STEP_EXTEND && claim->stronger));
}

static struct rl_subject make_subject(const struct rl_host *host, const struct rl_claim *claim, struct room *room)
{
    struct rl_subject subject = {
        .key = rl_key_slice(rl_host_claim_of(claim)->key),
        .token = rl_slice_of(rl_host_token(claim)),
        .ttl_ms = claim->ttl_ms,
        .mode = (enum rl_mode)claim->mode,
        .names = open_room(host, room),
    };

    add_fence(host, claim, &subject);
    return subject;
}

bool rl_release_is_short(struct rl_host *host, const struct rl_claim *claim)
{
    return !claim->kind->respects_queue && !queue_is_likely(host, claim);
}

static void choose_form(struct rl_host *host, unsigned node, struct rl_command *command)
{
    host->scripting.encoded = command->script;
    host->scripting.by_digest = rl_script_goes_by_digest(host, node, command->script);
    command->by_digest = host->scripting.by_digest;
}

/* The command borrows from the room. */
static void make_command(struct rl_host *host, unsigned node, const struct rl_tag *tag, struct room *room,
                         struct rl_command *ret_command)
{
    const struct rl_claim *claim = tag->owner;
    const struct rl_hooks *hooks = rl_hooks_of(rl_host_claim_lock(claim));
    enum rl_step step = (enum rl_step)tag->step;
    struct rl_subject subject = make_subject(host, claim, room);

    if (step == RL_STEP_REPAIR) {
        subject.marker = rl_trust_marker(host, node);
        subject.incarnation = rl_trust_incarnation(host, node);
    } else if (is_rollback(step) && !(tag->flags & RL_COMMAND_IN_FULL) && rl_release_is_short(host, claim)) {
        rl_subject_name_queue(&subject, true);
    } else if (is_rollback(step) || respects_queue(claim, step)) {
        add_queue(host, node, &subject);
    } else if (step == RL_STEP_ENQUEUE) {
        add_queue(host, node, &subject);
        add_place(host, claim, node, tag->round, &subject);
    }
    if (hooks->complete_subject)
        hooks->complete_subject(rl_host_claim_lock(claim), tag, &subject);
    claim->kind->command(step, &subject, ret_command);
    choose_form(host, node, ret_command);
}

bool rl_command_of_step(struct rl_host *host, unsigned node, const struct rl_tag *tag)
{
    struct room room;
    struct rl_command command;

    make_command(host, node, tag, &room, &command);
    rl_bytes_clear(&host->scratch);
    return rl_command_encode(&command, &host->scratch);
}

bool rl_command_of_joins(struct rl_host *host, struct rl_claim *claim, unsigned node,
                             const struct rl_joins *joins)
{
    const struct rl_tag first = {.owner = claim, .step = RL_STEP_ENQUEUE};
    struct room room;
    struct rl_command command;

    make_command(host, node, &first, &room, &command);
    rl_bytes_clear(&host->scratch);
    return rl_joins_encode(&command, joins, &host->scratch);
}

bool rl_command_of_refreshes(struct rl_host *host, const struct rl_claim *claim, unsigned node, uint32_t lease_ms,
                             const struct rl_refresh_many *refreshes)
{
    struct room room;
    struct rl_command command;
    struct rl_subject subject = make_subject(host, claim, &room);

    add_queue(host, node, &subject);
    add_waiter(host, node, &subject);
    subject.ttl_ms = lease_ms;
    rl_queue_refresh_many_command(&subject, &command);
    choose_form(host, node, &command);
    rl_bytes_clear(&host->scratch);
    return rl_refresh_many_encode(&command, refreshes, &host->scratch);
}

bool rl_command_of_extensions(struct rl_host *host, unsigned node, const struct rl_extend_many *many)
{
    struct rl_command command;

    rl_command_init(&command, RL_SCRIPT_EXTEND_MANY, many->n);
    choose_form(host, node, &command);
    rl_bytes_clear(&host->scratch);
    if (rl_extend_many_encode(many, command.by_digest, &host->scratch))
        return true;
    host->scripting.encoded = RL_SCRIPT_NONE;
    return false;
}

static bool append_keys(struct rl_host *host, unsigned node, const struct rl_claim *const claims[], size_t n)
{
    struct room room;
    struct rl_command command;

    for (size_t i = 0; i < n; i++) {
        struct rl_subject subject = {.key = rl_key_slice(rl_host_claim_of(claims[i])->key),
                                     .token = rl_slice_of(rl_host_token(claims[i])),
                                     .names = open_room(host, &room)};

        rl_subject_name_queue(&subject, true);
        claims[i]->kind->command(RL_STEP_RELEASE, &subject, &command);
        if (i == 0) {
            choose_form(host, node, &command);
            if (!rl_command_begin_many(&command, n, &host->scratch))
                return false;
        }
        if (!rl_words_append(command.argv, command.n_keys, &host->scratch))
            return false;
    }
    return true;
}

bool rl_command_of_releases(struct rl_host *host, unsigned node, const struct rl_claim *const claims[], size_t n)
{
    struct rl_slice tokens[RL_BATCH_MAX];

    for (size_t i = 0; i < n; i++)
        tokens[i] = rl_slice_of(rl_host_token(claims[i]));
    rl_bytes_clear(&host->scratch);
    if (append_keys(host, node, claims, n) && rl_words_append(tokens, n, &host->scratch))
        return true;
    host->scripting.encoded = RL_SCRIPT_NONE;
    return false;
}

bool rl_command_of_look(struct rl_host *host, const struct rl_key *key, unsigned node)
{
    struct room room;
    struct rl_command command;
    struct rl_subject subject = {.key = rl_key_slice(key), .names = open_room(host, &room)};

    add_queue(host, node, &subject);
    rl_look_command(&subject, &command);
    return rl_command_encode(&command, &host->scratch);
}

/* Some commands name the memory that they are meant for. */
bool rl_command_is_same(const struct rl_host *host, const struct rl_claim *claim, enum rl_step step, unsigned a,
                        unsigned b)
{
    const struct rl_scripting *scripting = &host->scripting;

    if (rl_script_goes_by_digest(host, b, scripting->encoded) != scripting->by_digest)
        return false;
    if (!host->trust.guarded)
        return true;
    if (is_rollback(step) || respects_queue(claim, step))
        return has_marker(host, a) == has_marker(host, b);
    return step != RL_STEP_REPAIR && step != RL_STEP_ENQUEUE;
}

bool rl_command_send(struct rl_host *host, unsigned node, enum rl_sending how, const struct rl_tag *tag)
{
    struct rl_tag scripted = *tag;

    scripted.script = (uint8_t)host->scripting.encoded;
    if (!rl_transport_send(&host->transport, node, &host->scratch, how, &scripted))
        return false;
    if (!host->scripting.by_digest && scripted.script != RL_SCRIPT_NONE)
        rl_script_written(host, node, host->scripting.encoded);
    host->counters.commands++;
    return true;
}

/* A refusal of one master may end the attempt before the next one is asked. */
static bool is_wanted(const struct rl_effect *effect)
{
    return effect->step != RL_STEP_ENQUEUE || (effect->claim->lock && !effect->claim->rolling_back);
}

static enum rl_sending sending_of(enum rl_step step)
{
    return step == RL_STEP_CLAIM || step == RL_STEP_ENQUEUE ? RL_SENDING_CLAIM : RL_SENDING;
}

/* Formats once where that is possible, fans out the bytes. */
void rl_host_send_now(struct rl_host *host, const struct rl_effect *effect)
{
    struct rl_tag tag = {.owner = effect->claim, .sent = host->now, .round = effect->round,
                               .step = (uint8_t)effect->step};
    struct rl_event refused = {.now = host->now, .claim = effect->claim, .step = effect->step, .round = effect->round,
                               .answer = {RL_FAILED, RL_DETAIL_BACKLOG, 0}, .latency_us = RL_NO_LATENCY};
    unsigned formatted_for = REDLOCK_MAX_MASTERS;
    bool encoded = false;

    if (effect->step == RL_STEP_ENQUEUE)
        rl_waiters_enter(host, effect->claim);
    for (unsigned node = 0; node < host->engine.votes.config.n_nodes; node++) {
        if (!(effect->nodes & rl_bit(node)))
            continue;
        if (formatted_for == REDLOCK_MAX_MASTERS ||
            !rl_command_is_same(host, effect->claim, effect->step, formatted_for, node)) {
            encoded = is_wanted(effect) && rl_command_of_step(host, node, &tag);
            formatted_for = node;
        }
        if (encoded && rl_command_send(host, node, sending_of(effect->step), &tag))
            continue;
        refused.node = node;
        rl_engine_reply(&host->engine, &refused);
    }
}

bool rl_host_send_again(struct rl_host *host, unsigned node, const struct rl_tag *tag)
{
    return rl_command_of_step(host, node, tag) &&
           rl_command_send(host, node, sending_of((enum rl_step)tag->step), tag);
}
