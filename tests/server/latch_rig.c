#include "latch_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

static void copy(struct party *party, const struct redlock_latch_result *result)
{
    size_t length = 0;

    if (party->destroy)
        redlock_latch_destroy(party->latch);
    party->names[0] = '\0';
    for (size_t i = 0; i < result->n_arrived && i < 8; i++)
        length += (size_t)snprintf(party->names + length, sizeof party->names - length, "%s%s", i ? " " : "",
                                   result->arrived[i]);
    for (size_t i = 0; i < result->n_nodes; i++)
        snprintf(party->details[i], sizeof party->details[i], "%s", result->nodes[i].detail);
    snprintf(party->why, sizeof party->why, "%s", result->why);
}

void latch_on_arrival(struct redlock_latch *latch, const struct redlock_latch_result *result, void *user_data)
{
    struct party *party = user_data;

    ck_assert_ptr_eq(latch, party->latch);
    party->arrivals++;
    party->arrival = *result;
    copy(party, result);
}

void latch_on_wait(struct redlock_latch *latch, const struct redlock_latch_result *result, void *user_data)
{
    struct party *party = user_data;

    ck_assert_ptr_eq(latch, party->latch);
    party->waits++;
    party->wait = *result;
    if (party->arrive)
        latch_begin_arrival(party, 10000);
    copy(party, result);
}

struct party latch_join_as(struct redlock_client *client, uint32_t parties, uint64_t generation, const char *name)
{
    struct party party = {0};

    ck_assert_int_eq(redlock_latch_create(client, "job", 3, parties, generation, name, NULL, &party.latch), 0);
    return party;
}

struct party latch_join(uint32_t parties, const char *name)
{
    return latch_join_as(rig.client, parties, 1, name);
}

static bool has_arrived(void *argument)
{
    return ((const struct party *)argument)->arrivals > 0;
}

bool latch_has_waited(void *argument)
{
    return ((const struct party *)argument)->waits > 0;
}

void latch_begin_arrival(struct party *party, int64_t timeout_ms)
{
    party->arrivals = 0;
    ck_assert_int_eq(redlock_latch_arrive(party->latch, timeout_ms, latch_on_arrival, party), 0);
    ck_assert_uint_eq(party->arrivals, 0);
}

void latch_begin_wait(struct party *party, int64_t timeout_ms)
{
    party->waits = 0;
    ck_assert_int_eq(redlock_latch_await(party->latch, timeout_ms, latch_on_wait, party), 0);
    ck_assert_uint_eq(party->waits, 0);
}

void latch_expect_status(int status, int expected, const struct party *party)
{
    ck_assert_msg(status == expected, "%s and not %s: %s", redlock_status_name(status), redlock_status_name(expected),
                  party->why);
}

void latch_expect_arrival(struct party *party, int status)
{
    rig_wait(&rig, has_arrived, party, "an arrival");
    ck_assert_uint_eq(party->arrivals, 1);
    latch_expect_status(party->arrival.status, status, party);
}

void latch_expect_wait(struct party *party, int status)
{
    rig_wait(&rig, latch_has_waited, party, "the end of a wait");
    ck_assert_uint_eq(party->waits, 1);
    latch_expect_status(party->wait.status, status, party);
}

void latch_arrive(struct party *party, int64_t timeout_ms, int status)
{
    latch_begin_arrival(party, timeout_ms);
    latch_expect_arrival(party, status);
}

void latch_await(struct party *party, int64_t timeout_ms, int status)
{
    latch_begin_wait(party, timeout_ms);
    latch_expect_wait(party, status);
}

void latch_field(size_t node, const char *name, char ret_text[64])
{
    char *text = masters_command(rig.masters, node, (const char *const[]){"HGET", LATCH_KEY, name, NULL});

    snprintf(ret_text, 64, "%s", text && strcmp(text, "(nil)") != 0 ? text : "");
    free(text);
}

size_t latch_count_field(const char *name)
{
    char text[64];
    size_t n = 0;

    for (size_t i = 0; i < rig.n; i++) {
        if (!masters_pid(rig.masters, i))
            continue;
        latch_field(i, name, text);
        n += *text != '\0';
    }
    return n;
}

void latch_give(size_t node, const char *a, const char *b, const char *more)
{
    bool two = strcmp(a, b) != 0;

    rig_do(&rig, node, "HSET", LATCH_KEY, "n", "2", "gen", "1", a, "1", NULL);
    rig_do(&rig, node, "HSET", LATCH_KEY, b, "1", "arrived", two ? "2" : "1", NULL);
    rig_do(&rig, node, "HSET", LATCH_KEY, "rev", "1@1", more, "1", NULL);
}

void latch_kill_master(size_t node)
{
    ck_assert(masters_kill(rig.masters, node));
    rig_wait_link(&rig, rig.client, node, REDLOCK_LINK_DOWN);
}

static void tune(struct redlock_options *options)
{
    options->node_timeout_ms = 300;
    options->max_ttl_ms = 1500;
}

void latch_open(void)
{
    latch_open_with(NULL);
}

void latch_open_with(const char *const *environment)
{
    struct masters_options options = {.count = LATCH_MASTERS, .environment = environment};

    rig_start(&rig, &options);
    tune(&rig.options);
    rig_connect(&rig);
}

void latch_close(void)
{
    rig_close(&rig);
}
