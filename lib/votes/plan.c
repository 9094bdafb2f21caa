#include "votes/plan.h"

#include <string.h>

const char rl_plan_none[] = "there is no list between these two: change one master after the other";

static size_t common_part(const struct rl_member_list *a, const struct rl_member_list *b, struct rl_member_list *ret)
{
    for (size_t i = 0; i < a->n; i++) {
        if (rl_list_find(b, a->members[i].node_id) >= 0)
            ret->members[ret->n++] = a->members[i];
    }
    return ret->n;
}

static bool unite(const struct rl_member_list *a, const struct rl_member_list *b, struct rl_member_list *ret)
{
    *ret = *a;
    for (size_t i = 0; i < b->n; i++) {
        if (rl_list_find(a, b->members[i].node_id) >= 0)
            continue;
        if (ret->n == RL_MAX_NODES)
            return false;
        ret->members[ret->n++] = b->members[i];
    }
    return true;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Members of the list that are not known to be dead, less its quorum. */
static int spare(const struct rl_member_list *list, const struct rl_member_list *from, uint64_t dead)
{
    int voting = 0;

    for (size_t i = 0; i < list->n; i++) {
        int at = rl_list_find(from, list->members[i].node_id);

        voting += at < 0 || !(dead >> at & 1);
    }
    return voting - list->quorum;
}

/* q = max(N - q, N' - q', floor(C / 2)) + 1 */
static bool common_list(const struct rl_member_list *from, const struct rl_member_list *goal,
                        struct rl_member_list *ret)
{
    size_t size;
    size_t quorum;

    memset(ret, 0, sizeof *ret);
    size = common_part(from, goal, ret);
    quorum = larger(larger((size_t)from->n - from->quorum, (size_t)goal->n - goal->quorum), size / 2) + 1;
    ret->quorum = (uint8_t)quorum;
    return quorum <= size;
}

/* q = max(U - min(q, q'), floor(U / 2)) + 1 */
static bool united_list(const struct rl_member_list *from, const struct rl_member_list *goal,
                        struct rl_member_list *ret)
{
    size_t smaller = from->quorum < goal->quorum ? from->quorum : goal->quorum;

    if (!unite(from, goal, ret))
        return false;
    ret->quorum = (uint8_t)(larger((size_t)ret->n - smaller, (size_t)ret->n / 2) + 1);
    return true;
}

bool rl_plan_next(const struct rl_member_list *from, const struct rl_member_list *goal, uint64_t dead,
                  struct rl_member_list *ret_next)
{
    struct rl_member_list common;
    struct rl_member_list united;
    bool has_common;
    bool has_united;
    int more;

    if (rl_lists_meet(from, goal)) {
        *ret_next = *goal;
        return true;
    }
    has_common = common_list(from, goal, &common);
    has_united = united_list(from, goal, &united);
    if (!has_common && !has_united)
        return false;
    more = has_common && has_united ? spare(&common, from, dead) - spare(&united, from, dead) : has_common ? 1 : -1;
    *ret_next = more > 0 || (more == 0 && dead) ? common : united; /* votes of the dead are given up, others are not */
    return true;
}
