/* Passwords do not stay in the memory of the process. The test itself keeps them only in another form: a password is
 * made of random bytes and shown by reveal() for a moment; masters are told of it by another process. */
#include <fcntl.h>
#include <redlock/log.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program_rig.h"

#define PASSWORD_BYTES 32

static unsigned char hidden[PASSWORD_BYTES];

static unsigned char letter(size_t i)
{
    return (unsigned char)('A' + hidden[i] % 26);
}

static void reveal(char password[PASSWORD_BYTES + 1])
{
    for (size_t i = 0; i < PASSWORD_BYTES; i++)
        password[i] = (char)letter(i);
    password[PASSWORD_BYTES] = '\0';
}

/* --- Where is it? ------------------------------------------------------------------------------------------------ */

static size_t count_in(const unsigned char *bytes, size_t size)
{
    size_t n = 0;

    for (size_t i = 0; i + PASSWORD_BYTES <= size; i++) {
        size_t same = 0;

        while (same < PASSWORD_BYTES && bytes[i + same] == letter(same))
            same++;
        n += same == PASSWORD_BYTES;
    }
    return n;
}

/* How often it is in all that can be read and written. What is read lies in a buffer of the test's, which is wiped. */
static size_t count_in_memory(void)
{
    static unsigned char buffer[1 << 20];
    FILE *maps = fopen("/proc/self/maps", "re");
    int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    char line[600];
    size_t n = 0;

    ck_assert(maps && memory >= 0);
    while (fgets(line, sizeof line, maps)) {
        unsigned long begin, end;
        char rights[8];

        if (sscanf(line, "%lx-%lx %7s", &begin, &end, rights) != 3 || strncmp(rights, "rw", 2) != 0)
            continue;
        for (unsigned long at = begin; at < end; at += sizeof buffer - PASSWORD_BYTES) {
            size_t size = end - at < sizeof buffer ? end - at : sizeof buffer;
            ssize_t got = pread(memory, buffer, size, (off_t)at);

            n += got > 0 ? count_in(buffer, (size_t)got) : 0;
            explicit_bzero(buffer, sizeof buffer);
        }
    }
    fclose(maps);
    close(memory);
    return n;
}

/* --- A world with a password ------------------------------------------------------------------------------------- */

static unsigned shown; /* in events, errors and log lines */
static char wanted_error[64];

static void look_at(const char *text)
{
    shown += count_in((const unsigned char *)text, strlen(text)) > 0;
}

static void on_event(const struct redlock_event *event, void *user_data)
{
    char line[1024];

    redlock_event_line(event, line, sizeof line);
    look_at(line);
    look_at(event->text ? event->text : "");
}

static void tell_masters(void)
{
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        char word[PASSWORD_BYTES + 2] = ">";

        reveal(word + 1);
        rig_do_all(&rig, "ACL", "SETUSER", "locker", "on", "resetpass", word, "~*", "+@all",
                   suite_server_is(6, 2) ? "&*" : NULL, NULL);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &(int){0}, 0), pid);
}

static void start(void)
{
    struct masters_options options = {.count = 3};

    ck_assert_int_eq(getrandom(hidden, sizeof hidden, 0), (int)sizeof hidden);
    rig_start(&rig, &options);
    tell_masters();
    rig.options.on_event = on_event;
}

static void close_rig(void)
{
    rig_close(&rig);
    ck_assert_uint_eq(shown, 0);
}

static void end_client(void)
{
    redlock_client_destroy(rig.client);
    rig.client = NULL;
}

static void use(void)
{
    struct redlock_lock *lock = rig_hold(&rig, "secret", 20000);

    rig_expect_release(&rig, lock, REDLOCK_OK);
}

/* --- URLs -------------------------------------------------------------------------------------------------------- */

static char urls[3][300];

static void put_into_urls(void)
{
    for (size_t i = 0; i < rig.n; i++) {
        const char *url = masters_url(rig.masters, i), *rest = strstr(url, "://") + 3;
        char password[PASSWORD_BYTES + 1];

        reveal(password);
        snprintf(urls[i], sizeof urls[i], "%.*slocker:%s@%s", (int)(rest - url), url, password, rest);
        explicit_bzero(password, sizeof password);
        rig.urls[i] = urls[i];
    }
}

GROUP(memory_tests, "memory", NULL, close_rig)

TEST(memory_tests, a_password_of_urls_ends_with_the_client)
{
    start();
    put_into_urls();
    rig_connect(&rig);
    explicit_bzero(urls, sizeof urls);
    use();
    ck_assert_uint_eq(count_in_memory(), 3); /* one for each master, and no other copy */
    end_client();
    ck_assert_uint_eq(count_in_memory(), 0);
}

TEST(memory_tests, urls_that_are_refused_leave_no_password)
{
    struct redlock_error error = {0};

    start();
    put_into_urls();
    strcat(urls[2], "?"); /* of one that cannot be parsed */
    ck_assert_int_eq(redlock_client_create(rig.base, rig.urls, 3, &rig.options, &rig.client, &error), REDLOCK_E_URL);
    look_at(error.text);
    explicit_bzero(urls, sizeof urls);
    ck_assert_uint_eq(count_in_memory(), 0);
}

/* --- The program ------------------------------------------------------------------------------------------------- */

static unsigned asked;

static void on_credentials(struct redlock_credentials_request *request,
                           const struct redlock_credentials_wanted *wanted, void *user_data)
{
    char password[PASSWORD_BYTES + 1];
    struct redlock_credentials credentials;

    redlock_credentials_init(&credentials);
    reveal(password);
    credentials.user = "locker";
    credentials.password = password;
    credentials.good_for_ms = 1000;
    ck_assert_int_eq(redlock_credentials_answer(request, &credentials), 0);
    explicit_bzero(password, sizeof password);
    asked++;
}

static bool has_asked(void *argument)
{
    return asked >= *(unsigned *)argument;
}

TEST(memory_tests, a_password_of_the_program_is_not_kept_at_all)
{
    start();
    rig.options.on_credentials = on_credentials;
    rig_connect(&rig);
    use();
    ck_assert_uint_eq(count_in_memory(), 0);
    rig_wait(&rig, has_asked, &(unsigned){asked + 6}, "the connections to be authenticated again");
    use();
    end_client();
    ck_assert_uint_eq(count_in_memory(), 0);
}

static bool has_failed(void *argument)
{
    struct redlock_node_stats stats;

    ck_assert_int_eq(redlock_client_node_stats(rig.client, 0, &stats, sizeof stats), 0);
    look_at(stats.last_error);
    return strstr(stats.last_error, wanted_error) != NULL;
}

TEST(memory_tests, a_password_that_is_refused_is_shown_nowhere)
{
    struct redlock_error error = {0};

    start();
    rig_do_all(&rig, "ACL", "SETUSER", "locker", "resetpass", NULL);
    rig.options.on_credentials = on_credentials;
    ck_assert_int_eq(redlock_client_create(rig.base, rig.urls, 3, &rig.options, &rig.client, &error), 0);
    snprintf(wanted_error, sizeof wanted_error, "AUTH: WRONGPASS");
    rig_wait(&rig, has_failed, NULL, "the password to be refused");
    end_client();
    ck_assert_uint_eq(count_in_memory(), 0);
}

SUITE_WITH_SERVER("secrets")
