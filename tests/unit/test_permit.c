/* Permits: what is written for each step, and what the replies mean. */
#include <stdio.h>
#include <string.h>

#include "kinds/names.h"
#include "kinds/permit.h"
#include "suite.h"
#include "votes/kind.h"

static const struct rl_subject subject = {.key = {"lock#1", 6},
                                          .token = {"value", 5},
                                          .ttl_ms = 30000,
                                          .marker = {"marker", 6},
                                          .incarnation = {"memory", 6},
                                          .queue = {"q", 1},
                                          .waiters = {"w", 1},
                                          .channel = {"channel", 7},
                                          .round = 3,
                                          .ticket = 7,
                                          .limit = 10,
                                          .candidates = {.n = 2, .keys = {{"lock#4", 6}, {"lock#9", 6}}}};

static struct rl_subject with_counter(void)
{
    struct rl_subject about = subject;

    about.counter = (struct rl_slice){"count", 5};
    about.counter_ttl_ms = 86400000;
    about.proposal = 12;
    return about;
}

static void expect_command(const struct rl_kind *kind, enum rl_step step, const struct rl_subject *about,
                           enum rl_script script, size_t n_keys, const char *expected)
{
    unsigned char room[512];
    struct rl_names names = {.room = room};
    struct rl_subject named = *about;
    struct rl_command command;
    char text[512] = "";
    size_t size = 0;

    named.names = &names;
    memset(&command, 0xa5, sizeof command);
    kind->command(step, &named, &command);
    for (size_t i = 0; i < command.argc; i++) {
        if (i)
            text[size++] = ' ';
        if (command.argv[i].size)
            memcpy(text + size, command.argv[i].data, command.argv[i].size);
        size += command.argv[i].size;
    }
    ck_assert_str_eq(text, expected);
    ck_assert_int_eq(command.script, script);
    ck_assert_uint_eq(command.n_keys, n_keys);
}

GROUP(commands, "commands", NULL, NULL)

TEST(commands, a_claim_names_the_other_slots_behind_its_own)
{
    struct rl_subject fenced = with_counter();

    expect_command(&rl_permit_kind, RL_STEP_CLAIM, &subject, RL_SCRIPT_CLAIM_PERMIT, 6,
                   "lock#1 lock#1 lock#4 redlock:queue:lock#4 lock#9 redlock:queue:lock#9 value 30000 0 0");
    expect_command(&rl_fenced_permit_kind, RL_STEP_CLAIM, &fenced, RL_SCRIPT_CLAIM_PERMIT, 6,
                   "lock#1 count lock#4 redlock:queue:lock#4 lock#9 redlock:queue:lock#9 value 30000 12 86400000");
}

TEST(commands, a_claim_needs_no_other_slots)
{
    struct rl_subject alone = subject;

    alone.candidates.n = 0;
    expect_command(&rl_permit_kind, RL_STEP_CLAIM, &alone, RL_SCRIPT_CLAIM_PERMIT, 2, "lock#1 lock#1 value 30000 0 0");
}

TEST(commands, an_enqueue_is_the_mutexs_with_more_keys)
{
    struct rl_subject fenced = with_counter();

    expect_command(&rl_fenced_permit_kind, RL_STEP_ENQUEUE, &fenced, RL_SCRIPT_ENQUEUE_PERMIT, 11,
                   "lock#1 q w count marker redlock:permits:lock redlock:permit-waiters:lock lock#4 "
                   "redlock:queue:lock#4 lock#9 redlock:queue:lock#9 value 30000 3 7 0 memory 12 86400000 channel 10");
}

TEST(commands, the_other_steps_are_the_mutexs)
{
    struct rl_subject fenced = with_counter();

    expect_command(&rl_permit_kind, RL_STEP_EXTEND, &subject, RL_SCRIPT_EXTEND, 1, "lock#1 value 30000");
    expect_command(&rl_permit_kind, RL_STEP_REPAIR, &subject, RL_SCRIPT_REPAIR, 2,
                   "lock#1 marker value 30000 memory");
    expect_command(&rl_fenced_permit_kind, RL_STEP_RAISE, &fenced, RL_SCRIPT_RAISE, 2,
                   "lock#1 count value 0 86400000");
}

TEST(commands, a_release_names_the_directory)
{
    struct rl_subject fenced = with_counter();
    struct rl_subject brief = with_counter();

    brief.waiters.size = 0;
    expect_command(&rl_fenced_permit_kind, RL_STEP_RELEASE, &fenced, RL_SCRIPT_RELEASE_PERMIT, 7,
                   "lock#1 q w count marker redlock:permits:lock redlock:permit-waiters:lock value");
    expect_command(&rl_permit_kind, RL_STEP_ROLLBACK, &fenced, RL_SCRIPT_RELEASE_PERMIT, 7,
                   "lock#1 q w count marker redlock:permits:lock redlock:permit-waiters:lock value");
    expect_command(&rl_permit_kind, RL_STEP_ROLLBACK, &brief, RL_SCRIPT_RELEASE_SHORT, 3,
                   "lock#1 q redlock:permits:lock value");
}

/* --- Replies ------------------------------------------------------------------------------------------------------ */

