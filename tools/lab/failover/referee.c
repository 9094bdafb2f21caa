#include "referee.h"

#include <stdlib.h>
#include <string.h>

#include "counter.h"

void fo_referee_fini(struct fo_referee *referee)
{
    free(referee->holds);
    free(referee->late.at);
    free(referee->crossed.at);
    memset(referee, 0, sizeof *referee);
}

static struct fo_hold *open_hold(struct fo_referee *referee, uint32_t client, uint32_t key)
{
    size_t index = referee->open[client][key];

    return index ? &referee->holds[index - 1] : NULL;
}

static void end_hold(struct fo_referee *referee, uint32_t client, uint32_t key, int64_t at_ns, enum fo_ending ending)
{
    struct fo_hold *hold = open_hold(referee, client, key);

    if (!hold)
        return;
    if (at_ns < hold->until_ns)
        hold->until_ns = at_ns;
    hold->ending = ending;
    referee->open[client][key] = 0;
}

/* Room for one more; NULL without memory. */
static void *grow(struct fo_referee *referee, void *array, size_t n, size_t *room, size_t size)
{
    size_t larger = *room ? 2 * *room : 1024;
    void *more;

    if (n < *room)
        return array;
    more = reallocarray(array, larger, size);
    if (more)
        *room = larger;
    else
        referee->out_of_memory = true;
    return more;
}

static struct fo_hold *new_hold(struct fo_referee *referee)
{
    struct fo_hold *holds = grow(referee, referee->holds, referee->n, &referee->room, sizeof *holds);

    if (!holds)
        return NULL;
    referee->holds = holds;
    return &holds[referee->n++];
}

static void keep(struct fo_referee *referee, struct fo_writes *writes, const struct fo_record *record)
{
    struct fo_write_note *notes = grow(referee, writes->at, writes->n, &writes->room, sizeof *notes);

    if (!notes)
        return;
    writes->at = notes;
    notes[writes->n++] = (struct fo_write_note){record->at_ns, record->fence, record->key, record->count};
}

static void acquired(struct fo_referee *referee, const struct fo_record *record)
{
    struct fo_hold *hold;

    if (record->until_ns <= record->at_ns) {
        referee->late_acquired++;
        return;
    }
    hold = new_hold(referee);
    if (!hold)
        return;
    *hold = (struct fo_hold){.from_ns = record->at_ns,
                             .until_ns = record->until_ns,
                             .fence = record->fence,
                             .key = record->key,
                             .nodes = record->nodes,
                             .client = record->client};
    memcpy(hold->token, record->token, sizeof hold->token);
    referee->open[record->client][record->key] = referee->n;
}

static void renewed(struct fo_referee *referee, const struct fo_record *record)
{
    struct fo_hold *hold = open_hold(referee, record->client, record->key);

    if (hold)
        hold->until_ns = record->until_ns;
}

static void written(struct fo_referee *referee, const struct fo_record *record)
{
    bool valid = record->status != 0;

    if (record->detail == FO_TAKEN) {
        referee->written++;
        referee->late_landed += !valid;
        if (!valid)
            keep(referee, &referee->late, record);
    } else if (!valid && record->detail == FO_MIXED && !record->fence) {
        referee->late_mixed++;
    } else if (!valid) {
        referee->late_refused++;
    } else if (record->detail == FO_STALE) {
        referee->stale_writes++;
    } else {
        keep(referee, &referee->crossed, record);
    }
}

void fo_referee_take(struct fo_referee *referee, const struct fo_record *record)
{
    switch (record->kind) {
    case FO_ACQUIRED:
        acquired(referee, record);
        break;
    case FO_RENEWED:
        renewed(referee, record);
        break;
    case FO_RELEASED:
        end_hold(referee, record->client, record->key, record->at_ns, FO_GIVEN_UP);
        break;
    case FO_LOST:
        end_hold(referee, record->client, record->key, record->at_ns, FO_GONE);
        break;
    case FO_WRITTEN:
        written(referee, record);
        break;
    default:
        break;
    }
}

void fo_referee_read(struct fo_referee *referee, const struct fo_shared *shared)
{
    for (uint32_t client = 0; client < shared->clients; client++) {
        const struct fo_journal *journal = &shared->journals[client];
        uint32_t n = atomic_load_explicit(&journal->n, memory_order_acquire);

        while (referee->read[client] < n)
            fo_referee_take(referee, &journal->records[referee->read[client]++]);
    }
}

