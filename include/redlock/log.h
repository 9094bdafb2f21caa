/* Events as lines of a log: a level and a sentence for each. The event hook of struct redlock_options may call these
 * functions, which print and keep nothing.
 *
 *     static void on_event(const struct redlock_event *event, void *user_data)
 *     {
 *         char line[REDLOCK_MAX_LINE_BYTES];
 *
 *         if (redlock_event_level(event) <= REDLOCK_LEVEL_WARNING)
 *             syslog(LOG_WARNING, "%s", redlock_event_line(event, line, sizeof line));
 *     }
 */
#ifndef REDLOCK_LOG_H
#define REDLOCK_LOG_H

#include <stddef.h>

#include <redlock/export.h>
#include <redlock/observe.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A smaller number is more important. */
enum redlock_level {
    REDLOCK_LEVEL_ERROR = 1, /* a held lock is lost */
    REDLOCK_LEVEL_WARNING,   /* somebody should know: a master is down or does not vote, its clock was set, a lock is at
                                risk, or an operation failed (not because another holds the lock, or it was canceled) */
    REDLOCK_LEVEL_INFO,      /* locks are acquired, extended or released, or masters connect */
    REDLOCK_LEVEL_DEBUG,     /* each step, and event types that this library does not know */
};

REDLOCK_API enum redlock_level redlock_event_level(const struct redlock_event *event);
REDLOCK_API const char *redlock_level_name(enum redlock_level level); /* "error"; "?" for other numbers */

/* Room for the longest line, its terminating 0 included. */
#define REDLOCK_MAX_LINE_BYTES 512

/* Writes one line without a line feed, cut to `size` bytes with the terminating 0, and returns ret_line. The line has
 * the event's name, the beginning of the key (unprintable bytes as \xHH) and the members that the type fills, but never
 * the token, which is a secret. */
REDLOCK_API const char *redlock_event_line(const struct redlock_event *event, char *ret_line, size_t size);

#ifdef __cplusplus
}
#endif
#endif
