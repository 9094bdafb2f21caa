/* The set of masters as a whole: create, destroy, and the faults that can be done to one of them. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "connection.h"
#include "internal.h"
#include "parts.h"
#include "relays.h"
#include "system.h"

#define START_TIMEOUT_MS 60000
#define PORT_ATTEMPTS 20
#define CLUSTER_ATTEMPTS 2

/* The command itself starts independent Redis servers only: the others are built for the laboratory and the tests. */
static const struct system *const systems[] = {
    [MASTERS_REDIS] = &system_redis,
#ifdef MASTERS_HAVE_ALL
    [MASTERS_SENTINEL] = &system_sentinel, [MASTERS_ETCD] = &system_etcd,
    [MASTERS_ZOOKEEPER] = &system_zookeeper, [MASTERS_POSTGRES] = &system_postgres,
    [MASTERS_MARIADB] = &system_mariadb, [MASTERS_AGENT] = &system_agent,
#endif
};

const char *masters_system_name(enum masters_system system)
{
    return systems[system]->name;
}

bool masters_can_part(enum masters_system system)
{
    return !systems[system]->cannot_part;
}

static bool find_server(const struct system *system, const char *wanted, char **ret_server)
{
    bool is_redis = strcmp(system->program, system_redis.program) == 0;
    const char *server = wanted ? wanted : is_redis ? getenv("REDLOCK_SERVER") : NULL;

    *ret_server = program_find(server && server[0] ? server : system->program, system->places);
    return *ret_server || fail("there is no program \"%s\", which is in Debian's package %s",
                               server && server[0] ? server : system->program, system->package);
}

bool masters_is_installed(enum masters_system system)
{
    char *server = NULL;
    bool found = find_server(systems[system], NULL, &server);

    free(server);
    return found && access(systems[system]->needs ? systems[system]->needs : "/", F_OK) == 0;
}

static bool set_setups(struct masters *masters, const struct masters_options *options)
{
    struct masters_setup common = {options->persistence, options->extra_args, options->environment};

    for (size_t i = 0; i < masters->count; i++)
        if (!setup_replace(&masters->list[i].setup, options->setups ? &options->setups[i] : &common))
            return false;
    return true;
}

static bool set_port(struct master *master, enum port which, bool relayed)
{
    uint16_t port = port_pick();

    master->ports[which] = port;
    master->announced[which] = relayed ? port_pick() : port;
    return (port && master->announced[which]) || fail("no free port");
}

static bool set_url(const struct masters *masters, uint16_t port, char **url)
{
    char *fresh;

    if (asprintf(&fresh, "%s127.0.0.1:%u%s", masters->tls ? "rediss://" : masters->system->url_before, (unsigned)port,
                 masters->system->url_after) < 0)
        return fail("out of memory");
    free(*url);
    *url = fresh;
    return true;
}

static bool set_apart(const struct masters *masters, struct master *master)
{
    master->announced_apart = port_pick();
    return master->announced_apart ? set_url(masters, master->announced_apart, &master->apart_url)
                                   : fail("no free port");
}

/* Gives a member on ports (new) ones. */
static bool set_ports(const struct masters *masters, struct master *master)
{
    const struct system *system = masters->system;

    for (enum port which = 0; which < system->ports; which++)
        if (!set_port(master, which, masters->relayed && which < parts_ports(system)))
            return false;
    return set_url(masters, master->announced[PORT_CLIENTS], &master->url) &&
           (!masters->relayed || set_apart(masters, master));
}

static bool set_socket(struct master *master, const char *dir, size_t i)
{
    if (asprintf(&master->socket_path, "%s/%zu.sock", dir, i) < 0 ||
        asprintf(&master->url, "unix://%s", master->socket_path) < 0)
        return fail("out of memory");
    return true;
}

static bool is_entry_on_socket(const struct masters *masters, size_t i)
{
    return masters->system->entries_on_sockets && i >= masters->system->first_entry;
}

/* It has a port besides, on which it tells of itself. */
static bool set_entry(const struct masters *masters, struct master *master)
{
    size_t opposite = masters->system->first_entry + masters->count - 1 - master->index;

    return set_port(master, PORT_CLIENTS, false) && set_socket(master, masters->dir, master->index) &&
           (asprintf(&master->apart_url, "unix://%s/%zu.sock", masters->dir, opposite) >= 0 || fail("out of memory"));
}

/* It belongs to whom the server runs as. */
bool master_make_dir(const struct masters *masters, const struct master *master)
{
    const struct program_user *user = &masters->user;

    if (mkdir(master->dir, 0700) < 0 || (user->other && chown(master->dir, user->uid, user->gid) < 0))
        return fail("%s: %s", master->dir, strerror(errno));
    return true;
}

static bool prepare(struct masters *masters, size_t i)
{
    struct master *master = &masters->list[i];

    master->index = i;
    if (asprintf(&master->dir, "%s/%zu", masters->dir, i) < 0)
        return fail("out of memory");
    if (!master_make_dir(masters, master))
        return false;
    if (is_entry_on_socket(masters, i))
        return set_entry(masters, master);
    if ((!masters->tcp || masters->tls) && !set_socket(master, masters->dir, i))
        return false;
    return !masters->tcp || set_ports(masters, master);
}

bool master_wait_until_up(const struct masters *masters, struct master *master, bool *ret_ended)
{
    *ret_ended = false;
    for (int waited = 0; waited < START_TIMEOUT_MS; waited += 2) {
        if (masters->system->answers(master))
            return true;
        if (process_wait_end(master->pid, 2)) {
            *ret_ended = true;
            master->pid = 0;
            return fail_with_log(master, "the server ended during its start");
        }
    }
    return fail_with_log(master, "the server does not answer");
}

