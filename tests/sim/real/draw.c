#include "draw.h"

#include <check.h>

#include "codec/command.h"
#include "draw_plain.h"
#include "draw_words.h"
#include "kinds/names.h"
#include "kinds/mutex.h"
#include "kinds/latch.h"
#include "kinds/look.h"
#include "kinds/permit.h"
#include "kinds/shared.h"
#include "kinds/wait_queue.h"
#include "kinds/join.h"

/* --- Names -------------------------------------------------------------------------------------------------------- */

#define SEMAPHORE "s"

struct names {
    const char *key;
    const char *queue;
    const char *waiters;
    const char *counter;
};

#define NAMES(key) {key, RL_QUEUE_NAME key, RL_WAITERS_NAME key, RL_COUNTER_NAME key}

static const struct names locks[] = {NAMES("a"), NAMES("b")};
static const struct names slots[] = {NAMES(SEMAPHORE "#0"), NAMES(SEMAPHORE "#1"), NAMES(SEMAPHORE "#2")};
_Static_assert(COUNT(locks) + COUNT(slots) == DRAW_LOCKS, "a latest value for each");

static const char *const other_names[] = {RL_MARKER_NAME, RL_LATCH_NAME "l", RL_PERMITS_NAME SEMAPHORE,
                                          RL_PERMIT_WAITERS_NAME SEMAPHORE};
static const char *const plain_names[] = {"x", "y", "z", "h"};
static const char *const values[] = {"v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7"};
static const char *const incarnations[] = {"i0", "i1", "i2"};
static const char *const channels[] = {RL_CHANNEL_NAME "0", RL_CHANNEL_NAME "1"};
static const char *const words_of_others[] = {"", "7", "-3", "1e3", "x", "v1", "r v1", "u v2", "@x", "@last",
                                              "99999999999999999999", "5 v3 1 c", "20 s#1 0 c"};

static size_t add_names(const struct names *names, struct rl_slice *words, size_t n)
{
    words[n++] = rl_slice_of(names->key);
    words[n++] = rl_slice_of(names->queue);
    words[n++] = rl_slice_of(names->waiters);
    words[n++] = rl_slice_of(names->counter);
    return n;
}

void draw_all_names(struct rl_bytes *out)
{
    struct rl_slice words[1 + 4 * (COUNT(locks) + COUNT(slots)) + COUNT(other_names) + COUNT(plain_names)];
    size_t n = 0;

    words[n++] = rl_slice_of("EXISTS");
    for (size_t i = 0; i < COUNT(locks); i++)
        n = add_names(&locks[i], words, n);
    for (size_t i = 0; i < COUNT(slots); i++)
        n = add_names(&slots[i], words, n);
    for (size_t i = 0; i < COUNT(other_names); i++)
        words[n++] = rl_slice_of(other_names[i]);
    for (size_t i = 0; i < COUNT(plain_names); i++)
        words[n++] = rl_slice_of(plain_names[i]);
    ck_assert(rl_words_encode(words, n, out));
}

static const char *own_name(struct rng *rng)
{
    const struct names *names = rng_chance(rng, 500) ? &PICK(rng, locks) : &PICK(rng, slots);

    switch (rng_below(rng, 4)) {
    case 0:
        return names->queue;
    case 1:
        return names->waiters;
    case 2:
        return names->counter;
    default:
        return PICK(rng, other_names);
    }
}

const char *draw_any_name(struct rng *rng)
{
    uint32_t choice = rng_below(rng, 10);

    if (choice < 7)
        return PICK(rng, plain_names);
    if (choice < 9)
        return rng_chance(rng, 500) ? PICK(rng, locks).key : PICK(rng, slots).key;
    return own_name(rng);
}

const char *draw_some_word(struct rng *rng)
{
    return rng_chance(rng, 500) ? PICK(rng, words_of_others) : PICK(rng, values);
}

const char *draw_channel(struct rng *rng)
{
    return PICK(rng, channels);
}

static struct rl_slice any_value(struct rng *rng)
{
    return rl_slice_of(PICK(rng, values));
}

static const char **latest_of(struct drawn *drawn, const struct names *names)
{
    if (names >= locks && names < locks + COUNT(locks))
        return &drawn->latest[names - locks];
    return &drawn->latest[COUNT(locks) + (size_t)(names - slots)];
}

static struct rl_slice value_for(struct rng *rng, struct drawn *drawn, const struct names *names, bool claims)
{
    const char **latest = latest_of(drawn, names);
    const char *value = *latest && rng_chance(rng, claims ? 200 : 700) ? *latest : PICK(rng, values);

    if (claims && (!*latest || rng_chance(rng, 200)))
        *latest = value;
    return rl_slice_of(value);
}

/* --- Kinds -------------------------------------------------------------------------------------------------------- */

static struct rl_candidates others_than(const struct names *slot)
{
    struct rl_candidates candidates = {.n = 0};

    for (size_t i = 0; i < COUNT(slots); i++) {
        if (&slots[i] == slot)
            continue;
        candidates.keys[candidates.n++] = rl_slice_of(slots[i].key);
    }
    return candidates;
}

