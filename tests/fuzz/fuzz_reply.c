/* The reply reader, the classification and the admission: the same answers however the bytes are cut, and no grant that
 * is not there.
 *
 * Input: one byte that decides how the rest, the stream, is cut. */
#include <string.h>

#include "codec/classify.h"
#include "codec/reply.h"
#include "kinds/mutex.h"
#include "votes/admission.h"
#include "kinds/join.h"
#include "kinds/latch.h"
#include "kinds/look.h"
#include "kinds/wait_queue.h"
#include "fuzz.h"

#define REPLIES_MAX 64

/* What one way of feeding the stream gave. */
struct reading {
    size_t n;
    unsigned granted;
    uint64_t digests[REPLIES_MAX];
    enum rl_read_result end;
};

static uint64_t mix(uint64_t digest, const void *data, size_t size)
{
    const uint8_t *bytes = data;

    for (size_t i = 0; i < size; i++)
        digest = (digest ^ bytes[i]) * UINT64_C(0x100000001b3);
    return digest;
}

static uint64_t mix_item(uint64_t digest, const struct rl_reply_item *item)
{
    digest = mix(digest, &item->type, sizeof item->type);
    digest = mix(digest, &item->integer, sizeof item->integer);
    digest = mix(digest, &item->text.size, sizeof item->text.size);
    return mix(digest, item->text.data, item->text.size);
}

static uint64_t digest_of(const struct rl_reply *reply)
{
    uint64_t digest = mix_item(UINT64_C(0xcbf29ce484222325), &reply->root);

    HOLDS(reply->n_elements <= RL_REPLY_MAX_ELEMENTS);
    HOLDS(reply->root.type == RL_REPLY_ARRAY || reply->n_elements == 0);
    for (size_t i = 0; i < reply->n_elements; i++) {
        HOLDS(reply->elements[i].type != RL_REPLY_ARRAY);
        digest = mix_item(digest, &reply->elements[i]);
    }
    return digest;
}

static bool is_ok(const struct rl_reply *reply)
{
    return reply->root.type == RL_REPLY_STATUS && reply->root.text.size == 2 &&
           memcmp(reply->root.text.data, "OK", 2) == 0;
}

static bool is_integer(const struct rl_reply_item *item, int64_t number)
{
    return item->type == RL_REPLY_INTEGER && item->integer == number;
}

static bool is_fenced_grant(const struct rl_reply *reply)
{
    return reply->root.type == RL_REPLY_ARRAY && reply->n_elements == 2 && is_integer(&reply->elements[0], 1) &&
           reply->elements[1].type == RL_REPLY_INTEGER && reply->elements[1].integer > 0;
}

static bool is_integers(const struct rl_reply *reply, size_t n)
{
    for (size_t i = 0; i < reply->n_elements; i++) {
        if (reply->elements[i].type != RL_REPLY_INTEGER)
            return false;
    }
    return reply->root.type == RL_REPLY_ARRAY && reply->n_elements == n;
}

/* Eight integers, of which the first is the grant and the last the counter. */
static bool is_grant_in_line(const struct rl_reply *reply, bool fenced)
{
    if (!is_integers(reply, 8) || reply->elements[0].integer != 1)
        return false;
    for (size_t i = 1; i < 8; i++) {
        if (reply->elements[i].integer < -1)
            return false;
    }
    return !fenced || reply->elements[7].integer > 0;
}

/* The only replies that are grants. */
static bool must_be_granted(const struct rl_kind *kind, enum rl_step step, const struct rl_reply *reply)
{
    if (step == RL_STEP_CLAIM)
        return kind == &rl_fenced_kind ? is_fenced_grant(reply) : is_ok(reply);
    if (step == RL_STEP_ENQUEUE)
        return is_grant_in_line(reply, kind == &rl_fenced_kind);
    if (step == RL_STEP_EXTEND || step == RL_STEP_RAISE)
        return is_integer(&reply->root, 1);
    if ((step == RL_STEP_RELEASE || step == RL_STEP_ROLLBACK) && is_integer(&reply->root, 4))
        return true; /* deleted, though others wait */
    return is_integer(&reply->root, 1) || is_integer(&reply->root, 2); /* a key set again; a key handed off */
}

