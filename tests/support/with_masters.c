/* Runs a command with the URLs of private masters appended to its arguments.
 *
 *   with_masters N COMMAND [ARGUMENT...]
 *
 * The exit status is the command's; 77 if there is no redis-server. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "masters.h"
#include "suite.h"

static int run(char **argv)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        execvp(argv[0], argv);
        perror(argv[0]);
        _exit(127);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}

static char **append(char **command, size_t n_words, const struct masters *masters)
{
    size_t n_masters = masters_count(masters);
    char **argv = calloc(n_words + n_masters + 1, sizeof *argv);

    if (!argv)
        return NULL;
    memcpy(argv, command, n_words * sizeof *argv);
    for (size_t i = 0; i < n_masters; i++)
        argv[n_words + i] = (char *)(uintptr_t)masters_url(masters, i);
    return argv;
}

int main(int argc, char **argv)
{
    struct masters_options options = {.persistence = MASTERS_VOLATILE};
    struct masters *masters;
    char **command;
    int status = EXIT_FAILURE;

    if (argc < 3) {
        fputs("usage: with_masters N COMMAND [ARGUMENT...]\n", stderr);
        return EXIT_FAILURE;
    }
    if (!suite_has_server())
        return 77;
    options.count = strtoul(argv[1], NULL, 10);
    masters = masters_create(&options);
    if (!masters || !masters_cleanup_on_exit(masters)) {
        fprintf(stderr, "%s\n", masters_error());
        masters_destroy(masters);
        return EXIT_FAILURE;
    }
    command = append(argv + 2, (size_t)argc - 2, masters);
    if (command)
        status = run(command);
    free(command);
    masters_destroy(masters);
    return status;
}
