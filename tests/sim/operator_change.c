/* IMPLEMENTATION NOTES
 *
 * What is decided is decided in votes/change.c. An operator asks what a round asks, ends it when all have answered or
 * PATIENCE is over, and begins the next one when the run wants it. His machine may sleep in between, or be gone for
 * good: then another run begins later, which knows nothing of it but what markers say. A second operator may want
 * another list, or the same one.
 *
 * New members are greeted by the run, or declared to be new before it begins, as long as no view has named them. */
#include "operator_change.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan_members.h"
#include "world.h"

#define TICK_NS (20 * RL_NS_PER_MS)
#define PATIENCE_NS (200 * RL_NS_PER_MS) /* for an answer */

static void later(struct world *world, unsigned operator, int64_t pause)
{
    world_event(world, world->now + pause, EVENT_CHANGE, operator, 0, 0);
}

/* --- Lists -------------------------------------------------------------------------------------------------------- */

static unsigned know_list(struct world *world, const struct member_list *list)
{
    struct change *change = &world->change;
    unsigned index = 0;

    while (index < change->n_lists && (change->lists[index].members != list->members ||
                                       change->lists[index].quorum != list->quorum ||
                                       change->lists[index].renamed != list->renamed))
        index++;
    if (index == MAX_KNOWN_LISTS)
        abort();
    if (index == change->n_lists)
        change->lists[change->n_lists++] = *list;
    return index;
}

static void name_list(void *ctx, struct rl_member_list *list)
{
    struct world *world = ctx;
    struct member_list known = {.quorum = list->quorum};

    for (size_t i = 0; i < list->n; i++) {
        const char *name = list->members[i].name;

        known.members |= (uint16_t)(1u << machine_by_name(name));
        known.renamed |= (uint16_t)(is_other_name(name) << machine_by_name(name));
    }
    snprintf(list->id, sizeof list->id, "%s", id_of_list(&world->plan, know_list(world, &known)));
}

void change_describe_list(struct world *world, const struct member_list *list, struct rl_member_list *ret_list)
{
    memset(ret_list, 0, sizeof *ret_list);
    ret_list->quorum = list->quorum;
    for (unsigned m = 0; m < world->plan.n_masters; m++) {
        struct rl_member *member = &ret_list->members[ret_list->n];

        if (!(list->members >> m & 1u))
            continue;
        ret_list->n++;
        snprintf(member->node_id, sizeof member->node_id, "%s", id_of_name(&world->plan, list, m));
        snprintf(member->name, sizeof member->name, "%s%s/0", name_of_master(m), list->renamed >> m & 1u ? "'" : "");
    }
    name_list(world, ret_list);
}

static unsigned list_of(const struct world *world, const struct rl_change *run)
{
    return list_by_id(&world->plan, run->view.list.id);
}

/* --- Runs --------------------------------------------------------------------------------------------------------- */

/* The operator has heard of some list or other, and names masters as that does. */
static bool rename_goal(struct world *world, const struct member_list *configured, struct member_list *goal)
{
    bool renames = goal->renamed;

    if (world->plan.lists[1].renamed || world->plan.lists[2].renamed)
        goal->renamed |= world->change.lists[rng_below(&world->fate, world->change.n_lists)].renamed & goal->members;
    goal->renamed |= renames ? configured->renamed : 0;
    return renames && goal->members == configured->members && goal->renamed != configured->renamed;
}

static void begin_run(struct world *world, unsigned index)
{
    struct operator *operator = &world->change.operators[index];
    static struct rl_view present;
    static struct rl_member_list goal;
    struct member_list configured = world->change.lists[change_configured(world)];
    struct member_list wanted = world->plan.lists[1 + index];
    bool renames = rename_goal(world, &configured, &wanted);
    char run[17];

    if (wanted.renamed && wanted.members != configured.members && world->plan.lists[1 + index].renamed) {
        operator->done = true; /* the list is another one by now */
        return;
    }
    memset(&present, 0, sizeof present);
    change_describe_list(world, &configured, &present.list);
    memcpy(present.history[present.n_history++], present.list.id, RL_ID_SIZE);
    change_describe_list(world, &wanted, &goal);
    snprintf(run, sizeof run, "%016llx", (unsigned long long)rng_next(&world->fate));
    operator->number = ++world->change.runs;
    operator->asking = operator->declared = operator->done = false;
    operator->asleep_until = world->now;
    operator->clock = (struct clockwork){world->now, 0, plan_client_rate(&world->plan, &world->fate, false)};
    rl_change_start(&operator->run, &present, &goal, renames ? &present.list : NULL, run, &world->plan.config.drift,
                    name_list, world);
    world_count(world, COUNTER_RUNS);
}

