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

static struct rl_change_master *find_name(struct rl_change *change, const char *name, bool other_name)
{
    for (size_t i = 0; i < change->n; i++) {
        struct rl_change_master *master = &change->masters[i];

        if ((*master->other_name_of != '\0') == other_name && rl_same_text(master->member.name, name))
            return master;
    }
    return NULL;
}

static struct rl_change_master *add(struct rl_change *change, const struct rl_member *member)
{
    struct rl_change_master *master = &change->masters[change->n];

    if (change->n == 2 * RL_MAX_NODES)
        return NULL;
    *master = (struct rl_change_master){.member = *member, .told_at = RL_NEVER};
    change->n++;
    return master;
}

/* A master that was known by its name alone has the node id that the list has for it. */
void rl_change_add(struct rl_change *change, const struct rl_member_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct rl_member *member = &list->members[i];
        struct rl_change_master *named = find_name(change, member->name, false);

        if (rl_change_find(change, member->node_id))
            continue;
        if (named)
            *named = (struct rl_change_master){.member = *member, .told_at = RL_NEVER};
        else
            add(change, member);
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

/* --- Names -------------------------------------------------------------------------------------------------------- */

/* Under its own id a name would be greeted as a master. A UUID of this version is nobody's. */
static void look_at(struct rl_change *change, const struct rl_member *named, const char *node_id)
{
    struct rl_change_master *name = find_name(change, named->name, true);

    name = name ? name : add(change, named);
    if (!name)
        return;
    name->member.node_id[14] = '0';
    memcpy(name->other_name_of, node_id, RL_ID_SIZE);
}

static const struct rl_member *find_member(const struct rl_view *view, const char *name)
{
    int at = rl_list_find_name(&view->list, name);

    if (at >= 0)
        return &view->list.members[at];
    at = rl_list_find_name(&view->before, name);
    return at >= 0 ? &view->before.members[at] : NULL;
}

/* The master has its id from the list in which it was first heard of, and the run's view has another one for the name:
 * greeted under the first, an empty memory would be nobody's. */
bool rl_change_is_name(const struct rl_change *change, const struct rl_change_master *master)
{
    const struct rl_member *known = find_member(&change->view, master->member.name);

    return *master->other_name_of || (known && !rl_same_text(known->node_id, master->member.node_id));
}

/* A program that is configured with the name of one master would take the other one for it. */
static void refuse_if_taken(struct rl_change *change, const struct rl_member *wanted, const struct rl_member *known)
{
    int at = rl_list_find(&change->view.list, wanted->node_id);

    if (at < 0 || (known && rl_same_text(known->node_id, wanted->node_id)))
        return;
    rl_change_stop(change, wanted->name, "was the name of a master before that now is ",
                   change->view.list.members[at].name);
}

static void name_masters(struct rl_change *change)
{
    for (size_t i = 0; i < change->view.list.n; i++) {
        struct rl_change_master *master = rl_change_find(change, change->view.list.members[i].node_id);

        if (master)
            master->member = change->view.list.members[i];
    }
}

void rl_change_take_names(struct rl_change *change)
{
    name_masters(change);
    change->goal = change->wanted;
    for (size_t i = 0; i < change->goal.n; i++) {
        const struct rl_member *wanted = &change->wanted.members[i];
        const struct rl_member *known = find_member(&change->view, wanted->name);
        const struct rl_member *former =
            change->former.n && !known ? find_member(&change->view, change->former.members[i].name) : NULL;

        known = known ? known : former;
        refuse_if_taken(change, wanted, known);
        if (former)
            look_at(change, wanted, former->node_id);
        if (known)
            memcpy(change->goal.members[i].node_id, known->node_id, RL_ID_SIZE);
    }
}

/* The goal has it, and the run's view does not. */
static bool is_newcomer(const struct rl_change *change, const struct rl_change_master *master)
{
    const char *node_id = master->member.node_id;

    return rl_list_find(&change->goal, node_id) >= 0 && rl_list_find(&change->view.list, node_id) < 0 &&
           rl_list_find(&change->view.before, node_id) < 0;
}

/* A master that was seen at the same server as the name, and is not the one with the id `but`; NULL. */
static const struct rl_change_master *find_at_server(const struct rl_change *change,
                                                     const struct rl_change_master *name, const char *but)
{
    for (size_t i = 0; i < change->n && *name->run_id; i++) {
        const struct rl_change_master *other = &change->masters[i];

        if (other != name && !rl_change_is_name(change, other) && !rl_same_text(other->member.node_id, but) &&
            rl_same_text(other->run_id, name->run_id))
            return other;
    }
    return NULL;
}

/* The name leads to the server of another master; or else `what` is wrong with it, as far as `of` is concerned. */
static void refuse_name(struct rl_change *change, const struct rl_change_master *name, const char *what, const char *of)
{
    const struct rl_change_master *other = find_at_server(change, name, name->other_name_of);

    change->name = name->member.name;
    if (other) {
        change->name_of = other->member.name;
        rl_change_stop(change, change->name, "is another name of ", change->name_of);
    } else {
        rl_change_stop(change, change->name, what, of);
    }
}

void rl_change_find_spelling(struct rl_change *change)
{
    for (size_t i = 0; i < change->n; i++) {
        const struct rl_change_master *asked = &change->masters[i];
        const struct rl_change_master *member = find_at_server(change, asked, "");

        if (!member || rl_list_find_name(&change->view.list, asked->member.name) >= 0 ||
            rl_list_find(&change->view.list, member->member.node_id) < 0)
            continue;
        change->name = asked->member.name;
        change->name_of = member->member.name;
    }
}

/* The handshake of a name ends when the marker of another master has been seen: no round asks that name. */
void rl_change_note_name(struct rl_change *change, size_t i, const struct rl_join_report *report)
{
    struct rl_change_master *master = &change->masters[i];

    if (!*master->other_name_of && master->heard && report->event != RL_JOIN_MISPLACED)
        return;
    master->event = report->event;
    memcpy(master->incarnation, report->incarnation, sizeof master->incarnation);
    memcpy(master->run_id, report->run_id, sizeof master->run_id);
}

/* A copy of a memory has its incarnation, too, but it is another server's. */
static bool is_proven(struct rl_change *change, const struct rl_change_master *name, bool last)
{
    const struct rl_change_master *master = rl_change_find(change, name->other_name_of);
    bool same_server = master && rl_same_text(name->run_id, master->run_id);

    if (!master || !*name->run_id || !*master->run_id) {
        if (last && master)
            refuse_name(change, name, *name->run_id ? "cannot be compared: there is no answer from "
                                                    : "does not answer, and is not seen to be ",
                        master->member.name);
        return false;
    }
    if (!same_server)
        refuse_name(change, name, "leads to another server than ", master->member.name);
    else if (name->event != RL_JOIN_MISPLACED || !rl_same_text(name->incarnation, master->incarnation)) {
        if (last)
            refuse_name(change, name, "shows another memory than ", master->member.name);
        return false;
    }
    return same_server;
}

/* The server is a master of this deployment. Which one it is may still have to be heard. */
static bool is_free(struct rl_change *change, const struct rl_change_master *newcomer, bool last)
{
    if (newcomer->event == RL_JOIN_MISPLACED && (last || find_at_server(change, newcomer, "")))
        refuse_name(change, newcomer, "leads to a server that is another master of this deployment", "");
    return newcomer->event != RL_JOIN_MISPLACED;
}

bool rl_change_names_proven(struct rl_change *change, const struct rl_member_list *next, bool last)
{
    bool proven = true;

    for (size_t i = 0; i < change->n; i++) {
        const struct rl_change_master *name = &change->masters[i];

        if (rl_list_find_name(next, name->member.name) < 0 ||
            rl_list_find_name(&change->view.list, name->member.name) >= 0)
            continue;
        if (*name->other_name_of)
            proven = is_proven(change, name, last) && proven;
        else if (is_newcomer(change, name))
            proven = is_free(change, name, last) && proven;
    }
    return proven;
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
    bool greets = master->absent || master->left_ms > 0;

    if (rl_change_is_name(change, master))
        return false;
    greets = greets && (change->told_once || !is_newcomer(change, master));
    *ret_mode = greets ? RL_JOIN_VOTE : master->begun ? RL_JOIN_TELL : RL_JOIN_BEGIN;
    if (master->absent || !master->begun)
        return true;
    if (change->told_once)
        return !master->has_view;
    *ret_mode = RL_JOIN_BEGIN;
    return master->forgot;
}

/* Nothing is written to a newcomer before the run has seen that the list is the masters'. */
bool rl_change_looks(const struct rl_change *change, size_t i)
{
    const struct rl_change_master *master = &change->masters[i];

    return rl_change_is_name(change, master) || (!change->told_once && is_newcomer(change, master));
}

void rl_change_begin_round(struct rl_change *change)
{
    bool looks = change->stage == RL_CHANGE_AGAIN || change->stage == RL_CHANGE_PREPARE;

    for (size_t i = 0; i < change->n; i++) {
        struct rl_change_master *master = &change->masters[i];

        master->answered = false;
        master->asked = change->stage < RL_CHANGE_DONE && next_step(change, master, &master->mode);
        if (!looks || master->asked || rl_change_is_name(change, master))
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

void rl_change_stop(struct rl_change *change, const char *name, const char *what, const char *of)
{
    const struct rl_slice parts[] = {
        {name, rl_name_shown_size(name)}, {" ", 1}, {what, strlen(what)}, {of, rl_name_shown_size(of)}};
    size_t size = 0;

    if (change->why)
        return;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        assert(size + parts[i].size < RL_CHANGE_WORDS_MAX);
        memcpy(change->words + size, parts[i].data, parts[i].size);
        size += parts[i].size;
    }
    change->words[size] = '\0';
    change->why = change->words;
}

/* A view that the run has not made. Before its first TELL the run goes on from the newest one. */
static void meet_view(struct rl_change *change, const struct rl_change_master *master, const struct rl_view *met)
{
    rl_change_see(change, met);
    if (rl_epoch_compare(&met->epoch, &change->view.epoch) <= 0)
        return;
    if (change->told_once) {
        rl_change_stop(change, master->member.name, "follows another change of the masters, which has taken over", "");
        return;
    }
    change->view = change->known = *met;
    rl_change_add(change, &met->list);
    rl_change_add(change, &met->before);
    rl_change_take_names(change);
}

/* Forgets what the run has done there: the master has to be begun, or greeted, again. */
static void forget(struct rl_change_master *master)
{
    master->begun = master->has_view = master->checked = false;
    master->told_at = RL_NEVER;
}

static void note_marker(struct rl_change *change, struct rl_change_master *master, const struct rl_join_report *report)
{
    bool known = report->event == RL_JOIN_KEPT || report->event == RL_JOIN_RESUMED;

    master->absent = report->event == RL_JOIN_ABSENT ||
                     (report->event == RL_JOIN_RESTARTED && master->mode != RL_JOIN_VOTE);
    master->refused &= change->told_once && master->mode == RL_JOIN_BEGIN; /* until the view is taken */
    master->refused |= report->event == RL_JOIN_OVERRULED || report->event == RL_JOIN_OUTDATED;
    master->forgot = !rl_join_found_marker(report->event) || master->absent || master->left_ms > 0;
    /* Before that it may be a member whose name is spelled otherwise. */
    if (report->event == RL_JOIN_MISMATCH && change->told_once && is_newcomer(change, master))
        rl_change_stop(change, master->member.name,
                       "has the marker of another deployment: it must not be a new member of this one", "");
    if (!known || (master->mode != RL_JOIN_TELL && !rl_same_text(master->incarnation, report->incarnation)))
        forget(master);
    memcpy(master->incarnation, report->incarnation, sizeof master->incarnation);
    memcpy(master->run_id, report->run_id, sizeof master->run_id);
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
