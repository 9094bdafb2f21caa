/* REDLOCK_API marks the functions that the shared library exports, and REDLOCK_API_USED those of them whose result must
 * be looked at: who ignores it works without the lock. REDLOCK_KEY("orders") gives a text to functions that take a key
 * and its size: redlock_lock_create(client, REDLOCK_KEY("orders"), &lock). */
#ifndef REDLOCK_EXPORT_H
#define REDLOCK_EXPORT_H

#include <string.h>

#if defined(__GNUC__) || defined(__clang__)
#define REDLOCK_API __attribute__((visibility("default")))
#define REDLOCK_API_USED REDLOCK_API __attribute__((warn_unused_result))
#else
#define REDLOCK_API
#define REDLOCK_API_USED
#endif

#define REDLOCK_KEY(text) (text), strlen(text)

#endif
