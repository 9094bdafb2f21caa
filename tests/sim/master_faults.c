/* What happens to masters: crashes, lost memories, changes of role, clocks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "master_parts.h"
#include "plan_members.h"
#include "world.h"

void master_crash(struct world *world, struct master *master, enum master_loss loss, bool silent)
{
    bool nothing_unsynced =
        master->unsynced_since == INT64_MAX || world->now - master->unsynced_since >= MASTER_FSYNC_NS;

    master->disturbed = world->now;
    TRACE(world, name_of_master(master->index), "crashes%s", silent ? " without a word" : "");
    if (loss == LOSS_LAST_SECOND && nothing_unsynced)
        loss = LOSS_NONE;
    if (loss != LOSS_NONE)
        change_note_loss(world, master->index);
    master->up = false;
    master->silent_death = silent;
    master->loss = (uint8_t)loss;
    network_master_died(world, master->index, silent);
    lists_note(world, master);
}

static void note_lost_vote(struct world *world, struct box *box, unsigned master, int64_t gone)
{
    if (gone > world->now)
        validity_note_loss(world, box->id, master, gone);
}

/* The oracles note what a memory held that is lost now. */
static void note_losses(struct world *world, const struct master *master)
{
    for (uint32_t i = 0; i < master->keys.count; i++) {
        const struct entry *entry = &master->keys.entries[i];

        if (entry->writer && entry->gone > world->now)
            validity_note_loss(world, entry->writer, master->index, entry->gone);
    }
    votes_each(world, master->index, note_lost_vote);
}

static void lose_all(struct world *world, struct master *master)
{
    note_losses(world, master);
    latch_on_loss(world);
    keyspace_clear(&master->keys);
}

/* Nobody can undo the places in the queue, and the votes in sets, that were brought from elsewhere. */
static void excuse_members(struct world *world, const struct master *master)
{
    for (uint32_t i = 0; i < master->keys.n_members; i++) {
        const struct member *member = &master->keys.members[i];
        const struct box *box = box_of_member(world, member);

        if (box)
            residue_excuse(world, box->id, master->index);
    }
}

/* Keys that had been deleted or replaced come back: nobody can be blamed for those. */
static void resurrect(struct world *world, struct master *master)
{
    note_losses(world, master);
    latch_on_loss(world);
    world->older_memory = world->now;
    for (uint32_t i = 0; i < master->synced.count; i++) {
        const struct entry *old = &master->synced.entries[i];
        const struct entry *now = keyspace_find(&master->keys, old->key.bytes, old->key.size);

        if (old->writer && (!now || now->writer != old->writer)) {
            residue_excuse(world, old->writer, master->index);
            world_count(world, COUNTER_RESURRECTED);
        }
    }
    keyspace_copy(&master->keys, &master->synced);
    excuse_members(world, master);
    keyspace_retime(&master->keys, &master->clock);
}

void master_restart(struct world *world, struct master *master)
{
    static const char *const found[] = {"with its keys", "without the last second", "empty"};

    master->disturbed = world->now;
    TRACE(world, name_of_master(master->index), "restarts %s", found[master->loss]);
    if (master->loss == LOSS_ALL)
        lose_all(world, master);
    else if (master->loss == LOSS_LAST_SECOND)
        resurrect(world, master);
    master->up = true;
    master->silent_death = false;
    master->scripts = 0;
    master->run++;
    master->promoted = false;
    master->info[0] = '\0';
    master->unsynced_since = INT64_MAX;
    if (master->loss != LOSS_NONE)
        validity_check_all(world);
    master->loss = LOSS_NONE;
    lists_note(world, master);
}

void master_flush(struct world *world, struct master *master)
{
    change_note_loss(world, master->index);
    master->disturbed = world->now;
    TRACE(world, name_of_master(master->index), "is flushed");
    master_before_write(world, master);
    if (master->unsynced_since == INT64_MAX)
        master->unsynced_since = world->now;
    lose_all(world, master);
    validity_check_all(world);
    lists_note(world, master);
}

/* An entry begins with the end of its lease, or with a word for its mode and that; others than entries have names that
 * no value has. */
static void shift_leases(struct keyspace *keys, int64_t ahead_ms)
{
    for (uint32_t i = 0; i < keys->n_fields; i++) {
        struct field *field = &keys->fields[i];
        char before[ENTRY_TEXT + 1] = "";
        char after[2 * ENTRY_TEXT + 20];
        char *rest;
        int64_t ends;
        size_t mode;

        if (field->name.bytes[0] < 'A' || field->name.bytes[0] > 'Z')
            continue;
        memcpy(before, field->value.bytes, field->value.size);
        mode = before[0] > '9' ? strcspn(before, " ") + 1 : 0;
        ends = strtoll(before + mode, &rest, 10) + ahead_ms;
        text_set(&field->value, after, (size_t)snprintf(after, sizeof after, "%.*s%lld%s", (int)mode, before,
                                                        (long long)ends, rest));
    }
}

static void shift_votes(struct keyspace *keys, const struct entry *set, int64_t ahead_ms)
{
    uint32_t count;
    struct member *members = keyspace_members(keys, set, &count);

    for (uint32_t i = 0; i < count; i++)
        members[i].score += (double)ahead_ms;
}

/* A master that gets a former memory of its own back, from one that was its replica once, is rolled back: nothing in it
 * tells that it is old. A3 excludes that. */
static bool is_own_former(struct master *master)
{
    const struct entry *marker = keyspace_find(&master->keys, MARKER_KEY, sizeof MARKER_KEY - 1);
    const struct field *node_id = marker ? keyspace_field(&master->keys, marker, "seat", 4) : NULL;
    char own[4];

    return node_id && text_is(&node_id->value, own, (size_t)snprintf(own, sizeof own, "m%u", master->index + 1));
}

