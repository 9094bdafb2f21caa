/* The user and the password for masters whose URLs have none: from a file, a command or the environment. */
#ifndef OPTIONS_PASSWORD_H
#define OPTIONS_PASSWORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <redlock/credentials.h>

struct cli_password_store;

/* NULL where nothing is given. */
struct cli_password {
    const char *user;
    const char *file;    /* its first line; read again when it has changed */
    const char *command; /* for /bin/sh; the first line that it prints */
    struct cli_password_store *store; /* the password itself; copies of this structure share it */
};

#define CLI_PASSWORD_OPTIONS(password)                                                                             \
    {.name = "user", .text = &(password)->user}, {.name = "password-file", .file = &(password)->file},             \
        {.name = "password-command", .text = &(password)->command}

enum { CLI_PASSWORD_WHY_SIZE = 160 };

/* Takes from the environment what no option gives, and reads the file. False, with a message: it makes no sense, or
 * there is no such file. */
bool cli_password_complete(const char *command, struct cli_password *password);
void cli_password_fini(struct cli_password *password);

/* Is it the URL of a master that needs this password? */
bool cli_password_is_for(const char *url);

/* What is known at this moment; NULL: nothing, or it comes with the URLs. */
const char *cli_password_text(const struct cli_password *password);

/* Can it change while the program runs? */
bool cli_password_changes(const struct cli_password *password);

/* Reads the file again if it has changed. False, with the reason: it cannot be used, and what was known stays. */
bool cli_password_read(struct cli_password *password, char why[CLI_PASSWORD_WHY_SIZE]);

/* Keeps `length` characters as the password, which must not be more than REDLOCK_MAX_PASSWORD_BYTES. */
void cli_password_keep(struct cli_password *password, const char *text, size_t length);

/* --- A command that prints a password: a process of its own, which nobody waits for without a limit. */

enum { PASSWORD_COMMAND_LIMIT_MS = 10000, PASSWORD_COMMAND_LOOK_MS = 10 };

struct password_run {
    pid_t pid; /* 0: none is running */
    int output;
    bool ended; /* the output, not the process */
    int64_t deadline_ns;
    size_t size;
    char *bytes; /* what it has printed, REDLOCK_MAX_PASSWORD_BYTES + 1 of it at most */
};

enum password_step {
    PASSWORD_RUNNING,
    PASSWORD_DONE,   /* the password has been kept */
    PASSWORD_FAILED, /* `why` says so */
};

/* Starts it by /bin/sh, in a process group of its own, with nothing to read and this process's standard error. False,
 * with the reason: the system refuses. */
bool password_command_start(struct password_run *run, const char *command, char why[CLI_PASSWORD_WHY_SIZE]);

/* To be called every PASSWORD_COMMAND_LOOK_MS. Does not wait. After the limit the process group is killed. */
enum password_step password_command_step(struct password_run *run, struct cli_password *password,
                                         char why[CLI_PASSWORD_WHY_SIZE]);

/* Kills what is running, and forgets what it has printed. */
void password_command_kill(struct password_run *run);

/* All of that, waiting for it. */
bool password_command_wait(struct cli_password *password, char why[CLI_PASSWORD_WHY_SIZE]);

#endif
