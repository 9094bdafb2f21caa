/* Questions and faults, one master at a time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "system.h"

size_t masters_count(const struct masters *masters)
{
    return masters->count;
}

const char *masters_url(const struct masters *masters, size_t i)
{
    return masters->urls[i];
}

const char *const *masters_urls(const struct masters *masters)
{
    return masters->urls;
}

const char *const *masters_entries(const struct masters *masters)
{
    return masters->urls + masters->system->first_entry;
}

const char *const *masters_apart_entries(const struct masters *masters)
{
    return masters->apart_urls + masters->system->first_entry;
}

pid_t masters_pid(const struct masters *masters, size_t i)
{
    return masters->list[i].pid;
}

const char *masters_dir(const struct masters *masters)
{
    return masters->dir;
}

bool masters_kill(struct masters *masters, size_t i)
{
    struct master *master = &masters->list[i];

    return master->pid ? process_end(master) : fail("master %zu is down already", i);
}

/* On the same address, which the clients know. A unix socket that a killed server left behind is replaced by it. */
bool masters_restart(struct masters *masters, size_t i)
{
    struct master *master = &masters->list[i];
    bool ended = false;

    if (master->pid)
        return fail("master %zu is running", i);
    for (int attempt = 0; attempt < 5; attempt++) {
        if (!process_start(masters, master))
            return false;
        if (master_wait_until_up(masters, master, &ended))
            return true;
        if (!ended)
            break;
    }
    return false;
}

bool masters_wipe(struct masters *masters, size_t i)
{
    struct master *master = &masters->list[i];

    if (master->pid)
        return fail("master %zu is running", i);
    directory_remove(master->dir);
    return master_make_dir(masters, master);
}

bool masters_set_up(struct masters *masters, size_t i, const struct masters_setup *setup)
{
    struct master *master = &masters->list[i];

    return master->pid ? fail("master %zu is running", i) : setup_replace(&master->setup, setup);
}

bool masters_hang(struct masters *masters, size_t i)
{
    struct master *master = &masters->list[i];

    if (!master->pid)
        return fail("master %zu is down", i);
    master->hung = process_stop(master);
    return master->hung;
}

bool masters_resume(struct masters *masters, size_t i)
{
    struct master *master = &masters->list[i];

    if (!master->pid)
        return fail("master %zu is down", i);
    if (!process_resume(master))
        return false;
    master->hung = false;
    return true;
}

static bool leads(const struct masters *masters, const struct master *master)
{
    const struct system *system = masters->system;

    if (!master->pid || master->hung)
        return false;
    return system->leads ? system->leads(masters, master) : system->count == 1;
}

size_t masters_leader(const struct masters *masters)
{
    for (size_t i = 0; i < masters->count; i++)
        if (leads(masters, &masters->list[i]))
            return i;
    return MASTERS_MAX;
}

int64_t masters_sent(const struct masters *masters)
{
    int64_t sum = 0;

    for (size_t i = masters->system->first_entry; i < masters->count; i++) {
        int64_t sent = masters->system->sent ? masters->system->sent(&masters->list[i]) : -1;

        if (sent < 0)
            return -1;
        sum += sent;
    }
    return sum;
}

bool masters_server_version(const struct masters *masters, size_t i, char *ret_text, size_t size)
{
    return masters->system->version(&masters->list[i], ret_text, size);
}

char *masters_command(struct masters *masters, size_t i, const char *const *argv)
{
    const struct master *master = &masters->list[i];

    if (!master->pid) {
        fail("master %zu is down", i);
        return NULL;
    }
    return command_run(master, argv, COMMAND_TIMEOUT_MS);
}

/* GET alone could not tell the value "(nil)" from a missing key; EXISTS is asked first. */
char *masters_get(struct masters *masters, size_t i, const char *key)
{
    const char *const exists[] = {"EXISTS", key, NULL};
    const char *const get[] = {"GET", key, NULL};
    char *reply;
    bool present;

    if (masters->list[i].hung) {
        fail("master %zu is hung", i);
        return NULL;
    }
    reply = masters_command(masters, i, exists);
    present = reply && strcmp(reply, "(integer) 1") == 0;
    free(reply);
    return present ? masters_command(masters, i, get) : NULL;
}

size_t masters_count_key(struct masters *masters, const char *key)
{
    const char *const exists[] = {"EXISTS", key, NULL};
    size_t n = 0;

    for (size_t i = 0; i < masters->count; i++) {
        char *reply = masters->list[i].hung ? NULL : masters_command(masters, i, exists);

        if (reply && strcmp(reply, "(integer) 1") == 0)
            n++;
        free(reply);
    }
    return n;
}
