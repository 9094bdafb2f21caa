/* REDLOCK_API marks the functions that the shared library exports. */
#ifndef REDLOCK_EXPORT_H
#define REDLOCK_EXPORT_H

#if defined(__GNUC__) || defined(__clang__)
#define REDLOCK_API __attribute__((visibility("default")))
#else
#define REDLOCK_API
#endif

#endif
