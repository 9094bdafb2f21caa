#include "coverage.h"

#include <stddef.h>

#include "codec/classify.h"
#include "engine/lock.h"
#include "engine/states.h"
#include "plan.h"
#include "trace.h"

static const char *const counter_texts[COUNTER_COUNT] = {
#define COUNTER_TEXT(name, text) text,
    COUNTER_MAP(COUNTER_TEXT)
#undef COUNTER_TEXT
};

static const char *const report_names[REPORT_COUNT] = {
    [REPORT_COMPLETE] = "complete",   [REPORT_ATTEMPT] = "attempt",     [REPORT_WAITING] = "waiting",
    [REPORT_BACKOFF] = "backoff",     [REPORT_EXTENDING] = "extending", [REPORT_RENEWED] = "renewed",
    [REPORT_AT_RISK] = "at risk",     [REPORT_LOST] = "lost",           [REPORT_VALIDITY] = "validity",
    [REPORT_DISPOSED] = "disposed",   [REPORT_LISTENING] = "listening", [REPORT_VERIFIED] = "verified",
    [REPORT_MEMBERS] = "members changed",
};
static const char *const link_names[N_LINKS] = {"joining", "ready", "late", "down"};

void coverage_add(struct coverage *sum, const struct coverage *more)
{
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)more;

    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += from[i];
}

struct printer {
    FILE *out;
    unsigned missing;
};

static void row(struct printer *printer, const char *what, const char *from, const char *to, uint64_t count)
{
    printer->missing += count == 0;
    fprintf(printer->out, "  %-11s %s%s%-*s %14llu%s\n", what, from, to[0] ? " -> " : "",
            (int)(56 - __builtin_strlen(from) - (to[0] ? 4 : 0)), to, (unsigned long long)count,
            count ? "" : "   NEVER");
}

/* The arrows of the diagram in engine/lock.h. */
static const uint8_t transitions[][2] = {
    {RL_LOCK_IDLE, RL_LOCK_ACQUIRING},      {RL_LOCK_ACQUIRING, RL_LOCK_HELD},
    {RL_LOCK_ACQUIRING, RL_LOCK_IDLE},      {RL_LOCK_ACQUIRING, RL_LOCK_BACKING_OFF},
    {RL_LOCK_BACKING_OFF, RL_LOCK_IDLE},    {RL_LOCK_BACKING_OFF, RL_LOCK_ACQUIRING},
    {RL_LOCK_HELD, RL_LOCK_EXTENDING},      {RL_LOCK_EXTENDING, RL_LOCK_HELD},
    {RL_LOCK_HELD, RL_LOCK_LOST},           {RL_LOCK_EXTENDING, RL_LOCK_LOST},
    {RL_LOCK_HELD, RL_LOCK_RELEASING},      {RL_LOCK_EXTENDING, RL_LOCK_RELEASING},
    {RL_LOCK_LOST, RL_LOCK_RELEASING},      {RL_LOCK_LOST, RL_LOCK_ACQUIRING},
    {RL_LOCK_RELEASING, RL_LOCK_IDLE},      {RL_LOCK_HELD, RL_LOCK_IDLE},
    {RL_LOCK_IDLE, RL_LOCK_RELEASING},      {RL_LOCK_IDLE, RL_LOCK_HELD},
    {RL_LOCK_ACQUIRING, RL_LOCK_WAITING},   {RL_LOCK_WAITING, RL_LOCK_HELD},
    {RL_LOCK_WAITING, RL_LOCK_IDLE},        {RL_LOCK_WAITING, RL_LOCK_BACKING_OFF},
    {RL_LOCK_BACKING_OFF, RL_LOCK_WAITING},
};

