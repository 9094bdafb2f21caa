/* Views as text, quorums that meet, and plans from one list of masters to another. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "suite.h"
#include "votes/change.h"
#include "votes/change_round.h"
#include "votes/plan.h"
#include "votes/quorum.h"
#include "votes/view.h"

/* Masters are digits: "012/2". */
static struct rl_member_list list_of(const char *text)
{
    struct rl_member_list list;

    memset(&list, 0, sizeof list);
    for (; *text != '/'; text++) {
        struct rl_member *member = &list.members[list.n++];

        snprintf(member->node_id, sizeof member->node_id, "00000000-0000-4000-8000-00000000000%c", *text);
        snprintf(member->name, sizeof member->name, "host-%c:6379/0", *text);
    }
    list.quorum = (uint8_t)(text[1] - '0');
    snprintf(list.id, sizeof list.id, "00000000-0000-4000-9000-00000000%d%03d", list.quorum % 10, list.n);
    return list;
}

static void spell(const struct rl_member_list *list, char *ret_text)
{
    size_t n = 0;

    for (char digit = '0'; digit <= '9'; digit++) {
        char id[RL_ID_SIZE];

        snprintf(id, sizeof id, "00000000-0000-4000-8000-00000000000%c", digit);
        if (rl_list_find(list, id) >= 0)
            ret_text[n++] = digit;
    }
    sprintf(ret_text + n, "/%d", list->quorum);
}

static struct rl_view view_of(const char *list, const char *before)
{
    struct rl_view view;

    memset(&view, 0, sizeof view);
    view.epoch = (struct rl_epoch){7, "0123456789abcdef", 2};
    view.lead_us = 172800000000;
    view.list = list_of(list);
    if (before)
        view.before = list_of(before);
    memcpy(view.history[view.n_history++], view.list.id, RL_ID_SIZE);
    if (before)
        memcpy(view.history[view.n_history++], view.before.id, RL_ID_SIZE);
    return view;
}

/* --- Text --------------------------------------------------------------------------------------------------------- */

GROUP(as_text, "text", NULL, NULL)

static void expect_same_list(const struct rl_member_list *a, const struct rl_member_list *b)
{
    ck_assert_str_eq(a->id, b->id);
    ck_assert_uint_eq(a->n, b->n);
    ck_assert_uint_eq(a->quorum, b->quorum);
    ck_assert_mem_eq(a->members, b->members, sizeof a->members);
}

static void expect_same(const struct rl_view *view)
{
    static char buffer[RL_VIEW_TEXT_MAX];
    size_t size = rl_view_format(view, buffer, sizeof buffer);
    static struct rl_view read;

    ck_assert_uint_gt(size, 0);
    ck_assert(rl_view_parse((struct rl_slice){buffer, size}, &read));
    ck_assert_int_eq(rl_epoch_compare(&read.epoch, &view->epoch), 0);
    ck_assert_uint_eq(read.lead_us, view->lead_us);
    ck_assert_uint_eq(read.n_history, view->n_history);
    ck_assert_mem_eq(read.history, view->history, sizeof read.history);
    expect_same_list(&read.list, &view->list);
    expect_same_list(&read.before, &view->before);
}

TEST(as_text, a_view_is_the_same_after_it_has_been_written_and_read)
{
    struct rl_view view = view_of("013/2", "01/2");

    expect_same(&view);
    view = view_of("013/2", NULL);
    expect_same(&view);
}

TEST(as_text, a_buffer_that_is_too_small_holds_no_view)
{
    struct rl_view view = view_of("013/2", "01/2");
    char buffer[RL_VIEW_TEXT_MAX];
    size_t size = rl_view_format(&view, buffer, sizeof buffer);

    for (size_t room = 0; room <= size; room++)
        ck_assert_uint_eq(rl_view_format(&view, buffer, room), 0);
    ck_assert_uint_eq(rl_view_format(&view, buffer, size + 1), size);
}

