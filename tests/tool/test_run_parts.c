/* The parts of `redlock run` and of the token files that are pure, or only touch files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/clock.h"
#include "cli/hold_file.h"
#include "cli/json.h"
#include "cli/run/deadline.h"
#include "cli/run/inherited.h"
#include "options/masters.h"
#include "options/secrets.h"
#include "suite.h"

/* --- Deadlines: at a second for a kill, three for a warning ------------------------------------------------------- */

#define S INT64_C(1000000000)

static const struct run_limits limits = {.kill_after_ns = 3 * S, .margin_ns = S};
static const struct instant until = {100 * S, 200 * S};

/* `left` before the end, by both clocks. */
static struct run_due due_with(int64_t left_ns, bool warned)
{
    return run_due_at(&limits, until, instant_after(until, -left_ns), warned);
}

GROUP(deadline, "deadline", NULL, NULL)

TEST(deadline, the_warning_and_the_kill_are_due_at_their_instants)
{
    ck_assert_int_eq(due_with(3 * S + 1, false).step, RUN_STEP_WAIT);
    ck_assert_int_eq(due_with(3 * S, false).step, RUN_STEP_WARN);
    ck_assert_int_eq(due_with(3 * S, true).step, RUN_STEP_WAIT);
    ck_assert_int_eq(due_with(S + 1, false).step, RUN_STEP_WARN);
    ck_assert_int_eq(due_with(S + 1, true).step, RUN_STEP_WAIT);
    ck_assert_int_eq(due_with(S, false).step, RUN_STEP_KILL);
    ck_assert_int_eq(due_with(S, true).step, RUN_STEP_KILL);
    ck_assert_int_eq(due_with(-S, true).step, RUN_STEP_KILL);
}

TEST(deadline, without_a_warning_only_the_kill_is_due)
{
    struct run_limits sudden = {.kill_after_ns = 0, .margin_ns = S};

    ck_assert_int_eq(run_due_at(&sudden, until, instant_after(until, -S - 1), false).step, RUN_STEP_WAIT);
    ck_assert_int_eq(run_due_at(&sudden, until, instant_after(until, -S), false).step, RUN_STEP_KILL);
}

TEST(deadline, no_sleep_goes_past_what_is_due_next)
{
    for (int64_t left_ns = 20 * S; left_ns > S; left_ns -= S / 10) {
        struct run_due cold = due_with(left_ns, false);
        struct run_due warned = due_with(left_ns, true);

        ck_assert_int_gt(warned.wait_ns, 0);
        ck_assert_int_le(warned.wait_ns, left_ns - S);
        ck_assert_int_ge(warned.wait_ns, (left_ns - S) / 2);
        if (cold.step == RUN_STEP_WAIT)
            ck_assert_int_le(cold.wait_ns, left_ns - 3 * S);
    }
}

TEST(deadline, the_sleeps_come_to_an_end)
{
    struct instant now = instant_after(until, -80 * S);
    int sleeps = 0;

    for (struct run_due due; (due = run_due_at(&limits, until, now, true)).step != RUN_STEP_KILL; sleeps++)
        now = instant_after(now, due.wait_ns);
    ck_assert_int_le(sleeps, 12);
    ck_assert_int_eq(instant_left(until, now), S);
}

TEST(deadline, the_clock_that_has_advanced_more_decides)
{
    ck_assert_int_eq(instant_left(until, (struct instant){90 * S, 195 * S}), 5 * S);
    ck_assert_int_eq(instant_left(until, (struct instant){98 * S, 195 * S}), 2 * S);
    ck_assert_int_eq(run_due_at(&limits, until, (struct instant){0, 199 * S}, true).step, RUN_STEP_KILL);
}

TEST(deadline, the_guard_has_a_tenth_of_the_margin_before_the_wrapper_kills)
{
    struct instant lost = instant_after(until, S);

    ck_assert_int_eq(run_fallback_at_ns(&limits, until, instant_after(until, -20 * S)), until.boot_ns - S + S / 10);
    ck_assert_int_eq(run_fallback_at_ns(&limits, until, until), until.boot_ns + S / 10);
    ck_assert_int_eq(run_fallback_at_ns(&limits, until, lost), lost.boot_ns + S / 10);
    ck_assert_int_eq(run_fallback_at_ns(&limits, until, (struct instant){90 * S, 195 * S}), 94 * S + S / 10);
}