void fo_referee_crash(struct fo_referee *referee, uint32_t client, int64_t at_ns)
{
    for (uint32_t key = 0; key < FO_ALL_KEYS; key++)
        end_hold(referee, client, key, at_ns, FO_CRASHED);
}

struct fo_referee *fo_referee_replay(const struct fo_shared *shared)
{
    struct fo_referee *referee = calloc(1, sizeof *referee);

    if (!referee)
        return NULL;
    fo_referee_read(referee, shared);
    for (uint32_t i = 0; i < shared->clients; i++)
        if (atomic_load(&shared->crashed_ns[i]))
            fo_referee_crash(referee, i, atomic_load(&shared->crashed_ns[i]));
    return referee;
}

const struct fo_hold *fo_referee_holder(const struct fo_referee *referee, uint32_t key, int64_t at_ns)
{
    for (uint32_t client = 0; client < FO_MAX_CLIENTS; client++) {
        size_t index = referee->open[client][key];

        if (index && referee->holds[index - 1].until_ns > at_ns)
            return &referee->holds[index - 1];
    }
    return NULL;
}

/* By key, then by the beginning. */
static int by_time(const void *left, const void *right)
{
    const struct fo_hold *a = *(const struct fo_hold *const *)left, *b = *(const struct fo_hold *const *)right;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->from_ns > b->from_ns) - (a->from_ns < b->from_ns);
}

/* Along one key's holds: each must begin after all earlier ones have ended, and with a larger token. A lock without a
 * token is not judged by it. */
static void sweep(const struct fo_hold *const *sorted, size_t n, struct fo_verdict *verdict)
{
    int64_t ended_ns = 0;
    uint64_t largest = 0;

    for (size_t i = 0; i < n; i++) {
        const struct fo_hold *hold = sorted[i];

        if (i == 0 || sorted[i - 1]->key != hold->key) {
            ended_ns = hold->from_ns;
            largest = 0;
        }
        verdict->double_holds += hold->from_ns < ended_ns;
        verdict->fence_regressions += hold->fence != 0 && hold->fence <= largest;
        if (hold->until_ns > ended_ns)
            ended_ns = hold->until_ns;
        if (hold->fence > largest)
            largest = hold->fence;
    }
}

/* The write that has changed the count after it was read: its writer had read the same. */
static bool is_crossed_by_late(const struct fo_referee *referee, const struct fo_write_note *crossed)
{
    for (size_t i = 0; i < referee->late.n; i++) {
        const struct fo_write_note *late = &referee->late.at[i];

        if (late->key == crossed->key && late->count == crossed->count)
            return true;
    }
    return false;
}

/* A former holder's write amid the work of its successor is none of two valid holders. A token would have kept it out,
 * had the successor written before. */
static void judge_crossed(const struct fo_referee *referee, int64_t before_ns, struct fo_verdict *verdict)
{
    verdict->mixed_writes = referee->mixed_writes;
    verdict->late_mixed = referee->late_mixed;
    for (size_t i = 0; i < referee->crossed.n; i++) {
        const struct fo_write_note *crossed = &referee->crossed.at[i];

        if (crossed->at_ns >= before_ns)
            continue;
        if (!is_crossed_by_late(referee, crossed))
            verdict->mixed_writes++;
        else if (!crossed->fence)
            verdict->late_mixed++;
    }
}

void fo_referee_judge(const struct fo_referee *referee, int64_t before_ns, struct fo_verdict *verdict)
{
    const struct fo_hold **sorted = calloc(referee->n + 1, sizeof(struct fo_hold *));
    size_t n = 0;

    if (!sorted)
        return;
    for (size_t i = 0; i < referee->n; i++)
        if (referee->holds[i].from_ns < before_ns)
            sorted[n++] = &referee->holds[i];
    qsort(sorted, n, sizeof *sorted, by_time);
    verdict->double_holds = 0;
    verdict->fence_regressions = referee->stale_writes;
    sweep(sorted, n, verdict);
    free(sorted);
    judge_crossed(referee, before_ns, verdict);
    verdict->late_acquired = referee->late_acquired;
    verdict->late_refused = referee->late_refused;
    verdict->late_landed = referee->late_landed;
    verdict->acquired = referee->n;
    verdict->writes = referee->written;
}
