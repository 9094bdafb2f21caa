/* One MariaDB server. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connection.h"
#include "process.h"
#include "system.h"

#define ANSWER_MS 2000
#define GREETING_SIZE 48

static bool add_installer(const struct masters *masters, const char *data, struct arguments *arguments)
{
    return arguments_add(arguments, "mariadb-install-db", "--no-defaults", "--skip-test-db",
                         "--auth-root-authentication-method=normal", NULL) &&
           arguments_print(arguments, "--datadir=%s", data);
}

static bool add_arguments(const struct masters *masters, const struct master *master, struct arguments *arguments)
{
    return arguments_add(arguments, "--no-defaults", "--bind-address=127.0.0.1", "--skip-name-resolve",
                         "--max-connections=1000", NULL) &&
           arguments_print(arguments, "--port=%u", (unsigned)master->ports[PORT_CLIENTS]) &&
           arguments_print(arguments, "--datadir=%s/data", master->dir) &&
           arguments_print(arguments, "--socket=%s/sock", master->dir) &&
           arguments_print(arguments, "--pid-file=%s/pid", master->dir);
}

/* The server speaks first: the length of its greeting and a number, 4 bytes; 10, and its version. */
static char *greeting(const struct master *master)
{
    char *text = connection_exchange(master->ports[PORT_CLIENTS], NULL, GREETING_SIZE, ANSWER_MS);

    if (text && text[4] == 10)
        return text;
    free(text);
    return NULL;
}

static bool answers(const struct master *master)
{
    char *text = greeting(master);
    bool came = text && !process_has_ended(master);

    free(text);
    return came || fail("MariaDB does not greet");
}

/* The number is behind one that old clients understand. */
static bool version(const struct master *master, char *ret_text, size_t size)
{
    char *text = greeting(master);
    const char *number;

    if (!text)
        return false;
    number = strncmp(text + 5, "5.5.5-", 6) == 0 ? text + 11 : text + 5;
    snprintf(ret_text, size, "MariaDB %.*s", (int)strcspn(number, "-"), number);
    free(text);
    return true;
}

const struct system system_mariadb = {
    .name = "mariadb",
    .program = "mariadbd",
    .places = "/usr/sbin",
    .package = "mariadb-server",
    .user = "mysql",
    .count = 1,
    .ports = 1,
    .url_before = "mysql://root@",
    .url_after = "",
    .installer = add_installer,
    .arguments = add_arguments,
    .answers = answers,
    .version = version,
};