/* What each operation may end with. */
static const uint8_t ends[][2] = {
    {RL_OP_ACQUIRE, RL_END_OK},       {RL_OP_ACQUIRE, RL_END_HELD},     {RL_OP_ACQUIRE, RL_END_NO_QUORUM},
    {RL_OP_ACQUIRE, RL_END_TOO_SLOW}, {RL_OP_ACQUIRE, RL_END_DEADLINE}, {RL_OP_ACQUIRE, RL_END_CANCELED},
    {RL_OP_ACQUIRE, RL_END_REFUSED_BY_HOST},
    {RL_OP_EXTEND, RL_END_OK},        {RL_OP_EXTEND, RL_END_NO_QUORUM}, {RL_OP_EXTEND, RL_END_LOST},
    {RL_OP_EXTEND, RL_END_CANCELED},
    {RL_OP_CONVERT, RL_END_OK},       {RL_OP_CONVERT, RL_END_NO_QUORUM}, {RL_OP_CONVERT, RL_END_LOST},
    {RL_OP_CONVERT, RL_END_CANCELED}, {RL_OP_CONVERT, RL_END_HELD},      {RL_OP_CONVERT, RL_END_DEADLINE},
    {RL_OP_RELEASE, RL_END_OK},       {RL_OP_RELEASE, RL_END_NO_QUORUM}, {RL_OP_RELEASE, RL_END_LOST},
};

static const uint8_t links[][2] = {
    {RL_LINK_JOINING, RL_LINK_READY}, {RL_LINK_JOINING, RL_LINK_DOWN}, {RL_LINK_READY, RL_LINK_LATE},
    {RL_LINK_READY, RL_LINK_DOWN},    {RL_LINK_LATE, RL_LINK_READY},   {RL_LINK_LATE, RL_LINK_DOWN},
    {RL_LINK_DOWN, RL_LINK_READY},
};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Of a list of masters that changes. */
static bool is_of_change(size_t counter)
{
    return counter >= COUNTER_CHANGES && counter <= COUNTER_HELD_ON;
}

static void print_counters(struct printer *printer, const struct coverage *coverage, const struct plan_options *worlds)
{
    for (size_t i = 0; i < COUNTER_COUNT; i++) {
        if (worlds->members || !is_of_change(i))
            row(printer, "count", counter_texts[i], "", coverage->counters[i]);
    }
    for (size_t i = 1; i <= MAX_MASTERS; i++)
        row(printer, "masters", name_of_master((unsigned)i - 1), "", coverage->masters[i]);
}

static void print_engine(struct printer *printer, const struct coverage *coverage, const struct plan_options *worlds)
{
    for (size_t i = 0; i < LENGTH(transitions); i++)
        row(printer, "transition", rl_lock_state_name((enum rl_lock_state)transitions[i][0]),
            rl_lock_state_name((enum rl_lock_state)transitions[i][1]),
            coverage->transitions[transitions[i][0]][transitions[i][1]]);
    for (size_t i = 0; i < REPORT_COUNT; i++) {
        if (worlds->members || i != REPORT_MEMBERS)
            row(printer, "report", report_names[i], "", coverage->reports[i]);
    }
    for (size_t i = 0; i < LENGTH(ends); i++)
        row(printer, "end", name_of_op((enum rl_op)ends[i][0]), name_of_end((enum rl_end)ends[i][1]),
            coverage->ends[ends[i][0]][ends[i][1]]);
    for (size_t i = 0; i < LENGTH(links); i++)
        row(printer, "link", link_names[links[i][0]], link_names[links[i][1]],
            coverage->links[links[i][0]][links[i][1]]);
}

/* Only ENQUEUE puts anybody in the queue, and it takes no refusal for an answer. */
static bool can_answer(size_t step, size_t outcome)
{
    return step == RL_STEP_ENQUEUE ? outcome != RL_REFUSED : outcome != RL_QUEUED;
}

/* Left out: what only foreign servers or programs can cause, since the masters here speak RESP, their queues are never
 * full, and nobody else has a name that is the library's; and what no answer says. */
static bool can_be_told(enum rl_detail detail)
{
    switch (detail) {
    case RL_DETAIL_DOWN:
    case RL_DETAIL_LATE:
    case RL_DETAIL_TIMEOUT:
    case RL_DETAIL_PROTOCOL:
    case RL_DETAIL_QUEUE_FULL:
    case RL_DETAIL_FOREIGN_COUNTER:
    case RL_DETAIL_FOREIGN_QUEUE:
    case RL_DETAIL_FOREIGN_WAITERS:
    case RL_DETAIL_QUARANTINED:
    case RL_DETAIL_EXCLUDED:
        return false;
    default:
        return true;
    }
}

