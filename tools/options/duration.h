/* Durations as people write them: 500ms, 1.5s, 2m. */
#ifndef OPTIONS_DURATION_H
#define OPTIONS_DURATION_H

#include <stdint.h>

enum duration_fault {
    DURATION_OK,
    DURATION_NONE,     /* anything else */
    DURATION_NO_UNIT,  /* a number alone */
    DURATION_TOO_LONG, /* for any purpose */
    DURATION_TOO_FINE, /* not a whole number of microseconds */
};

enum { DURATION_TEXT_SIZE = 24 };

/* A number, decimals allowed, and a unit: us, ms, s, m or min, h, d. Zero needs no unit. *ret_us is written only on
 * success. */
enum duration_fault duration_parse(const char *text, int64_t *ret_us);

/* In the largest unit that it is a whole number of, as duration_parse() reads it. Returns buffer. */
const char *duration_text(int64_t us, char buffer[DURATION_TEXT_SIZE]);

#endif
