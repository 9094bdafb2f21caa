#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/label.h"
#include "cli/ls/ls.h"
#include "cli/probe_key.h"
#include "cli/status.h"

/* So many subjects are asked for at once. */
enum { CHUNK = 64 };

/* What is appended is copied, so one name at a time is enough. */
struct namer {
    char *room;
    const char *prefix;
};

static const char *name_of(const struct namer *namer, const char *own, const char *key)
{
    sprintf(namer->room, "%s%s%s", namer->prefix, own, key);
    return namer->room;
}

static bool make_namer(struct ls *ls, struct namer *ret_namer)
{
    size_t longest = 0;

    for (size_t i = 0; i < ls->subjects.n; i++)
        longest = strlen(ls->subjects.items[i].key) > longest ? strlen(ls->subjects.items[i].key) : longest;
    ret_namer->prefix = ls->request->common.prefix;
    ret_namer->room = malloc(strlen(ret_namer->prefix) + longest + 32);
    ls->no_memory |= !ret_namer->room;
    return ret_namer->room;
}

/* --- Rows --------------------------------------------------------------------------------------------------------- */

static struct ls_row *add_row(struct ls *ls, const char *key, size_t size)
{
    struct ls_row *rows = ls->rows;
    char *copy = strndup(key, size);

    if (ls->n_rows % 1024 == 0)
        rows = realloc(rows, (ls->n_rows + 1024) * sizeof *rows);
    ls->rows = rows ? rows : ls->rows;
    if (!rows || !copy) {
        free(copy);
        ls->no_memory = true;
        return NULL;
    }
    rows[ls->n_rows] = (struct ls_row){.key = copy, .left_ms = -1};
    return &rows[ls->n_rows++];
}

static void add_holder(struct ls *ls, struct ls_row *row, const struct ls_holder *holder)
{
    const struct label label = label_of(holder->value);
    struct ls_holder *holders = realloc(row->holders, (row->n_holders + 1) * sizeof *holders);

    if (!holders) {
        ls->no_memory = true;
        return;
    }
    row->holders = holders;
    holders[row->n_holders++] = *holder;
    if (label.asked_us != 0 && (row->asked_us == 0 || label.asked_us < row->asked_us))
        row->asked_us = label.asked_us;
}

static struct ls_holder holder_of(const char *value, char mode, int64_t slot, int64_t left_ms)
{
    struct ls_holder holder = {.mode = mode, .slot = slot, .left_ms = left_ms};

    snprintf(holder.value, sizeof holder.value, "%s", value);
    return holder;
}

/* --- What the answers about one subject add up to ----------------------------------------------------------------- */

static bool is_permit(const struct ls_subject *subject)
{
    return subject->key[subject->base_size] != '\0';
}

/* -1: of the lock in front of the permits. */
static int64_t slot_of(const struct ls_subject *subject)
{
    const char *number = subject->key + subject->base_size + 1;

    return is_permit(subject) && *number != 'g' ? (int64_t)strtoul(number, NULL, 10) : -1;
}

/* Some master has a value: the one that is shown where no majority agrees, of this library if there is one. */
static bool find_witness(const struct ls *ls, const struct probe_all *seen, struct ls_holder *ret_witness)
{
    bool any = false;

    for (size_t i = 0; i < ls->n && !(any && !label_of(ret_witness->value).strange); i++) {
        const struct probe *probe = &seen->probes[i];
        const struct probe_votes *votes = &seen->votes[i];

        if (probe->exists && probe->is_token)
            *ret_witness = holder_of(probe->value, 'x', -1, probe->pttl_ms);
        else if (votes->n > 0)
            *ret_witness = holder_of(votes->votes[0].value, votes->votes[0].mode, -1, votes->votes[0].left_ms);
        any |= (probe->exists && probe->is_token) || votes->n > 0;
    }
    return any;
}

