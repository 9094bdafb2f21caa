/* The values of options: what they may look like, and where they go. */
#ifndef OPTIONS_VALUE_H
#define OPTIONS_VALUE_H

#include "options/option.h"

/* `text` is what stands behind the option, or NULL where it takes nothing. False, with a message that names the
 * option: it cannot be that. */
bool cli_store(const char *command, const struct cli_option *option, const char *text);

#endif
