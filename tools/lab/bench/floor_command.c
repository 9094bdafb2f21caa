#include <stdio.h>
#include <string.h>

#include "floor_command.h"

#define NUMBER_SIZE 8

/* As long as the library's tokens. */
static const char token[] = "00000000-0000-4000-8000-000000000000";

static void find_numbers(struct floor_command *command, int size, const char *key, size_t key_size)
{
    char *key_at = memmem(command->bytes, (size_t)size, key, key_size);

    command->size = (size_t)size;
    command->numbers[0] = key_at + key_size - NUMBER_SIZE;
    command->numbers[1] = strstr(key_at + key_size, token) + sizeof token - 1 - NUMBER_SIZE;
}

void floor_command_set(struct floor_command *command, const char *key, size_t key_size, uint32_t ttl_ms)
{
    char ttl[12];
    int ttl_size = snprintf(ttl, sizeof ttl, "%u", ttl_ms);
    int size = snprintf(command->bytes, sizeof command->bytes,
                        "*6\r\n$3\r\nSET\r\n$%zu\r\n%.*s\r\n$%zu\r\n%s\r\n$2\r\nNX\r\n$2\r\nPX\r\n$%d\r\n%s\r\n",
                        key_size, (int)key_size, key, sizeof token - 1, token, ttl_size, ttl);

    find_numbers(command, size, key, key_size);
}

void floor_command_release(struct floor_command *command, const char *key, size_t key_size,
                           const char sha1[FLOOR_SHA1_SIZE])
{
    int size = snprintf(command->bytes, sizeof command->bytes,
                        "*5\r\n$7\r\nEVALSHA\r\n$%d\r\n%.*s\r\n$1\r\n1\r\n$%zu\r\n%.*s\r\n$%zu\r\n%s\r\n",
                        FLOOR_SHA1_SIZE, FLOOR_SHA1_SIZE, sha1, key_size, (int)key_size, key, sizeof token - 1,
                        token);

    find_numbers(command, size, key, key_size);
}