/* The number that a grant has counted; 0 if there are no tokens. */
static uint64_t counter_of(const struct rl_kind *kind, enum rl_step step, const struct rl_reply *reply)
{
    if (kind != &rl_fenced_kind || (step != RL_STEP_CLAIM && step != RL_STEP_ENQUEUE))
        return 0;
    return (uint64_t)reply->elements[step == RL_STEP_CLAIM ? 1 : 7].integer;
}

/* Whoever has the key, or waits for it, may have been told its place; nobody else. */
static void check_place(const struct rl_reply *reply)
{
    struct rl_entry_report report = {.ticket = 0};
    enum rl_outcome outcome = rl_classify(&rl_mutex_kind, RL_STEP_ENQUEUE, reply).outcome;

    if (!rl_queue_entry_report(reply, &report)) {
        HOLDS(report.ticket == 0);
        return;
    }
    HOLDS(is_integers(reply, 8) && reply->elements[0].integer >= 0);
    HOLDS(outcome == RL_GRANTED || outcome == RL_QUEUED || reply->elements[0].integer > 1);
    HOLDS(report.ticket > 0 && report.held_ms >= -1 && report.look_ms >= -1);
}

static void classify(struct reading *reading, const struct rl_kind *kind, const struct rl_reply *reply)
{
    for (enum rl_step step = RL_STEP_CLAIM; step < RL_STEP_COUNT; step++) {
        struct rl_answer answer = rl_classify(kind, step, reply);
        bool granted = answer.outcome == RL_GRANTED;

        HOLDS(answer.outcome >= RL_GRANTED && answer.outcome <= RL_QUEUED);
        HOLDS(answer.outcome != RL_QUEUED || (step == RL_STEP_ENQUEUE && is_integer(&reply->elements[0], 0)));
        HOLDS(rl_detail_text(answer.detail) != NULL);
        HOLDS(granted == must_be_granted(kind, step, reply));
        HOLDS(!granted || answer.fence == counter_of(kind, step, reply));
        reading->granted += step == RL_STEP_CLAIM && granted && kind == &rl_mutex_kind;
    }
}

static bool lies_in(struct rl_slice inner, struct rl_slice outer)
{
    const char *begin = outer.data;
    const char *at = inner.data;

    return !inner.size || (at >= begin && at + inner.size <= begin + outer.size);
}

/* Lists are taken apart to their end, and no value reaches out of them. */
static void check_list(struct rl_slice list, bool (*next)(struct rl_slice *text, struct rl_look_vote *ret))
{
    struct rl_slice rest = list;
    struct rl_look_vote vote;

    for (size_t before = rest.size; next(&rest, &vote); before = rest.size) {
        HOLDS(rest.size < before);
        HOLDS(lies_in(vote.value, list) && vote.value.size <= RL_LOOK_VALUE_BYTES);
        HOLDS(vote.left_ms >= -1 && (unsigned)vote.mode <= RL_SHARED);
    }
}

static void look(const struct rl_reply *reply)
{
    struct rl_look_answer answer;

    if (!rl_look_answer(reply, &answer))
        return;
    HOLDS(reply->root.type == RL_REPLY_ARRAY && reply->n_elements == 8);
    check_list(answer.votes, rl_look_next_vote);
    check_list(answer.waiters, rl_look_next_waiter);
}

static void latch(const struct rl_reply *reply)
{
    struct rl_latch_answer answer;
    struct rl_slice rest;
    struct rl_slice name;

    if (!rl_latch_answer(reply, &answer))
        return;
    HOLDS(reply->root.type == RL_REPLY_ARRAY && reply->n_elements == 4);
    HOLDS(answer.code <= RL_LATCH_FOREIGN && answer.passed.size <= RL_LATCH_PASSED_BYTES);
    HOLDS(answer.revision.size <= RL_LATCH_REVISION_BYTES);
    rest = answer.names;
    for (size_t before = rest.size; rl_latch_next_name(&rest, &name); before = rest.size)
        HOLDS(rest.size < before && lies_in(name, answer.names) && rl_latch_is_party(name));
}

