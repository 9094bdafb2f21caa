/* What the masters' notifications say, hostile ones included (kinds/wait_queue.c). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kinds/wait_queue.h"
#include "suite.h"

#define BIG UINT64_C(1700000000123457)

/* In memory of exactly that size, so that a look beyond the end is seen. */
static bool take(const char *payload, size_t size, struct rl_slice *value, struct rl_slice *incarnation,
                 struct rl_notification *notification, char **ret_exact)
{
    char *exact = malloc(size ? size : 1);

    ck_assert_ptr_nonnull(exact);
    memcpy(exact, payload, size);
    *ret_exact = exact;
    return rl_notification_read((struct rl_slice){exact, size}, value, incarnation, notification);
}

static bool is_taken(const char *payload)
{
    struct rl_slice value, incarnation;
    struct rl_notification notification;
    char *exact;
    bool taken = take(payload, strlen(payload), &value, &incarnation, &notification, &exact);

    free(exact);
    return taken;
}

static void expect_slice(struct rl_slice slice, const char *text)
{
    ck_assert_uint_eq(slice.size, strlen(text));
    ck_assert_mem_eq(slice.data, text, slice.size);
}

GROUP(cases, "notifications", NULL, NULL)

TEST(cases, a_notification_is_taken_apart)
{
    static const char payload[] = "value-1 4294967295 granted memory-2 1700000000123457 9007199254740991";
    struct rl_slice value, incarnation;
    struct rl_notification notification;
    char *exact;

    ck_assert(take(payload, sizeof payload - 1, &value, &incarnation, &notification, &exact));
    expect_slice(value, "value-1");
    expect_slice(incarnation, "memory-2");
    ck_assert_uint_eq(notification.round, UINT32_MAX);
    ck_assert(notification.kind == RL_TOLD_GRANTED);
    ck_assert_uint_eq(notification.time_us, BIG);
    ck_assert_uint_eq(notification.fence, UINT64_C(9007199254740991));
    free(exact);
}

static const struct told {
    const char *payload;
    enum rl_notice_kind kind;
} without_memory[] = {
    {"value 0 lower - 5 0", RL_TOLD_LOWER},
    {"value 0 look - 5 0", RL_TOLD_LOOK},
    {"value 0 first - 5 0", RL_TOLD_FIRST},
};

TESTS(cases, what_is_no_grant_is_told_without_a_memory, 0, sizeof without_memory / sizeof without_memory[0])
{
    const char *payload = without_memory[_i].payload;
    struct rl_slice value, incarnation;
    struct rl_notification notification = {.kind = RL_TOLD_GRANTED};
    char *exact;

    ck_assert(take(payload, strlen(payload), &value, &incarnation, &notification, &exact));
    expect_slice(value, "value");
    expect_slice(incarnation, "-");
    ck_assert(notification.kind == without_memory[_i].kind && notification.round == 0);
    ck_assert(rl_notification_counts(&notification, incarnation, (struct rl_slice){"memory", 6}));
    ck_assert(notification.time_us == 5 && notification.fence == 0);
    free(exact);
}

TEST(cases, a_notification_has_six_words_with_one_space_between_each_two)
{
    ck_assert(is_taken("v 1 granted i 2 3"));
    ck_assert(!is_taken(""));
    ck_assert(!is_taken("v"));
    ck_assert(!is_taken("     "));
    ck_assert(!is_taken("v 1 granted i 2"));
    ck_assert(!is_taken("v 1 granted i 2 "));
    ck_assert(!is_taken("v 1 granted i 2 3 "));
    ck_assert(!is_taken("v 1 granted i 2 3 4"));
    ck_assert(!is_taken(" 1 granted i 2 3"));
    ck_assert(!is_taken(" v 1 granted i 2 3"));
    ck_assert(!is_taken("v  granted i 2 3"));
    ck_assert(!is_taken("v 1  i 2 3"));
    ck_assert(!is_taken("v 1 granted  2 3"));
    ck_assert(!is_taken("v 1 granted i  3"));
    ck_assert(!is_taken("v\t1 granted i 2 3"));
}