static bool is_on_earlier(const struct probe_all *seen, size_t node, uint64_t value_hash)
{
    for (size_t i = 0; i < node; i++)
        for (size_t j = 0; j < seen->queues[i].n; j++)
            if (seen->queues[i].waiters[j].value_hash == value_hash && seen->queues[i].waiters[j].lease_ms > 0)
                return true;
    return false;
}

/* Each waiter once, unless its lease has ended everywhere. Those behind the first hundred are only counted. */
static void count_waiters(const struct ls *ls, const struct probe_all *seen, struct ls_row *finding)
{
    size_t behind = 0;

    for (size_t i = 0; i < ls->n; i++) {
        const struct probe_queue *queue = &seen->queues[i];

        behind = queue->answered && queue->length - queue->n > behind ? queue->length - queue->n : behind;
        for (size_t j = 0; queue->answered && j < queue->n; j++) {
            const struct probe_waiter *waiter = &queue->waiters[j];

            if (waiter->lease_ms == 0)
                continue;
            finding->ticket = finding->ticket == 0 || waiter->ticket < finding->ticket ? waiter->ticket
                                                                                        : finding->ticket;
            finding->waiting += !is_on_earlier(seen, i, waiter->value_hash);
        }
    }
    finding->waiting += behind;
}

static bool is_foreign(const struct verdict *verdict, const struct ls_holder *witness, bool has_witness)
{
    if (verdict->kind == VERDICT_FOREIGN || (verdict->foreign > 0 && !has_witness))
        return true;
    return verdict->present > 0 && has_witness &&
           label_of(verdict->kind == VERDICT_HELD ? verdict->value : witness->value).strange;
}

/* Keys of others are shown if they lie under the prefix, or in the way of somebody. */
static bool is_shown(const struct ls *ls, const struct ls_row *finding)
{
    if (finding->kind == LS_FOREIGN)
        return finding->waiting > 0 || ls->request->all || ls->request->common.prefix[0] != '\0';
    return finding->waiting > 0 || finding->present > 0;
}

static int64_t longest_left(const struct ls *ls, const struct probe_all *seen)
{
    int64_t most = 0;

    for (size_t i = 0; i < ls->n; i++) {
        const struct probe *probe = &seen->probes[i];

        if (probe->exists && (probe->pttl_ms < 0 || probe->pttl_ms > most))
            most = probe->pttl_ms;
        if (most < 0)
            break;
    }
    return most;
}

/* A permit adds to the row of its semaphore, which is the latest if there is one. */
static struct ls_row *row_for(struct ls *ls, const struct ls_subject *subject, const struct ls_row *finding)
{
    bool merges = is_permit(subject) && finding->kind != LS_FOREIGN;
    struct ls_row *latest = ls->n_rows > 0 ? &ls->rows[ls->n_rows - 1] : NULL;
    struct ls_row *row;

    if (merges && latest && latest->kind == LS_SEMAPHORE && strlen(latest->key) == subject->base_size &&
        strncmp(latest->key, subject->key, subject->base_size) == 0)
        return latest;
    row = add_row(ls, subject->key, merges ? subject->base_size : strlen(subject->key));
    if (!row)
        return NULL;
    row->kind = merges ? LS_SEMAPHORE : finding->kind;
    row->verdict = finding->verdict;
    row->present = finding->present;
    row->answered = finding->answered;
    row->left_ms = finding->left_ms;
    return row;
}