TEST(as_text, what_is_cut_off_anywhere_is_no_view)
{
    struct rl_view view = view_of("013/2", "01/2");
    struct rl_view read;
    char buffer[RL_VIEW_TEXT_MAX];
    size_t size = rl_view_format(&view, buffer, sizeof buffer);
    size_t taken = 0;

    for (size_t cut = 0; cut < size; cut++)
        taken += rl_view_parse((struct rl_slice){buffer, cut}, &read);
    ck_assert_uint_le(taken, strlen("host-1:6379/0") - 1); /* a name may be shorter */
}

static const struct {
    const char *from, *to;
} spoiled[] = {
    {"7 0123", "0 0123"},           {"7 0123", "9007199254740993 0123"}, {"7 0123", "x 0123"},
    {"cdef 2 ", "cdeF 2 "},         {"cdef 2 ", "cdef -1 "},             {"cdef 2 ", "cde 2 "},
    {" 2 0000", " 1000001 0000"},   {"0000 2 0000", "0000 1 0000"},          {"host-3", "host-1"},
    {"host-3:6379/0", "host\t3"},   {"000000000003=", "000000000001="},  {"=host-3:6379/0", ""},
    {"172800000000", "4503599627370497"}, {"host-1:6379/0,", "host-1:6379/0,,"},
    {"host-3:6379/0", "host-3:6379"}, {"host-3:6379/0", "host-3:6379/"}, {"host-3:6379/0", "/a%41/0"},
};

TESTS(as_text, a_view_with_a_field_that_cannot_be_is_not_read, 0, sizeof spoiled / sizeof spoiled[0])
{
    struct rl_view view = view_of("013/2", "01/2");
    struct rl_view read;
    char buffer[RL_VIEW_TEXT_MAX];
    char other[RL_VIEW_TEXT_MAX];
    const char *at;

    rl_view_format(&view, buffer, sizeof buffer);
    buffer[rl_view_format(&view, buffer, sizeof buffer)] = '\0';
    at = strstr(buffer, spoiled[_i].from);
    ck_assert_msg(at != NULL, "%s is not in %s", spoiled[_i].from, buffer);
    snprintf(other, sizeof other, "%.*s%s%s", (int)(at - buffer), buffer, spoiled[_i].to,
             at + strlen(spoiled[_i].from));
    ck_assert_msg(!rl_view_parse((struct rl_slice){other, strlen(other)}, &read), "%s", other);
}

TEST(as_text, epochs_are_compared_by_turn_run_and_step)
{
    const struct rl_epoch epochs[] = {{0, "", 0}, {1, "a", 2}, {1, "a", 3}, {1, "b", 1}, {2, "a", 1}};

    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < 5; j++) {
            int order = rl_epoch_compare(&epochs[i], &epochs[j]);

            ck_assert_int_eq((order > 0) - (order < 0), (i > j) - (i < j));
        }
    }
}

/* --- Quorums that meet -------------------------------------------------------------------------------------------- */

static struct rl_member_list list_of_mask(unsigned mask, unsigned quorum)
{
    char text[16];
    size_t n = 0;

    for (unsigned i = 0; i < 6; i++) {
        if (mask >> i & 1)
            text[n++] = (char)('0' + i);
    }
    sprintf(text + n, "/%u", quorum);
    return list_of(text);
}

static unsigned count(unsigned mask)
{
    return rl_count_bits(mask);
}

/* By all pairs of quorums. */
static bool all_quorums_meet(unsigned a, unsigned q, unsigned b, unsigned r)
{
    for (unsigned i = 1; i < 64; i++) {
        if ((i & ~a) || count(i) != q)
            continue;
        for (unsigned j = 1; j < 64; j++) {
            if (!(j & ~b) && count(j) == r && !(i & j))
                return false;
        }
    }
    return true;
}

GROUP(plans, "plans", NULL, NULL)

