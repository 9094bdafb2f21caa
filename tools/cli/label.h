/* Who has a lock, in words for people: what this command puts behind the tokens of its locks (options.h, `label`), and
 * what it reads from those of others. */
#ifndef CLI_LABEL_H
#define CLI_LABEL_H

#include <stdbool.h>
#include <stdint.h>

#include <redlock/options.h>

#include "cli/json.h"

/* --label of the commands that take locks: what is given, or else "HOST:PID", from a terminal "USER@HOST:PID". The
 * time follows, as "+SECONDS" since 1970, if there is room: it tells since when the lock is asked for. "" is no label
 * at all. False after a message: it cannot be a label. */
bool label_make(const char *command, const char *given, char ret_label[REDLOCK_MAX_LABEL_BYTES + 1]);

/* Puts since when behind a label, "+SECONDS", if there is room. */
enum { LABEL_TIME_SIZE = 11 };
void label_add_time(char label[REDLOCK_MAX_LABEL_BYTES + 1]);

/* Labels are printable ASCII characters without a blank. A character that none can have becomes one that it can. */
bool label_is_printable(const char *text);
void label_clean(char *text);

struct label {
    char name[REDLOCK_MAX_LABEL_BYTES + 1]; /* "": the value has none */
    int64_t asked_us;                       /* since 1970, by the holder's clock; 0: it does not say */
    bool strange;                           /* the value is none that this library writes */
};

/* The label of a value that masters store, or of a waiter's. */
struct label label_of(const char *value);

/* The members "label" and "asked_us", as far as they are known. */
void label_json(struct cli_json *json, const struct label *label);

/* "2 min 3 s ago", in words for a person who looks now. "-": not known, or not in the past. A ticket is such a
 * time, too, unless clocks differ much. */
enum { LABEL_AGO_SIZE = 32 };
const char *label_ago(int64_t since_us, char buffer[LABEL_AGO_SIZE]);

#endif