/* What is held counts more than what is not, and the permit on the fewest masters more than the others. */
static void merge(struct ls *ls, struct ls_row *row, const struct ls_row *finding, int64_t slot)
{
    bool holds = finding->verdict == VERDICT_HELD || finding->n_sharers > 0;
    bool first = row->n_holders == 0 && holds;

    row->waiting += finding->waiting;
    if (finding->ticket != 0 && (row->ticket == 0 || finding->ticket < row->ticket))
        row->ticket = finding->ticket;
    if (row->kind == LS_SEMAPHORE && slot < 0)
        return;
    row->unsettled += row->kind == LS_SEMAPHORE && finding->verdict == VERDICT_SPLIT;
    if (first || (row->verdict == finding->verdict && finding->present > 0 && finding->present < row->present)) {
        row->verdict = finding->verdict;
        row->present = finding->present;
        row->answered = finding->answered;
    }
    if (first || (holds && finding->left_ms < row->left_ms))
        row->left_ms = finding->left_ms;
    row->slots = slot >= row->slots ? (uint32_t)slot + 1 : row->slots;
    row->n_sharers += finding->n_sharers;
    for (size_t i = 0; i < finding->n_holders; i++)
        add_holder(ls, row, &finding->holders[i]);
}

static void judge(struct ls *ls, const struct ls_subject *subject, const struct probe_all *seen)
{
    struct verdict verdict = verdict_of(seen->probes, ls->n, ls->quorum);
    struct ls_holder witness = {.value = ""};
    bool has_witness = find_witness(ls, seen, &witness);
    struct ls_row finding = {.kind = subject->observed ? LS_ELECTION : LS_LOCK};
    int64_t slot = slot_of(subject);
    struct ls_row *row;

    shares_judge(&verdict, seen->probes, seen->votes, ls->n);
    finding.verdict = verdict.kind;
    finding.present = verdict.present;
    finding.answered = verdict.answered;
    finding.n_sharers = verdict.sharers;
    finding.left_ms = verdict.kind == VERDICT_HELD || verdict.sharers > 0 ? verdict.pttl_ms : longest_left(ls, seen);
    if (is_foreign(&verdict, &witness, has_witness)) {
        finding.kind = LS_FOREIGN;
        finding.n_sharers = 0;
    }
    count_waiters(ls, seen, &finding);
    if (!is_shown(ls, &finding))
        return;
    for (size_t i = 0; i < verdict.n_holders && finding.kind != LS_FOREIGN; i++) {
        const struct verdict_holder *holder = &verdict.holders[i];
        const struct ls_holder copy = holder_of(holder->value, holder->mode, slot, holder->left_ms);

        add_holder(ls, &finding, &copy);
    }
    if (finding.n_holders == 0 && has_witness && finding.kind != LS_FOREIGN && !is_permit(subject))
        add_holder(ls, &finding, &witness);
    row = row_for(ls, subject, &finding);
    if (row)
        merge(ls, row, &finding, slot);
    free(finding.holders);
}

/* --- Asking ------------------------------------------------------------------------------------------------------- */

static bool is_about_rights(const struct ls *ls, const struct probe_all *seen)
{
    bool any = false;

    for (size_t i = 0; i < ls->n; i++) {
        if (seen->probes[i].answered)
            return false;
        any |= seen->probes[i].refused && strncmp(seen->probes[i].why, "NOPERM", 6) == 0;
    }
    return any;
}

/* Where all keys of the server may be meant, most are no locks, and some are large: how they end tells that. */
static bool is_screened(const struct ls *ls, const struct ls_subject *subject)
{
    return ls->request->common.prefix[0] == '\0' && !ls->request->all && !subject->latch && !subject->queued;
}

static void screen_on(const struct ls *ls, struct wire *wire, const struct namer *namer, struct ls_subject *subjects,
                      size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *pttl[] = {"PTTL", name_of(namer, "", subjects[i].key)};

        if (is_screened(ls, &subjects[i]))
            wire_append(wire, 2, pttl);
    }
    for (size_t i = 0; i < n; i++) {
        redisReply *reply = is_screened(ls, &subjects[i]) ? wire_reply(wire) : NULL;

        if (reply && (reply->type != REDIS_REPLY_INTEGER ||
                      (reply->integer >= 0 && reply->integer <= (int64_t)REDLOCK_MAX_TTL_MS)))
            subjects[i].dull = false;
        freeReplyObject(reply);
    }
}

