/* IMPLEMENTATION NOTES
 *
 *     BEGIN -> TELL (the newest view again, under the run's own turn)
 *           -> WAIT -> AGAIN, if there is a list before it that locks may live by
 *           -> PREPARE, until new members and a quorum of the next list vote
 *           -> TELL (the next view) -> WAIT -> AGAIN -> ... -> TELL (the goal, with nothing before it) -> DONE
 *
 * Stages go by how many members have come how far (change_round.c). A step back is made at the end of any round. Its
 * view is like any other: it has the list that is given up before it, and has to stand. */
#include "votes/change.h"

#include <assert.h>
#include <string.h>

#include "votes/change_round.h"
#include "votes/plan.h"
#include "votes/quorum.h"

#define PAUSE_MS 250
#define MARGIN_MS 1000
#define DEAD_ROUNDS 8 /* in which a master has not answered */
#define NAME_ROUNDS 20 /* in which a new name is not seen to lead to its master */

/* --- The beginning ------------------------------------------------------------------------------------------------ */

void rl_change_start(struct rl_change *change, const struct rl_view *present, const struct rl_member_list *goal,
                     const struct rl_member_list *former, const char *run, const struct rl_drift_rule *drift,
                     void (*name_list)(void *ctx, struct rl_member_list *list), void *ctx)
{
    memset(change, 0, sizeof *change);
    change->view = change->known = *present;
    change->wanted = *goal;
    if (former)
        change->former = *former;
    change->drift = *drift;
    change->turn = present->epoch.turn + 1;
    change->name_list = name_list;
    change->ctx = ctx;
    change->until = change->stands_at = change->looked_at = RL_LONG_AGO;
    memcpy(change->run, run, sizeof change->run);
    name_list(ctx, &change->wanted);
    rl_change_add(change, &present->list);
    rl_change_add(change, &present->before);
    rl_change_take_names(change);
    rl_change_add(change, &change->goal);
    rl_change_see(change, present);
    rl_change_begin_round(change);
}

/* --- Who counts --------------------------------------------------------------------------------------------------- */

static bool votes(const struct rl_change_master *master)
{
    return master->begun && !master->forgot && !master->silent;
}

static bool has_view(const struct rl_change_master *master)
{
    return master->has_view;
}

static bool is_strange(const struct rl_change_master *master)
{
    return master->answered && master->event == RL_JOIN_MISMATCH;
}

static bool has_refused(const struct rl_change_master *master)
{
    return master->refused;
}

static size_t count_members(struct rl_change *change, const struct rl_member_list *list,
                            bool (*counts)(const struct rl_change_master *master))
{
    size_t n = 0;

    for (size_t i = 0; i < list->n; i++) {
        const struct rl_change_master *master = rl_change_find(change, list->members[i].node_id);

        n += master && counts(master);
    }
    return n;
}

size_t rl_change_count_told(const struct rl_change *change)
{
    return count_members((struct rl_change *)(uintptr_t)change, &change->view.list, has_view);
}

/* Members of the list that are not to be expected to vote: never heard of, or silent for long. */
static uint64_t dead_masters(struct rl_change *change)
{
    uint64_t dead = 0;

    for (size_t i = 0; i < change->view.list.n; i++) {
        const struct rl_change_master *master = rl_change_find(change, change->view.list.members[i].node_id);

        dead |= !master || !master->heard || master->silent >= DEAD_ROUNDS ? UINT64_C(1) << i : 0;
    }
    return dead;
}

/* For so long a view stands: nothing is alive then of the list before. */
static struct rl_span standing_time(const struct rl_change *change, uint32_t longest_ms)
{
    struct rl_span drift;

    for (size_t i = 0; i < change->n; i++) {
        if (change->masters[i].longest_ms > longest_ms)
            longest_ms = change->masters[i].longest_ms;
    }
    drift = rl_drift(&change->drift, longest_ms);
    return (struct rl_span){rl_ms(longest_ms + MARGIN_MS).ns + 2 * drift.ns};
}

int64_t rl_change_standing_ms(const struct rl_change *change, uint32_t longest_ms)
{
    return standing_time(change, longest_ms).ns / RL_NS_PER_MS;
}

/* When a quorum will have had the view for long enough; RL_NEVER: no quorum has it. */
static struct rl_instant standing_end(struct rl_change *change, bool checked)
{
    int64_t told[RL_MAX_NODES];
    size_t n = 0;

    for (size_t i = 0; i < change->view.list.n; i++) {
        const struct rl_change_master *master = rl_change_find(change, change->view.list.members[i].node_id);

        if (master && master->has_view && (!checked || master->checked))
            told[n++] = master->told_at.ns;
    }
    if (n < change->view.list.quorum)
        return RL_NEVER;
    return rl_after((struct rl_instant){rl_kth_largest(told, n, n + 1 - change->view.list.quorum)},
                    standing_time(change, 0));
}