/* What has been sent is on its way. */
static void end_run(struct world *world, struct operator *operator, const char *why)
{
    TRACE(world, "--", "run %u ends: %s", operator->number, why);
    operator->number = 0;
}

void change_reset(struct world *world)
{
    memset(&world->change, 0, sizeof world->change);
    world->change.n_lists = 1;
    world->change.lists[0] = world->plan.lists[0];
    world->change.named = world->plan.lists[0].members;
}

void change_start(struct world *world)
{
    for (unsigned i = 0; !world->story && i + 1 < world->plan.n_lists; i++)
        later(world, i, world->plan.change_at[i]);
    if (world->plan.n_lists > 1)
        world_count(world, COUNTER_CHANGES);
}

bool change_done(const struct world *world)
{
    for (unsigned i = 0; i + 1 < world->plan.n_lists; i++) {
        if (!world->change.operators[i].done)
            return false;
    }
    return true;
}

unsigned change_configured(struct world *world)
{
    bool settled = world->change.runs && change_done(world);

    return settled && !rng_chance(&world->fate, 500) ? world->change.last : 0;
}

/* --- Rounds ------------------------------------------------------------------------------------------------------- */

static void ask(struct world *world, struct operator *operator, size_t place)
{
    const struct rl_change *run = &operator->run;
    static char text[RL_VIEW_TEXT_MAX];
    static struct errand errand;
    struct rl_join_question question = {.mode = RL_JOIN_VOTE};

    errand = (struct errand){.machine = (uint8_t)machine_behind(&world->plan, run->masters[place].member.name),
                             .place = place, .operator = (uint8_t)(operator - world->change.operators),
                             .run = operator->number, .round = operator->round};
    rl_change_fill(run, place, &question);
    errand.list = (uint8_t)list_by_id(&world->plan, question.list_id.data);
    rl_change_text(rl_change_view(run, place), text);
    errand.mode = (uint8_t)question.mode;
    errand.number = question.known.number;
    snprintf(errand.view, sizeof errand.view, "%.*s", VIEW_ROOM - 1, text);
    snprintf(errand.told, sizeof errand.told, "%.*s", (int)question.told.size,
             question.told.data ? (const char *)question.told.data : "");
    snprintf(errand.node_id, sizeof errand.node_id, "%s", run->masters[place].member.node_id);
    if (*run->masters[place].other_name_of)
        errand.mode = RL_JOIN_READ;
    errand_send(world, &errand);
}

static void begin_round(struct world *world, struct operator *operator)
{
    struct change *change = &world->change;
    const struct rl_change *run = &operator->run;
    enum rl_join_mode mode;

    if (run->told_once)
        change->named |= change->lists[list_of(world, run)].members;
    operator->asking = true;
    operator->asked_at = world->now;
    operator->round++;
    for (size_t i = 0; i < run->n; i++) {
        if (rl_change_question(run, i, &mode) || *run->masters[i].other_name_of)
            ask(world, operator, i);
    }
}

void change_on_answer(struct world *world, const struct errand *errand)
{
    for (unsigned i = 0; i < MAX_OPERATORS; i++) {
        struct operator *operator = &world->change.operators[i];

        if (operator->number == errand->run &&
            (errand->mode == RL_JOIN_READ || errand->report.event == RL_JOIN_MISPLACED))
            rl_change_note_name(&operator->run, errand->place, &errand->report);
        if (operator->number != errand->run || operator->round != errand->round || !operator->asking)
            continue;
        rl_change_answer(&operator->run, errand->place, &errand->report, rl_slice_of(errand->stored));
        if (errand->mode == RL_JOIN_TELL && operator->run.masters[errand->place].has_view)
            world_count(world, COUNTER_VIEWS_TOLD);
    }
}

static bool awaits_answers(const struct operator *operator)
{
    enum rl_join_mode mode;

    for (size_t i = 0; i < operator->run.n; i++) {
        if (rl_change_question(&operator->run, i, &mode) && !operator->run.masters[i].answered)
            return true;
    }
    return false;
}

static void note_stood(struct world *world, unsigned list)
{
    struct change *change = &world->change;

    world_count(world, COUNTER_VIEWS_STOOD);
    change->last = (uint8_t)list;
    TRACE(world, "--", "the view %s has stood", name_of_list(&world->plan, &change->lists[list]));
}

