/* Memory for passwords that are kept for a while: pages of their own, which core dumps leave out, and which are wiped
 * before the system gets them back. */
#ifndef RL_UTIL_SECRET_H
#define RL_UTIL_SECRET_H

#include <stddef.h>

/* Zeroed; NULL: no memory. */
char *rl_secret_create(size_t size);

/* A copy of a text; NULL: no memory. */
char *rl_secret_copy(const char *text);

/* Wipes it first. NULL is fine. */
void rl_secret_destroy(char *secret);

#endif
