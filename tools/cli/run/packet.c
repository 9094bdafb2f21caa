#include "cli/run/packet.h"

#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

/* Room for one descriptor, aligned. */
union control {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
};

ssize_t run_packet_send(int link, const void *packet, size_t size, int fd)
{
    union control control = {
        .header = {.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
    struct iovec part = {(void *)(uintptr_t)packet, size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

    memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
    if (fd >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
    }
    return sendmsg(link, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

ssize_t run_packet_receive(int link, void *packet, size_t size, int *ret_fd)
{
    union control control;
    struct iovec part = {packet, size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
                             .msg_controllen = sizeof control};
    ssize_t n = recvmsg(link, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    const struct cmsghdr *header = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;

    *ret_fd = -1;
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
        memcpy(ret_fd, CMSG_DATA(header), sizeof *ret_fd);
    return n;
}
