#include "votes/max_ttl.h"

#include "votes/join.h"

static bool has_marker(const struct rl_join_report *report)
{
    return rl_join_found_marker(report->event);
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* Where nobody has declared a max_ttl, masters may differ, and the smallest one holds. After a declaration, a marker
 * that the last step has not reached yet says less than the others. */
static void add_max_ttl(struct rl_deployment *known, const struct rl_join_report *report)
{
    bool newer = report->confirmed > known->number;
    bool declared = known->number > 0;

    if (report->confirmed < known->number)
        return;
    if (newer || !known->max_ttl_ms || (declared ? report->max_ttl_ms > known->max_ttl_ms
                                                 : report->max_ttl_ms < known->max_ttl_ms))
        known->max_ttl_ms = report->max_ttl_ms;
    known->number = report->confirmed;
}

/* `longest` has fallen for this client once its time is over by the slowest clock that is allowed. */
static uint32_t longest_now(const struct rl_join_report *report, struct rl_instant received, struct rl_instant now)
{
    int64_t left_ns = rl_ms(report->falls_ms).ns;
    bool fallen = report->falls_ms > 0 && rl_until(received, now).ns > left_ns + left_ns / 2;

    return fallen ? report->max_ttl_ms : report->longest_ms;
}

void rl_deployment_add(struct rl_deployment *known, const struct rl_join_report *report, struct rl_instant received,
                       struct rl_instant now)
{
    if (!has_marker(report))
        return;
    add_max_ttl(known, report);
    known->longest_ms = larger(known->longest_ms, longest_now(report, received, now));
    known->longest_ms = larger(known->longest_ms, known->max_ttl_ms);
}

bool rl_deployment_missed(const struct rl_deployment *known, const struct rl_join_report *report)
{
    return has_marker(report) && report->announced < known->number;
}

uint32_t rl_max_ttl_allowed(const struct rl_join_report *report, uint32_t allowed_ms)
{
    return allowed_ms && allowed_ms < report->max_ttl_ms ? allowed_ms : report->max_ttl_ms;
}

bool rl_max_ttl_is_larger(uint32_t own_max_ttl_ms, const struct rl_join_report *report, uint32_t allowed_ms)
{
    return own_max_ttl_ms > rl_max_ttl_allowed(report, allowed_ms);
}

uint32_t rl_deployment_longest(const struct rl_deployment *known, uint32_t own_max_ttl_ms)
{
    return larger(known->longest_ms, own_max_ttl_ms);
}