static void screen(struct ls *ls, const struct namer *namer, struct ls_subject *subjects, size_t n)
{
    for (size_t i = 0; i < n; i++)
        subjects[i].dull = is_screened(ls, &subjects[i]);
    for (size_t i = 0; i < ls->n; i++)
        if (ls->masters[i].open)
            screen_on(ls, &ls->wires[i], namer, subjects, n);
}

static void ask_first(struct wire *wire, const struct namer *namer, const struct ls_subject *subjects, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (subjects[i].latch || subjects[i].dull)
            continue;
        probe_key_ask(wire, name_of(namer, "", subjects[i].key));
        if (subjects[i].queued)
            probe_queue_ask(wire, name_of(namer, "redlock:queue:", subjects[i].key));
    }
    wire_flush(wire);
}

static void take_first(struct wire *wire, size_t node, const struct ls_subject *subjects, size_t n,
                       struct probe_all *seen)
{
    for (size_t i = 0; i < n; i++) {
        if (subjects[i].latch || subjects[i].dull)
            continue;
        probe_key_take(wire, &seen[i].probes[node]);
        if (subjects[i].queued)
            probe_queue_take(wire, &seen[i].queues[node]);
    }
}

static bool needs_votes(const struct probe *probe)
{
    return probe->answered && probe->exists && !probe->is_text;
}

/* Does anybody listen to what a leader of the key tells? Then it is an election's; the masters know no other sign. */
static void ask_for_listeners(struct wire *wire, const struct namer *namer, const char *key)
{
    const char *count[] = {"PUBSUB", "NUMSUB", name_of(namer, "redlock:leader:", key)};

    wire_append(wire, 3, count);
}

static bool take_listeners(struct wire *wire, bool *deaf)
{
    redisReply *reply = wire_reply(wire);
    bool any = reply && reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
               reply->element[1]->type == REDIS_REPLY_INTEGER && reply->element[1]->integer > 0;

    *deaf |= reply && reply->type == REDIS_REPLY_ERROR;
    freeReplyObject(reply);
    return any;
}

static bool may_be_election(const struct ls_subject *subject, const struct probe *probe)
{
    return probe->answered && probe->is_token && !label_of(probe->value).strange && !is_permit(subject);
}

static void ask_next(struct ls *ls, size_t node, const struct namer *namer, const struct ls_subject *subjects, size_t n,
                     const struct probe_all *seen)
{
    struct wire *wire = &ls->wires[node];

    for (size_t i = 0; i < n; i++) {
        const struct probe *probe = &seen[i].probes[node];

        if (needs_votes(probe))
            probe_votes_ask(wire, name_of(namer, "", subjects[i].key));
        if (!ls->masters[node].deaf && may_be_election(&subjects[i], probe))
            ask_for_listeners(wire, namer, subjects[i].key);
        probe_leases_ask(wire, name_of(namer, "redlock:waiters:", subjects[i].key), &seen[i].queues[node]);
    }
    wire_flush(wire);
}

static void take_next(struct ls *ls, size_t node, struct ls_subject *subjects, size_t n, struct probe_all *seen)
{
    struct wire *wire = &ls->wires[node];
    bool was_asked = !ls->masters[node].deaf;

    for (size_t i = 0; i < n; i++) {
        struct probe *probe = &seen[i].probes[node];

        if (needs_votes(probe))
            probe_votes_take(wire, probe, &seen[i].votes[node]);
        if (was_asked && may_be_election(&subjects[i], probe))
            subjects[i].observed |= take_listeners(wire, &ls->masters[node].deaf);
        probe_leases_take(wire, &seen[i].queues[node]);
    }
}

/* The lists are long, and mostly empty: their contents need not be wiped. */
static void forget(const struct ls *ls, struct probe_all *seen)
{
    for (size_t i = 0; i < ls->n; i++) {
        seen->probes[i] = (struct probe){.latency_us = -1};
        seen->votes[i].answered = seen->votes[i].more = seen->queues[i].answered = false;
        seen->votes[i].n = seen->queues[i].n = seen->queues[i].length = 0;
    }
}

