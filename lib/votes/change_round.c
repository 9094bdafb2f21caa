/* IMPLEMENTATION NOTES
 *
 * Of each master the run knows how far it is: absent -> greeted -> begun -> has the view. Every round asks each one for
 * its next step, in whatever stage the run is. */
#include "votes/change_round.h"

#include <assert.h>
#include <string.h>

struct rl_change_master *rl_change_find(struct rl_change *change, const char *node_id)
{
    for (size_t i = 0; i < change->n; i++) {
        if (rl_same_text(change->masters[i].member.node_id, node_id))
            return &change->masters[i];
    }
    return NULL;
}

void rl_change_add(struct rl_change *change, const struct rl_member_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        struct rl_change_master *master = &change->masters[change->n];

        if (rl_change_find(change, list->members[i].node_id) || change->n == 2 * RL_MAX_NODES)
            continue;
        *master = (struct rl_change_master){.member = list->members[i], .told_at = RL_NEVER};
        change->n++;
    }
}

void rl_change_see(struct rl_change *change, const struct rl_view *view)
{
    for (size_t i = 0; i < view->n_history && change->n_seen < RL_HISTORY_MAX; i++) {
        bool known = false;

        for (size_t j = 0; j < change->n_seen; j++)
            known |= rl_same_text(change->seen[j], view->history[i]);
        if (!known)
            memcpy(change->seen[change->n_seen++], view->history[i], RL_ID_SIZE);
    }
}

/* --- Questions ---------------------------------------------------------------------------------------------------- */

/* A view that is brought to an empty memory must be known to another one. */
const struct rl_view *rl_change_view(const struct rl_change *change, size_t i)
{
    return change->masters[i].mode == RL_JOIN_VOTE ? &change->known : &change->view;
}

static bool next_step(const struct rl_change *change, const struct rl_change_master *master,
                      enum rl_join_mode *ret_mode)
{
    *ret_mode = master->absent || master->left_ms > 0 ? RL_JOIN_VOTE : master->begun ? RL_JOIN_TELL : RL_JOIN_BEGIN;
    if (master->absent || !master->begun)
        return true;
    if (change->told_once)
        return !master->has_view;
    *ret_mode = RL_JOIN_BEGIN;
    return master->forgot;
}

void rl_change_begin_round(struct rl_change *change)
{
    bool looks = change->stage == RL_CHANGE_AGAIN || change->stage == RL_CHANGE_PREPARE;

    for (size_t i = 0; i < change->n; i++) {
        struct rl_change_master *master = &change->masters[i];

        master->answered = false;
        master->asked = change->stage < RL_CHANGE_DONE && next_step(change, master, &master->mode);
        if (!looks || master->asked)
            continue;
        master->mode = RL_JOIN_BEGIN;
        master->asked = !master->absent;
    }
}

bool rl_change_question(const struct rl_change *change, size_t i, enum rl_join_mode *ret_mode)
{
    *ret_mode = change->masters[i].mode;
    return change->masters[i].asked;
}

void rl_change_fill(const struct rl_change *change, size_t i, struct rl_join_question *question)
{
    const struct rl_change_master *master = &change->masters[i];

    question->mode = master->mode;
    question->list_id = rl_slice_of(rl_change_view(change, i)->list.id);
    question->node_id = rl_slice_of(master->member.node_id);
    if (master->mode == RL_JOIN_BEGIN) {
        question->known.number = (int64_t)change->turn;
        question->told = rl_slice_of(change->run);
    } else if (master->mode == RL_JOIN_TELL) {
        question->told = rl_slice_of(master->incarnation);
    }
}

size_t rl_change_text(const struct rl_view *view, char buffer[RL_VIEW_TEXT_MAX])
{
    size_t size = view->epoch.turn ? rl_view_format(view, buffer, RL_VIEW_TEXT_MAX - 1) : 0;

    buffer[size] = '\0';
    return size;
}

/* --- Answers ------------------------------------------------------------------------------------------------------ */

