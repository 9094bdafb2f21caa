/* The masters that a command line names. */
#ifndef OPTIONS_MASTERS_H
#define OPTIONS_MASTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <redlock/options.h>

#include "options/password.h"
#include "options/tls.h"

/* What all users of the masters have in common: a file of masters may say it, as NAME=VALUE. */
enum cli_setting { CLI_PREFIX, CLI_QUORUM, CLI_MAX_TTL, CLI_SETTINGS };
extern const char *const cli_setting_names[];

/* What commands of other programs than redlock say of the options for passwords and TLS. */
#define CLI_REACH_HELP                                                                                             \
    "\n"                                                                                                           \
    "  'redlock help masters' explains --user, --password-file, --password-command;\n"                             \
    "  for TLS\n"                                                                                                  \
    CLI_TLS_NAMES

struct cli_masters {
    const char *urls[REDLOCK_MAX_MASTERS];
    char *owned[REDLOCK_MAX_MASTERS];
    size_t count;
    bool has_password[REDLOCK_MAX_MASTERS]; /* in its URL, as it was given */
    bool in_file[REDLOCK_MAX_MASTERS];      /* named by one of these: */
    const char *files[REDLOCK_MAX_MASTERS];
    size_t n_files;
    bool from_environment;
    char *settings[CLI_SETTINGS]; /* of a file; NULL: it does not say it */
    struct cli_password password; /* for those whose URLs have none */
    struct cli_tls tls;           /* for those with rediss:// URLs */
};

/* One; several, separated by commas, blanks or line ends; those of a file, the same, and "#" begins a comment. In a
 * list nothing must be missing between two commas. False after a message, in which `where` is what has the list. */
bool cli_add_master(const char *command, struct cli_masters *masters, const char *text);
bool cli_add_list(const char *command, struct cli_masters *masters, const char *where, const char *list);
bool cli_add_file(const char *command, struct cli_masters *masters, const char *path);

/* Takes the masters from REDLOCK_NODES when no option named any, and completes the options for their password and for
 * TLS. A password that cannot change is put into the URLs that have none; "user@host" keeps its user. False, with a
 * message: there are no masters, no password can be had, or the options make no sense. */
bool cli_need_masters(const char *command, struct cli_masters *masters);

/* Puts the password, as it is at this moment, into the URLs that have none. A command is run for it, and waited for.
 * False, with a message. */
bool cli_settle_password(const char *command, struct cli_masters *masters);

/* The options that name the same masters, without their passwords, each with a blank in front of it. Not what the
 * environment says anyway. */
void cli_put_masters(FILE *out, const struct cli_masters *masters);

/* One of them, unless it is NULL, or the variable that stands for the option says the same. */
void cli_put_option(FILE *out, const char *name, const char *text);

void cli_masters_fini(struct cli_masters *masters);

#endif
