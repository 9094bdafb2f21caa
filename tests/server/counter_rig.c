#include "counter_rig.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "codec/classify.h"
#include "kinds/mutex.h"
#include "scripted.h"
#include "suite.h"

struct masters *counter_master;
struct clock_fault *counter_clock;

void counter_start(void)
{
    struct masters_options options = {.count = 1};

    counter_clock = clock_fault_create();
    options.environment = clock_fault_environment(counter_clock);
    counter_master = masters_create(&options);
    ck_assert_msg(counter_master && masters_cleanup_on_exit(counter_master), "%s", masters_error());
}

void counter_stop(void)
{
    masters_destroy(counter_master);
    clock_fault_destroy(counter_clock);
}

struct rl_subject counter_subject(const char *token, uint64_t number)
{
    return (struct rl_subject){.key = {"lock", 4},
                               .token = {token, strlen(token)},
                               .ttl_ms = 30000,
                               .marker = {"marker", 6},
                               .queue = {"queue", 5},
                               .waiters = {"waiters", 7},
                               .counter = {"count", 5},
                               .counter_ttl_ms = 86400000,
                               .proposal = number,
                               .fence = number};
}

struct rl_answer counter_take(const struct rl_kind *kind, enum rl_step step, const struct rl_subject *about)
{
    struct rl_command command;
    struct scripted scripted;
    struct rl_answer answer;

    kind->command(step, about, &command);
    scripted = scripted_run(counter_master, 0, &command);
    answer = rl_classify(kind, step, &scripted.reply);
    scripted_free(&scripted);
    return answer;
}

struct rl_answer counter_step(enum rl_step which, const char *token, uint64_t number)
{
    struct rl_subject about = counter_subject(token, number);

    return counter_take(&rl_fenced_kind, which, &about);
}

void expect_answer(struct rl_answer answer, enum rl_outcome outcome, enum rl_detail detail, uint64_t fence)
{
    ck_assert_msg(answer.outcome == outcome && answer.detail == detail && answer.fence == fence,
                  "outcome %d (%s), counter %" PRIu64 ", expected %d (%s), %" PRIu64, answer.outcome,
                  rl_detail_text(answer.detail), answer.fence, outcome, rl_detail_text(detail), fence);
}

void expect_granted(struct rl_answer answer, uint64_t fence)
{
    expect_answer(answer, RL_GRANTED, RL_DETAIL_NONE, fence);
}

void expect_counter(uint64_t number)
{
    char text[32];

    snprintf(text, sizeof text, "%" PRIu64, number);
    ask_expect(counter_master, 0, "GET count", text);
}

void expect_ttl(const char *key, long long at_most)
{
    char line[64];
    long long left;

    snprintf(line, sizeof line, "PTTL %s", key);
    left = ask_integer(counter_master, 0, line);
    ck_assert_int_le(left, at_most);
    ck_assert_int_gt(left, at_most - SUITE_PATIENCE_S * 1000);
}

struct rl_answer counter_repair(const struct rl_kind *kind, const char *incarnation)
{
    struct rl_subject about = counter_subject("mine", BIG);

    about.incarnation = (struct rl_slice){incarnation, strlen(incarnation)};
    if (kind == &rl_mutex_kind)
        about.counter = (struct rl_slice){NULL, 0};
    return counter_take(kind, RL_STEP_REPAIR, &about);
}
