/* What the files of this directory share: one master, and the tools to run it. */
#ifndef MASTERS_INTERNAL_H
#define MASTERS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "masters.h"
#include "process.h"

struct arguments;

/* Longest path of a unix socket, without the final NUL (sockaddr_un.sun_path). */
#define SOCKET_PATH_MAX 107

/* How to run one of them; owned copies of a struct masters_setup, both lists never NULL once set. */
struct setup {
    enum masters_persistence persistence;
    char **extra_args;
    char **environment;
};

/* What a member may listen for; systems use the first few. */
enum port {
    PORT_CLIENTS,
    PORT_PEERS,
    PORT_ELECTION,
    PORTS_MAX,
};

struct master {
    struct setup setup;
    size_t index;
    char *dir;         /* its files; also the server's working directory */
    char *socket_path; /* NULL in TCP mode without TLS */
    char *url;
    uint16_t ports[PORTS_MAX];     /* that it listens on; 0 unless in TCP mode */
    uint16_t announced[PORTS_MAX]; /* that clients and other members are told */
    uint16_t announced_apart;      /* the same as PORT_CLIENTS, to clients that are to be apart; 0: no relays */
    char *apart_url;               /* NULL likewise */
    pid_t pid;         /* 0 while it is down */
    bool hung;         /* stopped by masters_hang() */
    bool apart;        /* by masters_part() */
};

struct relays;
struct system;

struct masters {
    const struct system *system;
    char *server; /* the program */
    struct program_user user;
    bool tcp;
    enum masters_tls tls;
    bool relayed;
    uint32_t delay_us;  /* of the relays */
    bool clients_apart; /* by masters_part_clients() */
    bool founded;  /* all members have been up once */
    char *dir;     /* certificates are in it, too */
    struct relays *relays; /* one before each port; NULL: there are none */
    size_t count;
    struct master *list;
    const char **urls; /* borrowed from the list */
    const char **apart_urls;
    int guard_fd;      /* -1: no helper */
    pid_t guard_pid;
};

#define COMMAND_TIMEOUT_MS 60000

/* --- setup.c: the sentence behind masters_error(); always returns false. */
bool fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Adds the last line of the member's log. */
bool fail_with_log(const struct master *master, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The private directory. */
char *directory_create(void); /* NULL on failure; leaves room for socket names */
void directory_remove(const char *path);
/* Starts the helper of masters_cleanup_on_exit(): it acts when the last copy of the returned descriptor is closed,
 * unless a byte has been written to it before. -1 on failure. */
int directory_guard(const char *path, pid_t *ret_helper);
void directory_unguard(int fd, pid_t helper);

/* A port of 127.0.0.1 that nobody listens on now; 0 on failure. */
uint16_t port_pick(void);

/* Certificates: ca, server and client (.crt, .key) in the directory. */
bool certificates_make(const char *dir);

bool setup_replace(struct setup *setup, const struct masters_setup *request); /* changes nothing if it fails */
void setup_fini(struct setup *setup);
/* This process's environment with the setup's on top; free() the array alone, its strings are borrowed. */
char **setup_environment(const struct setup *setup);

/* --- process.c */
bool process_start(const struct masters *masters, struct master *master);
/* Runs a program that a start needs, as the member's user and in its environment, and waits for its success. */
bool process_run(const struct masters *masters, const struct master *master, const struct arguments *arguments);
bool process_end(struct master *master);            /* SIGKILL, and waits */
bool process_stop(const struct master *master);     /* SIGSTOP, and waits; its children, too */
bool process_resume(const struct master *master);
bool process_has_ended(const struct master *master);
/* Sleeps for at most timeout_ms; true as soon as the process has ended. */
bool process_wait_end(pid_t pid, int timeout_ms);

/* --- connection.c: one command, its reply as text, malloc'ed; NULL on failure. */
char *command_run(const struct master *master, const char *const *argv, int timeout_ms);

/* --- masters.c */
/* Waits until the server answers; false also if it ends meanwhile, which *ret_ended tells. */
bool master_wait_until_up(const struct masters *masters, struct master *master, bool *ret_ended);
bool master_make_dir(const struct masters *masters, const struct master *master);

#endif
