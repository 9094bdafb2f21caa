/* Masters that a run may call new, and why they do not vote. */
#ifndef LOAD_DECLARE_H
#define LOAD_DECLARE_H

#include <redlock/redlock.h>

#define LOAD_REASON_SIZE 400

/* Which masters keep the client from working, in the library's words: "; NAME: REASON" for each. */
void load_complaints(const struct redlock_client *client, char *ret_text, size_t size);

/* Writes the marker of each master anew, with these options but for their `join` and event hook. */
bool load_declare(const struct redlock_options *options, const char *const *urls, size_t n,
                   char ret_reason[LOAD_REASON_SIZE]);

#endif