static void look_at_locks(struct ls *ls, const struct namer *namer, struct ls_subject *subjects, size_t n,
                          struct probe_all *seen)
{
    for (size_t i = 0; i < n; i++)
        forget(ls, &seen[i]);
    screen(ls, namer, subjects, n);
    for (size_t i = 0; i < ls->n; i++)
        if (ls->masters[i].open)
            ask_first(&ls->wires[i], namer, subjects, n);
    for (size_t i = 0; i < ls->n; i++)
        if (ls->masters[i].open)
            take_first(&ls->wires[i], i, subjects, n, seen);
    for (size_t i = 0; i < ls->n; i++)
        if (ls->masters[i].open)
            ask_next(ls, i, namer, subjects, n, seen);
    for (size_t i = 0; i < ls->n; i++)
        if (ls->masters[i].open)
            take_next(ls, i, subjects, n, seen);
}

/* Latches are few, and one at a time. */
static void look_at_latch(struct ls *ls, const struct namer *namer, const struct ls_subject *subject)
{
    static struct status_latch seen;
    const char *name = name_of(namer, "redlock:latch:", subject->key);
    struct ls_row *row;

    memset(&seen, 0, sizeof seen);
    seen.n = ls->n;
    for (size_t i = 0; i < ls->n; i++)
        if (ls->masters[i].open)
            probe_latch_take(&ls->wires[i], name, &seen.probes[i], &seen.latches[i]);
    status_latch_judge(&seen, ls->quorum);
    if (!seen.latest || (seen.open && !ls->request->all))
        return;
    row = add_row(ls, subject->key, strlen(subject->key));
    if (!row)
        return;
    row->kind = LS_LATCH;
    row->verdict = seen.verdict == STATUS_LATCH_UNKNOWN ? VERDICT_UNKNOWN : VERDICT_HELD;
    row->answered = seen.answered;
    row->parties = seen.latest->parties;
    row->arrived = (uint32_t)seen.n_arrived;
    row->is_open = seen.open;
    for (size_t i = 0; i < ls->n; i++) {
        row->present += seen.latches[i].is_latch;
        if (seen.latches[i].is_latch && seen.probes[i].pttl_ms > row->left_ms)
            row->left_ms = seen.probes[i].pttl_ms;
    }
}

static void look_at_chunk(struct ls *ls, const struct namer *namer, struct ls_subject *subjects, size_t n,
                          struct probe_all *seen)
{
    look_at_locks(ls, namer, subjects, n, seen);
    for (size_t i = 0; i < n; i++) {
        if (subjects[i].latch) {
            look_at_latch(ls, namer, &subjects[i]);
        } else {
            ls->unreadable += is_about_rights(ls, &seen[i]);
            judge(ls, &subjects[i], &seen[i]);
        }
    }
}

static void look_at_all(struct ls *ls, const struct namer *namer)
{
    struct probe_all *seen = calloc(CHUNK, sizeof *seen);

    ls->no_memory |= !seen;
    for (size_t at = 0; !ls->no_memory && at < ls->subjects.n; at += CHUNK) {
        size_t n = ls->subjects.n - at < CHUNK ? ls->subjects.n - at : CHUNK;

        if (!ls_pace(&ls->pace, n))
            break;
        look_at_chunk(ls, namer, ls->subjects.items + at, n, seen);
    }
    free(seen);
}

void ls_look(struct ls *ls)
{
    struct namer namer = {0};

    if (!ls->no_memory && make_namer(ls, &namer))
        look_at_all(ls, &namer);
    free(namer.room);
    for (size_t i = 0; i < ls->n; i++) {
        if (ls->masters[i].open && ls->wires[i].failed)
            probe_failed(&ls->probes[i], ls->wires[i].why);
        if (ls->masters[i].open)
            wire_close(&ls->wires[i]);
    }
}
