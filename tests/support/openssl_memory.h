/* An OpenSSL that has no memory: of the allocations that it makes while `armed`, one fails. */
#ifndef TESTS_OPENSSL_MEMORY_H
#define TESTS_OPENSSL_MEMORY_H

#include <stdbool.h>

struct openssl_memory {
    bool armed;
    long allocations; /* so many were made while armed */
    long failing;     /* the number, from 0, of the one that fails; -1: none */
};

extern struct openssl_memory openssl_memory;

/* Before OpenSSL has allocated anything; false: it has. */
bool openssl_memory_hook(void);

/* For a loop over the allocations: each of the first `dense` fails in turn, then every `step`-th. Counts anew. false:
 * the latest run made no allocation of that number; none fails from now on. */
bool openssl_memory_next(long dense, long step);

#endif
