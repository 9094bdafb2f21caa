#include "votes/admission.h"

#include <stddef.h>
#include <string.h>

#include "votes/join.h"
#include "votes/max_ttl.h"

/* For the rounding of the server's clock, and of ours. */
#define ROUNDING_MS 2

/* Not strcmp(): this directory needs nothing but memory functions and strlen(). */
static bool says(const char *text, const char *word)
{
    return rl_slice_is((struct rl_slice){text, strlen(text)}, word);
}

static enum rl_fault exclusion(const struct rl_join_report *report, const struct rl_admission_rules *rules)
{
    bool evicts = report->maxmemory > 0 && !says(report->policy, "noeviction");

    if (!says(report->role, "master"))
        return RL_FAULT_NOT_MASTER;
    if (report->cluster)
        return RL_FAULT_CLUSTER;
    if (rules->no_member)
        return RL_FAULT_NO_MEMBER;
    if (rules->two_servers)
        return RL_FAULT_TWO_SERVERS;
    if (rules->same_server || report->event == RL_JOIN_MISPLACED)
        return RL_FAULT_SAME_SERVER;
    if (evicts && !rules->allow_eviction)
        return RL_FAULT_EVICTS;
    if (report->event == RL_JOIN_MISMATCH)
        return RL_FAULT_RING;
    if (report->event == RL_JOIN_OUTDATED)
        return RL_FAULT_NOT_FOLLOWED;
    if (report->event == RL_JOIN_OVERRULED || report->event == RL_JOIN_BEHIND || report->event == RL_JOIN_OTHER)
        return RL_FAULT_OVERRULED;
    if (report->event == RL_JOIN_ABSENT)
        return RL_FAULT_NO_MARKER;
    return rl_max_ttl_is_larger(rules->max_ttl_ms, report, rules->allowed_ms) ? RL_FAULT_MAX_TTL : RL_FAULT_NONE;
}

/* The node's clock may be slower than this one: what is left by the node's clock may take longer by this one. */
static struct rl_instant quarantine_end(int64_t left_ms, uint32_t drift_ppm, struct rl_instant received)
{
    int64_t rate_ns = left_ms * drift_ppm; /* 1 ms * 1 ppm = 1 ns */
    struct rl_span wait = {rl_ms(left_ms + ROUNDING_MS).ns + rate_ns};

    return received.ns > INT64_MAX - wait.ns ? RL_NEVER : rl_after(received, wait);
}

struct rl_admission_status rl_admission_evaluate(const struct rl_join_report *report,
                                                 const struct rl_admission_rules *rules, struct rl_instant received)
{
    enum rl_fault fault = exclusion(report, rules);

    if (fault == RL_FAULT_MAX_TTL)
        return (struct rl_admission_status){.kind = RL_ADMISSION_EXCLUDED,
                                            .fault = fault,
                                            .keeps_ms = rl_max_ttl_allowed(report, rules->allowed_ms),
                                            .epoch_checked = true};
    if (fault != RL_FAULT_NONE)
        return (struct rl_admission_status){.kind = RL_ADMISSION_EXCLUDED, .fault = fault};
    if (report->left_ms == 0)
        return (struct rl_admission_status){.kind = RL_ADMISSION_VOTES, .epoch_checked = true};
    return (struct rl_admission_status){.kind = RL_ADMISSION_QUARANTINED,
                                        .fault = RL_FAULT_NEW_MEMORY,
                                        .until = quarantine_end(report->left_ms, rules->drift_ppm, received),
                                        .epoch_checked = true};
}

static const char *const fault_texts[RL_FAULT_COUNT] = {
#define RL_FAULT_TEXT(name, text) [RL_FAULT_##name] = (text),
    RL_FAULT_MAP(RL_FAULT_TEXT)
#undef RL_FAULT_TEXT
};

const char *rl_fault_text(enum rl_fault fault)
{
    return (size_t)fault < RL_FAULT_COUNT ? fault_texts[fault] : "";
}
