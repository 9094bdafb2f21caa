/* What the files of this directory share: one master, and the tools to run it. */
#ifndef MASTERS_INTERNAL_H
#define MASTERS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "masters.h"

/* Longest path of a unix socket, without the final NUL (sockaddr_un.sun_path). */
#define SOCKET_PATH_MAX 107

/* How to run one of them; owned copies of a struct masters_setup, both lists never NULL once set. */
struct setup {
    enum masters_persistence persistence;
    char **extra_args;
    char **environment;
};

struct master {
    struct setup setup;
    char *dir;         /* its files; also the server's working directory */
    char *socket_path; /* NULL in TCP mode without TLS */
    char *url;
    uint16_t port;     /* 0 unless in TCP mode */
    pid_t pid;         /* 0 while it is down */
    bool hung;         /* stopped by masters_hang() */
};

/* What is the same for all of them. */
struct launch {
    char *server; /* as found; looked up in PATH by exec if it has no slash */
    bool tcp;
    enum masters_tls tls;
    const char *dir; /* where the certificates are */
};

struct masters {
    struct launch launch;
    char *dir;
    size_t count;
    struct master *list;
    const char **urls; /* borrowed from the list */
    int guard_fd;      /* -1: no helper */
    pid_t guard_pid;
};

#define COMMAND_TIMEOUT_MS 5000

/* --- error.c: the sentence behind masters_error(); always returns false. */
bool fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* --- directory.c */
char *directory_create(void); /* NULL on failure; leaves room for socket names */
void directory_remove(const char *path);
/* Starts the helper of masters_cleanup_on_exit(): it acts when the last copy of the returned descriptor is closed,
 * unless a byte has been written to it before. -1 on failure. */
int directory_guard(const char *path, pid_t *ret_helper);
void directory_unguard(int fd, pid_t helper);

/* --- ports.c: a port of 127.0.0.1 that nobody listens on now; 0 on failure. */
uint16_t port_pick(void);

/* --- certificates.c: ca, server and client (.crt, .key) in the directory. */
bool certificates_make(const char *dir);

/* --- setup.c */
bool setup_replace(struct setup *setup, const struct masters_setup *request); /* changes nothing if it fails */
void setup_fini(struct setup *setup);
/* This process's environment with the setup's on top; free() the array alone, its strings are borrowed. */
char **setup_environment(const struct setup *setup);

/* --- process.c */
bool process_start(const struct launch *launch, struct master *master);
bool process_end(struct master *master);            /* SIGKILL, and waits */
bool process_wait_stopped(pid_t pid);               /* after SIGSTOP */
bool process_has_ended(const struct master *master);
/* Sleeps for at most timeout_ms; true as soon as the process has ended. */
bool process_wait_end(pid_t pid, int timeout_ms);

/* --- command.c: one command, its reply as text, malloc'ed; NULL on failure. */
char *command_run(const struct master *master, const char *const *argv, int timeout_ms);

/* --- masters.c: waits until the server answers; false also if it ends meanwhile, which *ret_ended tells. */
bool master_wait_until_up(struct master *master, bool *ret_ended);

#endif
