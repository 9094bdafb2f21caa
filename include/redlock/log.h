/* From events to lines of a log: how important an event is, and a sentence about it. For the hook of struct
 * redlock_options, inside which these functions may be called; nothing is printed or kept here.
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

/* The smaller, the more important. */
enum redlock_level {
    REDLOCK_LEVEL_ERROR = 1, /* a held lock is lost */
    REDLOCK_LEVEL_WARNING,   /* somebody should know: a master is down or does not vote, a clock was set, a lock is at
                                risk, an operation has failed for another reason than that the key was held or the
                                caller canceled it */
    REDLOCK_LEVEL_INFO,      /* locks are taken, extended and given back; masters come up */
    REDLOCK_LEVEL_DEBUG,     /* every step: attempts, votes, renewals */
};

/* DEBUG for types that this library does not know. */
REDLOCK_API enum redlock_level redlock_event_level(const struct redlock_event *event);
REDLOCK_API const char *redlock_level_name(enum redlock_level level); /* "error"; "?" for other numbers */

/* Room for any line that is not cut short. */
#define REDLOCK_MAX_LINE_BYTES 512

/* One line of printable text without a line feed, cut short to `size` bytes, the terminating 0 included: the event's
 * name, the key (its first bytes; what is not printable as \xHH), and what the type names. The token is left out: it is
 * a secret. Returns ret_line. */
REDLOCK_API const char *redlock_event_line(const struct redlock_event *event, char *ret_line, size_t size);

#ifdef __cplusplus
}
#endif
#endif
