/* The parts of the command that are pure functions. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "cli/quorum_status.h"
#include "cli/verdict.h"
#include "options/message.h"
#include "options/value.h"
#include "suite.h"

/* --- Verdict: every combination of answers, against its definition. */

enum answer { SILENT, ABSENT, VALUE_A, VALUE_B, NOT_A_STRING, ANSWERS };

static struct probe probe_of(enum answer answer)
{
    struct probe probe = {.answered = answer != SILENT, .exists = answer > ABSENT, .pttl_ms = 1000};

    probe.is_text = probe.is_token = answer == VALUE_A || answer == VALUE_B;
    probe.value_hash = (uint64_t)answer;
    return probe;
}

static size_t count(const enum answer *answers, size_t n, enum answer wanted)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i++)
        found += answers[i] == wanted;
    return found;
}

/* By definition: held if the visible values decide it; unknown if the silent masters, all storing the same, could
 * make a holder of somebody, be it one of whom nothing is seen; else free or split. */
static enum verdict_kind defined(const enum answer *answers, size_t n)
{
    size_t quorum = n / 2 + 1;
    size_t silent = count(answers, n, SILENT);
    size_t a = count(answers, n, VALUE_A);
    size_t b = count(answers, n, VALUE_B);

    if (a >= quorum || b >= quorum)
        return VERDICT_HELD;
    if (a + silent >= quorum || b + silent >= quorum || silent >= quorum)
        return VERDICT_UNKNOWN;
    return count(answers, n, ABSENT) + silent == n ? VERDICT_FREE : VERDICT_SPLIT;
}

GROUP(parts, "parts", NULL, NULL)

TEST(parts, the_verdict_matches_its_definition_for_all_answers_of_up_to_5_masters)
{
    for (size_t n = 1; n <= 5; n++) {
        size_t combinations = 1;

        for (size_t i = 0; i < n; i++)
            combinations *= ANSWERS;
        for (size_t number = 0; number < combinations; number++) {
            enum answer answers[5];
            struct probe probes[5];

            for (size_t i = 0, rest = number; i < n; i++, rest /= ANSWERS) {
                answers[i] = (enum answer)(rest % ANSWERS);
                probes[i] = probe_of(answers[i]);
            }
            ck_assert_int_eq(verdict_of(probes, n, n / 2 + 1).kind, defined(answers, n));
        }
    }
}

TEST(parts, a_quorum_keeps_the_key_for_the_qth_largest_time)
{
    struct probe probes[5];

    for (size_t i = 0; i < 5; i++) {
        probes[i] = probe_of(VALUE_A);
        probes[i].pttl_ms = (int64_t)(i + 1) * 1000;
    }
    ck_assert_int_eq(verdict_of(probes, 5, 3).pttl_ms, 3000);
    probes[0].pttl_ms = 9000;
    ck_assert_int_eq(verdict_of(probes, 5, 3).pttl_ms, 4000);
    probes[1].is_token = probes[2].is_token = false; /* they never end, say */
    ck_assert_int_eq(verdict_of(probes, 5, 3).pttl_ms, 4000);
    ck_assert(verdict_is_foreign(&probes[1], NULL) && !verdict_is_foreign(&probes[0], NULL));
}

/* --- Standings */

static struct redlock_node_info master(enum redlock_standing standing, int64_t quarantine_ms)
{
    return (struct redlock_node_info){.link = REDLOCK_LINK_READY, .standing = standing, .quarantine_ms = quarantine_ms};
}

#define VOTES REDLOCK_STANDING_VOTES, 0
#define WAITS REDLOCK_STANDING_QUARANTINED
#define OUT REDLOCK_STANDING_EXCLUDED, 0

TEST(parts, the_quorum_is_there_when_enough_quarantines_are_over)
{
    struct redlock_node_info infos[5] = {master(WAITS, 900), master(VOTES), master(WAITS, 500), master(OUT),
                                         master(WAITS, 700)};

    ck_assert_int_eq(quorum_status_of(infos, 5, 3).quorum_in_ms, 700);
    ck_assert_int_eq(quorum_status_of(infos, 5, 4).quorum_in_ms, 900);
    ck_assert_int_eq(quorum_status_of(infos, 5, 5).quorum_in_ms, -1);
    ck_assert_uint_eq(quorum_status_of(infos, 5, 3).voting, 1);
    ck_assert_uint_eq(quorum_status_of(infos, 5, 3).waiting, 3);
    infos[0] = infos[2] = master(VOTES);
    ck_assert_int_eq(quorum_status_of(infos, 5, 3).quorum_in_ms, 0);
}