TEST(deadline, limits_must_fit_the_ttl_and_defaults_do)
{
    for (uint32_t ttl_ms = 130; ttl_ms <= 86400000; ttl_ms += 1 + ttl_ms / 3) {
        uint32_t margin_ms = run_default_margin_ms(ttl_ms);

        ck_assert_ptr_null(run_limits_fault(ttl_ms, run_default_kill_after_ms(ttl_ms), margin_ms));
        ck_assert_ptr_null(run_limits_fault(ttl_ms, 0, margin_ms));
    }
    ck_assert_ptr_nonnull(run_limits_fault(1000, 500, 20));
    ck_assert_ptr_null(run_limits_fault(1000, 499, 20));
    ck_assert_ptr_nonnull(run_limits_fault(1000, 20, 20));
    ck_assert_ptr_nonnull(run_limits_fault(1000, 0, 0));
    ck_assert_ptr_nonnull(run_limits_fault(1000, 0, 250));
    ck_assert_uint_eq(run_default_margin_ms(100), 20);
    ck_assert_uint_eq(run_default_margin_ms(30000), 1000);
}

/* --- Environment ------------------------------------------------------------------------------------------------- */

GROUP(words, "words", NULL, NULL)

TEST(words, told_variables_replace_all_others_of_their_name)
{
    char *const before[] = {(char[]){"A=1"}, (char[]){"KEY=old"}, (char[]){"KEYS=other"}, (char[]){"KEY=older"},
                            (char[]){"GONE=1"}, NULL};
    const struct run_variable told[] = {{"KEY", "new"}, {"GONE", NULL}, {"EMPTY", ""}};
    char **env = run_env_create(before, told, 3);

    ck_assert_ptr_nonnull(env);
    ck_assert_str_eq(env[0], "A=1");
    ck_assert_str_eq(env[1], "KEYS=other");
    ck_assert_str_eq(env[2], "KEY=new");
    ck_assert_str_eq(env[3], "EMPTY=");
    ck_assert_ptr_null(env[4]);
    run_env_free(env);
}

/* --- Passwords --------------------------------------------------------------------------------------------------- */

static const struct {
    const char *text;
    const char *masked;
    const char *scrubbed;
} secrets[] = {
    {"redis://me:secret@host:1/2", "redis://me:***@host:1/2", "redis://me:******@host:1/2"},
    {"redis://:a:b@c@host", "redis://:***@host", "redis://:*****@host"},
    {"redis://:a/b@host,redis://host2", "redis://:***@host,redis://host2", "redis://:***@host,redis://host2"},
    {"unix://:pw@/path?db=1", "unix://:***@/path?db=1", "unix://:**@/path?db=1"},
    {":pw@host,me:pw2@host", ":***@host,me:***@host", ":**@host,me:***@host"},
    {"redis://host:6379", "redis://host:6379", "redis://host:6379"},
    {"--nodes=redis://u:p@h", "--nodes=redis://u:***@h", "--nodes=redis://u:*@h"},
    {"redis://u:a b'c\"d@h,h2", "redis://u:***@h,h2", "redis://u:*******@h,h2"},
    {"", "", ""},
    {"a, b", "a, b", "a, b"},
};

TESTS(words, passwords_are_found_in_urls, 0, sizeof secrets / sizeof secrets[0])
{
    char masked[128];
    char scrubbed[128];

    snprintf(scrubbed, sizeof scrubbed, "%s", secrets[_i].text);
    cli_scrub_list(scrubbed);
    ck_assert_str_eq(cli_masked(secrets[_i].text, masked, sizeof masked), secrets[_i].masked);
    ck_assert_str_eq(scrubbed, secrets[_i].scrubbed);
}

TEST(words, a_comma_in_a_password_is_no_end_of_a_url)
{
    char url[] = "redis://me:se,cr et@host";

    cli_scrub(url);
    ck_assert_str_eq(url, "redis://me:********@host");
}

TEST(words, a_mask_that_does_not_fit_is_cut)
{
    char masked[8];

    ck_assert_str_eq(cli_masked("redis://me:secret@host", masked, sizeof masked), "redis:/");
}

static const struct {
    const char *given;
    const char *url;
} passwords[] = {
    {"host", "redis://:p%40%2Fw@host"},
    {"me@host:1", "redis://me:p%40%2Fw@host:1"},
    {"redis://:own@host", "redis://:own@host"},
    {"/path/to@x", "unix://:p%40%2Fw@/path/to@x"},
    {"redis://host/3", "redis://:p%40%2Fw@host/3"},
};

