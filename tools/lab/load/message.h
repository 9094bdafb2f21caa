/* What a coordinator and the processes that it forked say to each other: messages of one word, over a seqpacket socket.
 * bench/worker.h and failover/worker.h tell which words come when. */
#ifndef LOAD_MESSAGE_H
#define LOAD_MESSAGE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum load_word {
    LOAD_READY = 1,
    LOAD_START,
    LOAD_RUN,
    LOAD_LIMIT,
    LOAD_END,
    LOAD_ENDED,
    LOAD_QUIT,
    LOAD_FAILED,
};

struct load_message {
    uint32_t word;
    uint32_t phase;
};

/* Both return false when the other side is gone. */
bool load_send(int fd, enum load_word word, uint32_t phase);
bool load_receive(int fd, struct load_message *ret_message);

/* Formats the reason for the coordinator, which finds it in memory that both share, and says FAILED. */
void load_fail(int control, char *ret_reason, size_t size, const char *format, va_list args);

#endif
