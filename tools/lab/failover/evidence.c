#include "evidence.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "counter.h"
#include "lanes.h"
#include "locker.h"

#define FAR_NS (FO_NO_END_NS / 2) /* an end that far away is none */

__attribute__((format(printf, 4, 5))) static void add(struct fo_outcome *outcome, const struct fo_run *run,
                                                       int64_t at_ns, const char *format, ...)
{
    struct fo_clue *clue = &outcome->clues[outcome->n_clues];
    va_list args;

    if (outcome->n_clues == FO_CLUES)
        return;
    outcome->n_clues++;
    clue->at_ns = at_ns - run->course.start_ns;
    va_start(args, format);
    vsnprintf(clue->text, sizeof clue->text, format, args);
    va_end(args);
}

static int by_time(const void *left, const void *right)
{
    const struct fo_clue *a = left, *b = right;

    return (a->at_ns > b->at_ns) - (a->at_ns < b->at_ns);
}

/* The pair of holds of one key whose overlap began first. */
static bool find_pair(const struct fo_referee *referee, const struct fo_hold **ret_first,
                      const struct fo_hold **ret_second)
{
    *ret_first = *ret_second = NULL;
    for (size_t i = 0; i < referee->n; i++)
        for (size_t j = 0; j < referee->n; j++) {
            const struct fo_hold *a = &referee->holds[i], *b = &referee->holds[j];

            if (a->key != b->key || a->from_ns > b->from_ns || (a->from_ns == b->from_ns && i >= j) ||
                b->from_ns >= a->until_ns || (*ret_second && b->from_ns >= (*ret_second)->from_ns))
                continue;
            *ret_first = a;
            *ret_second = b;
        }
    return *ret_second != NULL;
}

static void tell_beginning(struct fo_outcome *outcome, const struct fo_run *run, const struct fo_hold *hold,
                           const char *more)
{
    char name[FO_KEY_SIZE], fence[48] = "";

    fo_key_name(hold->key, name);
    if (hold->fence)
        snprintf(fence, sizeof fence, " with token %llu", (unsigned long long)hold->fence);
    add(outcome, run, hold->from_ns, "client %u acquires '%s'%s%s", hold->client + 1, name, fence, more);
}

static void tell_end(struct fo_outcome *outcome, const struct fo_run *run, const struct fo_hold *hold)
{
    static const char *const texts[] = {"the time is over until which client %u may believe in the lock",
                                        "client %u gives the lock up", "client %u is told that the lock is lost",
                                        "client %u is killed"};

    if (hold->until_ns - hold->from_ns < FAR_NS)
        add(outcome, run, hold->until_ns, texts[hold->ending], hold->client + 1);
}

static void tell_marks(struct fo_outcome *outcome, const struct fo_run *run, int64_t until_ns)
{
    for (uint32_t i = 0; i < run->course.n_marks && run->course.marks[i].at_ns <= until_ns; i++) {
        const struct fo_mark *mark = &run->course.marks[i];
        const struct fo_span span = {.state = mark->state};

        add(outcome, run, mark->at_ns, "member %u: %s", mark->node + 1, fo_state_name(&span));
    }
}

static void tell_victim(struct fo_outcome *outcome, const struct fo_run *run)
{
    enum fo_fault fault = run->scenario->fault;

    if (run->course.victim == FO_NOBODY)
        return;
    add(outcome, run, run->course.victim_ns, "client %u, which holds the leader lock, is %s", run->course.victim + 1,
        fault == FO_PART ? "cut off from the larger side" : fault == FO_PAUSE ? "stopped" : "killed");
    if (fault == FO_PAUSE)
        add(outcome, run, run->course.heal_ns, "client %u goes on", run->course.victim + 1);
    if (fault == FO_PART)
        add(outcome, run, run->course.heal_ns, "both sides hear each other again");
}

/* NULL: the first write that was refused because of another one. Otherwise the one because of which that was refused:
 * both writers had read the same count. */
static const struct fo_record *find_write(const struct fo_run *run, const struct fo_record *refused)
{
    for (uint32_t i = 0; i < run->shared->clients; i++) {
        const struct fo_journal *journal = &run->shared->journals[i];

        for (uint32_t j = 0; j < atomic_load(&journal->n); j++) {
            const struct fo_record *record = &journal->records[j];

            if (record->kind == FO_WRITTEN && record->detail == (refused ? FO_TAKEN : FO_MIXED) &&
                (!refused || (record->key == refused->key && record->count == refused->count)))
                return record;
        }
    }
    return NULL;
}

static void tell_write(struct fo_outcome *outcome, const struct fo_run *run, const struct fo_record *write)
{
    const struct fo_record *first = find_write(run, write);

    if (first)
        add(outcome, run, first->at_ns, "client %u writes: its lock %s", first->client + 1,
            first->status ? "is valid" : "has ended meanwhile");
    add(outcome, run, write->at_ns, "client %u completes a write that it began before another holder's: %s",
        write->client + 1, write->status ? "its lock is valid still" : "its lock has ended meanwhile, no token tells");
}

static void tell(struct fo_outcome *outcome, const struct fo_run *run, const struct fo_referee *referee)
{
    const struct fo_record *write = find_write(run, NULL);
    const struct fo_hold *first, *second;
    bool pair = find_pair(referee, &first, &second);

    if (!pair && !write)
        return;
    tell_marks(outcome, run, pair ? second->until_ns : write->at_ns);
    tell_victim(outcome, run);
    if (pair) {
        tell_beginning(outcome, run, first, "");
        tell_beginning(outcome, run, second, ": the second holder at once");
        tell_end(outcome, run, first);
        tell_end(outcome, run, second);
    }
    if (write)
        tell_write(outcome, run, write);
    qsort(outcome->clues, outcome->n_clues, sizeof outcome->clues[0], by_time);
}

bool fo_evidence(struct fo_outcome *outcome, const struct fo_run *run)
{
    struct fo_referee *referee;

    if (!outcome->verdict.double_holds && !outcome->verdict.mixed_writes && !outcome->verdict.late_mixed)
        return true;
    referee = fo_referee_replay(run->shared);
    if (!referee)
        return false;
    tell(outcome, run, referee);
    fo_referee_fini(referee);
    free(referee);
    return true;
}
