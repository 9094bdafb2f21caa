#include "options/password.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options/message.h"
#include "options/variable.h"

/* In pages of its own, which core dumps leave out. */
struct cli_password_store {
    bool known;
    bool settled;      /* not from a regular file, which alone can be read again */
    struct stat stamp; /* of the file that the text was read from */
    char text[REDLOCK_MAX_PASSWORD_BYTES + 1];
};

/* --- The store ---------------------------------------------------------------------------------------------------- */

static bool create_store(struct cli_password *password)
{
    void *pages = mmap(NULL, sizeof(*password->store), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (pages == MAP_FAILED)
        return false;
    madvise(pages, sizeof(*password->store), MADV_DONTDUMP);
    password->store = pages;
    return true;
}

void cli_password_fini(struct cli_password *password)
{
    if (password->store == NULL)
        return;
    explicit_bzero(password->store, sizeof(*password->store));
    munmap(password->store, sizeof(*password->store));
    password->store = NULL;
}

void cli_password_keep(struct cli_password *password, const char *text, size_t length)
{
    struct cli_password_store *store = password->store;

    explicit_bzero(store->text, sizeof(store->text));
    memcpy(store->text, text, length);
    store->known = true;
}

const char *cli_password_text(const struct cli_password *password)
{
    return password->store != NULL && password->store->known ? password->store->text : NULL;
}

bool cli_password_changes(const struct cli_password *password)
{
    return password->file != NULL || password->command != NULL;
}

/* --- The file ----------------------------------------------------------------------------------------------------- */

static bool same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool is_unchanged(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           same_time(a->st_mtim, b->st_mtim) && same_time(a->st_ctim, b->st_ctim);
}

static bool fail(const char *path, const char *what, char why[CLI_PASSWORD_WHY_SIZE])
{
    snprintf(why, CLI_PASSWORD_WHY_SIZE, "cannot read '%.100s': %s", path, what);
    return false;
}

/* The first line that is in the buffer; a longer text is no password. */
static bool take_line(struct cli_password *password, const char *bytes, size_t size, char why[CLI_PASSWORD_WHY_SIZE])
{
    size_t length = 0;

    if (size >= 3 && cli_behind_mark(bytes) != bytes) {
        bytes += 3;
        size -= 3;
    }
    while (length < size && bytes[length] != '\n' && bytes[length] != '\r' && bytes[length] != '\0')
        length++;
    if (length > REDLOCK_MAX_PASSWORD_BYTES)
        return fail(password->file, "its first line is too long for a password", why);
    if (length == 0)
        return fail(password->file, "its first line is empty", why);
    cli_password_keep(password, bytes, length);
    return true;
}

static bool read_all(struct cli_password *password, int fd, char why[CLI_PASSWORD_WHY_SIZE])
{
    char bytes[REDLOCK_MAX_PASSWORD_BYTES + 5]; /* with a byte order mark, and more than a password has */
    size_t size = 0;
    ssize_t n;
    bool ok;

    do {
        n = read(fd, bytes + size, sizeof(bytes) - size);
        size += n > 0 ? (size_t)n : 0;
    } while ((n > 0 && size < sizeof(bytes)) || (n < 0 && errno == EINTR));
    ok = n < 0 ? fail(password->file, strerror(errno), why) : take_line(password, bytes, size, why);
    explicit_bzero(bytes, sizeof(bytes));
    return ok;
}

/* A pipe that has taken the file's place later must not be waited for: locks are held meanwhile. */
bool cli_password_read(struct cli_password *password, char why[CLI_PASSWORD_WHY_SIZE])
{
    struct cli_password_store *store = password->store;
    struct stat stamp;
    bool ok;
    int fd;

    if (store->settled || (store->known && stat(password->file, &stamp) == 0 && is_unchanged(&stamp, &store->stamp)))
        return true;
    fd = open(password->file, O_RDONLY | O_CLOEXEC | (store->known ? O_NONBLOCK : 0));
    if (fd < 0 || fstat(fd, &stamp) != 0)
        ok = fail(password->file, strerror(errno), why);
    else if (store->known && !S_ISREG(stamp.st_mode))
        ok = fail(password->file, "it is no regular file any more", why);
    else
        ok = read_all(password, fd, why);
    if (ok) {
        store->settled = !S_ISREG(stamp.st_mode);
        store->stamp = stamp;
    }
    if (fd >= 0)
        close(fd);
    return ok;
}

/* --- What is given ------------------------------------------------------------------------------------------------ */

bool cli_password_is_for(const char *url)
{
    const char *start = strstr(url, "://");
    const char *at;

    start = start != NULL ? start + 3 : url;
    at = memrchr(start, '@', strcspn(start, "/"));
    return at == NULL || memchr(start, ':', (size_t)(at - start)) == NULL;
}

/* A source that an option names comes before all of the environment's. */
static void take_variables(struct cli_password *password)
{
    if (password->user == NULL)
        password->user = cli_variable("REDLOCK_USER");
    if (cli_password_changes(password))
        return;
    password->file = cli_variable("REDLOCK_PASSWORD_FILE");
    password->command = cli_variable("REDLOCK_PASSWORD_COMMAND");
}

static bool refuse(const char *command, const char *text)
{
    cli_error(command, "%s", text);
    return false;
}

/* The one of the environment does not change. As of a file, its first line counts. */
static bool take_text(const char *command, struct cli_password *password)
{
    const char *text = getenv("REDLOCK_PASSWORD");
    size_t length;

    if (text == NULL || *text == '\0')
        return true;
    text = cli_behind_mark(text);
    length = strcspn(text, "\r\n");
    if (length > REDLOCK_MAX_PASSWORD_BYTES)
        return refuse(command, "REDLOCK_PASSWORD is too long for a password");
    if (length == 0)
        return refuse(command, "the first line of REDLOCK_PASSWORD is empty");
    cli_password_keep(password, text, length);
    return true;
}

bool cli_password_complete(const char *command, struct cli_password *password)
{
    bool named = password->user != NULL;
    char why[CLI_PASSWORD_WHY_SIZE];

    take_variables(password);
    if (password->file != NULL && password->command != NULL)
        return refuse(command, "a password comes from a file (--password-file, REDLOCK_PASSWORD_FILE) or from a "
                               "command (--password-command, REDLOCK_PASSWORD_COMMAND), not from both");
    if (password->user != NULL && strlen(password->user) > REDLOCK_MAX_USER_BYTES)
        return refuse(command, "the name of --user is too long");
    if (!create_store(password))
        return refuse(command, "out of memory");
    if (password->file != NULL)
        return cli_password_read(password, why) || refuse(command, why);
    if (password->command == NULL && !take_text(command, password))
        return false;
    if (named && password->command == NULL && cli_password_text(password) == NULL)
        return refuse(command, "--user needs a password: --password-file, --password-command or REDLOCK_PASSWORD");
    return true;
}