static void note_view(struct world *world, const struct operator *operator)
{
    const struct rl_change *run = &operator->run;

    TRACE(world, "--", "run %u: view %llu.%u is %s%s", operator->number, (unsigned long long)run->view.epoch.turn,
          run->view.epoch.step, name_of_list(&world->plan, &world->change.lists[list_of(world, run)]),
          run->view.before.n ? ", with another one before it" : "");
}

static void end_round(struct world *world, struct operator *operator)
{
    struct rl_change *run = &operator->run;
    struct rl_epoch epoch = run->view.epoch;
    unsigned list = list_of(world, run);
    bool looked = run->stage == RL_CHANGE_AGAIN;
    bool told = run->told_once;

    if (rng_chance(&world->fate, world->phase == PHASE_FAULTS ? world->plan.back_permille : 0) && rl_change_abort(run))
        world_count(world, COUNTER_VIEWS_BACK);
    operator->asking = false;
    rl_change_end_round(run, (struct rl_instant){clockwork_read(&operator->clock, world->now)});
    if (run->told_once && (!told || rl_epoch_compare(&epoch, &run->view.epoch) != 0))
        note_view(world, operator);
    if (looked && (run->stage == RL_CHANGE_TELL ? epoch.step != run->view.epoch.step : run->stage == RL_CHANGE_PREPARE))
        note_stood(world, list);
    if (run->stage == RL_CHANGE_STOPPED) {
        world_count(world, COUNTER_RUNS_STOPPED);
        operator->done |= world->plan.mislead && run->name;
        end_run(world, operator, run->why);
    } else if (run->stage == RL_CHANGE_DONE) {
        if (!operator->done)
            world_count(world, COUNTER_CHANGES_DONE);
        world->change.last = (uint8_t)list_of(world, run);
        end_run(world, operator, "its list is reached");
        operator->done = true;
    }
}

/* --- Assumption A4 ------------------------------------------------------------------------------------------------ */

static bool read_stored(struct world *world, unsigned machine, char ret_text[VIEW_ROOM], struct rl_view *ret_view)
{
    struct master *master = &world->masters[machine];
    const struct entry *marker = keyspace_find(&master->keys, MARKER_KEY, sizeof MARKER_KEY - 1);
    const struct field *field = marker ? keyspace_field(&master->keys, marker, "view", 4) : NULL;

    if (!field || !rl_view_parse(field_get(field), ret_view))
        return false;
    snprintf(ret_text, VIEW_ROOM, "%.*s", (int)field_get(field).size, (const char *)field_get(field).data);
    return true;
}

void change_note_loss(struct world *world, unsigned machine)
{
    struct lost_view *lost = &world->change.lost[machine];
    static struct rl_view view;
    static char text[VIEW_ROOM];

    if (world->plan.n_lists <= 1 || !read_stored(world, machine, text, &view) ||
        (lost->text[0] && rl_epoch_compare(&lost->epoch, &view.epoch) > 0))
        return;
    memcpy(lost->text, text, sizeof lost->text);
    lost->epoch = view.epoch;
    lost->list = (uint8_t)list_by_id(&world->plan, view.list.id);
    lost->due = world->now + rng_scaled(&world->fate, RL_NS_PER_MS, rl_ms(world->plan.max_ttl_ms).ns);
}

/* Somebody who knows better greets whoever has forgotten a view, before its quarantine is over. */
static void remind(struct world *world)
{
    for (unsigned m = 0; m < world->plan.n_masters; m++) {
        struct master *master = &world->masters[m];
        struct lost_view *lost = &world->change.lost[m];
        struct telling telling = {"vote", world->plan.max_ttl_ms, 0, lost->list, lost->text, "", NULL};
        struct rl_join_report report;

        if (world->story || !lost->text[0] || world->now < lost->due || !master_running(master) ||
            !master_tell(world, master, &telling, &report, NULL))
            continue;
        TRACE(world, name_of_master(m), "is reminded of %.30s: %s", lost->text, name_of_join(report.event));
        lost->text[0] = '\0';
    }
}

/* --- What happens to operators ------------------------------------------------------------------------------------ */