static void draw_subject(struct rng *rng, const struct names *names, struct rl_subject *ret_subject)
{
    bool marked = rng_chance(rng, 500);

    *ret_subject = (struct rl_subject){
        .key = rl_slice_of(names->key),
        .token = any_value(rng),
        .ttl_ms = (uint32_t)rng_scaled(rng, 1, 30000),
        .mode = (enum rl_mode)rng_below(rng, 3),
        .marker = rl_slice_of(marked ? RL_MARKER_NAME : ""),
        .incarnation = rl_slice_of(marked ? PICK(rng, incarnations) : ""),
        .counter = rl_slice_of(names->counter),
        .counter_ttl_ms = 40000,
        .proposal = rng_chance(rng, 300) ? 0 : 1 + rng_below(rng, 90),
        .fence = 1 + rng_below(rng, 90),
        .queue = rl_slice_of(names->queue),
        .waiters = rl_slice_of(names->waiters),
        .channel = rl_slice_of(PICK(rng, channels)),
        .round = 1 + rng_below(rng, 4),
        .ticket = rng_chance(rng, 400) ? 0 : 1 + rng_below(rng, 60),
        .proposed_ticket = 1 + rng_below(rng, 60),
        .candidates = others_than(names),
        .limit = COUNT(slots),
    };
    if (rng_chance(rng, 300))
        ret_subject->replaces = any_value(rng);
}

/* Some commands have a short form, which names fewer keys. */
static void shorten(struct rng *rng, const struct rl_kind *kind, enum rl_step step, struct rl_subject *subject)
{
    bool ends = step == RL_STEP_RELEASE || step == RL_STEP_ROLLBACK;

    if (ends && !kind->respects_queue && rng_chance(rng, 300))
        subject->waiters = (struct rl_slice){0};
    if (step == RL_STEP_EXTEND && rng_chance(rng, 500))
        subject->queue = subject->waiters = (struct rl_slice){0};
}

/* Servers learn a script by EVAL. */
static void send_text_at_times(struct rng *rng, struct rl_command *command)
{
    command->by_digest = command->script != RL_SCRIPT_NONE && !rng_chance(rng, 300);
}

static void take_command(const struct rl_command *command, struct drawn *drawn)
{
    ck_assert(rl_command_encode(command, &drawn->bytes));
    drawn->program = command->script == RL_SCRIPT_NONE ? PROGRAM_NONE : PROGRAM_SHIPPED;
    drawn->script = command->script;
}

static void draw_step(struct rng *rng, struct drawn *drawn)
{
    static const struct rl_kind *const kinds[] = {&rl_mutex_kind, &rl_fenced_kind, &rl_shared_kind,
                                                  &rl_fenced_shared_kind, &rl_permit_kind, &rl_fenced_permit_kind};
    static const enum rl_step steps[] = {
        RL_STEP_CLAIM, RL_STEP_CLAIM, RL_STEP_ENQUEUE, RL_STEP_ENQUEUE, RL_STEP_ENQUEUE, RL_STEP_RAISE,
        RL_STEP_EXTEND, RL_STEP_REPAIR, RL_STEP_RELEASE, RL_STEP_RELEASE, RL_STEP_ROLLBACK,
    };
    const struct rl_kind *kind = PICK(rng, kinds);
    const struct names *names = kind == rl_permit_form(kind) ? &PICK(rng, slots) : &PICK(rng, locks);
    enum rl_step step = PICK(rng, steps);
    unsigned char room[512];
    struct rl_names made = {.room = room};
    struct rl_subject subject;
    struct rl_command command;

    draw_subject(rng, names, &subject);
    subject.names = &made;
    subject.token = value_for(rng, drawn, names, step == RL_STEP_CLAIM || step == RL_STEP_ENQUEUE);
    shorten(rng, kind, step, &subject);
    kind->command(step, &subject, &command);
    send_text_at_times(rng, &command);
    take_command(&command, drawn);
}

/* --- Several values in one command -------------------------------------------------------------------------------- */

#define MOST_VALUES 5

static void draw_extend_many(struct rng *rng, struct drawn *drawn)
{
    struct rl_extend_many many = {.n = 1 + rng_below(rng, MOST_VALUES), .ttl_ms = (uint32_t)rng_scaled(rng, 1, 30000)};

    for (size_t i = 0; i < many.n; i++) {
        const struct names *names = rng_chance(rng, 700) ? &PICK(rng, locks) : &PICK(rng, slots);

        many.keys[i] = rl_slice_of(names->key);
        many.tokens[i] = value_for(rng, drawn, names, false);
        many.modes[i] = (enum rl_mode)rng_below(rng, 3);
    }
    ck_assert(rl_extend_many_encode(&many, rng_chance(rng, 500), &drawn->bytes));
    drawn->script = RL_SCRIPT_EXTEND_MANY;
}