/* At creation a server that loses the race for its port gets another one. Members of a cluster cannot: the others have
 * been told already. */
static bool settle(struct masters *masters, size_t i)
{
    struct master *master = &masters->list[i];
    bool ended;

    for (int attempt = 0; attempt < PORT_ATTEMPTS; attempt++) {
        if (master_wait_until_up(masters, master, &ended)) {
            masters->urls[i] = master->url;
            masters->apart_urls[i] = master->apart_url;
            return true;
        }
        if (!ended || !masters->tcp || masters->relayed || masters->system->count > 1)
            return false;
        if (!set_ports(masters, master) || !process_start(masters, master))
            return false;
    }
    return false;
}

bool masters_wait_until_serving(const struct masters *masters, int timeout_ms)
{
    int64_t deadline_ms = connection_now_ms() + timeout_ms;

    for (size_t i = 0; i < masters->count && masters->system->serves;) {
        const struct master *master = &masters->list[i];

        if (!master->pid || master->hung)
            return fail("member %zu is down or hung", i);
        if (masters->system->serves(masters, master))
            i++;
        else if (connection_now_ms() >= deadline_ms || process_wait_end(master->pid, 20))
            return false;
    }
    return true;
}

static bool start_all(struct masters *masters, bool relayed)
{
    for (size_t i = 0; i < masters->count; i++)
        if (!prepare(masters, i))
            return false;
    if (relayed && !parts_begin(masters))
        return false;
    for (size_t i = 0; i < masters->count; i++)
        if (!process_start(masters, &masters->list[i]))
            return false;
    for (size_t i = 0; i < masters->count; i++)
        if (!settle(masters, i))
            return false;
    masters->founded = masters_wait_until_serving(masters, START_TIMEOUT_MS);
    return masters->founded;
}

/* Members that run as another user reach their own directories through this one. */
static bool make_directory(struct masters *masters)
{
    masters->dir = directory_create();
    if (!masters->dir || (masters->tls && !certificates_make(masters->dir)))
        return false;
    return !masters->user.other || chmod(masters->dir, 0711) == 0 || fail("chmod: %s", strerror(errno));
}

static bool allocate(struct masters *masters, size_t count)
{
    masters->list = calloc(count, sizeof *masters->list);
    masters->urls = calloc(count + 1, sizeof *masters->urls);
    masters->apart_urls = calloc(count + 1, sizeof *masters->apart_urls);
    if (!masters->list || !masters->urls || !masters->apart_urls)
        return fail("out of memory");
    masters->count = count;
    return true;
}

static bool fill(struct masters *masters, const struct masters_options *options)
{
    const struct system *system = masters->system;

    masters->tls = options->tls;
    masters->relayed = options->relayed;
    masters->delay_us = options->delay_us;
    masters->tcp = options->tcp || options->tls || options->relayed || system->count > 0;
    return find_server(system, options->server, &masters->server) && program_user_find(system->user, &masters->user) &&
           allocate(masters, system->count ? system->count : options->count) && set_setups(masters, options) &&
           make_directory(masters) && start_all(masters, options->relayed);
}

static bool check(const struct masters_options *options)
{
    size_t fixed = systems[options->system]->count;

    if (fixed && options->count && options->count != fixed)
        return fail("%s has %zu members", systems[options->system]->name, fixed);
    if (options->relayed && (options->tls || (!fixed && options->count > PARTS_MAX)))
        return fail("at most %d members without TLS can be parted", PARTS_MAX);
    if (fixed && options->tls)
        return fail("%s is not run with TLS here", systems[options->system]->name);
    if (!fixed && (options->count < 1 || options->count > MASTERS_MAX))
        return fail("the number of masters must be 1 to %d", MASTERS_MAX);
    return true;
}

static struct masters *create(const struct masters_options *options)
{
    struct masters *masters = calloc(1, sizeof *masters);

    if (!masters) {
        fail("out of memory");
        return NULL;
    }
    masters->guard_fd = -1;
    masters->system = systems[options->system];
    if (fill(masters, options))
        return masters;
    masters_destroy(masters);
    return NULL;
}

/* A cluster one of whose ports was taken meanwhile is founded again on others. */
struct masters *masters_create(const struct masters_options *options)
{
    struct masters *masters = NULL;

    if (!check(options))
        return NULL;
    for (int attempt = 0; !masters && attempt < CLUSTER_ATTEMPTS; attempt++) {
        masters = create(options);
        if (systems[options->system]->count <= 1 && !options->relayed)
            break;
    }
    return masters;
}

static void end_master(struct master *master)
{
    if (master->pid)
        process_end(master);
    setup_fini(&master->setup);
    free(master->dir);
    free(master->socket_path);
    free(master->url);
    free(master->apart_url);
}

void masters_destroy(struct masters *masters)
{
    if (!masters)
        return;
    for (size_t i = 0; i < masters->count; i++)
        end_master(&masters->list[i]);
    relays_destroy(masters->relays);
    if (masters->dir)
        directory_remove(masters->dir);
    if (masters->guard_fd >= 0)
        directory_unguard(masters->guard_fd, masters->guard_pid);
    free(masters->server);
    free(masters->dir);
    free(masters->list);
    free(masters->urls);
    free(masters->apart_urls);
    free(masters);
}

bool masters_cleanup_on_exit(struct masters *masters)
{
    if (masters->guard_fd < 0)
        masters->guard_fd = directory_guard(masters->dir, &masters->guard_pid);
    return masters->guard_fd >= 0;
}