TEST(plans, two_lists_meet_if_all_of_their_quorums_do)
{
    for (unsigned a = 1; a < 64; a++) {
        for (unsigned b = 1; b < 64; b++) {
            for (unsigned q = count(a) / 2 + 1; q <= count(a); q++) {
                for (unsigned r = count(b) / 2 + 1; r <= count(b); r++) {
                    struct rl_member_list one = list_of_mask(a, q);
                    struct rl_member_list other = list_of_mask(b, r);

                    ck_assert_int_eq(rl_lists_meet(&one, &other), all_quorums_meet(a, q, b, r));
                }
            }
        }
    }
}

/* At most one list is between two others, and it meets both. */
TEST(plans, each_step_of_a_plan_meets_the_one_before)
{
    for (unsigned a = 1; a < 64; a++) {
        for (unsigned b = 1; b < 64; b++) {
            struct rl_member_list from = list_of_mask(a, count(a) / 2 + 1);
            struct rl_member_list goal = list_of_mask(b, count(b) / 2 + 1);
            struct rl_member_list between;
            struct rl_member_list next;
            struct rl_member_list last;

            for (uint64_t dead = 0; dead < 8; dead++) {
                memset(&between, 0, sizeof between);
                ck_assert(rl_plan_next(&from, &goal, dead, &between));
                ck_assert_uint_ge(between.quorum, rl_majority(between.n));
                ck_assert(rl_lists_meet(&from, &between));
                ck_assert(rl_lists_meet(&between, &goal));
                ck_assert(rl_plan_next(&between, &goal, 0, &next));
                last = next;
                ck_assert_int_eq(last.n, goal.n);
                ck_assert_int_eq(last.quorum, goal.quorum);
            }
        }
    }
}

/* The table of redlock's rules 15. */
static const struct {
    const char *from, *goal;
    unsigned dead;
    const char *next;
} table[] = {
    {"012/2", "013/2", 4, "01/2"},      {"012/2", "013/2", 0, "0123/3"},    {"012/2", "0123/3", 0, "0123/3"},
    {"0123/3", "012/2", 0, "012/2"},    {"012/2", "012/3", 0, "012/3"},     {"012/2", "01234/3", 0, "01234/4"},
    {"01234/3", "012/2", 0, "01234/4"}, {"01234/3", "012/2", 24, "012/3"},  {"01234/3", "01256/3", 24, "012/3"},
    {"012/2", "345/2", 0, "012345/5"},  {"0/1", "1/1", 0, "01/2"},
};

TESTS(plans, the_list_between_two_others_spares_as_many_voters_as_possible, 0, sizeof table / sizeof table[0])
{
    struct rl_member_list from = list_of(table[_i].from);
    struct rl_member_list goal = list_of(table[_i].goal);
    struct rl_member_list next;
    char text[16];

    memset(&next, 0, sizeof next);
    ck_assert(rl_plan_next(&from, &goal, table[_i].dead, &next));
    spell(&next, text);
    ck_assert_str_eq(text, table[_i].next);
}

/* --- A run -------------------------------------------------------------------------------------------------------- */

/* A master as JOIN has it, in a few words. Its number is the digit of its name. */
static struct fake {
    bool down, has_marker, is_foreign;
    int inc;
    int64_t left_ms;
    uint64_t turn; /* that has begun there */
    struct rl_view view;
    char greeted_as[RL_ID_SIZE]; /* latest */
} fakes[6];

static struct rl_change run;
static struct rl_instant now;
static int incs;

static void name_list(void *ctx, struct rl_member_list *list)
{
    unsigned mask = 0;
    unsigned renamed = 0;

    for (size_t i = 0; i < list->n; i++) {
        mask |= 1u << (list->members[i].name[5] - '0');
        renamed += list->members[i].name[0] == 'n';
    }
    snprintf(list->id, sizeof list->id, "00000000-0000-4000-9000-000000%x%02x%03x", renamed, list->quorum, mask);
}