static void draw_enqueue_many(struct rng *rng, struct drawn *drawn)
{
    struct rl_joins tail = {.n = 1 + rng_below(rng, MOST_VALUES)};
    struct rl_subject subject;
    struct rl_command command;

    draw_subject(rng, &PICK(rng, locks), &subject);
    rl_queue_enqueue_command(&subject, &command);
    send_text_at_times(rng, &command);
    for (size_t i = 0; i < tail.n; i++) {
        tail.tokens[i] = any_value(rng);
        tail.proposals[i] = subject.proposal ? 1 + rng_below(rng, 90) : 0;
    }
    ck_assert(rl_joins_encode(&command, &tail, &drawn->bytes));
    drawn->script = command.script;
}

static void draw_refresh_many(struct rng *rng, struct drawn *drawn)
{
    struct rl_refresh_many many = {.n = 1 + rng_below(rng, MOST_VALUES)};
    struct rl_subject subject;
    struct rl_command command;

    draw_subject(rng, &PICK(rng, locks), &subject);
    rl_queue_refresh_many_command(&subject, &command);
    send_text_at_times(rng, &command);
    for (size_t i = 0; i < many.n; i++) {
        many.at[i].token = any_value(rng);
        many.at[i].round = 1 + rng_below(rng, 4);
        many.at[i].ticket = 1 + rng_below(rng, 60);
        many.at[i].proposal = subject.proposal;
    }
    ck_assert(rl_refresh_many_encode(&command, &many, &drawn->bytes));
    drawn->script = command.script;
}

static void draw_batch(struct rng *rng, struct drawn *drawn)
{
    drawn->program = PROGRAM_SHIPPED;
    switch (rng_below(rng, 3)) {
    case 0:
        draw_extend_many(rng, drawn);
        break;
    case 1:
        draw_enqueue_many(rng, drawn);
        break;
    default:
        draw_refresh_many(rng, drawn);
        break;
    }
}

/* --- Looks, latches, handshakes ----------------------------------------------------------------------------------- */

static void draw_look(struct rng *rng, struct drawn *drawn)
{
    struct rl_subject subject;
    struct rl_command command;

    draw_subject(rng, rng_chance(rng, 500) ? &PICK(rng, locks) : &PICK(rng, slots), &subject);
    rl_look_command(&subject, &command);
    take_command(&command, drawn);
}

static void draw_latch(struct rng *rng, struct drawn *drawn)
{
    static const char *const parties[] = {"p0", "p1", "p2", "p3"};
    static const char *const opened[] = {"", "", "1 2", "2 3", "3 2"};
    struct rl_latch_read question = {
        .key = rl_slice_of(RL_LATCH_NAME "l"),
        .parties = 2 + rng_below(rng, 2),
        .generation = 1 + rng_below(rng, 3),
        .keep_ms = (uint32_t)rng_scaled(rng, 1, 30000),
        .passed = rl_slice_of(PICK(rng, opened)),
        .party = rl_slice_of(rng_chance(rng, 700) ? PICK(rng, parties) : ""),
        .open = rng_chance(rng, 100),
        .channel = rl_slice_of(rng_chance(rng, 600) ? PICK(rng, channels) : ""),
        .wants_names = rng_chance(rng, 700),
        .revision = {"", 0},
    };
    struct rl_command command;

    rl_latch_command(&question, &command);
    take_command(&command, drawn);
}

static void draw_join(struct rng *rng, struct drawn *drawn)
{
    static const char *const nodes[] = {"n0", "n0", "n0", "n1"};
    static const uint32_t ttls[] = {30000, 30000, 10000, 0};
    struct rl_join_question question = {
        .mode = (enum rl_join_mode)rng_below(rng, RL_JOIN_ALLOW + 1),
        .marker = rl_slice_of(RL_MARKER_NAME),
        .incarnation = rl_slice_of(PICK(rng, incarnations)),
        .list_id = rl_slice_of(rng_chance(rng, 950) ? "d0" : "d1"),
        .node_id = rl_slice_of(PICK(rng, nodes)),
        .max_ttl_ms = PICK(rng, ttls),
        .durability = (enum rl_durability)rng_below(rng, RL_DURABILITY_ALWAYS + 1),
        .known = {.number = rng_below(rng, 5), .max_ttl_ms = PICK(rng, ttls), .longest_ms = PICK(rng, ttls)},
    };
    struct rl_command command;

    rl_join_command(&question, &command);
    take_command(&command, drawn);
}

void draw_command(struct rng *rng, struct drawn *drawn)
{
    uint32_t choice = rng_below(rng, 100);

    rl_bytes_clear(&drawn->bytes);
    drawn->script = RL_SCRIPT_NONE;
    if (choice < 50)
        draw_step(rng, drawn);
    else if (choice < 60)
        draw_batch(rng, drawn);
    else if (choice < 66)
        draw_look(rng, drawn);
    else if (choice < 74)
        draw_latch(rng, drawn);
    else if (choice < 80)
        draw_join(rng, drawn);
    else if (choice < 90)
        draw_plain(rng, drawn);
    else
        draw_called(rng, drawn);
}