static struct rl_reply integers(size_t n, const int64_t *values)
{
    struct rl_reply reply = {.root = {.type = RL_REPLY_ARRAY}, .n_elements = n};

    for (size_t i = 0; i < n; i++)
        reply.elements[i] = (struct rl_reply_item){.type = RL_REPLY_INTEGER, .integer = values[i]};
    return reply;
}

#define REPLY(...) \
    integers(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (const int64_t[]){__VA_ARGS__})

/* The mask is what ends the reply. */
static void expect_meaning(const struct rl_kind *kind, enum rl_step step, struct rl_reply reply,
                           enum rl_outcome outcome, enum rl_detail detail, uint64_t fence)
{
    int64_t mask = reply.elements[reply.n_elements - 1].integer;
    uint32_t read = 99;
    struct rl_answer answer;

    ck_assert(rl_permit_mask(&reply, &read));
    ck_assert_int_eq(read, mask);
    answer = kind->answer(step, &reply);
    ck_assert_int_eq(answer.outcome, outcome);
    ck_assert_int_eq(answer.detail, detail);
    ck_assert_uint_eq(answer.fence, fence);
}

GROUP(replies, "replies", NULL, NULL)

TEST(replies, a_claim_is_granted_or_refused_with_a_mask)
{
    expect_meaning(&rl_permit_kind, RL_STEP_CLAIM, REPLY(1, 0, 0), RL_GRANTED, RL_DETAIL_NONE, 0);
    expect_meaning(&rl_permit_kind, RL_STEP_CLAIM, REPLY(0, 29000, 0, 5), RL_REFUSED, RL_DETAIL_HELD, 0);
    expect_meaning(&rl_fenced_permit_kind, RL_STEP_CLAIM, REPLY(1, 12, 0), RL_GRANTED, RL_DETAIL_NONE, 12);
    expect_meaning(&rl_fenced_permit_kind, RL_STEP_CLAIM, REPLY(0, -1, 12, 127), RL_REFUSED, RL_DETAIL_HELD, 12);
    expect_meaning(&rl_fenced_permit_kind, RL_STEP_CLAIM, REPLY(1, 0, 0), RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0);
}

TEST(replies, an_enqueue_answers_as_a_mutexs_with_a_mask)
{
    expect_meaning(&rl_permit_kind, RL_STEP_ENQUEUE, REPLY(0, 1000, 7, 0, 2, 500, 500, 0, 3), RL_QUEUED,
                   RL_DETAIL_NONE, 0);
    expect_meaning(&rl_permit_kind, RL_STEP_ENQUEUE, REPLY(1, 1000, 7, 0, 0, 500, -1, 0, 0), RL_GRANTED,
                   RL_DETAIL_NONE, 0);
    expect_meaning(&rl_fenced_permit_kind, RL_STEP_ENQUEUE, REPLY(1, 1000, 7, 0, 0, 500, -1, 44, 0), RL_GRANTED,
                   RL_DETAIL_NONE, 44);
    expect_meaning(&rl_permit_kind, RL_STEP_ENQUEUE, REPLY(-3, 1000, 0, 0, 0, -1, -1, 0, 0), RL_FAILED,
                   RL_DETAIL_QUEUE_FULL, 0);
}

static void expect_no_mask(struct rl_reply reply)
{
    uint32_t mask = 99;
    struct rl_answer answer;

    ck_assert(!rl_permit_mask(&reply, &mask));
    ck_assert_uint_eq(mask, 99);
    if (reply.root.type == RL_REPLY_ERROR)
        return;
    answer = rl_permit_kind.answer(RL_STEP_CLAIM, &reply);
    ck_assert_int_eq(answer.outcome, RL_UNKNOWN);
    answer = rl_fenced_permit_kind.answer(RL_STEP_ENQUEUE, &reply);
    ck_assert_int_eq(answer.outcome, RL_UNKNOWN);
}

TEST(replies, any_other_reply_may_have_set_the_key)
{
    struct rl_reply text = REPLY(1, 0, 0);

    text.elements[2].type = RL_REPLY_STRING;
    expect_no_mask(text);
    expect_no_mask(REPLY(1, 0, -1));
    expect_no_mask(REPLY(1, 0, 128));
    expect_no_mask((struct rl_reply){.root = {.type = RL_REPLY_ARRAY}});
    expect_no_mask((struct rl_reply){.root = {.type = RL_REPLY_NIL}});
    expect_no_mask((struct rl_reply){.root = {.type = RL_REPLY_STATUS, .text = {"OK", 2}}});
    expect_no_mask((struct rl_reply){.root = {.type = RL_REPLY_ERROR, .text = {"OOM", 3}}});
    expect_meaning(&rl_permit_kind, RL_STEP_CLAIM, REPLY(1, 0), RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0);
    expect_meaning(&rl_permit_kind, RL_STEP_CLAIM, REPLY(0, 5, 0), RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0);
    expect_meaning(&rl_permit_kind, RL_STEP_CLAIM, REPLY(2, 0, 0), RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0);
    expect_meaning(&rl_permit_kind, RL_STEP_ENQUEUE, REPLY(0, 1000, 7, 0, 2, 500, 500, 3), RL_UNKNOWN,
                   RL_DETAIL_PROTOCOL, 0);
}

SUITE("permit")
