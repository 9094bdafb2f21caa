/* Three members of etcd, with its own settings. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "connection.h"
#include "system.h"

#define ANSWER_MS 2000
#define PATIENCE_MS 20000

/* What follows the head of the answer to a request; malloc'ed. */
static char *ask(const struct master *master, const char *method, const char *path, const char *body)
{
    char request[512];
    char *answer;
    char *text;

    snprintf(request, sizeof request, "%s %s HTTP/1.0\r\nContent-Length: %zu\r\n\r\n%s", method, path, strlen(body),
             body);
    answer = connection_exchange(master->ports[PORT_CLIENTS], request, SIZE_MAX, ANSWER_MS);
    text = answer ? strstr(answer, "\r\n\r\n") : NULL;
    if (text)
        memmove(answer, text + 4, strlen(text + 4) + 1);
    return answer;
}

static bool says(const struct master *master, const char *path, const char *word)
{
    char *text = ask(master, "GET", path, "");
    bool found = text && strstr(text, word);

    free(text);
    return found || fail("etcd does not say %s at %s", word, path);
}

static bool add_members(struct arguments *arguments, const struct masters *masters)
{
    char text[512] = "";
    size_t length = 0;

    for (size_t i = 0; i < masters->count; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%sm%zu=http://127.0.0.1:%u", i ? "," : "", i,
                                   (unsigned)masters->list[i].announced[PORT_PEERS]);
    return arguments_add(arguments, "--initial-cluster", text, NULL);
}

static bool has_data(const struct master *master)
{
    char path[SOCKET_PATH_MAX + 32];
    struct stat status;

    snprintf(path, sizeof path, "%s/data", master->dir);
    return stat(path, &status) == 0;
}

/* Another member that is up, to ask it. */
static const struct master *other_member(const struct masters *masters, const struct master *master)
{
    for (size_t i = 0; i < masters->count; i++) {
        const struct master *other = &masters->list[i];

        if (other != master && other->pid && !other->hung && says(other, "/health", "\"true\""))
            return other;
    }
    return NULL;
}

/* The member's number, which stands before its name in the list. */
static bool find_number(const struct master *other, const struct master *master, char *ret_number, size_t size)
{
    char *text = ask(other, "POST", "/v3/cluster/member/list", "{}");
    char name[32];
    char *end;
    const char *number = NULL;

    snprintf(name, sizeof name, "\"name\":\"m%zu\"", master->index);
    end = text ? strstr(text, name) : NULL;
    if (end) {
        *end = '\0';
        for (const char *next = strstr(text, "\"ID\":\""); next; next = strstr(number, "\"ID\":\""))
            number = next + strlen("\"ID\":\"");
        if (number)
            snprintf(ret_number, size, "%.*s", (int)strcspn(number, "\""), number);
    }
    free(text);
    return number || fail("etcd does not know its member m%zu", master->index);
}

static bool change(const struct master *other, const char *path, const char *body)
{
    char *text = ask(other, "POST", path, body);
    bool done = text && strstr(text, "\"header\"");

    if (text && !done)
        fail("%s: %s", path, text);
    free(text);
    return done;
}

/* For some seconds after a member has come or gone, etcd takes its cluster for one that must not change. */
static bool change_when_healthy(const struct master *other, const char *path, const char *body)
{
    int64_t deadline_ms = connection_now_ms() + PATIENCE_MS;
    struct timespec pause = {.tv_nsec = 100000000};

    while (!change(other, path, body)) {
        if (!strstr(masters_error(), "unhealthy") || connection_now_ms() >= deadline_ms)
            return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

/* A member that has lost its data is not let in again under its old number: the manual has it removed and added. */
static bool replace_member(const struct master *other, const struct master *master)
{
    char number[32];
    char body[128];

    if (!find_number(other, master, number, sizeof number))
        return false;
    snprintf(body, sizeof body, "{\"ID\":\"%s\"}", number);
    if (!change_when_healthy(other, "/v3/cluster/member/remove", body))
        return false;
    snprintf(body, sizeof body, "{\"peerURLs\":[\"http://127.0.0.1:%u\"]}", (unsigned)master->announced[PORT_PEERS]);
    return change_when_healthy(other, "/v3/cluster/member/add", body);
}

static bool prepare(const struct masters *masters, const struct master *master)
{
    const struct master *other;

    if (!masters->founded || has_data(master))
        return true;
    other = other_member(masters, master);
    return !other || replace_member(other, master);
}

static bool add_arguments(const struct masters *masters, const struct master *master, struct arguments *arguments)
{
    bool joins = masters->founded && !has_data(master) && other_member(masters, master);

    return arguments_add(arguments, "--log-level", "warn", "--name", NULL) &&
           arguments_print(arguments, "m%zu", master->index) &&
           arguments_print(arguments, "--data-dir=%s/data", master->dir) &&
           arguments_print(arguments, "--listen-client-urls=http://127.0.0.1:%u", master->ports[PORT_CLIENTS]) &&
           arguments_print(arguments, "--advertise-client-urls=http://127.0.0.1:%u",
                           master->announced[PORT_CLIENTS]) &&
           arguments_print(arguments, "--listen-peer-urls=http://127.0.0.1:%u", master->ports[PORT_PEERS]) &&
           arguments_print(arguments, "--initial-advertise-peer-urls=http://127.0.0.1:%u",
                           master->announced[PORT_PEERS]) &&
           add_members(arguments, masters) &&
           arguments_add(arguments, "--initial-cluster-state", joins ? "existing" : "new", NULL);
}

/* It listens from the start, and serves only once there is a majority. */
static bool answers(const struct master *master)
{
    int64_t deadline_ms = connection_now_ms() + ANSWER_MS;
    int fd = connection_open(NULL, master->ports[PORT_CLIENTS], deadline_ms);

    return fd >= 0 && close(fd) == 0 && !process_has_ended(master);
}

static bool serves(const struct masters *masters, const struct master *master)
{
    return says(master, "/health", "\"true\"");
}

static bool leads(const struct masters *masters, const struct master *master)
{
    return says(master, "/metrics", "\netcd_server_is_leader 1\n");
}

static bool version(const struct master *master, char *ret_text, size_t size)
{
    char *text = ask(master, "GET", "/version", "");
    const char *number = text ? strstr(text, "\"etcdserver\":\"") : NULL;

    if (number) {
        number += strlen("\"etcdserver\":\"");
        snprintf(ret_text, size, "etcd %.*s", (int)strcspn(number, "\""), number);
    }
    free(text);
    return number != NULL;
}

const struct system system_etcd = {
    .name = "etcd",
    .program = "etcd",
    .package = "etcd-server",
    .count = 3,
    .ports = 2,
    .meet = true,
    .url_before = "http://",
    .url_after = "",
    .prepare = prepare,
    .arguments = add_arguments,
    .answers = answers,
    .serves = serves,
    .leads = leads,
    .version = version,
};
