#include "message.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>

bool load_send(int fd, enum load_word word, uint32_t phase)
{
    struct load_message message = {(uint32_t)word, phase};

    return send(fd, &message, sizeof message, MSG_NOSIGNAL) == (ssize_t)sizeof message;
}

bool load_receive(int fd, struct load_message *ret_message)
{
    struct load_message message;
    ssize_t n;

    do
        n = recv(fd, &message, sizeof message, 0);
    while (n < 0 && errno == EINTR);
    if (n != (ssize_t)sizeof message)
        return false;
    *ret_message = message;
    return true;
}

void load_fail(int control, char *ret_reason, size_t size, const char *format, va_list args)
{
    vsnprintf(ret_reason, size, format, args);
    load_send(control, LOAD_FAILED, 0);
}
