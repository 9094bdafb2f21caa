/* Reads one member of a flat JSON object, as this tool writes them: no arrays or objects inside. */
#ifndef CLI_JSON_READ_H
#define CLI_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>

/* The value of the member, strings without quotes and escapes, numbers as they are written; "\u00XX" is the byte XX,
 * the form in which bytes that are no text were written. False if there is no such member, if it does not fit, or if
 * the text is no flat object; *ret_value is "" then. */
bool json_read(const char *text, const char *name, char *ret_value, size_t size);

#endif