TEST(parts, a_master_that_is_down_does_not_count_whatever_it_was)
{
    struct redlock_node_info infos[3] = {master(VOTES), master(VOTES), master(WAITS, 10)};

    infos[0].link = REDLOCK_LINK_DOWN;
    infos[2].link = REDLOCK_LINK_DOWN;
    ck_assert_uint_eq(quorum_status_of(infos, 3, 2).voting, 1);
    ck_assert_uint_eq(quorum_status_of(infos, 3, 2).answering, 1);
    ck_assert_int_eq(quorum_status_of(infos, 3, 2).quorum_in_ms, -1);
}

/* --- Durations */

static const struct {
    const char *text;
    enum duration_fault fault;
    int64_t us;
} durations[] = {
    {"0", .us = 0},
    {"0.0", .us = 0},
    {"0s", .us = 0},
    {"500ms", .us = 500000},
    {"30s", .us = 30000000},
    {"1.5s", .us = 1500000},
    {"0.25ms", .us = 250},
    {"250us", .us = 250},
    {"2m", .us = 120000000},
    {"2min", .us = 120000000},
    {"0.5h", .us = 1800000000},
    {"24h", .us = INT64_C(86400000000)},
    {"1.5d", .us = INT64_C(129600000000)},
    {"1.500000000s", .us = 1500000},
    {"9223372036854775807us", .us = INT64_MAX},
    {"250", DURATION_NO_UNIT, 0},
    {"1.5", DURATION_NO_UNIT, 0},
    {"", DURATION_NONE, 0},
    {"s", DURATION_NONE, 0},
    {"-1s", DURATION_NONE, 0},
    {"+1s", DURATION_NONE, 0},
    {" 1s", DURATION_NONE, 0},
    {"1 s", DURATION_NONE, 0},
    {"1s ", DURATION_NONE, 0},
    {"1S", DURATION_NONE, 0},
    {"1M", DURATION_NONE, 0},
    {"1sm", DURATION_NONE, 0},
    {"1.s", DURATION_NONE, 0},
    {".5s", DURATION_NONE, 0},
    {"1.5.5s", DURATION_NONE, 0},
    {"1,5s", DURATION_NONE, 0},
    {"1e3s", DURATION_NONE, 0},
    {"0x1s", DURATION_NONE, 0},
    {"nan", DURATION_NONE, 0},
    {"0.5us", DURATION_TOO_FINE, 0},
    {"0.0000001s", DURATION_TOO_FINE, 0},
    {"9223372036854775808us", DURATION_TOO_LONG, 0},
    {"18446744073709551617ms", DURATION_TOO_LONG, 0},
    {"106751992d", DURATION_TOO_LONG, 0},
    {"9223372036854775807.5d", DURATION_TOO_LONG, 0},
};

TESTS(parts, durations_are_a_number_and_a_unit, 0, sizeof durations / sizeof durations[0])
{
    int64_t us = 77;

    ck_assert_msg(duration_parse(durations[_i].text, &us) == durations[_i].fault, "'%s'", durations[_i].text);
    ck_assert_msg(us == (durations[_i].fault == DURATION_OK ? durations[_i].us : 77), "'%s': %lld",
                  durations[_i].text, (long long)us);
}

TEST(parts, durations_are_shown_in_their_largest_unit)
{
    static const char *const texts[] = {"0", "1us", "1500us", "1500ms", "90s", "90m", "36h", "2d"};
    char text[DURATION_TEXT_SIZE];
    int64_t us;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        ck_assert_int_eq(duration_parse(texts[i], &us), DURATION_OK);
        ck_assert_str_eq(duration_text(us, text), texts[i]);
    }
    ck_assert_str_eq(duration_text(60000000, text), "1m");
    ck_assert_str_eq(duration_text(INT64_MAX, text), "9223372036854775807us");
}

/* --- JSON, and texts for people */