TEST(cases, a_number_is_digits_and_not_too_many)
{
    static const char *const numbers[] = {"-1", "+1", "1.5", "1e3", "0x1", "a", "1a", "1700000000000000000"};
    char payload[128];

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        snprintf(payload, sizeof payload, "v %s granted i 2 3", numbers[i]);
        ck_assert_msg(!is_taken(payload), "%s", payload);
        snprintf(payload, sizeof payload, "v 1 granted i %s 3", numbers[i]);
        ck_assert_msg(!is_taken(payload), "%s", payload);
        snprintf(payload, sizeof payload, "v 1 granted i 2 %s", numbers[i]);
        ck_assert_msg(!is_taken(payload), "%s", payload);
    }
    ck_assert(is_taken("v 1 granted i 999999999999999999 999999999999999999"));
    ck_assert(!is_taken("v 4294967296 granted i 2 3"));
    ck_assert(!is_taken("v 18446744073709551617 granted i 2 3"));
}

TEST(cases, a_notification_grants_or_tells_of_a_lower_ticket_and_nothing_else)
{
    static const char *const words[] = {"grante", "grantedx", "Granted", "lowe", "lowerr", "queued", "1"};
    char payload[64];

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        snprintf(payload, sizeof payload, "v 1 %s i 2 3", words[i]);
        ck_assert_msg(!is_taken(payload), "%s", payload);
    }
}

/* Whatever is cut off or changed: no look beyond the end, no grant out of nothing, nothing written on failure. */
TEST(cases, a_hostile_notification_does_no_harm)
{
    static const char good[] = "value 17 granted memory 1700000000123457 42";
    struct rl_slice value = {NULL, 1}, incarnation = {NULL, 2};
    struct rl_notification notification = {.round = 3};
    char *exact;

    for (size_t size = 0; size < sizeof good - 2; size++) {
        if (take(good, size, &value, &incarnation, &notification, &exact))
            ck_assert_uint_gt(size, strlen("value 17 granted memory 1700000000123457 "));
        free(exact);
    }
    for (size_t at = 0; at < sizeof good - 1; at++) {
        char bad[sizeof good];

        memcpy(bad, good, sizeof good);
        bad[at] = '\0';
        notification = (struct rl_notification){.round = 3, .kind = RL_TOLD_LOWER};
        if (!take(bad, sizeof good - 1, &value, &incarnation, &notification, &exact))
            ck_assert(notification.round == 3 && notification.kind == RL_TOLD_LOWER);
        free(exact);
    }
}

static struct rl_slice slice_of(const char *text)
{
    return (struct rl_slice){text, strlen(text)};
}

TEST(cases, a_key_counts_if_it_was_given_in_the_memory_that_is_admitted)
{
    struct rl_notification granted = {.kind = RL_TOLD_GRANTED};

    ck_assert(rl_notification_counts(&granted, slice_of("memory-2"), slice_of("memory-2")));
    ck_assert(!rl_notification_counts(&granted, slice_of("memory-1"), slice_of("memory-2")));
    ck_assert(!rl_notification_counts(&granted, slice_of("memory-22"), slice_of("memory-2")));
    ck_assert(!rl_notification_counts(&granted, slice_of("memory"), slice_of("memory-2")));
    ck_assert(!rl_notification_counts(&granted, slice_of("-"), slice_of("memory-2")));
    ck_assert(rl_notification_counts(&granted, slice_of("-"), slice_of("")));
    ck_assert(!rl_notification_counts(&granted, slice_of("memory-2"), slice_of("")));
}

TEST(cases, a_lower_ticket_may_be_told_of_by_any_memory)
{
    struct rl_notification lower = {.kind = RL_TOLD_LOWER};

    ck_assert(rl_notification_counts(&lower, slice_of("-"), slice_of("memory-2")));
    ck_assert(rl_notification_counts(&lower, slice_of("memory-1"), slice_of("memory-2")));
    ck_assert(rl_notification_counts(&lower, slice_of("-"), slice_of("")));
}

SUITE("queue_notification")