/* "NAME WHAT" */
static void put_words(char words[RL_CHANGE_WORDS_MAX], const char *name, const char *what)
{
    size_t size = strlen(name);

    assert(size + 1 + strlen(what) < RL_CHANGE_WORDS_MAX);
    memcpy(words, name, size);
    words[size] = ' ';
    memcpy(words + size + 1, what, strlen(what) + 1);
}

void rl_change_stop(struct rl_change *change, const struct rl_change_master *master, const char *what)
{
    if (change->why)
        return;
    put_words(change->words, master->member.name, what);
    change->why = change->words;
}

/* A view that the run has not made. Before its first TELL the run goes on from the newest one. */
static void meet_view(struct rl_change *change, const struct rl_change_master *master, const struct rl_view *met)
{
    rl_change_see(change, met);
    if (rl_epoch_compare(&met->epoch, &change->view.epoch) <= 0)
        return;
    if (change->told_once) {
        rl_change_stop(change, master, "follows another change of the masters, which has taken over");
        return;
    }
    change->view = change->known = *met;
    rl_change_add(change, &met->list);
    rl_change_add(change, &met->before);
}

/* Forgets what the run has done there: the master has to be begun, or greeted, again. */
static void forget(struct rl_change_master *master)
{
    master->begun = master->has_view = master->checked = false;
    master->told_at = RL_NEVER;
}

/* The goal has it, and the run's view does not. */
static bool is_newcomer(const struct rl_change *change, const struct rl_change_master *master)
{
    const char *node_id = master->member.node_id;

    return rl_list_find(&change->goal, node_id) >= 0 && rl_list_find(&change->view.list, node_id) < 0 &&
           rl_list_find(&change->view.before, node_id) < 0;
}

static void note_marker(struct rl_change *change, struct rl_change_master *master, const struct rl_join_report *report)
{
    bool known = report->event == RL_JOIN_KEPT || report->event == RL_JOIN_RESUMED;
    bool same = rl_same_text(master->incarnation, report->incarnation);

    master->absent = report->event == RL_JOIN_ABSENT ||
                     (report->event == RL_JOIN_RESTARTED && master->mode != RL_JOIN_VOTE);
    master->refused = report->event == RL_JOIN_OVERRULED || report->event == RL_JOIN_OUTDATED;
    master->forgot = !rl_join_found_marker(report->event) || master->absent || master->left_ms > 0;
    if (report->event == RL_JOIN_MISMATCH && is_newcomer(change, master))
        rl_change_stop(change, master, "has the marker of another deployment: it must not be a new member of this one");
    if (report->event == RL_JOIN_MISPLACED && is_newcomer(change, master))
        rl_change_stop(change, master, "leads to a server that is another master of this deployment");
    if (!known || (!same && master->mode != RL_JOIN_TELL))
        forget(master);
    memcpy(master->incarnation, report->incarnation, sizeof master->incarnation);
    master->begun |= known && master->mode == RL_JOIN_BEGIN && !master->forgot;
}

void rl_change_answer(struct rl_change *change, size_t i, const struct rl_join_report *report, struct rl_slice view)
{
    struct rl_change_master *master = &change->masters[i];
    struct rl_view met;
    bool same;

    if (!master->asked)
        return;
    master->answered = master->heard = true;
    master->event = report->event;
    master->left_ms = report->left_ms;
    master->longest_ms = report->longest_ms;
    master->turn = 0;
    note_marker(change, master, report);
    if (!change->told_once && master->refused && report->turn >= change->turn)
        change->turn = report->turn + 1;
    if (!view.size || !rl_view_parse(view, &met)) {
        master->has_view = false;
        return;
    }
    master->turn = met.epoch.turn;
    same = change->told_once && rl_epoch_compare(&met.epoch, &change->view.epoch) == 0;
    if (same)
        change->known = change->view;
    else
        meet_view(change, master, &met);
    if (change->stage == RL_CHANGE_AGAIN || change->stage == RL_CHANGE_PREPARE)
        master->checked = same && master->has_view && master->mode == RL_JOIN_BEGIN && !master->forgot;
    master->has_view = same && master->begun && !master->forgot && (master->has_view || master->mode == RL_JOIN_TELL);
}
