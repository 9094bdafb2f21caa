#include "cli/verdict.h"

#include <string.h>

#include "options/shown.h"

static bool agree(const struct probe *a, const struct probe *b)
{
    return a->answered && b->answered && a->exists && b->exists && a->is_token && b->is_token &&
           a->value_hash == b->value_hash;
}

bool verdict_may_be_token(const char *value, size_t size, int64_t left_ms)
{
    bool has_blanks = false;

    for (size_t i = 0; i < size; i++)
        has_blanks |= strchr(" \t\r\n", value[i]) != NULL && value[i] != '\0';
    return left_ms != -1 && size > 0 && size <= REDLOCK_MAX_TOKEN_BYTES && !(has_blanks && is_utf8(value, size));
}

bool verdict_is_foreign(const struct probe *probe, const struct probe_votes *votes)
{
    if (!probe->answered || !probe->exists || probe->is_token)
        return false;
    return votes == NULL || !votes->answered;
}

static size_t agreeing(const struct probe *probes, size_t n, const struct probe *with)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += agree(&probes[i], with);
    return count;
}

/* The q-th largest time to live among those that agree: until then a quorum has the value. */
static int64_t quorum_pttl(const struct probe *probes, size_t n, const struct probe *with, size_t quorum)
{
    const struct probe *best = NULL;

    for (size_t i = 0; i < n; i++) {
        size_t as_long = 0;

        for (size_t j = 0; j < n && agree(&probes[i], with); j++)
            as_long += agree(&probes[j], with) && probes[j].pttl_ms >= probes[i].pttl_ms;
        if (as_long >= quorum && (best == NULL || probes[i].pttl_ms >= best->pttl_ms))
            best = &probes[i];
    }
    return best != NULL ? best->pttl_ms : 0;
}

struct verdict verdict_of(const struct probe *probes, size_t n, size_t quorum)
{
    struct verdict verdict = {.quorum = quorum};
    const struct probe *holder = NULL;

    for (size_t i = 0; i < n; i++) {
        size_t count = agreeing(probes, n, &probes[i]);

        verdict.answered += probes[i].answered;
        verdict.present += probes[i].answered && probes[i].exists;
        if (count > verdict.most) {
            verdict.most = count;
            holder = &probes[i];
        }
    }
    verdict.value = holder != NULL ? holder->value : NULL;
    if (verdict.most >= verdict.quorum) {
        verdict.kind = VERDICT_HELD;
        verdict.pttl_ms = quorum_pttl(probes, n, holder, verdict.quorum);
        verdict.holders[verdict.n_holders++] = (struct verdict_holder){holder->value, 'x', verdict.pttl_ms};
    } else if (verdict.most + (n - verdict.answered) >= verdict.quorum) {
        verdict.kind = VERDICT_UNKNOWN;
    } else {
        verdict.kind = verdict.present == 0 ? VERDICT_FREE : VERDICT_SPLIT;
    }
    return verdict;
}

const char *verdict_name(enum verdict_kind kind)
{
    static const char *const names[] = {"held", "free", "split", "unknown", "shared", "upgrading", "foreign"};

    return names[kind];
}
