#include "join_rig.h"

#include <check.h>
#include <string.h>

#include "scripted.h"

struct masters *join_master;
struct clock_fault *join_clock;
size_t join_node;

static void start_with(size_t count, const char *const *extra_args, bool tcp)
{
    struct masters_options options = {
        .count = count, .tcp = tcp, .persistence = MASTERS_ALWAYS, .extra_args = extra_args};

    join_node = 0;
    join_clock = clock_fault_create();
    options.environment = clock_fault_environment(join_clock);
    join_master = masters_create(&options);
    ck_assert_msg(join_master && masters_cleanup_on_exit(join_master), "%s", masters_error());
}

void join_start(void)
{
    start_with(1, NULL, false);
}

void join_start_cluster(void)
{
    static const char *const args[] = {"--cluster-enabled", "yes", NULL};

    start_with(1, args, true);
}

void join_start_two(void)
{
    static const char *const args[] = {"--repl-diskless-sync-delay", "0", NULL};

    start_with(2, args, true);
}

void join_stop(void)
{
    masters_destroy(join_master);
    clock_fault_destroy(join_clock);
    join_master = NULL;
    join_clock = NULL;
}

struct rl_slice join_slice(const char *text)
{
    return (struct rl_slice){text, strlen(text)};
}

struct rl_join_question join_question(enum rl_join_mode mode, const char *incarnation)
{
    return (struct rl_join_question){.mode = mode,
                                     .marker = join_slice("marker"),
                                     .incarnation = join_slice(incarnation),
                                     .list_id = join_slice("ring-of-three"),
                                     .node_id = join_slice("first"),
                                     .max_ttl_ms = MAX_TTL,
                                     .durability = RL_DURABILITY_NONE};
}

struct rl_join_report join_ask(const struct rl_join_question *asked)
{
    struct rl_join_report report;
    struct rl_command command;
    struct scripted scripted;

    rl_join_command(asked, &command);
    scripted = scripted_run(join_master, join_node, &command);
    ck_assert_msg(rl_join_parse(&scripted.reply, &report, NULL), "not understood: %s", scripted.text);
    scripted_free(&scripted);
    return report;
}

struct rl_join_report join_as(enum rl_join_mode mode, const char *incarnation)
{
    struct rl_join_question asked = join_question(mode, incarnation);

    return join_ask(&asked);
}

struct rl_join_report join_durable(const char *incarnation, enum rl_durability durability)
{
    struct rl_join_question asked = join_question(RL_JOIN_VOTE, incarnation);

    asked.durability = durability;
    return join_ask(&asked);
}

void join_restart(void)
{
    ck_assert_msg(masters_kill(join_master, join_node), "%s", masters_error());
    ck_assert_msg(masters_restart(join_master, join_node), "%s", masters_error());
}

struct rl_admission_status join_evaluated(const struct rl_join_report *report)
{
    struct rl_admission_rules rules = {0};

    return rl_admission_evaluate(report, &rules, (struct rl_instant){0});
}
