/* From one agent to the next: what is held when an agent ends, in a file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/held.h"
#include "cli/file_out.h"

enum { ADOPT_MS = 30000 };

/* --- Leaving ------------------------------------------------------------------------------------------------------ */

/* A program whose connection the agent ends has some time to come back. */
static int64_t keep_ms(const struct held *held)
{
    int64_t promised_ms = thing_promised_ms(&held->thing);
    int64_t ms = held->linger_ms > ADOPT_MS ? held->linger_ms : ADOPT_MS;

    if (!held->thing.peer)
        return boot_left_ms(held->thing.until_us);
    return promised_ms > ms ? promised_ms : ms;
}

/* A lock with inner entries cannot be exported; the next agent enters it again. */
static void leave_inner_entries(struct held *held)
{
    while (held_depth(held) > 1 && redlock_release(held->subject.handle, NULL, NULL) == 0)
        continue;
}

/* NULL: it is not held, or cannot be left. The export ends what is known of the lock, so that is described before. */
static json_t *leave(struct held *held)
{
    json_t *words = json_pack(
        "{s:O, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:b}", "keys", held->keys, "uid", (json_int_t)held->uid,
        "ttl_ms", (json_int_t)held->ttl_ms, "linger_ms", (json_int_t)held->linger_ms, "hold_ms",
        (json_int_t)boot_left_ms(held->thing.hold_until_us), "told_ms", (json_int_t)boot_left_ms(held->thing.told_us),
        "keep_ms", (json_int_t)keep_ms(held), "depth", (json_int_t)held_depth(held), "renews", held->renews, "released",
        held->released);
    char *text = NULL;
    int status;

    leave_inner_entries(held);
    if (held->granted && !held->releasing)
        text = held_export(held, &status);
    if (!text || json_object_set_new(words, "text", json_string(text)) != 0) {
        json_decref(words);
        words = NULL;
    }
    free(text);
    return words;
}

static void leave_all(struct list *things, json_t *locks)
{
    struct list *next;

    for (struct list *node = things->next; node != things; node = next) {
        struct thing *thing = LIST_OWNER(node, struct thing, link);
        json_t *words = thing->kind == &held_kind ? leave(held_of(thing)) : NULL;

        next = node->next;
        if (!words)
            continue;
        json_array_append_new(locks, words);
        held_end(thing);
    }
}

/* The texts are secrets. */
static void write_state(const char *path, const json_t *state)
{
    struct file_out file = {0};
    char *text = json_dumps(state, JSON_COMPACT);
    bool opened = text && file_out_open(&file, "agent", path, FILE_SECRET);
    int error = !text ? ENOMEM : opened ? file_out_put(&file, text, strlen(text), 0) : 0;

    if (error != 0)
        cli_error("agent", "--state %s: %s", path, file_out_reason(error));
    if (error != 0 || !opened)
        cli_error("agent", "locks that were to be left there end with their ttl");
    file_out_close(&file);
    free(text);
}

void state_leave(struct agent *agent)
{
    json_t *locks = json_array();
    json_t *state = json_pack("{s:o, s:o}", "locks", locks, "spent", spent_list(agent));

    for (struct list *node = agent->peers.next; node != &agent->peers; node = node->next)
        leave_all(&LIST_OWNER(node, struct peer, link)->things, locks);
    leave_all(&agent->lingering, locks);
    if (json_array_size(locks) > 0 || agent->n_spent > 0)
        write_state(agent->options->state, state);
    json_decref(state);
}

/* --- Taking ------------------------------------------------------------------------------------------------------- */

/* A peer that nobody reads, in whose name what was left is taken. */
static struct peer *stand_in(struct agent *agent)
{
    static struct peer peer;

    peer = (struct peer){.agent = agent, .ended = true};
    list_init(&peer.things);
    list_init(&peer.requests);
    return &peer;
}

static void enter_again(struct held *held, uint64_t depth)
{
    while (held_depth(held) < depth && redlock_reenter(held->subject.handle, 0) == 0)
        continue;
}

static bool take(struct agent *agent, json_t *words)
{
    struct wanted wanted = {.ttl_ms = 0};
    uint64_t uid = 0, depth = 1;
    uint32_t told_ms = 0, keep_ms = 0;
    bool released = false;
    const struct field fields[] = {
        {"keys", FIELD_ANY, &wanted.keys, true},        {"text", FIELD_TEXT, &wanted.text, true},
        {"uid", FIELD_NUMBER, &uid, true},              {"ttl_ms", FIELD_DURATION, &wanted.ttl_ms, true},
        {"hold_ms", FIELD_DURATION, &wanted.hold_ms, true}, {"linger_ms", FIELD_DURATION, &wanted.linger_ms, true},
        {"told_ms", FIELD_DURATION, &told_ms, true},    {"keep_ms", FIELD_DURATION, &keep_ms, true},
        {"depth", FIELD_NUMBER, &depth, true},          {"renews", FIELD_FLAG, &wanted.renews, true},
        {"released", FIELD_FLAG, &released, true},      {0},
    };
    struct peer *peer = stand_in(agent);
    struct held *held = NULL;

    if (wanted_read(peer, 0, words, fields, &wanted)) {
        identify_user(peer, (uid_t)uid);
        held = held_create(peer, 0, &wanted);
    }
    if (!held)
        return false;
    held->released = released;
    held->thing.told_us = boot_now_us() + told_ms * INT64_C(1000);
    held->thing.hold_until_us = boot_now_us() + wanted.hold_ms * INT64_C(1000);
    if (held_adopt(held, wanted.text) == 0 && thing_linger(&held->thing, keep_ms)) {
        enter_again(held, depth);
        return true;
    }
    held_end(&held->thing);
    return false;
}

static void take_spent(struct agent *agent, json_t *words)
{
    const char *text = NULL;
    uint32_t left_ms = 0;
    const struct field fields[] = {
        {"text", FIELD_TEXT, &text, true}, {"left_ms", FIELD_DURATION, &left_ms, true}, {0}};
    char why[FIELDS_WHY_SIZE];

    if (fields_read(words, fields, why))
        spent_add(agent, text, left_ms);
}

static void take_all(struct agent *agent, const json_t *state)
{
    const json_t *locks = json_object_get(state, "locks");
    const json_t *spent = json_object_get(state, "spent");
    size_t taken = 0;

    for (size_t i = 0; i < json_array_size(spent); i++)
        take_spent(agent, json_array_get(spent, i));
    for (size_t i = 0; i < json_array_size(locks); i++)
        taken += take(agent, json_array_get(locks, i));
    if (taken < json_array_size(locks))
        cli_error("agent", "--state %s: %zu of %zu locks are not taken: they have ended, or are not allowed any more",
                  agent->options->state, json_array_size(locks) - taken, json_array_size(locks));
}

/* The file is removed before its texts are used, since each is good for one holder. */
bool state_take(struct agent *agent)
{
    const char *path = agent->options->state;
    json_error_t error;
    json_t *state = access(path, F_OK) == 0 ? json_load_file(path, 0, &error) : NULL;

    if (!state && access(path, F_OK) == 0) {
        cli_error("agent", "--state %s: %s: who removes the file begins without the locks in it", path, error.text);
        return false;
    }
    if (state && unlink(path) != 0) {
        cli_error("agent", "--state %s cannot be removed: %s", path, strerror(errno));
        json_decref(state);
        return false;
    }
    take_all(agent, state);
    json_decref(state);
    return true;
}