static void begin_run_to(const char *from, const struct rl_member_list *goal, bool renames)
{
    static const struct rl_drift_rule drift = {10000, {2 * RL_NS_PER_MS}};
    struct rl_view present;

    memset(&present, 0, sizeof present);
    memset(fakes, 0, sizeof fakes);
    present.list = list_of(from);
    name_list(NULL, &present.list);
    memcpy(present.history[present.n_history++], present.list.id, RL_ID_SIZE);
    for (size_t i = 0; i < 6; i++) {
        fakes[i].has_marker = memchr(from, '0' + (int)i, strcspn(from, "/"));
        fakes[i].inc = ++incs;
        fakes[i].view = present;
    }
    now = (struct rl_instant){0};
    rl_change_start(&run, &present, goal, renames ? &present.list : NULL, "0123456789abcdef", &drift, name_list, NULL);
}

static void begin_run(const char *from, const char *to)
{
    const struct rl_member_list goal = list_of(to);

    begin_run_to(from, &goal, false);
}

static enum rl_join_event join_fake(struct fake *fake, const struct rl_join_question *question,
                                    const struct rl_view *carried)
{
    char inc[8];

    snprintf(inc, sizeof inc, "%d", fake->inc);
    if (question->mode == RL_JOIN_VOTE)
        snprintf(fake->greeted_as, sizeof fake->greeted_as, "%s", (const char *)question->node_id.data);
    if (fake->is_foreign)
        return RL_JOIN_MISMATCH;
    if (!fake->has_marker && question->mode != RL_JOIN_VOTE)
        return RL_JOIN_ABSENT;
    if (!fake->has_marker) {
        fake->has_marker = true;
        fake->inc = ++incs;
        fake->left_ms = 31000;
        fake->view = *carried;
        return RL_JOIN_NEW;
    }
    if (question->mode == RL_JOIN_BEGIN && fake->turn > run.turn)
        return RL_JOIN_OVERRULED;
    if (question->mode == RL_JOIN_BEGIN && !fake->left_ms)
        fake->turn = run.turn;
    if (question->mode != RL_JOIN_TELL)
        return RL_JOIN_KEPT;
    if (!rl_slice_is(question->told, inc))
        return RL_JOIN_OTHER;
    if (fake->turn > run.turn)
        return RL_JOIN_OVERRULED;
    fake->inc = strcmp(fake->view.list.id, carried->list.id) == 0 ? fake->inc : ++incs;
    fake->view = *carried;
    return RL_JOIN_KEPT;
}

static void ask_fake(size_t i)
{
    struct fake *fake = &fakes[run.masters[i].member.name[5] - '0'];
    struct rl_join_question question = {.mode = RL_JOIN_VOTE};
    struct rl_join_report report = {.longest_ms = 30000};
    char text[RL_VIEW_TEXT_MAX];

    rl_change_fill(&run, i, &question);
    report.event = join_fake(fake, &question, rl_change_view(&run, i));
    report.turn = fake->turn;
    report.left_ms = fake->left_ms;
    snprintf(report.incarnation, sizeof report.incarnation, "%d", fake->inc);
    snprintf(report.run_id, sizeof report.run_id, "server %d", (int)(fake - fakes));
    if (*run.masters[i].other_name_of) {
        report.event = fake->has_marker ? RL_JOIN_MISPLACED : RL_JOIN_ABSENT;
        rl_change_note_name(&run, i, &report);
        return;
    }
    rl_change_answer(&run, i, &report, (struct rl_slice){text, rl_change_text(&fake->view, text)});
}

