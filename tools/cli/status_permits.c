#include "cli/status.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/look.h>

#include "cli/json.h"
#include "cli/label.h"
#include "cli/session.h"
#include "cli/term.h"
#include "options/exit.h"

/* Slots behind the last one, at most. */
enum { BEYOND = 16, TOKEN_SIZE = REDLOCK_MAX_TOKEN_BYTES + 1 };

struct waiter {
    uint64_t ticket;
    uint32_t slot;
    char token[TOKEN_SIZE];
};

struct slot {
    struct picture *picture;
    enum redlock_look_verdict verdict;
    char token[TOKEN_SIZE]; /* of its holder */
    int64_t left_ms;
    uint64_t n_waiting;
};

struct picture {
    const struct status_request *request;
    struct slot *slots;
    uint32_t n;             /* those beyond the limit included */
    uint32_t pending;
    struct waiter *waiters;
    size_t n_waiters;
    uint32_t held;
    uint32_t beyond;
    uint32_t unknown;
};

static void copy_token(const struct redlock_look_value *value, char ret_token[TOKEN_SIZE])
{
    snprintf(ret_token, TOKEN_SIZE, "%.*s", (int)value->value_size, value->value);
    for (char *byte = ret_token; *byte != '\0'; byte++)
        if (*byte < ' ' || *byte > '~')
            *byte = '?';
}

static void on_look(struct redlock_client *client, const struct redlock_look_result *result, void *user_data)
{
    struct slot *slot = user_data;
    struct picture *picture = slot->picture;

    picture->pending--;
    slot->verdict = result->status == REDLOCK_OK ? result->verdict : REDLOCK_LOOK_UNKNOWN;
    slot->n_waiting = result->n_waiting;
    if (slot->verdict == REDLOCK_LOOK_EXCLUSIVE) {
        copy_token(&result->values[0], slot->token);
        slot->left_ms = result->values[0].left_ms;
    }
    for (size_t i = 0; i < result->n_waiters; i++) {
        struct waiter *waiter = &picture->waiters[picture->n_waiters++];

        waiter->ticket = result->waiters[i].ticket;
        waiter->slot = (uint32_t)(slot - picture->slots);
        copy_token(&result->waiters[i], waiter->token);
    }
}

static int look_at(struct redlock_client *client, struct slot *slot)
{
    const struct picture *picture = slot->picture;
    char key[REDLOCK_MAX_KEY_BYTES + 1];
    int size = snprintf(key, sizeof key, "%s#%u", picture->request->key, (unsigned)(slot - picture->slots));
    int status = (size_t)size < sizeof key ? redlock_look(client, key, (size_t)size, on_look, slot)
                                            : REDLOCK_E_KEY_TOO_LONG;

    slot->picture->pending += status == REDLOCK_OK;
    return status;
}

static int look_at_all(struct session *session, struct redlock_client *client, struct picture *picture)
{
    int status = REDLOCK_OK;
    uint32_t next = 0;

    while (picture->pending > 0 || (status == REDLOCK_OK && next < picture->n)) {
        while (status == REDLOCK_OK && next < picture->n && picture->pending < REDLOCK_MAX_LOOKS)
            status = look_at(client, &picture->slots[next++]);
        if (picture->pending > 0)
            event_base_loop(session->base, EVLOOP_ONCE);
    }
    return status;
}

static int by_ticket(const void *a, const void *b)
{
    const struct waiter *one = a;
    const struct waiter *other = b;

    return one->ticket < other->ticket ? -1 : one->ticket > other->ticket;
}

/* Only what a quorum agrees on is held; what is neither held nor free is about to be one of them. */
static void count(struct picture *picture)
{
    for (uint32_t i = 0; i < picture->n; i++) {
        bool is_held = picture->slots[i].verdict == REDLOCK_LOOK_EXCLUSIVE;

        if (i >= picture->request->permits)
            picture->beyond += is_held;
        else
            picture->held += is_held;
        picture->unknown += i < picture->request->permits && picture->slots[i].verdict == REDLOCK_LOOK_UNKNOWN;
    }
    qsort(picture->waiters, picture->n_waiters, sizeof *picture->waiters, by_ticket);
}

/* --- Output ------------------------------------------------------------------------------------------------------ */

static int token_width(const struct picture *picture)
{
    size_t width = STATUS_SHORT_TOKEN;

    for (uint32_t i = 0; picture->request->verbose && i < picture->n; i++)
        width = strlen(picture->slots[i].token) > width ? strlen(picture->slots[i].token) : width;
    for (size_t i = 0; picture->request->verbose && i < picture->n_waiters; i++)
        width = strlen(picture->waiters[i].token) > width ? strlen(picture->waiters[i].token) : width;
    return (int)width;
}

/* Of a large semaphore the free slots would fill the screen; they are counted below. */
static bool is_shown(const struct picture *picture, uint32_t i)
{
    bool is_free = picture->slots[i].verdict == REDLOCK_LOOK_FREE;

    return i < picture->request->permits ? !is_free || picture->request->permits <= 20
                                         : picture->slots[i].verdict == REDLOCK_LOOK_EXCLUSIVE;
}

