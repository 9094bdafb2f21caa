#include "cli/verdict.h"

static bool agree(const struct probe *a, const struct probe *b)
{
    return a->answered && b->answered && a->exists && b->exists && a->is_text && b->is_text &&
           a->value_hash == b->value_hash;
}

static size_t agreeing(const struct probe *probes, size_t n, const struct probe *with)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += agree(&probes[i], with);
    return count;
}

/* A key that never expires outlives all others. */
static bool lives_at_least(const struct probe *probe, int64_t pttl_ms)
{
    return probe->pttl_ms == -1 || (pttl_ms != -1 && probe->pttl_ms >= pttl_ms);
}

/* The q-th largest time to live among those that agree: until then a quorum has the value. */
static int64_t quorum_pttl(const struct probe *probes, size_t n, const struct probe *with, size_t quorum)
{
    const struct probe *best = NULL;

    for (size_t i = 0; i < n; i++) {
        size_t as_long = 0;

        for (size_t j = 0; j < n && agree(&probes[i], with); j++)
            as_long += agree(&probes[j], with) && lives_at_least(&probes[j], probes[i].pttl_ms);
        if (as_long >= quorum && (best == NULL || lives_at_least(&probes[i], best->pttl_ms)))
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
    } else if (verdict.most + (n - verdict.answered) >= verdict.quorum) {
        verdict.kind = VERDICT_UNKNOWN;
    } else {
        verdict.kind = verdict.present == 0 ? VERDICT_FREE : VERDICT_SPLIT;
    }
    return verdict;
}

const char *verdict_name(enum verdict_kind kind)
{
    static const char *const names[] = {"held", "free", "split", "unknown", "shared", "upgrading"};

    return names[kind];
}
