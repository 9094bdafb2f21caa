/* Before the first act: masters, unless the user has named some, and two clients. After the last: all of it away. */
#include <stdio.h>

#include "cli/commands.h"
#include "cli/demo.h"

static bool start_masters(struct demo *demo)
{
    static const struct masters_options options = {
        .count = DEMO_MASTERS, .tcp = true, .persistence = MASTERS_ALWAYS};

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
    return true;
}

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
    demo->alice = session_client(&demo->session, "demo", &demo->common, ret_exit);
    if (demo->alice != NULL)
        demo->bob = session_client(&demo->session, "demo", &demo->common, ret_exit);
    return demo->bob != NULL;
}

void demo_close(struct demo *demo)
{
    session_finish(&demo->session, demo->bob, 1000);
    session_finish(&demo->session, demo->alice, 1000);
    masters_destroy(demo->masters);
}