/* --- Views -------------------------------------------------------------------------------------------------------- */

static void tell(struct rl_change *change)
{
    change->view.epoch.turn = change->turn;
    memcpy(change->view.epoch.run, change->run, sizeof change->run);
    change->view.epoch.step++;
    change->told_once = true;
    for (size_t i = 0; i < change->n; i++) {
        change->masters[i].has_view = change->masters[i].checked = false;
        change->masters[i].told_at = RL_NEVER;
    }
    change->stage = RL_CHANGE_TELL;
}

/* The view's own list comes first, then the one before it: when there is no room the oldest are forgotten. */
static void remember(struct rl_view *view, const char *list_id)
{
    size_t at = 0;

    while (at < view->n_history && !rl_same_text(view->history[at], list_id))
        at++;
    if (at == view->n_history && view->n_history < RL_HISTORY_MAX)
        view->n_history++;
    at = at < RL_HISTORY_MAX ? at : RL_HISTORY_MAX - 1;
    memmove(view->history[1], view->history[0], at * RL_ID_SIZE);
    memcpy(view->history[0], list_id, RL_ID_SIZE);
}

static void remember_seen(struct rl_change *change)
{
    struct rl_view *view = &change->view;

    for (size_t i = 0; i < change->n_seen && view->n_history < RL_HISTORY_MAX; i++) {
        if (!rl_view_remembers(view, change->seen[i]))
            memcpy(view->history[view->n_history++], change->seen[i], RL_ID_SIZE);
    }
}

/* The newest view again, by this run: nothing of another run can come behind it. */
static void tell_again(struct rl_change *change)
{
    remember_seen(change);
    change->view.epoch.step = 0;
    tell(change);
}

#define LEAD_OF_A_LIST_US (UINT64_C(2) * 24 * 3600 * 1000000)

/* The same masters under other names meet whatever the list before meets, and know all that it knew (rule 15.18). */
static void make_view(struct rl_change *change, const struct rl_member_list *next)
{
    if (!rl_lists_have_same(&change->view.list, next)) {
        change->view.before = change->view.list;
        change->view.lead_us += LEAD_OF_A_LIST_US;
    }
    change->view.list = *next;
    rl_change_take_names(change);
    remember(&change->view, next->id);
    remember_seen(change);
    tell(change);
}

/* Nothing is alive of the list before: the next run need not wait for its end. */
static void end_list_before(struct rl_change *change)
{
    memset(&change->view.before, 0, sizeof change->view.before);
    remember_seen(change);
    tell(change);
}

static bool is_goal(const struct rl_change *change)
{
    return rl_same_text(change->view.list.id, change->goal.id);
}

/* A step back to the list before is allowed at any time, if enough of its masters vote. */
static bool goes_back(struct rl_change *change)
{
    const struct rl_member_list *before = &change->view.before;

    return change->told_once && change->stage < RL_CHANGE_DONE && before->n && !is_goal(change) &&
           rl_same_text(before->id, change->goal.id) && count_members(change, before, votes) >= before->quorum;
}

static void go_back(struct rl_change *change)
{
    const struct rl_member_list before = change->view.before;

    make_view(change, &before);
}

bool rl_change_abort(struct rl_change *change)
{
    if (!change->view.before.n || is_goal(change) || change->stage >= RL_CHANGE_DONE)
        return false;
    change->goal = change->wanted = change->view.before;
    change->former.n = 0;
    change->until = RL_LONG_AGO;
    return true;
}

/* --- What follows ------------------------------------------------------------------------------------------------- */

static void pause_run(struct rl_change *change, struct rl_instant now)
{
    change->until = rl_after(now, rl_ms(PAUSE_MS));
}

static void stop_if_overtaken(struct rl_change *change, const struct rl_member_list *list)
{
    if (!change->why && list->n - count_members(change, list, has_refused) < list->quorum)
        change->why = "another change of the masters has taken over: so many follow it that no quorum is left";
}

/* A quorum of the next list votes, and everybody who is new to it. */
static bool next_votes(struct rl_change *change, const struct rl_member_list *next)
{
    for (size_t i = 0; i < next->n; i++) {
        const struct rl_change_master *master = rl_change_find(change, next->members[i].node_id);
        bool new = rl_list_find(&change->view.list, next->members[i].node_id) < 0;

        if (new && master && master->refused)
            rl_change_stop(change, master->member.name, "follows a later change of the masters, which has taken over",
                           "");
        if (new && (!master || !votes(master)))
            return false;
    }
    stop_if_overtaken(change, next);
    return count_members(change, next, votes) >= next->quorum;
}