TESTS(words, the_password_goes_to_urls_without_one, 0, sizeof passwords / sizeof passwords[0])
{
    struct cli_masters masters = {.count = 0};

    setenv("REDLOCK_PASSWORD", "p@/w", 1);
    ck_assert(cli_add_master("test", &masters, passwords[_i].given));
    ck_assert(cli_need_masters("test", &masters));
    ck_assert_str_eq(masters.urls[0], passwords[_i].url);
    cli_masters_fini(&masters);
    unsetenv("REDLOCK_PASSWORD");
}

/* --- Files ------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *text;
    const char *value; /* of "b"; NULL: there is none that fits */
} objects[] = {
    {"{\"b\":\"x\"}", "x"},
    {" { \"a\" : {\"b\":\"y\"} , \"b\" : \"x\" } \n", "x"},
    {"{\"b\":\"\\u00e9\"}", "\xc3\xa9"},
    {"{\"bb\":1,\"b\":\"\"}", ""},
    {"{\"b\":1}", NULL},
    {"{\"a\":{\"b\":\"x\"}}", NULL},
    {"[\"b\"]", NULL},
    {"{", NULL},
    {"", NULL},
    {"{\"b\":\"12345678901234567890123456789012\"}", NULL},
};

GROUP(files, "files", NULL, NULL)

TESTS(files, strings_are_read_whole_or_not_at_all, 0, sizeof objects / sizeof objects[0])
{
    char value[32];
    json_t *object = json_loads(objects[_i].text, 0, NULL);
    bool found = cli_json_read_string(object, "b", value, sizeof value);

    json_decref(object);
    ck_assert_int_eq(found, objects[_i].value != NULL);
    ck_assert_str_eq(value, objects[_i].value ? objects[_i].value : "");
}

static const char *const bad_keys[] = {"{}", "{\"key\":7}", "{\"key_hex\":\"f\"}", "{\"key_hex\":\"fg\"}",
                                       "{\"key_hex\":\"6100\"}", "{\"key_hex\":\"61626364\"}"};

TESTS(files, a_key_that_is_none_is_refused, 0, sizeof bad_keys / sizeof bad_keys[0])
{
    json_t *object = json_loads(bad_keys[_i], 0, NULL);
    char key[4];

    ck_assert(!cli_json_read_key(object, key, sizeof key));
    json_decref(object);
}

static struct hold sample(int64_t left_ms)
{
    struct hold hold = {.state = "held", .n = 1, .ttl_ms = 30000, .nodes_ok = "3/5"};

    hold.locks[0] = (struct hold_lock){.key = "odd \"key\" \xff\x01", .token = "token", .fence = 7};
    hold.exported = strdup("text");
    hold.valid_until = instant_after(instant_now(), left_ms * 1000000);
    return hold;
}

static bool write_hold(const char *path, const struct hold *hold)
{
    struct file_out file;
    bool ok = file_out_open(&file, "test", path, FILE_SECRET) && hold_write(&file, hold, 0);

    file_out_close(&file);
    return ok;
}

static bool read_hold(const char *path, struct hold *ret_hold)
{
    int fd = hold_open("test", path);
    bool ok = fd >= 0 && hold_read("test", path, fd, ret_hold);

    if (fd >= 0)
        close(fd);
    return ok;
}

static void expect_same_locks(const struct hold *read, const struct hold *written)
{
    ck_assert_uint_eq(read->n, written->n);
    for (size_t i = 0; i < read->n; i++) {
        ck_assert_str_eq(read->locks[i].key, written->locks[i].key);
        ck_assert_str_eq(read->locks[i].token, written->locks[i].token);
        ck_assert_uint_eq(read->locks[i].fence, written->locks[i].fence);
        ck_assert_uint_eq(read->locks[i].permits, written->locks[i].permits);
        ck_assert_uint_eq(read->locks[i].slot, written->locks[i].slot);
    }
}

/* One key; two, the second of which looks like a permit; two permits. */
TESTS(files, a_hold_survives_the_way_through_its_file, 0, 3)
{
    char path[] = "/tmp/redlock-hold-XXXXXX";
    int fd = mkstemp(path);
    struct hold written = sample(20000);
    struct hold read;

    ck_assert_int_ge(fd, 0);
    close(fd);
    if (_i >= 1) {
        written.n = 2;
        written.locks[1] = (struct hold_lock){.key = "pool#3", .token = "other"};
    }
    for (size_t i = 0; _i == 2 && i < 2; i++)
        written.locks[i] = (struct hold_lock){.key = "a#pool", .token = "any", .permits = 9, .slot = 8 - (uint32_t)i};
    ck_assert(write_hold(path, &written));
    ck_assert(read_hold(path, &read));
    unlink(path);
    expect_same_locks(&read, &written);
    ck_assert_str_eq(read.exported, written.exported);
    ck_assert_int_eq(read.valid_until.boot_ns, written.valid_until.boot_ns);
    ck_assert_int_eq(read.valid_until.raw_ns, written.valid_until.raw_ns);
    ck_assert_int_gt(hold_remaining_ms(&read), 0);
    ck_assert_int_le(hold_remaining_ms(&read), 20000);
    strcpy(read.clock.boot, "another boot");
    ck_assert_int_eq(hold_remaining_ms(&read), 0);
    hold_fini(&read);
    hold_fini(&written);
}

