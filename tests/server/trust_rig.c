#include "trust_rig.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

void trust_close(void)
{
    rig_close(&rig);
}

/* Whatever profile the suite is run in: this is about the guarded one. */
void trust_declare(struct redlock_options *options)
{
    options->profile = REDLOCK_PROFILE_GUARDED;
    options->join = REDLOCK_JOIN_DECLARE;
}

void trust_declare_short(struct redlock_options *options)
{
    trust_declare(options);
    options->max_ttl_ms = SHORT_MAX_TTL_MS;
}

void trust_vote(struct redlock_options *options)
{
    options->profile = REDLOCK_PROFILE_GUARDED;
    options->join = REDLOCK_JOIN_VOTE;
}

void trust_vote_short(struct redlock_options *options)
{
    trust_vote(options);
    options->max_ttl_ms = SHORT_MAX_TTL_MS;
}

void trust_look(struct redlock_options *options)
{
    options->profile = REDLOCK_PROFILE_GUARDED;
    options->join = REDLOCK_JOIN_LOOK;
}

/* Masters that differ from the usual, and no client yet. */
void trust_start(const struct masters_options *options)
{
    memset(&rig, 0, sizeof rig);
    rig.n = options->count;
    rig.masters = masters_create(options);
    ck_assert_msg(rig.masters != NULL, "%s", masters_error());
    ck_assert_msg(masters_cleanup_on_exit(rig.masters), "%s", masters_error());
    memcpy(rig.urls, masters_urls(rig.masters), rig.n * sizeof *rig.urls);
    rig.base = event_base_new();
    rig_default_options(&rig);
    trust_declare(&rig.options);
}

struct redlock_node_info trust_info(struct redlock_client *client, size_t node)
{
    struct redlock_node_info info;

    ck_assert_int_eq(redlock_client_node_info(client, node, &info, sizeof info), 0);
    return info;
}

void trust_expect_excluded(size_t node, enum redlock_fault why)
{
    struct redlock_node_info info = trust_info(rig.client, node);

    ck_assert_msg(info.standing == REDLOCK_STANDING_EXCLUDED && info.fault == why, "master %zu: %s, %s", node,
                  redlock_standing_name(info.standing), redlock_fault_name(info.fault));
    ck_assert_str_ne(info.fault_text, "");
    ck_assert_int_eq(info.link, REDLOCK_LINK_READY);
}

void trust_expect_votes(size_t node)
{
    struct redlock_node_info info = trust_info(rig.client, node);

    ck_assert_msg(info.standing == REDLOCK_STANDING_VOTES, "master %zu: %s, %s", node,
                  redlock_standing_name(info.standing), info.fault_text);
    ck_assert_str_eq(info.fault_text, "");
}

struct standing_request {
    size_t node;
    enum redlock_standing standing;
};

static bool has_standing(void *argument)
{
    const struct standing_request *request = argument;

    return trust_info(rig.client, request->node).standing == request->standing;
}

void trust_wait_standing(size_t node, enum redlock_standing standing)
{
    struct standing_request request = {node, standing};
    char what[80];

    snprintf(what, sizeof what, "master %zu to be %s", node, redlock_standing_name(standing));
    rig_wait(&rig, has_standing, &request, what);
}

struct redlock_stats trust_stats(void)
{
    struct redlock_stats stats;

    ck_assert_int_eq(redlock_client_stats(rig.client, &stats, sizeof stats), 0);
    return stats;
}

struct outcome trust_try(const char *key, uint32_t ttl_ms)
{
    struct redlock_acquire_options request = rig_request(ttl_ms, 0);

    return rig_acquire(&rig, rig_new_lock(rig.client, key), &request);
}