static void print_answers(struct printer *printer, const struct coverage *coverage)
{
    for (size_t step = 0; step < RL_STEP_COUNT; step++) {
        for (size_t outcome = RL_GRANTED; outcome < N_OUTCOMES; outcome++) {
            if (can_answer(step, outcome))
                row(printer, "answer", name_of_step((enum rl_step)step), name_of_outcome((enum rl_outcome)outcome),
                coverage->answers[step][outcome]);
        }
    }
    for (size_t i = RL_DETAIL_NONE; i < N_DETAILS; i++) {
        if (can_be_told((enum rl_detail)i))
            row(printer, "detail", i ? rl_detail_text((enum rl_detail)i) : "none", "", coverage->details[i]);
    }
}

/* DECLARED, MISMATCH and most faults of masters are not in the model; MISPLACED is, where names move, and what is said
 * of views where the list changes. */
static bool can_join_as(enum rl_join_event event, const struct plan_options *worlds)
{
    if (event == RL_JOIN_MISPLACED)
        return worlds->moved_names;
    if (event == RL_JOIN_OUTDATED || event == RL_JOIN_OVERRULED || event == RL_JOIN_OTHER)
        return worlds->members;
    return event != RL_JOIN_DECLARED && event != RL_JOIN_MISMATCH && event != RL_JOIN_BEHIND;
}

static void print_trust(struct printer *printer, const struct coverage *coverage, const struct plan_options *worlds)
{
    static const char *const admissions[N_ADMISSIONS] = {"unknown", "votes", "quarantined", "excluded"};
    static const char *const losses[N_LOSSES] = {"none",    "expired",    "unreachable",
                                                  "refused", "clock step", "hold limit"};
    static const uint8_t reasons[] = {RL_FAULT_NEW_MEMORY, RL_FAULT_NOT_MASTER, RL_FAULT_NO_RIGHTS};

    for (size_t i = 0; i < RL_JOIN_EVENT_COUNT; i++) {
        if (can_join_as((enum rl_join_event)i, worlds))
            row(printer, "join", name_of_join((enum rl_join_event)i), "", coverage->joins[i]);
    }
    for (size_t i = RL_ADMISSION_VOTES; i < N_ADMISSIONS; i++)
        row(printer, "admission", admissions[i], "", coverage->admissions[i]);
    for (size_t i = 0; i < LENGTH(reasons); i++)
        row(printer, "admission", rl_fault_text((enum rl_fault)reasons[i]), "", coverage->rl_faults[reasons[i]]);
    for (size_t i = RL_LOSS_EXPIRED; i < N_LOSSES; i++) {
        if (worlds->clock_steps || worlds->standstills || i != RL_LOSS_CLOCK_STEP)
            row(printer, "loss", losses[i], "", coverage->losses[i]);
    }
    if (worlds->standstills) {
        row(printer, "clock", "standstills of its own that a client has found", "", coverage->standstills_seen);
        row(printer, "clock", "slow clocks found", "", coverage->rl_faults[RL_FAULT_CLOCK_SLOW]);
    }
    if (worlds->clock_steps)
        row(printer, "clock", "steps noticed", "", coverage->steps_seen);
}

/* Memories that are lost and moved names are not in the same worlds. */
static bool may_strike(enum fault fault, const struct plan_options *worlds)
{
    uint32_t bit = UINT32_C(1) << fault;

    if (fault == FAULT_MOVED_NAME)
        return worlds->moved_names;
    if (fault == FAULT_STANDSTILL || fault == FAULT_SLOW_CLOCK)
        return worlds->standstills;
    if (fault == FAULT_STEP_BACK || fault == FAULT_STEP_FORWARD)
        return worlds->clock_steps;
    return !worlds->moved_names || !(bit & NAME_EXCLUDES);
}

static void print_faults(struct printer *printer, const struct coverage *coverage, const struct plan_options *worlds)
{
    for (size_t i = 0; i < FAULT_COUNT; i++) {
        if (may_strike((enum fault)i, worlds))
            row(printer, "fault", fault_texts[i], "", coverage->faults[i]);
    }
}

unsigned coverage_print(const struct coverage *coverage, const struct plan_options *worlds, FILE *out)
{
    struct printer printer = {out, 0};

    print_faults(&printer, coverage, worlds);
    print_engine(&printer, coverage, worlds);
    print_trust(&printer, coverage, worlds);
    print_answers(&printer, coverage);
    print_counters(&printer, coverage, worlds);
    return printer.missing;
}
