/* The floor's commands: written once, and from then on only the number of the cycle changes. */
#ifndef BENCH_FLOOR_COMMAND_H
#define BENCH_FLOOR_COMMAND_H

#include <stddef.h>
#include <stdint.h>

#include "floor_connect.h"

#define FLOOR_COMMAND_SIZE 192

struct floor_command {
    size_t size;
    char *numbers[2]; /* the last eight digits of key and token */
    char bytes[FLOOR_COMMAND_SIZE];
};

void floor_command_set(struct floor_command *command, const char *key, size_t key_size, uint32_t ttl_ms);
void floor_command_release(struct floor_command *command, const char *key, size_t key_size,
                           const char sha1[FLOOR_SHA1_SIZE]);

static inline void floor_command_number(struct floor_command *command, uint32_t number)
{
    for (int i = 7; i >= 0; i--, number >>= 4)
        command->numbers[0][i] = command->numbers[1][i] = "0123456789abcdef"[number & 15];
}

#endif
