/* The values of options: what they may look like, and where they go. */
#ifndef OPTIONS_VALUE_H
#define OPTIONS_VALUE_H

#include <stdint.h>

#include "options/option.h"

/* `text` is what stands behind the option, or NULL where it takes nothing. False, with a message that names the
 * option: it cannot be that. */
bool cli_store(const char *command, const struct cli_option *option, const char *text);

/* --- Durations as people write them: 500ms, 1.5s, 2m. */

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
