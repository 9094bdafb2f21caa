/* The set of masters as a whole: create, destroy, and the faults that can be done to one of them. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "internal.h"

#define START_TIMEOUT_MS 20000
#define PORT_ATTEMPTS 20

static bool set_server(struct launch *launch, const struct masters_options *options)
{
    const char *server = options->server;

    if (!server)
        server = getenv("REDLOCK_SERVER");
    if (!server || !server[0])
        server = "redis-server";
    launch->server = strdup(server);
    return launch->server || fail("out of memory");
}

static bool set_setups(struct masters *masters, const struct masters_options *options)
{
    struct masters_setup common = {options->persistence, options->extra_args, options->environment};

    for (size_t i = 0; i < masters->count; i++)
        if (!setup_replace(&masters->list[i].setup, options->setups ? &options->setups[i] : &common))
            return false;
    return true;
}

/* Gives a TCP master a (new) port. */
static bool set_port(struct master *master, bool tls)
{
    free(master->url);
    master->url = NULL;
    master->port = port_pick();
    if (!master->port)
        return fail("no free port");
    if (asprintf(&master->url, "%s://127.0.0.1:%u", tls ? "rediss" : "redis", (unsigned)master->port) < 0)
        return fail("out of memory");
    return true;
}

static bool set_socket(struct master *master, const char *dir, size_t i)
{
    if (asprintf(&master->socket_path, "%s/%zu.sock", dir, i) < 0 ||
        asprintf(&master->url, "unix://%s", master->socket_path) < 0)
        return fail("out of memory");
    return true;
}

static bool prepare(struct masters *masters, size_t i)
{
    struct master *master = &masters->list[i];

    if (asprintf(&master->dir, "%s/%zu", masters->dir, i) < 0)
        return fail("out of memory");
    if (mkdir(master->dir, 0700) < 0)
        return fail("mkdir %s: %s", master->dir, strerror(errno));
    if ((!masters->launch.tcp || masters->launch.tls) && !set_socket(master, masters->dir, i))
        return false;
    return !masters->launch.tcp || set_port(master, masters->launch.tls);
}

/* Whether the server that answers is the one that was started: on a lost race for the port it is another one. */
static bool is_same_process(const struct master *master)
{
    const char *const info[] = {"INFO", "server", NULL};
    char line[48];
    char *text = command_run(master, info, COMMAND_TIMEOUT_MS);
    bool same;

    if (!text) /* NOAUTH or NOPERM: it answers, which must do */
        return !process_has_ended(master);
    snprintf(line, sizeof(line), "process_id:%d\r", (int)master->pid);
    same = strstr(text, line) != NULL;
    free(text);
    return same;
}

/* A server that refuses PING for good is up all the same; one that is LOADING is not. */
static bool is_lasting_refusal(const char *error)
{
    return strncmp(error, "NOAUTH", 6) == 0 || strncmp(error, "NOPERM", 6) == 0 ||
           strncmp(error, "MASTERDOWN", 10) == 0;
}

static bool answers(const struct master *master)
{
    const char *const ping[] = {"PING", NULL};
    char *text = command_run(master, ping, COMMAND_TIMEOUT_MS);

    if (!text && !is_lasting_refusal(masters_error()))
        return false;
    free(text);
    return is_same_process(master);
}

bool master_wait_until_up(struct master *master, bool *ret_ended)
{
    *ret_ended = false;
    for (int waited = 0; waited < START_TIMEOUT_MS; waited += 2) {
        if (answers(master))
            return true;
        if (process_wait_end(master->pid, 2)) {
            *ret_ended = true;
            master->pid = 0;
            return fail("the server ended during its start, see %s/log", master->dir);
        }
    }
    return fail("the server does not answer, see %s/log", master->dir);
}

/* At creation a TCP master that loses the race for its port gets another one. */
static bool settle(struct masters *masters, size_t i)
{
    struct master *master = &masters->list[i];
    bool ended;

    for (int attempt = 0; attempt < PORT_ATTEMPTS; attempt++) {
        if (master_wait_until_up(master, &ended)) {
            masters->urls[i] = master->url;
            return true;
        }
        if (!ended || !masters->launch.tcp)
            return false;
        if (!set_port(master, masters->launch.tls) || !process_start(&masters->launch, master))
            return false;
    }
    return false;
}

static bool start_all(struct masters *masters)
{
    for (size_t i = 0; i < masters->count; i++)
        if (!prepare(masters, i) || !process_start(&masters->launch, &masters->list[i]))
            return false;
    for (size_t i = 0; i < masters->count; i++)
        if (!settle(masters, i))
            return false;
    return true;
}

static bool fill(struct masters *masters, const struct masters_options *options)
{
    masters->launch.tls = options->tls;
    masters->launch.tcp = options->tcp || options->tls;
    if (!set_server(&masters->launch, options))
        return false;
    masters->list = calloc(options->count, sizeof(*masters->list));
    masters->urls = calloc(options->count + 1, sizeof(*masters->urls));
    if (!masters->list || !masters->urls)
        return fail("out of memory");
    masters->count = options->count;
    if (!set_setups(masters, options))
        return false;
    masters->dir = directory_create();
    masters->launch.dir = masters->dir;
    if (!masters->dir || (options->tls && !certificates_make(masters->dir)))
        return false;
    return start_all(masters);
}

struct masters *masters_create(const struct masters_options *options)
{
    struct masters *masters;

    if (options->count < 1 || options->count > MASTERS_MAX) {
        fail("the number of masters must be 1 to %d", MASTERS_MAX);
        return NULL;
    }
    masters = calloc(1, sizeof(*masters));
    if (!masters) {
        fail("out of memory");
        return NULL;
    }
    masters->guard_fd = -1;
    if (fill(masters, options))
        return masters;
    masters_destroy(masters);
    return NULL;
}

static void end_master(struct master *master)
{
    if (master->pid)
        process_end(master);
    setup_fini(&master->setup);
    free(master->dir);
    free(master->socket_path);
    free(master->url);
}

void masters_destroy(struct masters *masters)
{
    if (!masters)
        return;
    for (size_t i = 0; i < masters->count; i++)
        end_master(&masters->list[i]);
    if (masters->dir)
        directory_remove(masters->dir);
    if (masters->guard_fd >= 0)
        directory_unguard(masters->guard_fd, masters->guard_pid);
    free(masters->launch.server);
    free(masters->dir);
    free(masters->list);
    free(masters->urls);
    free(masters);
}

bool masters_cleanup_on_exit(struct masters *masters)
{
    if (masters->guard_fd < 0)
        masters->guard_fd = directory_guard(masters->dir, &masters->guard_pid);
    return masters->guard_fd >= 0;
}
