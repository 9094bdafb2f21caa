/* Certificates for masters with TLS, by the openssl command: nothing of them is secret, and they live as long as the
 * masters. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "internal.h"

/* In the directory that is its argument: a CA, and of it certificates for servers and for clients. */
static const char script[] =
    "set -e; cd \"$1\"\n"
    "key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out \"$1.key\"; }\n"
    "key ca\n"
    "openssl req -x509 -new -key ca.key -days 3650 -subj '/CN=redlock test CA' -out ca.crt\n"
    "issue() {\n"
    "    key \"$1\"\n"
    "    printf 'subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1\\n' >\"$1.ext\"\n"
    "    openssl req -new -key \"$1.key\" -subj \"/CN=redlock $1\" |\n"
    "        openssl x509 -req -CA ca.crt -CAkey ca.key -set_serial \"$2\" -days 3650 \\\n"
    "        -extfile \"$1.ext\" -out \"$1.crt\"\n"
    "}\n"
    "issue server 1; issue client 2\n";

static void become_script(const char *dir, int log_fd)
{
    dup2(log_fd, 1);
    dup2(log_fd, 2);
    execlp("sh", "sh", "-c", script, "sh", dir, (char *)NULL);
    _exit(127);
}

/* The log goes with the directory. */
static void read_last_line(const char *path, char *ret_line, size_t size)
{
    FILE *file = fopen(path, "re");

    ret_line[0] = '\0';
    while (file && fgets(ret_line, (int)size, file))
        ret_line[strcspn(ret_line, "\n")] = '\0';
    if (file)
        fclose(file);
}

/* A shell says 127 for a command that it does not find. */
static bool fail_to_make(int status, const char *log)
{
    char line[160];

    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return fail("there is no program \"openssl\" to make certificates, which is in Debian's package openssl");
    read_last_line(log, line, sizeof(line));
    return fail("no certificates could be made by the openssl command: %s", line);
}

bool certificates_make(const char *dir)
{
    char log[SOCKET_PATH_MAX + 32];
    int status = 0;
    int log_fd;
    pid_t pid;

    snprintf(log, sizeof(log), "%s/openssl.log", dir);
    log_fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    pid = log_fd < 0 ? -1 : fork();
    if (pid == 0)
        become_script(dir, log_fd);
    if (log_fd >= 0)
        close(log_fd);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (pid < 0)
        return fail("certificates: %s", strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    return fail_to_make(status, log);
}
