/* Before the first act: masters, unless the user has named some, and two clients. After the last: all of it away. */
#include <stdio.h>
#include <unistd.h>

#include "cli/clock.h"
#include "cli/commands.h"
#include "cli/demo/demo.h"

static bool start_masters(struct demo *demo)
{
    const struct masters_options options = {.count = DEMO_MASTERS, .tcp = true, .persistence = MASTERS_ALWAYS,
                                            .tls = demo->tls ? MASTERS_TLS : MASTERS_PLAIN};

    demo->masters = masters_create(&options);
    if (demo->masters == NULL) {
        cli_error("demo", "cannot start five redis-server processes: %s", masters_error());
        return false;
    }
    if (!masters_cleanup_on_exit(demo->masters)) {
        cli_error("demo", "%s", masters_error());
        return false;
    }
    for (size_t i = 0; i < DEMO_MASTERS; i++)
        demo->common.masters.urls[i] = masters_url(demo->masters, i);
    demo->common.masters.count = DEMO_MASTERS;
    snprintf(demo->ca, sizeof(demo->ca), "%s/ca.crt", masters_dir(demo->masters));
    if (demo->tls)
        demo->common.masters.tls.ca = demo->ca;
    return true;
}

/* --- Clients ------------------------------------------------------------------------------------------------- */

/* A prefix that nobody has used before: a deployment of its own, which is new, whatever else the masters do. */
static void take_prefix(struct demo *demo, const char *name)
{
    snprintf(demo->prefix, sizeof(demo->prefix), "redlock-demo:%ld-%llx:%s", (long)getpid(),
             (unsigned long long)clock_now_us(), name);
    demo->common.prefix = demo->prefix;
}

static bool declare_new(struct demo *demo, int *ret_exit)
{
    struct cli_common common = demo->common;
    struct redlock_client *client;

    common.join = REDLOCK_JOIN_DECLARE;
    client = session_client(&demo->session, "demo", &common, ret_exit);
    if (client != NULL)
        session_join(&demo->session, client);
    redlock_client_destroy(client);
    return client != NULL;
}

static bool open_clients(struct demo *demo, int *ret_exit)
{
    if (!declare_new(demo, ret_exit))
        return false;
    demo->alice = session_client(&demo->session, "demo", &demo->common, ret_exit);
    if (demo->alice != NULL)
        demo->bob = session_client(&demo->session, "demo", &demo->common, ret_exit);
    return demo->bob != NULL;
}

static void close_clients(struct demo *demo)
{
    session_finish(&demo->session, demo->bob, 1000);
    session_finish(&demo->session, demo->alice, 1000);
    demo->bob = NULL;
    demo->alice = NULL;
}

bool demo_redeploy(struct demo *demo, const char *name, uint32_t max_ttl_ms)
{
    int code;

    close_clients(demo);
    take_prefix(demo, name);
    demo->common.max_ttl_ms = max_ttl_ms;
    return (open_clients(demo, &code) && demo_wait_connected(demo, DEMO_WATCHDOG_MS)) ||
           demo_stop(demo, "no connections to the masters", "");
}

/* --- All of it ----------------------------------------------------------------------------------------------- */

bool demo_open(struct demo *demo, int *ret_exit)
{
    *ret_exit = CLI_INFRASTRUCTURE;
    term_init(&demo->term, stdout);
    if (!session_open(&demo->session, "demo") || !session_catch_signals(&demo->session, "demo"))
        return false;
    if (demo->common.masters.count == 0 && !start_masters(demo))
        return false;
    demo->n = demo->common.masters.count;
    demo->quorum = demo->n / 2 + 1;
    take_prefix(demo, "");
    return open_clients(demo, ret_exit);
}

/* Nobody else knows the prefix, so nobody needs its marker any more. */
static void remove_marker(const struct demo *demo)
{
    char key[DEMO_KEY_SIZE];

    demo_key(demo, "redlock:marker", key);
    probe_delete(&(struct probe_masters){demo->common.masters.urls, demo->n, demo->common.node_timeout_ms,
                                         &demo->common.masters.tls, NULL},
                 key);
}

void demo_close(struct demo *demo)
{
    bool opened = demo->alice != NULL;

    close_clients(demo);
    if (opened && demo->masters == NULL)
        remove_marker(demo);
    masters_destroy(demo->masters);
}