static const struct {
    const char *bytes;
    const char *json;  /* as a text */
    const char *key;   /* as a key */
    const char *shown; /* to people */
} strings[] = {
    {"", "\"\"", "\"key\":\"\"", ""},
    {"jobs:nightly", "\"jobs:nightly\"", "\"key\":\"jobs:nightly\"", "jobs:nightly"},
    {"say \"a\\b\"", "\"say \\\"a\\\\b\\\"\"", "\"key\":\"say \\\"a\\\\b\\\"\"", "say \"a\\b\""},
    {"a\nb\x01", "\"a\\nb\\u0001\"", "\"key\":\"a\\nb\\u0001\"", "a\\x0ab\\x01"},
    {"\x1b[2J\x7f", "\"\\u001B[2J\x7f\"", "\"key\":\"\\u001B[2J\x7f\"", "\\x1b[2J\\x7f"},
    {"gr\xc3\xbc\xc3\x9f", "\"gr\\u00FC\\u00DF\"", "\"key\":\"gr\\u00FC\\u00DF\"", "gr\xc3\xbc\xc3\x9f"},
    {"\xc3\xbf", "\"\\u00FF\"", "\"key\":\"\\u00FF\"", "\xc3\xbf"},
    {"\xff", "\"\\\\xff\"", "\"key_hex\":\"ff\"", "\\xff"},
    {"a\xc3", "\"a\\\\xc3\"", "\"key_hex\":\"61c3\"", "a\\xc3"},
    {"\xc0\x80", "\"\\\\xc0\\\\x80\"", "\"key_hex\":\"c080\"", "\\xc0\\x80"},
    {"\xed\xa0\x80", "\"\\\\xed\\\\xa0\\\\x80\"", "\"key_hex\":\"eda080\"", "\\xed\\xa0\\x80"},
    {"\xc2\x9b" "2J", "\"\\u009B2J\"", "\"key\":\"\\u009B2J\"", "\\xc2\\x9b2J"},
    {"\xe2\x80\xae" "x", "\"\\u202Ex\"", "\"key\":\"\\u202Ex\"", "\\xe2\\x80\\xaex"},
};

TESTS(parts, every_text_is_valid_in_json_and_harmless_on_a_terminal, 0, sizeof strings / sizeof strings[0])
{
    char *text = NULL;
    char expected[256];
    char safe[64];
    char again[64];
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct cli_json json = cli_json_open(out);

    cli_json_string(&json, "a", strings[_i].bytes);
    cli_json_key(&json, strings[_i].bytes);
    cli_json_close(&json);
    fclose(out);
    snprintf(expected, sizeof expected, "{\"schema\":1,\"a\":%s,%s}\n", strings[_i].json, strings[_i].key);
    ck_assert_str_eq(text, expected);
    free(text);
    ck_assert_str_eq(shown(strings[_i].bytes, safe, sizeof safe), strings[_i].shown);
    ck_assert_str_eq(shown(safe, again, sizeof again), safe);
}

TESTS(parts, a_key_comes_back_from_json_byte_by_byte, 0, sizeof strings / sizeof strings[0])
{
    char *text = NULL;
    char key[64];
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct cli_json json = cli_json_open(out);
    json_t *read;

    cli_json_key(&json, strings[_i].bytes);
    cli_json_close(&json);
    fclose(out);
    read = json_loads(text, 0, NULL);
    ck_assert(cli_json_read_key(read, key, sizeof key));
    ck_assert_str_eq(key, strings[_i].bytes);
    json_decref(read);
    free(text);
}

TEST(parts, a_document_has_its_values_in_their_order)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct cli_json json = cli_json_open(out);

    cli_json_int(&json, "a", -5);
    cli_json_begin(&json, "b", '[');
    cli_json_bool(&json, NULL, true);
    cli_json_null(&json, NULL);
    cli_json_begin(&json, NULL, '{');
    cli_json_end(&json, '}');
    cli_json_end(&json, ']');
    cli_json_number(&json, "c", 0.1 + 0.2, 3);
    cli_json_number(&json, "d", (double)NAN, 3);
    cli_json_close(&json);
    fclose(out);
    ck_assert_str_eq(text, "{\"schema\":1,\"a\":-5,\"b\":[true,null,{}],\"c\":0.3,\"d\":null}\n");
    free(text);
}

SUITE("parts of the command")
