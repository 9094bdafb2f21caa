/* Act: a latch. Three parties arrive, and somebody waits for them. */
#include <stdio.h>
#include <string.h>

#include <redlock/latch.h>

#include "cli/clock.h"
#include "cli/demo/demo.h"

enum { PARTIES = 3, PATIENCE_MS = 15000 };

static const char name[] = "ready";
static const char *const parties[PARTIES] = {"cache", "index", "mail"};

/* How an operation has ended. */
struct end {
    bool came;
    int status;
    size_t n_arrived;
    int64_t at_us;
};

struct act {
    struct demo *demo;
    struct redlock_latch *parties[PARTIES]; /* Alice's */
    struct redlock_latch *bobs;             /* which only waits */
    struct end arrival;                     /* the latest one */
    struct end wait;
};

static void on_end(struct redlock_latch *latch, const struct redlock_latch_result *result, void *user_data)
{
    (void)latch;
    *(struct end *)user_data =
        (struct end){.came = true, .status = result->status, .n_arrived = result->n_arrived, .at_us = clock_now_us()};
}

static bool has_come(const struct session *session, void *data)
{
    const struct end *end = data;

    (void)session;
    return end->came;
}

static bool ends(struct act *act, struct end *end, int status)
{
    return session_run_until(&act->demo->session, has_come, end, PATIENCE_MS) && end->status == status;
}

static bool create(struct redlock_client *client, const char *party, struct redlock_latch **ret_latch)
{
    return redlock_latch_create(client, name, strlen(name), PARTIES, 1, party, NULL, ret_latch) == 0;
}

static bool arrive(struct act *act, size_t party)
{
    act->arrival.came = false;
    return redlock_latch_arrive(act->parties[party], PATIENCE_MS, on_end, &act->arrival) == 0 &&
           ends(act, &act->arrival, REDLOCK_OK);
}

static bool begin_wait(struct act *act, struct redlock_latch *latch, int64_t timeout_ms)
{
    act->wait.came = false;
    return redlock_latch_await(latch, timeout_ms, on_end, &act->wait) == 0;
}

/* Looks once. */
static bool is_shut(struct act *act, size_t n_arrived)
{
    return begin_wait(act, act->bobs, 0) && ends(act, &act->wait, REDLOCK_DEADLINE) &&
           act->wait.n_arrived == n_arrived;
}

static void play(struct act *act)
{
    struct demo *demo = act->demo;
    char took[16];
    int64_t before_us;
    bool holds = arrive(act, 0) && arrive(act, 1) && is_shut(act, 2);

    demo_check(demo, holds, "%s and %s have arrived; Bob asks, and it is shut", parties[0], parties[1]);
    holds = arrive(act, 0) && is_shut(act, 2);
    demo_check(demo, holds, "%s says so once more: they are two still", parties[0]);
    holds = begin_wait(act, act->bobs, PATIENCE_MS) && demo_wait_quiet(demo, demo->bob, demo->n) && !act->wait.came;
    before_us = clock_now_us();
    holds = holds && arrive(act, 2) && ends(act, &act->wait, REDLOCK_OK);
    demo_check(demo, holds, "%s arrives, and Bob, who has waited, goes on %s later", parties[2],
               term_time(act->wait.at_us - before_us, took, sizeof(took)));
    holds = begin_wait(act, act->parties[0], 0) && ends(act, &act->wait, REDLOCK_OK);
    demo_check(demo, holds, "whoever asks later finds it open");
}

/* It would be kept for a day. */
static void remove_latch(struct demo *demo)
{
    const struct probe_masters masters = {demo->common.masters.urls, demo->n, demo->common.node_timeout_ms,
                                          &demo->common.masters.tls, NULL};
    char own[64];
    char key[DEMO_KEY_SIZE];

    demo_wait_quiet(demo, demo->alice, demo->n);
    demo_wait_quiet(demo, demo->bob, demo->n);
    snprintf(own, sizeof(own), "redlock:latch:%s", name);
    demo_key(demo, own, key);
    probe_delete(&masters, key);
    demo_check(demo, demo_count(demo, own, NULL, demo->n) == 0, "the demo leaves nothing of it behind");
}

bool demo_act_latch(struct demo *demo)
{
    struct act act = {.demo = demo};
    bool created = create(demo->bob, NULL, &act.bobs);

    demo_say(demo, "A latch opens when all of its parties have arrived. Masters keep their names and");
    demo_say(demo, "no count: a name may be said twice, where an answer was lost.");
    demo_gap(demo);
    for (size_t i = 0; i < PARTIES; i++)
        created = created && create(demo->alice, parties[i], &act.parties[i]);
    if (created)
        play(&act);
    for (size_t i = 0; i < PARTIES; i++)
        redlock_latch_destroy(act.parties[i]);
    redlock_latch_destroy(act.bobs);
    remove_latch(demo);
    return created || demo_stop(demo, "no memory for a latch", "");
}
