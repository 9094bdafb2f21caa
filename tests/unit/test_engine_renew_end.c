/* Renewal (rule 4.8): when it ends, and how it goes with the caller's own extensions. Held since t = 0, ttl 1000,
 * renewed every 300 ms: valid until 988 unless renewed. */
#include <string.h>

#include "core_harness.h"
#include "suite.h"

static struct rl_acquire renewing_request(void)
{
    struct rl_acquire request = core_request();

    request.renew_ms = 300;
    return request;
}

static struct core *start_renewing(void)
{
    struct rl_acquire request = renewing_request();

    return core_start_held_as(3, &request);
}

/* --- When no longer ----------------------------------------------------------------------------------------------- */

GROUP(end_tests, "end", NULL, core_stop_all)

TEST(end_tests, no_renewal_begins_after_max_hold)
{
    struct rl_acquire request = renewing_request();
    struct core *core;

    request.max_hold_ms = 600;
    core = core_start_held_as(3, &request);
    core_run_to(core, 300);
    core_answers(core, "ggg");
    core_skip(core);
    core_run_to(core, 2000);
    core_expect(core, "t=1288ms SEND release #1: 0 1 2\n"
                      "t=1288ms LOST\n");
    ck_assert_int_eq(core->locks[0].loss, RL_LOSS_HOLD_LIMIT);
}

TEST(end_tests, a_renewal_that_the_host_is_late_for_does_not_begin_after_max_hold_either)
{
    struct rl_acquire request = renewing_request();
    struct core *core;

    request.max_hold_ms = 301;
    core = core_start_held_as(3, &request);
    core_sleep_to(core, 301);
    core_run_to(core, 900);
    core_expect(core, "");
}

TEST(end_tests, retries_end_with_max_hold_too)
{
    struct rl_acquire request = renewing_request();
    struct core *core;

    request.max_hold_ms = 355;
    core = core_start_held_as(3, &request);
    core_run_to(core, 980);
    core_expect(core, "t=300ms SEND extend #1: 0 1 2\n");
}

TEST(end_tests, nothing_is_renewed_after_the_release_which_goes_behind_the_renewal)
{
    struct core *core = start_renewing();

    core_run_to(core, 310);
    core_release(core);
    core_answers(core, "ggg");
    core_answers(core, "ggg");
    core_run_to(core, 3000);
    core_expect(core, "t=300ms SEND extend #1: 0 1 2\n"
                      "t=310ms SEND release #1: 0 1 2\n"
                      "t=310ms COMPLETE release ok\n");
}

TESTS(end_tests, nothing_is_renewed_once_the_handle_is_gone, 0, 2)
{
    struct core *core = start_renewing();

    core_run_to(core, 310);
    if (_i)
        core_detach(core);
    else
        core_fini(core);
    core_skip(core);
    core_answers(core, "ggg");
    core_run_to(core, 3000);
    ck_assert_ptr_null(strstr(core->log, "extend"));
    ck_assert_ptr_null(strstr(core->log, "RENEWED"));
}

TEST(end_tests, the_next_hold_begins_with_no_renewal_of_the_former)
{
    struct core *core = start_renewing();
    struct rl_acquire request = core_request();

    core_run_to(core, 310);
    core_release(core);
    for (unsigned turn = 0; turn < 2; turn++)
        core_answers(core, "ggg");
    core_acquire(core, &request);
    core_answers(core, "ggg");
    core_skip(core);
    core_run_to(core, 1297);
    core_expect(core, "");
}

/* --- The caller's own extensions ---------------------------------------------------------------------------------- */

GROUP(extension, "extension", NULL, core_stop_all)

TEST(extension, an_extension_takes_over_the_renewal_under_way)
{
    struct core *core = start_renewing();

    core_run_to(core, 310);
    core_extend(core, 0);
    core_answers(core, "ggg");
    ck_assert_int_eq(core_deadline_ms(core), 988);
    core_answers(core, "gg");
    ck_assert_int_eq(core_deadline_ms(core), 310 + 988);
    core_run_to(core, 610);
    core_expect(core, "t=300ms SEND extend #1: 0 1 2\n"
                      "t=310ms SEND extend #1: 0 1 2\n"
                      "t=310ms COMPLETE extend ok\n"
                      "t=610ms SEND extend #1: 0 1 2\n");
}

TESTS(extension, the_rhythm_keeps_its_proportion_to_a_changed_ttl, 0, 3)
{
    static const struct {
        uint32_t ttl_ms;
        int64_t next_ms;
    } changes[] = {{500, 150}, {2000, 600}, {10, 3}};
    struct core *core = start_renewing();

    core_extend(core, changes[_i].ttl_ms);
    core_answers(core, "ggg");
    ck_assert_int_eq(rl_lock_wakeup(&core->engine, &core->locks[0]).ns, rl_ms(changes[_i].next_ms).ns);
}

TEST(extension, an_extension_that_fails_is_followed_by_a_renewal_soon)
{
    struct core *core = start_renewing();

    core_extend(core, 0);
    core_answers(core, "ff");
    ck_assert_int_le(rl_lock_wakeup(&core->engine, &core->locks[0]).ns, rl_ms(60).ns);
}

TEST(extension, a_canceled_extension_does_not_put_the_renewal_off)
{
    struct core *core = start_renewing();

    core_run_to(core, 290);
    core_extend(core, 0);
    core_cancel(core);
    ck_assert_int_le(rl_lock_wakeup(&core->engine, &core->locks[0]).ns, rl_ms(350).ns);
}

SUITE("engine_renew_end")
