/* A fuzz target: one function that takes any bytes and calls abort() if a property does not hold. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Unlike assert(), in every build. */
#define HOLDS(property)                                                                                 \
    do {                                                                                                \
        if (!(property)) {                                                                              \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #property);               \
            abort();                                                                                    \
        }                                                                                               \
    } while (0)

void fuzz_reply(const uint8_t *data, size_t size);
void fuzz_url(const uint8_t *data, size_t size);
void fuzz_command(const uint8_t *data, size_t size);
void fuzz_driver(const uint8_t *data, size_t size);
void fuzz_listen(const uint8_t *data, size_t size);
void fuzz_notification(const uint8_t *data, size_t size);

typedef void (*fuzz_target)(const uint8_t *data, size_t size);

/* "reply", "url", "command", "driver", "listen", "notification"; NULL for anything else. */
fuzz_target fuzz_find(const char *name);

#endif