static void print_slot(const struct picture *picture, uint32_t i)
{
    const struct slot *slot = &picture->slots[i];
    const struct label label = label_of(slot->token);
    char left[16];
    char ago[LABEL_AGO_SIZE];

    if (slot->verdict != REDLOCK_LOOK_EXCLUSIVE) {
        printf("  %6u  %s\n", (unsigned)i, redlock_look_verdict_name(slot->verdict));
        return;
    }
    printf("  %6u  %-*.*s  %8s  %-16s  %s%s\n", (unsigned)i, token_width(picture), token_width(picture), slot->token,
           slot->left_ms < 0 ? "no end" : term_time(slot->left_ms * 1000, left, sizeof left),
           label_ago(label.asked_us, ago), label.name[0] != '\0' ? label.name : "-",
           i < picture->request->permits ? "" : "  beyond the last one");
}

static void print_waiters(const struct picture *picture)
{
    if (picture->n_waiters > 0)
        printf("waiting, in the order of their tickets:\n");
    for (size_t i = 0; i < picture->n_waiters; i++) {
        const struct waiter *waiter = &picture->waiters[i];
        const struct label label = label_of(waiter->token);
        char ago[LABEL_AGO_SIZE];

        printf("  %6zu  %-*.*s  at slot %-5u %-16s  %s\n", i + 1, token_width(picture), token_width(picture),
               waiter->token, (unsigned)waiter->slot, label_ago((int64_t)waiter->ticket, ago),
               label.name[0] != '\0' ? label.name : "-");
    }
}

static void print_held(const struct picture *picture)
{
    const struct status_request *request = picture->request;

    if (request->guessed)
        printf("semaphore: %u permit%s held; how many there are, those who take them know: --permits K\n",
               picture->held, picture->held == 1 ? "" : "s");
    else
        printf("%u of %u permits held\n", picture->held, request->permits);
}

static void print_text(FILE *out, const void *data)
{
    const struct picture *picture = data;
    const struct status_request *request = picture->request;

    printf("  %6s  %-*s  %8s  %-16s  %s\n", "slot", token_width(picture), "holder", "ttl left", "asked for it",
           "label");
    for (uint32_t i = 0; i < picture->n; i++)
        if (is_shown(picture, i))
            print_slot(picture, i);
    print_held(picture);
    if (picture->unknown > 0)
        printf("unknown: too few masters answered for %u of them\n", picture->unknown);
    if (picture->beyond > 0)
        printf("%u more held by programs that name more than %u permits\n", picture->beyond, request->permits);
    print_waiters(picture);
}

static void json_slot(struct cli_json *json, const struct picture *picture, uint32_t i)
{
    const struct slot *slot = &picture->slots[i];

    cli_json_begin(json, NULL, '{');
    cli_json_int(json, "slot", i);
    cli_json_string(json, "verdict", redlock_look_verdict_name(slot->verdict));
    if (slot->verdict == REDLOCK_LOOK_EXCLUSIVE) {
        status_json_token(json, slot->token, picture->request->verbose);
        cli_json_int(json, "pttl_ms", slot->left_ms);
    }
    cli_json_end(json, '}');
}

static void json_waiter(struct cli_json *json, const struct picture *picture, const struct waiter *waiter)
{
    cli_json_begin(json, NULL, '{');
    status_json_token(json, waiter->token, picture->request->verbose);
    cli_json_int(json, "ticket", (int64_t)waiter->ticket);
    cli_json_int(json, "slot", waiter->slot);
    cli_json_end(json, '}');
}

static void print_json(FILE *out, const void *data)
{
    const struct picture *picture = data;
    struct cli_json json = cli_json_open(out);

    cli_json_key(&json, picture->request->key);
    cli_json_string(&json, "kind", "semaphore");
    if (!picture->request->guessed)
        cli_json_int(&json, "permits", picture->request->permits);
    cli_json_int(&json, "held", picture->held);
    cli_json_int(&json, "beyond", picture->beyond);
    cli_json_int(&json, "unknown", picture->unknown);
    cli_json_begin(&json, "slots", '[');
    for (uint32_t i = 0; i < picture->n; i++)
        if (i < picture->request->permits || picture->slots[i].verdict == REDLOCK_LOOK_EXCLUSIVE)
            json_slot(&json, picture, i);
    cli_json_end(&json, ']');
    cli_json_begin(&json, "waiters", '[');
    for (size_t i = 0; i < picture->n_waiters; i++)
        json_waiter(&json, picture, &picture->waiters[i]);
    cli_json_end(&json, ']');
    cli_json_close(&json);
}

static int take(struct session *session, struct redlock_client *client, struct picture *picture)
{
    int status = look_at_all(session, client, picture);

    if (status != REDLOCK_OK)
        return refused_call("status", status);
    count(picture);
    status_print(picture->request, print_json, print_text, picture);
    if (picture->unknown > 0)
        return CLI_INFRASTRUCTURE;
    return picture->held > 0 ? CLI_OK : CLI_NOT_HELD;
}

int status_permits(struct session *session, struct redlock_client *client, const struct status_request *request)
{
    uint32_t beyond = request->permits < BEYOND ? request->permits : BEYOND;
    struct picture picture = {.request = request, .n = request->permits + beyond};
    int code = CLI_INFRASTRUCTURE;

    picture.slots = calloc(picture.n, sizeof *picture.slots);
    picture.waiters = calloc((size_t)picture.n * REDLOCK_LOOK_MAX_WAITERS, sizeof *picture.waiters);
    for (uint32_t i = 0; picture.slots && i < picture.n; i++)
        picture.slots[i].picture = &picture;
    if (picture.slots && picture.waiters)
        code = take(session, client, &picture);
    else
        refused_call("status", REDLOCK_E_NOMEM);
    free(picture.slots);
    free(picture.waiters);
    return code;
}
