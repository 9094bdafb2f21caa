#include "cli/verdict.h"

#include <string.h>

#include "options/message.h"

static bool agree(const struct probe *a, const struct probe *b)
{
    return a->answered && b->answered && a->exists && b->exists && a->is_token && b->is_token &&
           a->value_hash == b->value_hash;
}

bool verdict_may_be_token(const char *value, size_t size, int64_t left_ms)
{
    bool has_blanks = false;

    for (size_t i = 0; i < size; i++)
        has_blanks |= strchr(" \t\r\n", value[i]) && value[i] != '\0';
    return left_ms != -1 && size > 0 && size <= REDLOCK_MAX_TOKEN_BYTES && !(has_blanks && is_utf8(value, size));
}

bool verdict_is_foreign(const struct probe *probe, const struct probe_votes *votes)
{
    if (!probe->answered || !probe->exists || probe->is_token)
        return false;
    return !votes || !votes->answered;
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
        if (as_long >= quorum && (!best || probes[i].pttl_ms >= best->pttl_ms))
            best = &probes[i];
    }
    return best ? best->pttl_ms : 0;
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
    verdict.value = holder ? holder->value : NULL;
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

/* --- Who shares a key, by the votes that the masters have shown --------------------------------------------------- */

/* The vote of the same value on another master; NULL: it has none. */
static const struct probe_vote *same(const struct probe_votes *votes, uint64_t value_hash)
{
    for (size_t i = 0; i < votes->n; i++)
        if (votes->votes[i].value_hash == value_hash)
            return &votes->votes[i];
    return NULL;
}

/* On how many masters a value has a vote, the mode that it has on all of them, and the masters before this one. */
struct share {
    size_t masters;
    size_t earlier;
    char mode; /* the weakest: while a downgrade is under way, masters differ */
    int64_t left_ms;
    bool upgraded; /* on one of them an exclusive vote stands beside it */
};

static bool has_exclusive(const struct probe_votes *votes)
{
    for (size_t i = 0; i < votes->n; i++)
        if (votes->votes[i].mode == 'x')
            return true;
    return false;
}

static struct share share_of(const struct probe_votes *votes, size_t n, size_t master, const struct probe_vote *vote)
{
    struct share share = {.mode = vote->mode, .left_ms = vote->left_ms};

    for (size_t i = 0; i < n; i++) {
        const struct probe_vote *found = same(&votes[i], vote->value_hash);

        if (!found)
            continue;
        share.masters++;
        share.earlier += i < master;
        share.mode = found->mode < share.mode ? found->mode : share.mode;
        share.upgraded |= found->mode == 'u' && has_exclusive(&votes[i]);
        share.left_ms = found->left_ms > share.left_ms ? found->left_ms : share.left_ms;
    }
    return share;
}

/* Each value is counted once, where it stands first. */
static void count(struct verdict *verdict, const struct probe_vote *vote, const struct share *share)
{
    if (share->earlier > 0)
        return;
    verdict->most = share->masters > verdict->most ? share->masters : verdict->most;
    if (share->masters < verdict->quorum)
        return;
    verdict->sharers++;
    if (verdict->n_holders < PROBE_VOTES_SHOWN)
        verdict->holders[verdict->n_holders++] = (struct verdict_holder){vote->value, share->mode, share->left_ms};
    if (share->mode != 'r')
        verdict->value = vote->value;
    verdict->exclusive |= share->mode == 'x';
    verdict->upgrading |= share->mode == 'u' && share->upgraded;
    verdict->pttl_ms = share->left_ms > verdict->pttl_ms ? share->left_ms : verdict->pttl_ms;
}

void shares_judge(struct verdict *verdict, const struct probe *probes, const struct probe_votes *votes, size_t n)
{
    size_t silent = n - verdict->answered;

    for (size_t i = 0; i < n; i++)
        verdict->foreign += verdict_is_foreign(&probes[i], &votes[i]);
    if (verdict->kind == VERDICT_HELD)
        return;
    verdict->value = NULL; /* no string's, but that of an upgradeable or exclusive vote */
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < votes[i].n; j++) {
            const struct share share = share_of(votes, n, i, &votes[i].votes[j]);

            count(verdict, &votes[i].votes[j], &share);
        }
    if (verdict->sharers > 0)
        verdict->kind = verdict->exclusive ? VERDICT_HELD : verdict->upgrading ? VERDICT_UPGRADING : VERDICT_SHARED;
    else if (n - verdict->foreign < verdict->quorum)
        verdict->kind = VERDICT_FOREIGN;
    else if (verdict->most + silent >= verdict->quorum)
        verdict->kind = VERDICT_UNKNOWN;
}