/* The copies of other masters' locks are nobody's fault. Clocks differ by up to hours here; keys that live so much
 * longer would say nothing about the lock. */
static void take_memory(struct world *world, struct master *master, const struct master *source)
{
    int64_t ahead_ms = (master_time(world, master) - master_time(world, source)) / RL_NS_PER_MS;

    lose_all(world, master);
    keyspace_copy(&master->keys, &source->keys);
    if (is_own_former(master)) {
        lose_all(world, master);
        return;
    }
    world->older_memory = world->now;
    excuse_members(world, master);
    shift_leases(&master->keys, ahead_ms);
    for (uint32_t i = 0; i < master->keys.count; i++) {
        if (master->keys.entries[i].expire_ms)
            master->keys.entries[i].expire_ms += ahead_ms;
        if (master->keys.entries[i].writer)
            residue_excuse(world, master->keys.entries[i].writer, master->index);
        if (is_set_of_votes(&master->keys.entries[i]))
            shift_votes(&master->keys, &master->keys.entries[i], ahead_ms);
    }
    keyspace_retime(&master->keys, &master->clock);
    master->unsynced_since = INT64_MAX;
    keyspace_clear(&master->synced);
    validity_check_all(world);
}

void master_demote(struct world *world, struct master *master, const struct master *source)
{
    master->disturbed = world->now;
    TRACE(world, name_of_master(master->index), "becomes a replica%s%s", source ? " of " : "",
          source ? name_of_master(source->index) : "");
    master->replica = true;
    master->info[0] = '\0';
    if (source)
        take_memory(world, master, source);
}

void master_promote(struct world *world, struct master *master)
{
    master->disturbed = world->now;
    TRACE(world, name_of_master(master->index), "becomes a master");
    master->replica = false;
    master->promoted = true;
    master->info[0] = '\0';
}

/* Runs JOIN at the master. Nothing is known of max_ttl, but where somebody greets it. */
bool master_tell(struct world *world, struct master *master, const struct telling *telling,
                 struct rl_join_report *ret_report, struct rl_slice *ret_view)
{
    static const char *const durabilities[] = {"none", "always"};
    bool greets = strcmp(telling->mode, "vote") == 0;
    char incarnation[16];
    char max_ttl[16];
    char numeral[24];
    struct rl_slice argv[12] = {[0] = {MARKER_KEY, sizeof MARKER_KEY - 1}};
    struct redis_context context;
    struct rl_reply reply;

    master_context(world, master, NULL, &context);
    snprintf(incarnation, sizeof incarnation, "i%u", ++world->incarnations);
    snprintf(max_ttl, sizeof max_ttl, "%u", telling->max_ttl_ms);
    snprintf(numeral, sizeof numeral, "%lld", (long long)telling->number);
    argv[1] = rl_slice_of(telling->mode);
    argv[2] = rl_slice_of(incarnation);
    argv[3] = rl_slice_of(id_of_list(&world->plan, telling->list));
    argv[4] = rl_slice_of(max_ttl);
    argv[5] = rl_slice_of(durabilities[master->durability == DURABILITY_ALWAYS]);
    argv[6] = rl_slice_of(telling->node_id ? telling->node_id : id_of_master(&world->plan, master->index));
    argv[7] = rl_slice_of(numeral);
    argv[8] = argv[9] = rl_slice_of(greets ? max_ttl : "0");
    argv[10] = rl_slice_of(telling->view);
    argv[11] = rl_slice_of(telling->inc);
    master_write_info(master);
    lua_host_run(world->lua, &context, &(struct script_call){RL_SCRIPT_JOIN, 1, 12, argv}, &reply);
    master_before_write(world, master);
    lists_note(world, master);
    return reply.root.type != RL_REPLY_ERROR && rl_join_parse(&reply, ret_report, ret_view);
}

void master_declare(struct world *world, struct master *master)
{
    struct rl_join_report report;

    master_tell(world, master, &(struct telling){"declare", world->plan.declared_ms, 1, 0, "", "", NULL}, &report,
                NULL);
}

void master_hang(struct world *world, struct master *master)
{
    master->disturbed = world->now;
    if (master->hung++ == 0)
        TRACE(world, name_of_master(master->index), "hangs");
}

void master_resume(struct world *world, struct master *master)
{
    master->disturbed = world->now;
    if (--master->hung)
        return;
    TRACE(world, name_of_master(master->index), "resumes");
    network_master_resumed(world, master->index);
}

/* A step forward breaks A2 for whatever lives now; a step back only lets keys live longer. */
static void excuse_all(struct world *world, bool forward)
{
    for (uint32_t id = 1; id <= world->boxes.used; id++) {
        box_get(&world->boxes, id)->excused |= forward;
        box_get(&world->boxes, id)->timed = true;
    }
}

void master_step_clock(struct world *world, struct master *master, int64_t by)
{
    master->disturbed = world->now;
    TRACE(world, name_of_master(master->index), "clock set by %lld ms", (long long)(by / RL_NS_PER_MS));
    excuse_all(world, by > 0);
    steps_on_step(world, master->index, by);
    latch_on_loss(world);
    clockwork_step(&master->clock, world->now, by);
    keyspace_retime(&master->keys, &master->clock);
}

void master_set_rate(struct world *world, struct master *master, int64_t rate)
{
    if (rate <= NEARLY_STILL || world->slow_since[master->index] != INT64_MAX)
        excuse_all(world, false);
    steps_on_rate(world, master->index, rate);
    clockwork_set_rate(&master->clock, world->now, rate);
    keyspace_retime(&master->keys, &master->clock);
    validity_check_all(world);
}
