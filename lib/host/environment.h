/* Clocks and randomness, which the host is given: a program's are the system's, a test's may be its own. */
#ifndef RL_HOST_ENVIRONMENT_H
#define RL_HOST_ENVIRONMENT_H

#include <stdint.h>

#include "util/instant.h"

#define RL_UUID_SIZE 37  /* of a UUID in text form, with the terminator */
#define RL_TOKEN_SIZE RL_UUID_SIZE

struct rl_environment {
    void *ctx;

    /* The client's clock. It never goes back. */
    struct rl_instant (*now)(void *ctx);

    /* Wall clock in microseconds: only for the numbers proposed for fencing tokens and tickets, on which nothing that
     * matters depends. */
    uint64_t (*wall_us)(void *ctx);

    /* A random UUID. */
    void (*make_uuid)(void *ctx, char ret_text[RL_UUID_SIZE]);

    /* A value for a claim: 122 bits that nobody can foresee and no other attempt of any client has (rule 2.1). */
    void (*make_token)(void *ctx, struct rl_instant now, char ret_token[RL_TOKEN_SIZE]);

    /* What other processes of this machine are told of an instant by: CLOCK_BOOTTIME, as the kernel has it. */
    int64_t (*boot_ns)(void *ctx);
};

#endif