/* Time passes until the round is due. */
static void go_round(void)
{
    struct rl_instant due = rl_later(rl_after(now, rl_ms(1)), run.until);
    enum rl_join_mode mode;

    for (size_t i = 0; i < 6; i++)
        fakes[i].left_ms = fakes[i].left_ms > rl_until(now, due).ns / RL_NS_PER_MS
                               ? fakes[i].left_ms - rl_until(now, due).ns / RL_NS_PER_MS : 0;
    now = due;
    for (size_t i = 0; i < run.n; i++) {
        bool asked = rl_change_question(&run, i, &mode) || *run.masters[i].other_name_of;

        if (asked && !fakes[run.masters[i].member.name[5] - '0'].down)
            ask_fake(i);
    }
    rl_change_end_round(&run, now);
}

static void go_until(enum rl_change_stage stage)
{
    for (int i = 0; i < 1000 && run.stage != stage; i++)
        go_round();
    ck_assert_msg(run.stage == stage, "stage %d, %s", run.stage, run.why ? run.why : "");
}

/* The run's view: "01/2 after 012/2". */
static void expect_view(const char *expected)
{
    char text[64] = "";
    char before[32] = "";

    spell(&run.view.list, text);
    spell(&run.view.before, before);
    if (run.view.before.n)
        snprintf(text + strlen(text), sizeof text - strlen(text), " after %s", before);
    ck_assert_str_eq(text, expected);
}

GROUP(stages, "stages", NULL, NULL)

TEST(stages, a_dead_master_is_replaced_over_what_both_lists_have)
{
    begin_run("012/2", "013/2");
    fakes[2].down = true;
    go_until(RL_CHANGE_TELL);
    expect_view("012/2");
    go_until(RL_CHANGE_WAIT);
    expect_view("01/2 after 012/2");
    ck_assert_uint_eq(rl_change_count_told(&run), 2);
    ck_assert_int_ge(rl_until(now, run.stands_at).ns, rl_ms(31000 + 2 * 302).ns);
    go_until(RL_CHANGE_AGAIN);
    ck_assert(!rl_before(now, run.stands_at));
    go_round();
    expect_view("013/2 after 01/2");
    go_until(RL_CHANGE_DONE);
    expect_view("013/2");
    ck_assert_int_eq(fakes[3].view.before.n, 0);
}

TEST(stages, who_forgets_while_a_view_stands_is_told_again_and_the_wait_begins_anew)
{
    struct rl_instant end;

    begin_run("012/2", "013/2");
    fakes[2].down = true;
    go_until(RL_CHANGE_WAIT);
    end = run.stands_at;
    fakes[1] = (struct fake){.has_marker = false, .inc = ++incs};
    go_until(RL_CHANGE_AGAIN);
    go_round();
    expect_view("01/2 after 012/2");
    ck_assert_int_eq(run.stage, RL_CHANGE_TELL);
    go_until(RL_CHANGE_WAIT);
    ck_assert_int_ge(rl_until(end, run.stands_at).ns, rl_ms(2 * 31000).ns); /* quarantine, and the wait */
    go_until(RL_CHANGE_DONE);
}

TEST(stages, a_new_member_is_named_when_its_quarantine_is_over)
{
    begin_run("012/2", "0123/3");
    go_until(RL_CHANGE_PREPARE);
    expect_view("012/2");
    while (run.stage == RL_CHANGE_PREPARE) {
        ck_assert_int_eq(run.view.list.n, 3);
        go_round();
    }
    expect_view("0123/3 after 012/2");
    ck_assert(fakes[3].has_marker && !fakes[3].left_ms);
    go_until(RL_CHANGE_DONE);
}

TEST(stages, a_run_goes_back_at_once_and_its_view_stands)
{
    begin_run("012/2", "345/2");
    go_until(RL_CHANGE_WAIT);
    expect_view("012345/5 after 012/2");
    ck_assert(rl_change_abort(&run));
    go_round();
    expect_view("012/2 after 012345/5");
    ck_assert(!rl_change_abort(&run));
    go_until(RL_CHANGE_WAIT);
    go_until(RL_CHANGE_DONE);
    expect_view("012/2");
}

