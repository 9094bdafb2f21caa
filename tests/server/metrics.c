/* Statistics in Prometheus's text format: well-formed whatever the labels are, complete, and true. */
#include <redlock/metrics.h>
#include <string.h>

#include "exposition.h"
#include "program_rig.h"

enum { NODES = 3 };

static char page[131072];

static void open_rig(void)
{
    rig_open(&rig, NODES);
}

static void write_page(const struct redlock_metric_label *labels, size_t n)
{
    int length = redlock_client_metrics(rig.client, labels, n, page, sizeof page);

    ck_assert_int_gt(length, 0);
    ck_assert_uint_eq(strlen(page), (size_t)length);
}

GROUP(metrics_tests, "metrics", open_rig, rig_end)

/* A sample of struct redlock_stats. */
static bool is_of_client(const char *line)
{
    static const char *const others[] = {"#", "node=", "_seconds", "redlock_key_", "redlock_quorum",
                                         "redlock_build_info"};

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (memmem(line, strcspn(line, "\n"), others[i], strlen(others[i])))
            return false;
    return true;
}

TEST(metrics_tests, the_text_is_well_formed_and_has_every_counter)
{
    size_t counters = 0;

    write_page(NULL, 0);
    exposition_check(page);
    for (const char *line = page; *line != '\0'; line += strcspn(line, "\n") + 1)
        counters += is_of_client(line);
    ck_assert_uint_eq(counters, sizeof(struct redlock_stats) / sizeof(uint64_t));
    ck_assert_ptr_nonnull(strstr(page, "\nredlock_build_info{version=\"" REDLOCK_VERSION "\"} 1\n"));
}

TEST(metrics_tests, the_numbers_are_those_of_the_statistics)
{
    struct redlock_node_stats node;
    struct redlock_lock *lock = rig_hold(&rig, "key", 20000);
    char sample[256];

    rig_release(&rig, lock);
    rig_wait_quiet(&rig, rig.client);
    write_page(NULL, 0);
    ck_assert_double_eq(exposition_value(page, "redlock_acquires_total"), 1);
    ck_assert_double_eq(exposition_value(page, "redlock_acquire_results_total{result=\"acquired\"}"), 1);
    ck_assert_double_eq(exposition_value(page, "redlock_acquire_results_total{result=\"held\"}"), 0);
    ck_assert_double_eq(exposition_value(page, "redlock_released_total"), 1);
    for (size_t i = 0; i < NODES; i++) {
        ck_assert_int_eq(redlock_client_node_stats(rig.client, i, &node, sizeof node), 0);
        snprintf(sample, sizeof sample, "redlock_node_received_bytes_total{node=\"%s\"}", node.name);
        ck_assert_double_eq(exposition_value(page, sample), (double)node.bytes_in);
        snprintf(sample, sizeof sample, "redlock_node_latency_seconds{node=\"%s\"}", node.name);
        ck_assert_double_eq_tol(exposition_value(page, sample), (double)node.last_latency_us / 1e6, 1e-9);
        snprintf(sample, sizeof sample, "redlock_node_votes_total{node=\"%s\",vote=\"granted\"}", node.name);
        ck_assert_double_eq(exposition_value(page, sample), 1);
    }
}

TEST(metrics_tests, a_master_that_is_gone_is_neither_up_nor_voting)
{
    struct redlock_node_stats node;
    char sample[256];

    ck_assert_int_eq(redlock_client_node_stats(rig.client, 1, &node, sizeof node), 0);
    for (int up = 1; up >= 0; up--) {
        write_page(NULL, 0);
        snprintf(sample, sizeof sample, "redlock_node_up{node=\"%s\"}", node.name);
        ck_assert_double_eq(exposition_value(page, sample), up);
        snprintf(sample, sizeof sample, "redlock_node_voting{node=\"%s\"}", node.name);
        ck_assert_double_eq(exposition_value(page, sample), up);
        masters_kill(rig.masters, 1);
        rig_wait_link(&rig, rig.client, 1, REDLOCK_LINK_DOWN);
    }
    exposition_check(page);
}

/* Offsets of clocks are measured against a clock that goes on: each may change its sign between two calls. */
static void ck_assert_length(int length, int whole)
{
    ck_assert_int_ge(length, whole - NODES);
    ck_assert_int_le(length, whole + NODES);
}

/* The length is that of the whole text; what is behind the buffer is not touched, in any size. */
TEST(metrics_tests, a_small_buffer_gets_what_fits)
{
    size_t head; /* what never changes */
    int whole = redlock_client_metrics(rig.client, NULL, 0, NULL, 0);
    static char cut[sizeof page];

    write_page(NULL, 0);
    head = strcspn(page, "}");
    ck_assert_length((int)strlen(page), whole);
    for (size_t size = 1; size <= (size_t)(whole - NODES); size += size < 200 ? 1 : 97) {
        memset(cut, '#', sizeof cut);
        ck_assert_length(redlock_client_metrics(rig.client, NULL, 0, cut, size), whole);
        ck_assert_int_eq(cut[size], '#');
        ck_assert_uint_eq(strlen(cut), size - 1);
        ck_assert_int_eq(memcmp(cut, page, size - 1 < head ? size - 1 : head), 0);
    }
}

TEST(metrics_tests, labels_are_escaped)
{
    const struct redlock_metric_label labels[] = {
        {"job", "a \"b\" \\ c\nd"},
        {"bytes", "\xc3\xa4\xff\xe2\x82\xac\xc0\xaf\xed\xa0\x80\xf0\x9f\x94\x92\xe2\x82"},
    };

    write_page(labels, 2);
    exposition_check(page);
    /* U+00E4, U+20AC and U+1F512 stay; what is invalid, overlong, a surrogate or cut off is replaced byte by byte. */
    ck_assert_ptr_nonnull(strstr(page, "redlock_claims{job=\"a \\\"b\\\" \\\\ c\\nd\",bytes=\"\xc3\xa4\xef\xbf\xbd"
                                       "\xe2\x82\xac\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
                                       "\xf0\x9f\x94\x92"
                                       "\xef\xbf\xbd\xef\xbf\xbd\"} 0\n"));
}

TEST(metrics_tests, labels_that_cannot_be_are_refused)
{
    static const char *const names[] = {"", "1st", "a-b", "__reserved", "node", "result", "vote", "version",
                                        "le", "reason", "key_class", "\xc3\xa4"};
    const struct redlock_metric_label twice[] = {{"job", "a"}, {"job", "b"}};
    const struct redlock_metric_label empty[] = {{"job", NULL}, {NULL, "a"}};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct redlock_metric_label label = {names[i], "a"};

        ck_assert_int_eq(redlock_client_metrics(rig.client, &label, 1, page, sizeof page), REDLOCK_E_ARGUMENT);
    }
    ck_assert_int_eq(redlock_client_metrics(rig.client, twice, 2, page, sizeof page), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_client_metrics(rig.client, empty, 1, page, sizeof page), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_client_metrics(rig.client, empty + 1, 1, page, sizeof page), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_client_metrics(rig.client, NULL, 1, page, sizeof page), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_client_metrics(rig.client, NULL, 0, NULL, 1), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_client_metrics(NULL, NULL, 0, page, sizeof page), REDLOCK_E_ARGUMENT);
}

SUITE_WITH_SERVER("metrics")