/* The view has stood, or there is nothing before it. */
static void go_on(struct rl_change *change, struct rl_instant now)
{
    struct rl_member_list next;

    if (is_goal(change) && !change->view.before.n) {
        change->stage = RL_CHANGE_DONE;
        return;
    }
    if (is_goal(change)) {
        end_list_before(change);
        return;
    }
    memset(&next, 0, sizeof next);
    if (!rl_plan_next(&change->view.list, &change->goal, dead_masters(change), &next)) {
        change->why = rl_plan_none;
        return;
    }
    if (rl_change_names_proven(change, &next, ++change->name_rounds >= NAME_ROUNDS) && next_votes(change, &next)) {
        change->name_list(change->ctx, &next);
        make_view(change, &next);
        return;
    }
    change->stage = RL_CHANGE_PREPARE;
    pause_run(change, now);
}

/* A turn that somebody has refused is raised, and begins anew everywhere. */
static bool must_raise(struct rl_change *change)
{
    bool refused = false;

    for (size_t i = 0; i < change->n; i++)
        refused |= change->masters[i].answered && change->masters[i].refused;
    for (size_t i = 0; i < change->n && refused; i++) {
        change->masters[i].begun = change->masters[i].refused = false;
        change->rounds = 0;
    }
    return refused;
}

/* Markers that know no view name no masters: nobody can say what is written otherwise. */
static void stop_if_stranger(struct rl_change *change)
{
    const struct rl_member_list *list = &change->view.list;

    if (!change->why && !change->view.epoch.turn && list->n - count_members(change, list, is_strange) < list->quorum)
        change->why = "the masters have the markers of a list that is written otherwise: name them as the clients do, "
                      "letter for letter, with the same quorum and prefix";
}

/* Whoever is only late is waited for, for one more round. */
static void end_begin(struct rl_change *change, struct rl_instant now)
{
    bool all = true;

    stop_if_stranger(change);
    if (must_raise(change))
        return;
    for (size_t i = 0; i < change->n; i++)
        all = all && (change->masters[i].begun || rl_change_is_name(change, &change->masters[i]));
    change->rounds++;
    if (count_members(change, &change->view.list, votes) >= change->view.list.quorum && (all || change->rounds >= 3))
        tell_again(change);
    else
        pause_run(change, now);
}

static void await(struct rl_change *change, struct rl_instant now)
{
    bool missing = false;

    change->stage = RL_CHANGE_WAIT;
    for (size_t i = 0; i < change->n; i++)
        missing |= !change->masters[i].has_view && !rl_change_is_name(change, &change->masters[i]);
    change->until = missing ? rl_earlier(change->stands_at, rl_after(now, rl_ms(4 * PAUSE_MS))) : change->stands_at;
}

static void end_tell(struct rl_change *change, struct rl_instant now)
{
    change->stands_at = standing_end(change, false);
    if (change->stands_at.ns == RL_NEVER.ns) {
        change->stage = RL_CHANGE_TELL;
        pause_run(change, now);
    } else if (!change->view.before.n) {
        go_on(change, now);
    } else if (rl_before(now, change->stands_at)) {
        await(change, now);
    } else {
        change->stage = RL_CHANGE_AGAIN;
        change->looked_at = now;
        for (size_t i = 0; i < change->n; i++)
            change->masters[i].checked = false;
    }
}

/* Whoever has lost the view is told again, and a wait begins anew for as many as a quorum lacks. */
static void end_again(struct rl_change *change, struct rl_instant now)
{
    struct rl_instant end = standing_end(change, true);

    if (end.ns != RL_NEVER.ns && !rl_before(change->looked_at, end))
        go_on(change, now);
    else if (rl_before(change->looked_at, standing_end(change, false)))
        end_tell(change, now);
    else
        pause_run(change, now);
}

static void note_round(struct rl_change *change, struct rl_instant now)
{
    for (size_t i = 0; i < change->n; i++) {
        struct rl_change_master *master = &change->masters[i];

        if (master->answered)
            master->silent = 0;
        else if (master->asked)
            master->silent++;
        if (master->has_view && master->told_at.ns == RL_NEVER.ns)
            master->told_at = now;
    }
    if (change->told_once)
        stop_if_overtaken(change, &change->view.list);
}

static void take_step(struct rl_change *change, struct rl_instant now)
{
    switch (change->stage) {
    case RL_CHANGE_BEGIN:
        end_begin(change, now);
        break;
    case RL_CHANGE_TELL:
    case RL_CHANGE_WAIT:
        end_tell(change, now);
        break;
    case RL_CHANGE_AGAIN:
        end_again(change, now);
        break;
    case RL_CHANGE_PREPARE:
        go_on(change, now);
        break;
    case RL_CHANGE_DONE:
    case RL_CHANGE_STOPPED:
        break;
    }
}

void rl_change_end_round(struct rl_change *change, struct rl_instant now)
{
    change->until = now;
    note_round(change, now);
    if (!change->why)
        take_step(change, now);
    if (!change->why && goes_back(change))
        go_back(change);
    if (change->why)
        change->stage = RL_CHANGE_STOPPED;
    rl_change_begin_round(change);
}