TEST(stages, a_turn_that_is_refused_is_raised_above_all_that_are_known)
{
    begin_run("012/2", "012/3");
    fakes[1].turn = 7;
    go_until(RL_CHANGE_TELL);
    ck_assert_uint_eq(run.turn, 8);
    ck_assert(fakes[0].turn == 8 && fakes[1].turn == 8 && fakes[2].turn == 8);
}

TEST(stages, the_newest_view_is_finished_first_whoever_made_it)
{
    struct rl_view between;

    begin_run("012/2", "013/2");
    between = fakes[0].view;
    between.before = between.list;
    between.list = list_of("01/2");
    name_list(NULL, &between.list);
    between.epoch = (struct rl_epoch){4, "fedcba9876543210", 2};
    memcpy(between.history[between.n_history++], between.list.id, RL_ID_SIZE);
    fakes[0].view = between;
    fakes[0].turn = 4;
    go_until(RL_CHANGE_WAIT);
    expect_view("01/2 after 012/2");
    ck_assert_uint_eq(run.view.epoch.turn, 5);
    go_until(RL_CHANGE_DONE);
    expect_view("013/2");
}

TEST(stages, a_run_stops_when_no_quorum_follows_it)
{
    begin_run("012/2", "013/2");
    go_until(RL_CHANGE_WAIT);
    for (int i = 0; i < 4; i++)
        fakes[i].turn = run.turn + 1;
    go_until(RL_CHANGE_STOPPED);
    ck_assert_ptr_nonnull(strstr(run.why, "another change of the masters has taken over"));
}

TEST(stages, a_new_member_of_another_deployment_stops_the_run_and_is_named)
{
    begin_run("012/2", "013/2");
    fakes[3].is_foreign = true;
    go_until(RL_CHANGE_STOPPED);
    ck_assert_str_eq(run.why, "host-3:6379 has the marker of another deployment: it must not be a new member of "
                              "this one");
}

TEST(stages, masters_in_quarantine_count_for_nothing)
{
    begin_run("012/2", "012/3");
    fakes[0].left_ms = fakes[1].left_ms = 31000;
    for (int i = 0; i < 20; i++)
        go_round();
    ck_assert_int_eq(run.stage, RL_CHANGE_BEGIN);
    go_until(RL_CHANGE_DONE);
    ck_assert(!fakes[0].left_ms && rl_until((struct rl_instant){0}, now).ns > rl_ms(31000).ns);
}

/* The view that all have forgotten is carried to them by nobody, since none of them has stored the run's next one. */
TEST(stages, an_empty_memory_is_greeted_by_a_view_that_a_master_has_stored)
{
    begin_run("012/2", "012/3");
    go_until(RL_CHANGE_TELL);
    for (int i = 0; i < 3; i++)
        fakes[i] = (struct fake){.inc = ++incs};
    go_round();
    go_round();
    ck_assert(fakes[0].has_marker && fakes[0].view.epoch.turn == 0);
    go_until(RL_CHANGE_DONE);
}

TEST(stages, lists_that_come_and_go_leave_a_history_with_the_latest)
{
    begin_run("012/2", "012/3");
    for (int i = 0; i < 40; i++) {
        struct rl_member_list goal = list_of(i % 2 ? "012/2" : "0123/3");
        struct rl_drift_rule drift = run.drift;
        struct rl_view present;

        go_until(RL_CHANGE_DONE);
        present = run.view;
        ck_assert_str_eq(present.history[0], present.list.id);
        rl_change_start(&run, &present, &goal, NULL, "0123456789abcdef", &drift, name_list, NULL);
    }
}

/* 2 gets another name, which leads to that server. */
static void begin_rename(const char *name)
{
    struct rl_member_list goal = list_of("012/2");

    snprintf(goal.members[2].name, sizeof goal.members[2].name, "%s", name);
    snprintf(goal.members[2].node_id, sizeof goal.members[2].node_id, "00000000-0000-4000-8000-000000000009");
    begin_run_to("012/2", &goal, true);
}

