/* Which process is at the other end of a connection. A unix socket knows it. Of TCP the kernel tells the number of the
 * other end's socket (sock_diag(7)), and /proc/PID/fd has the sockets of a process. */
#include <dirent.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

struct question {
    struct nlmsghdr head;
    struct inet_diag_req_v2 body;
};

struct answer {
    struct nlmsghdr head;
    struct inet_diag_msg body;
};

static bool ask_kernel(const struct question *question, struct answer *ret_answer)
{
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    char room[512];
    ssize_t size = -1;

    if (fd >= 0 && send(fd, question, sizeof(*question), 0) == (ssize_t)sizeof(*question))
        size = recv(fd, room, sizeof(room), 0);
    if (fd >= 0)
        close(fd);
    if (size < (ssize_t)sizeof(*ret_answer))
        return false;
    memcpy(ret_answer, room, sizeof(*ret_answer));
    return ret_answer->head.nlmsg_type == SOCK_DIAG_BY_FAMILY;
}

/* The number of the socket that is connected from one place to the other; 0: it is not on this machine. */
static unsigned long find_socket(const struct sockaddr_in *from, const struct sockaddr_in *to)
{
    struct question question = {
        .head = {.nlmsg_len = sizeof(question), .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST},
        .body = {.sdiag_family = AF_INET,
                 .sdiag_protocol = IPPROTO_TCP,
                 .idiag_states = UINT32_MAX,
                 .id = {.idiag_sport = from->sin_port,
                        .idiag_dport = to->sin_port,
                        .idiag_src = {from->sin_addr.s_addr},
                        .idiag_dst = {to->sin_addr.s_addr},
                        .idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}},
    };
    struct answer answer;

    return ask_kernel(&question, &answer) ? answer.body.idiag_inode : 0;
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
