/* Which process is at the other end of a connection. A unix socket knows it. Of TCP the kernel's table of sockets has
 * the number of the other end's, and /proc/PID/fd has the sockets of a process. */
#include <arpa/inet.h>
#include <dirent.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

enum { PLACE_SIZE = sizeof("0100007F:1F90") };

/* As /proc/net/tcp writes it. */
static void write_place(const struct sockaddr_in *address, char ret_text[PLACE_SIZE])
{
    snprintf(ret_text, PLACE_SIZE, "%08" PRIX32 ":%04X", address->sin_addr.s_addr, (unsigned)ntohs(address->sin_port));
}

/* The number of the socket that is connected from one place to the other; 0: it is not on this machine. */
static unsigned long find_socket(const struct sockaddr_in *from, const struct sockaddr_in *to)
{
    char wanted_from[PLACE_SIZE], wanted_to[PLACE_SIZE], line[512];
    unsigned long found = 0;
    FILE *table = fopen("/proc/net/tcp", "re");

    write_place(from, wanted_from);
    write_place(to, wanted_to);
    while (table && !found && fgets(line, sizeof(line), table)) {
        char local[PLACE_SIZE] = "", remote[PLACE_SIZE] = "";
        unsigned long number = 0;

        if (sscanf(line, " %*[^:]: %13s %13s %*s %*s %*s %*s %*s %*s %lu", local, remote, &number) == 3 &&
            strcmp(local, wanted_from) == 0 && strcmp(remote, wanted_to) == 0)
            found = number;
    }
    if (table)
        fclose(table);
    return found;
}

void relay_peer_find(struct relay_peer *ret_peer, int fd)
{
    struct sockaddr_in here = {0}, there = {0};
    socklen_t here_size = sizeof(here), there_size = sizeof(there);
    struct ucred owner;
    socklen_t owner_size = sizeof(owner);

    *ret_peer = (struct relay_peer){0};
    if (getsockname(fd, (struct sockaddr *)&here, &here_size) != 0 ||
        getpeername(fd, (struct sockaddr *)&there, &there_size) != 0)
        return;
    if (here.sin_family == AF_UNIX && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &owner, &owner_size) == 0)
        ret_peer->process = owner.pid;
    else if (here.sin_family == AF_INET && there.sin_family == AF_INET)
        ret_peer->socket = find_socket(&there, &here);
}

static bool has_socket(pid_t process, unsigned long number)
{
    char path[64], name[64];
    struct dirent *entry;
    bool found = false;
    DIR *dir;

    snprintf(path, sizeof(path), "/proc/%ld/fd", (long)process);
    snprintf(name, sizeof(name), "socket:[%lu]", number);
    dir = opendir(path);
    while (dir && !found && (entry = readdir(dir))) {
        char target[64] = "";

        found = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1) > 0 && strcmp(target, name) == 0;
    }
    if (dir)
        closedir(dir);
    return found;
}

static bool is_itself(const struct relay_peer *peer, pid_t process)
{
    return peer->process == process || (peer->socket && has_socket(process, peer->socket));
}

/* Linux lists the children of a thread, CONFIG_PROC_CHILDREN provided, as distributions have it. */
static bool is_child(const struct relay_peer *peer, pid_t process)
{
    char path[64];
    long child;
    bool found = false;
    FILE *children;

    snprintf(path, sizeof(path), "/proc/%ld/task/%ld/children", (long)process, (long)process);
    children = fopen(path, "re");
    while (children && !found && fscanf(children, "%ld", &child) == 1)
        found = is_itself(peer, (pid_t)child);
    if (children)
        fclose(children);
    return found;
}

bool relay_peer_is(const struct relay_peer *peer, pid_t process)
{
    return is_itself(peer, process) || is_child(peer, process);
}
