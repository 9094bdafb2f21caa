/* From hand to hand: locks that are exported, and adopted by a text or by their token. */
#include <stdlib.h>
#include <string.h>

#include "agent/held.h"
#include "cli/locks.h"

/* id, op and token. */
enum { MOST_SPENT = 10000, TOKEN_MEMBERS = 3 };

/* --- Texts are adopted once --------------------------------------------------------------------------------------- */

struct spent {
    struct list link;
    int64_t until_us; /* on CLOCK_BOOTTIME; then the text is good for nobody */
    char text[];
};

static struct spent *spent_of(struct list *node)
{
    return LIST_OWNER(node, struct spent, link);
}

static void spent_free(struct agent *agent, struct spent *spent)
{
    list_remove(&spent->link);
    agent->n_spent--;
    free(spent);
}

bool spent_add(struct agent *agent, const char *text, int64_t left_ms)
{
    size_t size = strlen(text) + 1;
    struct spent *spent = agent->n_spent < MOST_SPENT ? malloc(sizeof *spent + size) : NULL;

    if (!spent)
        return false;
    spent->until_us = boot_now_us() + left_ms * 1000;
    memcpy(spent->text, text, size);
    list_append(&agent->spent, &spent->link);
    agent->n_spent++;
    return true;
}

static bool is_spent(struct agent *agent, const char *text)
{
    struct list *next;

    for (struct list *node = agent->spent.next; node != &agent->spent; node = next) {
        next = node->next;
        if (boot_left_ms(spent_of(node)->until_us) == 0)
            spent_free(agent, spent_of(node));
        else if (strcmp(spent_of(node)->text, text) == 0)
            return true;
    }
    return false;
}

json_t *spent_list(struct agent *agent)
{
    json_t *array = json_array();

    for (struct list *node = agent->spent.next; node != &agent->spent; node = node->next)
        json_array_append_new(array, json_pack("{s:s, s:I}", "text", spent_of(node)->text, "left_ms",
                                               (json_int_t)boot_left_ms(spent_of(node)->until_us)));
    return array;
}

void spent_forget(struct agent *agent)
{
    while (!list_is_empty(&agent->spent))
        spent_free(agent, spent_of(agent->spent.next));
}

/* --- Exporting ---------------------------------------------------------------------------------------------------- */

char *held_export(struct held *held, int *ret_status)
{
    char *text = malloc(LOCKS_EXPORT_SIZE);

    *ret_status = text ? held->subject.kind->export(held->subject.handle, text, LOCKS_EXPORT_SIZE) : REDLOCK_E_NOMEM;
    if (*ret_status == 0)
        return text;
    free(text);
    return NULL;
}

void op_export(struct peer *peer, int64_t id, json_t *words)
{
    uint64_t number = 0;
    const struct field fields[] = {{"lock", FIELD_NUMBER, &number, true}, {0}};
    struct held *held = held_find(peer, id, words, fields, &number);
    int status = 0;
    char *text = held ? held_export(held, &status) : NULL;

    if (status != 0)
        answer_status(peer, id, status);
    if (!text)
        return;
    answer(peer, json_pack("{s:I, s:b, s:s}", "id", (json_int_t)id, "ok", 1, "text", text));
    free(text);
    held_end(&held->thing);
}

/* --- Adopting ----------------------------------------------------------------------------------------------------- */

/* What lingers is known by the token of its first key, to the user who had it. */
static struct held *find_lingering(const struct peer *peer, const char *token)
{
    struct list *lingering = &peer->agent->lingering;

    for (struct list *node = lingering->next; node != lingering; node = node->next) {
        struct thing *thing = LIST_OWNER(node, struct thing, link);
        struct held *held = held_of(thing);

        if (thing->kind == &held_kind && held->uid == peer->identity.uid && !held->released &&
            strcmp(redlock_lock_token(held->parts[0].lock), token) == 0)
            return held;
    }
    return NULL;
}

static void adopt_by_token(struct peer *peer, int64_t id, const char *token)
{
    struct held *held = find_lingering(peer, token);

    if (!held || held->subject.kind->remaining_ns(held->subject.handle) <= 0) {
        answer_refused(peer, id, "REDLOCK_E_NOT_HELD", "no lock with that token lingers for this user");
        return;
    }
    thing_join(&held->thing, peer);
    answer(peer, held_grant(id, held));
}

int held_adopt(struct held *held, const char *text)
{
    struct redlock_acquire_options options;
    int status;

    redlock_acquire_options_init(&options);
    if (!held->renews)
        options.renew_ms = REDLOCK_NO_RENEWAL;
    status = held->subject.kind->adopt(held->subject.handle, &options, text);
    held->granted = status == 0;
    return status;
}

/* The text is spent before it is answered. */
static int adopt_once(struct held *held, const char *text)
{
    int status = held_adopt(held, text);

    if (status != 0 ||
        spent_add(held->thing.agent, text, held->subject.kind->remaining_ns(held->subject.handle) / 1000000 + 1))
        return status;
    held->subject.kind->detach(held->subject.handle);
    return REDLOCK_E_LIMIT;
}

static void adopt_by_text(struct peer *peer, int64_t id, const struct wanted *wanted)
{
    struct held *held = NULL;
    int status;

    if (is_spent(peer->agent, wanted->text))
        answer_refused(peer, id, "REDLOCK_E_ALREADY_HELD", "this text has been adopted: it is good for one holder");
    else
        held = held_create(peer, id, wanted);
    if (!held)
        return;
    status = adopt_once(held, wanted->text);
    if (status == 0) {
        answer(peer, held_grant(id, held));
        return;
    }
    answer_status(peer, id, status);
    held_end(&held->thing);
}

void op_adopt(struct peer *peer, int64_t id, json_t *words)
{
    struct wanted wanted = {.renews = true};
    const struct field fields[] = {
        {"token", FIELD_TEXT, &wanted.token, false},     {"text", FIELD_TEXT, &wanted.text, false},
        {"key", FIELD_TEXT, &wanted.key, false},         {"keys", FIELD_ANY, &wanted.keys, false},
        {"permits", FIELD_TEXT, &wanted.permits, false}, {"renew", FIELD_FLAG, &wanted.renews, false},
        {"linger", FIELD_DURATION, &wanted.linger_ms, false}, {0},
    };

    if (!thing_fits(peer, id) || !wanted_read(peer, id, words, fields, &wanted))
        return;
    if (!wanted.token == !wanted.text)
        answer_wrong(peer, id, "one of 'token' and 'text' is needed");
    else if (wanted.token && json_object_size(words) > TOKEN_MEMBERS)
        answer_wrong(peer, id, "'token' stands alone: the lock stays as it was acquired");
    else if (wanted.token)
        adopt_by_token(peer, id, wanted.token);
    else
        adopt_by_text(peer, id, &wanted);
}
