#include "comparison.h"

#include <stdlib.h>

#include "failover.h"

#define LONGEST_WITHOUT_NOTICE_NS INT64_C(100000000)

struct fo_comparison *fo_comparison_create(const struct fo_options *options,
                                           const struct engine_contestants *contestants)
{
    struct fo_comparison *comparison = calloc(1, sizeof *comparison);

    if (!comparison)
        return NULL;
    comparison->options = options;
    comparison->entries = calloc(contestants->n + 1, sizeof *comparison->entries);
    if (!comparison->entries) {
        free(comparison);
        return NULL;
    }
    comparison->n = contestants->n;
    for (size_t i = 0; i < contestants->n; i++)
        comparison->entries[i].contestant = &contestants->list[i];
    fo_environment_read(&comparison->environment);
    return comparison;
}

void fo_comparison_free(struct fo_comparison *comparison)
{
    if (!comparison)
        return;
    for (size_t i = 0; i < comparison->n; i++)
        fo_report_free(&comparison->entries[i].report);
    free(comparison->entries);
    free(comparison);
}

void fo_entry_init(struct fo_entry *entry, const struct fo_options *options)
{
    entry->options = *options;
    fo_options_choose(&entry->options, entry->contestant);
    entry->report.options = &entry->options;
}

int fo_comparison_exit(const struct fo_comparison *comparison)
{
    int code = FO_OK;

    for (size_t i = 0; i < comparison->n; i++) {
        const struct fo_entry *entry = &comparison->entries[i];

        if (engine_contestant_is_library(entry->contestant) && fo_report_exit(&entry->report) != FO_OK)
            return fo_report_exit(&entry->report);
        if (entry->report.engine_failed)
            code = FO_ENGINE;
    }
    return code;
}

const struct fo_outcome *fo_entry_outcome(const struct fo_entry *entry, const struct fo_scenario *scenario)
{
    for (size_t i = 0; i < entry->report.n; i++)
        if (entry->report.outcomes[i]->scenario == scenario)
            return entry->report.outcomes[i];
    return NULL;
}

uint64_t fo_double_writes(const struct fo_verdict *verdict)
{
    return verdict->mixed_writes + verdict->late_mixed;
}

const char *fo_broken_promise(const struct fo_verdict *verdict)
{
    if (verdict->double_holds)
        return "two holders";
    if (verdict->fence_regressions)
        return "tokens did not grow";
    return fo_double_writes(verdict) ? "a late write" : "";
}

const char *fo_cell_class(const struct fo_entry *entry, const struct fo_outcome *outcome)
{
    if (outcome->verdict.double_holds || outcome->verdict.fence_regressions || fo_double_writes(&outcome->verdict))
        return "bad";
    return outcome->outage.longest_ns > LONGEST_WITHOUT_NOTICE_NS ? "so-so" : "good";
}