static void begin_change(struct world *world)
{
    world->change.began = true;
    for (unsigned m = 0; m < world->plan.n_masters; m++) {
        if (world->plan.dead >> m & 1u)
            faults_crash(world, m, LOSS_NONE, rng_chance(&world->fate, 500),
                         rng_scaled(&world->fate, RL_NS_PER_MS, 2 * world->plan.duration_ns));
    }
}

static void declare(struct world *world, struct operator *operator)
{
    static struct errand errand;
    unsigned named = world->change.named;

    if (RL_MUTANT(DECLARED_LATE))
        named = world->plan.lists[0].members;
    operator->declared = true;
    for (unsigned m = 0; world->plan.declares_new && m < world->plan.n_masters; m++) {
        errand = (struct errand){.machine = (uint8_t)m, .mode = RL_JOIN_DECLARE, .number = 1};
        if (!(named >> m & 1u))
            errand_send(world, &errand);
    }
}

/* Only the first operator's list is sure to be reached: the other one's run may have to give way. */
static void heal(struct world *world)
{
    struct change *change = &world->change;

    change->healed = true;
    for (unsigned i = 1; i < MAX_OPERATORS; i++) {
        if (change->operators[i].number)
            end_run(world, &change->operators[i], "its operator gives up");
        change->operators[i].done = true;
    }
    change->operators[0].done = false;
}

/* false: nothing more is to be done now, or ever. */
static bool lives_on(struct world *world, unsigned index)
{
    struct operator *operator = &world->change.operators[index];
    bool faults = world->phase == PHASE_FAULTS;

    if (operator->done && (!faults || !rng_chance(&world->fate, world->plan.again_permille)))
        return false;
    if (world->story && faults)
        return operator->number != 0;
    if (!operator->number) {
        if (!faults || rng_chance(&world->fate, world->plan.begin_permille))
            begin_run(world, index);
        return operator->number != 0;
    }
    if (faults && rng_chance(&world->fate, world->plan.run_dies_permille)) {
        end_run(world, operator, "its operator's machine is gone");
        return false;
    }
    if (faults && rng_chance(&world->fate, world->plan.run_sleeps_permille)) {
        operator->asleep_until =
            world->now + rng_between(&world->fate, TICK_NS, 3 * rl_ms(world->plan.max_ttl_ms + 1500).ns);
        world_count(world, COUNTER_RUNS_ASLEEP);
    }
    return !faults || operator->asleep_until <= world->now;
}

void change_cut(struct world *world, unsigned index, uint16_t machines, int64_t until)
{
    world->change.operators[index].cut = machines;
    world->change.operators[index].cut_until = until;
}

void change_begin(struct world *world, unsigned index)
{
    begin_run(world, index);
    later(world, index, TICK_NS);
}

void change_abandon(struct world *world, unsigned index)
{
    end_run(world, &world->change.operators[index], "its operator's machine is gone");
}

/* For as long as a list may have to stand. */
static void cut_off(struct world *world, struct operator *operator)
{
    if (operator->cut_until > world->now || world->phase != PHASE_FAULTS)
        return;
    operator->cut = 0;
    if (!rng_chance(&world->fate, world->plan.run_cut_permille))
        return;
    change_cut(world, (unsigned)(operator - world->change.operators),
               (uint16_t)rng_below(&world->fate, 1u << world->plan.n_masters),
               world->now + rng_between(&world->fate, TICK_NS, 2 * rl_ms(world->plan.max_ttl_ms + 1500).ns));
    world_count(world, COUNTER_RUNS_CUT);
}

/* Nobody names new members before it is known what has become of a declaration. */
void change_on_event(struct world *world, unsigned index)
{
    struct operator *operator = &world->change.operators[index];

    if (!world->change.began)
        begin_change(world);
    if (world->phase != PHASE_FAULTS && !world->change.healed)
        heal(world);
    if (world->phase == PHASE_OVER)
        return;
    later(world, index, TICK_NS);
    remind(world);
    for (unsigned m = 0; m < world->plan.n_masters; m++)
        lists_note(world, &world->masters[m]);
    cut_off(world, operator);
    if (!lives_on(world, index))
        return;
    if (!operator->declared)
        declare(world, operator);
    if (errand_is_under_way(world, RL_JOIN_DECLARE) && !RL_MUTANT(DECLARED_LATE))
        return;
    if (operator->asking && (!awaits_answers(operator) || world->now - operator->asked_at >= PATIENCE_NS))
        end_round(world, operator);
    else if (!operator->asking && clockwork_read(&operator->clock, world->now) >= operator->run.until.ns)
        begin_round(world, operator);
}