/* What a server says of itself: believed only as far as it makes sense, and a vote only with a marker. */
static void evaluate(const struct rl_reply *reply)
{
    static const struct rl_admission_rules rules = {.drift_ppm = 10000};
    struct rl_join_report report;
    struct rl_admission_status admission;

    if (reply->root.type == RL_REPLY_ERROR)
        (void)rl_join_is_refusal(reply->root.text);
    if (!rl_join_parse(reply, &report, NULL))
        return;
    HOLDS(reply->root.type == RL_REPLY_ARRAY);
    HOLDS(strlen(report.incarnation) <= RL_INCARNATION_MAX && strlen(report.run_id) <= RL_RUN_ID_MAX);
    HOLDS(report.left_ms >= 0 && report.left_ms <= (int64_t)report.max_ttl_ms + 1000);
    admission = rl_admission_evaluate(&report, &rules, (struct rl_instant){INT64_MAX - 1});
    HOLDS(admission.kind != RL_ADMISSION_UNEVALUATED);
    HOLDS(admission.kind != RL_ADMISSION_VOTES || (strcmp(report.role, "master") == 0 && admission.epoch_checked));
    HOLDS(admission.kind != RL_ADMISSION_EXCLUDED || admission.fault != RL_FAULT_NONE);
}

/* Takes all complete replies; false at the end of everything. */
static bool take(struct rl_reply_reader *reader, struct reading *reading)
{
    struct rl_reply reply;

    while ((reading->end = rl_reply_reader_next(reader, &reply)) == RL_READ_REPLY) {
        if (reading->n == REPLIES_MAX)
            return false;
        reading->digests[reading->n++] = digest_of(&reply);
        classify(reading, &rl_mutex_kind, &reply);
        classify(reading, &rl_fenced_kind, &reply);
        check_place(&reply);
        evaluate(&reply);
        look(&reply);
        latch(&reply);
    }
    if (reading->end == RL_READ_ERROR) {
        HOLDS(rl_reply_reader_next(reader, &reply) == RL_READ_ERROR);
        HOLDS(strlen(rl_reply_reader_error(reader)) > 0);
    }
    return reading->end == RL_READ_MORE;
}

static struct reading read_all(const uint8_t *data, size_t size, size_t portion)
{
    struct rl_reply_reader *reader = rl_reply_reader_create();
    struct reading reading = {.end = RL_READ_MORE};
    size_t at = 0;

    HOLDS(reader != NULL);
    while (at < size) {
        size_t n = size - at < portion ? size - at : portion;
        uint8_t *exact = malloc(n); /* so that a look beyond the end is seen */

        HOLDS(exact != NULL);
        memcpy(exact, data + at, n);
        if (!rl_reply_reader_feed(reader, exact, n) || !take(reader, &reading))
            at = size;
        free(exact);
        at += n;
    }
    rl_reply_reader_destroy(reader);
    return reading;
}

static unsigned count_ok(const uint8_t *data, size_t size)
{
    unsigned count = 0;

    for (size_t i = 0; i + 5 <= size; i++)
        count += memcmp(data + i, "+OK\r\n", 5) == 0;
    return count;
}

void fuzz_reply(const uint8_t *data, size_t size)
{
    struct reading whole, cut;

    if (size < 2)
        return;
    whole = read_all(data + 1, size - 1, size);
    cut = read_all(data + 1, size - 1, 1 + data[0] % 16);
    HOLDS(whole.n == cut.n && whole.end == cut.end);
    HOLDS(memcmp(whole.digests, cut.digests, whole.n * sizeof whole.digests[0]) == 0);
    HOLDS(whole.granted <= count_ok(data + 1, size - 1));
}