/* A permit that names no slot, one beyond the limit, several that are one, another's, and no lock at all. */
static const char *const bad_locks[] = {
    "\"key\":\"pool\",\"permits\":9,\"token\":\"t\"",
    "\"key\":\"pool#9\",\"permits\":9,\"token\":\"t\"",
    "\"key\":\"#1\",\"permits\":9,\"token\":\"t\"",
    "\"key\":\"pool#1\",\"permits\":-1,\"token\":\"t\"",
    "\"locks\":[{\"key\":\"pool\",\"token\":\"t\"}]",
    "\"locks\":[{\"key\":\"a#1\",\"permits\":9,\"token\":\"t\"},{\"key\":\"b#1\",\"permits\":9,\"token\":\"t\"}]",
    "\"locks\":[{\"key\":\"a#1\",\"permits\":9,\"token\":\"t\"},{\"key\":\"b\",\"token\":\"t\"}]",
    "\"locks\":[{\"key\":\"a\",\"token\":\"t\"},{\"key\":\"b\"}]",
    "\"locks\":[{\"key\":\"a\",\"token\":\"t\"},7]",
    "\"locks\":7",
};

TESTS(files, a_hold_of_locks_that_cannot_be_is_none, 0, sizeof bad_locks / sizeof bad_locks[0])
{
    char path[] = "/tmp/redlock-hold-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    struct hold read;

    ck_assert_ptr_nonnull(file);
    fprintf(file, "{\"schema\":1,\"state\":\"held\",\"boot_id\":\"b\",%s}\n", bad_locks[_i]);
    fclose(file);
    ck_assert(!read_hold(path, &read));
    unlink(path);
    hold_fini(&read);
}

TEST(files, a_hold_that_is_over_or_lost_has_nothing_left)
{
    char path[] = "/tmp/redlock-hold-XXXXXX";
    struct hold holds[2] = {sample(-1), sample(20000)};

    close(mkstemp(path));
    strcpy(holds[1].state, "lost");
    for (int i = 0; i < 2; i++) {
        struct hold read;

        ck_assert(write_hold(path, &holds[i]));
        ck_assert(read_hold(path, &read));
        ck_assert_int_eq(hold_remaining_ms(&read), 0);
        hold_fini(&read);
        hold_fini(&holds[i]);
    }
    unlink(path);
}

/* Each of these would count as held by the boot ID alone. */
TEST(files, a_hold_of_another_clock_has_nothing_left)
{
    char path[] = "/tmp/redlock-hold-XXXXXX";
    struct hold holds[2] = {sample(20000), sample(40000)};
    const char *const whys[] = {"another time namespace", "more time than the lock's ttl"};

    close(mkstemp(path));
    for (int i = 0; i < 2; i++) {
        struct hold read;

        ck_assert(write_hold(path, &holds[i]));
        ck_assert(read_hold(path, &read));
        if (i == 0)
            strcpy(read.clock.name_space, "time:[1] boottime 3600.000000000");
        ck_assert_int_eq(hold_remaining_ms(&read), 0);
        ck_assert_ptr_nonnull(strstr(hold_foreign_clock(&read), whys[i]));
        hold_fini(&read);
        hold_fini(&holds[i]);
    }
    unlink(path);
}

/* What stands in for the C library's clock, as libfaketime does. */
static time_t faked_by_s;

int clock_gettime(clockid_t id, struct timespec *now)
{
    int64_t ns = rl_clock_kernel_ns(id);

    *now = (struct timespec){(time_t)(ns / 1000000000) + faked_by_s, (long)(ns % 1000000000)};
    return 0;
}

TEST(files, a_clock_that_is_faked_to_the_program_is_not_told_to_others)
{
    struct hold hold;

    faked_by_s = 10;
    hold = sample(20000);
    faked_by_s = 0;
    rl_clock_identify(&hold.clock);
    ck_assert_int_le(hold_remaining_ms(&hold), 20000);
    ck_assert_int_gt(hold_remaining_ms(&hold), 0);
    hold_fini(&hold);
}

SUITE("run-parts")