TEST(stages, another_name_of_a_master_is_one_view_and_nothing_is_waited_for)
{
    int inc;

    begin_rename("name-2:6379/0");
    inc = fakes[2].inc;
    go_until(RL_CHANGE_DONE);
    expect_view("012/2");
    ck_assert_int_lt(rl_until((struct rl_instant){0}, now).ns, rl_ms(1500).ns);
    ck_assert_str_eq(fakes[2].view.list.members[2].name, "name-2:6379/0");
    ck_assert_str_eq(fakes[2].view.list.members[2].node_id, "00000000-0000-4000-8000-000000000002");
    ck_assert_int_ne(fakes[2].inc, inc);
    ck_assert_uint_eq(run.view.lead_us, 0);
    ck_assert_uint_eq(run.view.n_history, 2);
}

/* The operator knows the latest names, and his client the list that it is configured with. Greeted under the id that is
 * made of its latest name, an empty memory would be nobody's: each list has another id for it. */
TEST(stages, a_master_that_is_known_by_two_names_is_not_greeted_under_the_id_of_the_later_one)
{
    struct rl_member_list goal = list_of("012/2");
    struct rl_member *renamed = &goal.members[2];

    snprintf(renamed->name, sizeof renamed->name, "name-2:6379/0");
    snprintf(renamed->node_id, sizeof renamed->node_id, "00000000-0000-4000-8000-000000000009");
    begin_run_to("012/2", &goal, false);
    for (int i = 0; i < 2; i++) {
        fakes[i].view.epoch = (struct rl_epoch){1, "00000000000000aa", 2};
        memcpy(fakes[i].view.list.members[2].name, renamed->name, sizeof renamed->name);
        name_list(NULL, &fakes[i].view.list);
        memcpy(fakes[i].view.history[fakes[i].view.n_history++], fakes[i].view.list.id, RL_ID_SIZE);
    }
    fakes[2] = (struct fake){.inc = ++incs};
    go_until(RL_CHANGE_DONE);
    expect_view("012/2");
    ck_assert_str_eq(fakes[2].greeted_as, "00000000-0000-4000-8000-000000000002");
}

static void expect_refused(const char *why)
{
    go_until(RL_CHANGE_STOPPED);
    ck_assert_str_eq(run.why, why);
    expect_view("012/2");
    ck_assert_str_eq(fakes[0].view.list.members[2].name, "host-2:6379/0");
}

TEST(stages, a_name_that_leads_to_another_server_is_refused)
{
    begin_rename("name-4:6379/0");
    expect_refused("name-4:6379 leads to another server than host-2:6379");
    begin_rename("name-4:6379/0");
    fakes[4] = (struct fake){.has_marker = true, .inc = fakes[2].inc, .view = fakes[2].view}; /* a copy */
    expect_refused("name-4:6379 leads to another server than host-2:6379");
    begin_rename("name-1:6379/0");
    expect_refused("name-1:6379 is another name of host-1:6379");
    ck_assert_str_eq(run.name_of, "host-1:6379/0");
}

TEST(stages, a_name_is_refused_that_cannot_be_compared)
{
    begin_rename("name-2:6379/0");
    fakes[2].down = true;
    expect_refused("name-2:6379 does not answer, and is not seen to be host-2:6379");
    ck_assert_str_eq(run.name, "name-2:6379/0");
}

TEST(stages, a_name_from_which_another_master_has_its_id_is_refused)
{
    struct rl_member_list goal = list_of("012/2");

    strcpy(goal.members[2].name, "name-2:6379/0");
    memcpy(goal.members[2].node_id, goal.members[1].node_id, RL_ID_SIZE);
    begin_run_to("012/2", &goal, true);
    go_round();
    ck_assert_str_eq(run.why, "name-2:6379 was the name of a master before that now is host-1:6379");
}

SUITE("view")
