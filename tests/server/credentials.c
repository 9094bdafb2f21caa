/* Passwords and tokens that change, against real masters whose users have passwords. */
#include <pthread.h>
#include <redlock/blocking.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "program_rig.h"
#include "watch.h"

/* What the program knows, and what it has been asked. */
static struct {
    const char *user;
    const char *password;
    const char *wrong;   /* for master number `wrong_node` */
    size_t wrong_node;
    uint32_t good_for_ms;
    unsigned asked;
    unsigned refused;
    unsigned expiring;
} program;

static void on_credentials(struct redlock_credentials_request *request,
                           const struct redlock_credentials_wanted *wanted, void *user_data)
{
    struct redlock_credentials credentials;

    redlock_credentials_init(&credentials);
    ck_assert_ptr_eq(user_data, &program);
    ck_assert(strstr(rig.urls[wanted->node], wanted->name) != NULL);
    program.asked++;
    program.refused += wanted->why == REDLOCK_CREDENTIALS_REFUSED;
    program.expiring += wanted->why == REDLOCK_CREDENTIALS_EXPIRING;
    credentials.user = program.user;
    credentials.password = program.wrong && wanted->node == program.wrong_node ? program.wrong : program.password;
    credentials.good_for_ms = program.good_for_ms;
    ck_assert_int_eq(redlock_credentials_answer(request, &credentials), 0);
    ck_assert_int_eq(redlock_credentials_answer(request, &credentials), REDLOCK_E_NOT_ASKED);
}

static void set_user(const char *name, const char *password)
{
    char word[64];

    snprintf(word, sizeof word, ">%s", password);
    rig_do_all(&rig, "ACL", "SETUSER", name, "on", "resetpass", word, "~*", "+@all",
               suite_server_is(6, 2) ? "&*" : NULL, NULL);
}

static void start(size_t n)
{
    struct masters_options options = {.count = n};

    memset(&program, 0, sizeof program);
    program.user = "locker";
    program.password = "first";
    rig_start(&rig, &options);
    set_user("locker", "first");
    rig.options.on_credentials = on_credentials;
    rig.options.credentials_data = &program;
}

static uint64_t renewals(void)
{
    struct redlock_stats stats;

    ck_assert_int_eq(redlock_client_stats(rig.client, &stats, sizeof stats), 0);
    ck_assert_uint_eq(stats.lost, 0);
    return stats.renewals;
}

static bool has_renewed(void *argument)
{
    return renewals() >= *(uint64_t *)argument;
}

static void expect_renewals(unsigned more)
{
    uint64_t wanted = renewals() + more;

    rig_wait(&rig, has_renewed, &wanted, "renewals");
}

static bool all_have_connected_again(void *argument)
{
    for (size_t i = 0; i < rig.n; i++) {
        const struct redlock_node_stats stats = watch_node_stats(rig.client, i);

        if (stats.disconnects == 0 || stats.link != REDLOCK_LINK_READY)
            return false;
    }
    return true;
}

static bool has_failed(void *argument)
{
    return strstr(watch_node_stats(rig.client, program.wrong_node).last_error, argument) != NULL;
}

GROUP(change, "change", NULL, rig_end)

TEST(change, a_held_lock_survives_the_rotation_of_a_password)
{
    struct redlock_acquire_options request = rig_request(20000, 0);
    struct redlock_lock *lock;

    request.renew_ms = 500;
    start(5);
    rig_connect(&rig);
    lock = rig_hold_as(&rig, "rotated", &request);
    expect_renewals(1);
    set_user("locker", "second");
    expect_renewals(1); /* who is known stays known */
    rig_do_all(&rig, "CLIENT", "KILL", "USER", "locker", NULL);
    rig_wait(&rig, has_failed, (char[]){"AUTH: WRONGPASS"}, "the old password to be refused");
    program.password = "second";
    rig_wait(&rig, all_have_connected_again, NULL, "the new password to be taken");
    ck_assert_uint_gt(program.refused, 0);
    expect_renewals(2);
    ck_assert_int_gt(redlock_remaining_ms(lock), 0);
    rig_expect_release(&rig, lock, REDLOCK_OK);
}

TEST(change, a_password_that_is_wrong_on_one_master_is_that_masters_failure)
{
    struct redlock_acquire_options request = rig_request(20000, 0);
    struct outcome outcome;
    struct redlock_error error;

    start(5);
    rig_connect(&rig);
    redlock_client_destroy(rig.client);
    program.wrong = "guess";
    program.wrong_node = 2;
    ck_assert_int_eq(redlock_client_create(rig.base, rig.urls, rig.n, &rig.options, &rig.client, &error), 0);
    rig_wait(&rig, has_failed, (char[]){"AUTH: WRONGPASS"}, "the password to be refused");
    for (size_t i = 0; i < rig.n; i++) {
        if (i != 2)
            rig_wait_link(&rig, rig.client, i, REDLOCK_LINK_READY);
    }
    outcome = rig_expect_acquire(&rig, rig_new_lock(rig.client, "four of five"), &request, REDLOCK_OK);
    ck_assert_uint_eq(outcome.reachable, 4);
    program.wrong = NULL;
    rig_wait_link(&rig, rig.client, 2, REDLOCK_LINK_READY);
}

/* --- Tokens that end --------------------------------------------------------------------------------------------- */

static size_t count(const char *text, const char *word)
{
    size_t n = 0;

    for (const char *at = text; (at = strstr(at, word)); at++)
        n++;
    return n;
}

/* Both connections of each master belong to the user. */
static bool both_belong_to(void *user)
{
    char word[64];

    snprintf(word, sizeof word, "user=%s", (const char *)user);
    for (size_t i = 0; i < rig.n; i++) {
        char *list = masters_command(rig.masters, i, (const char *const[]){"CLIENT", "LIST", NULL});
        size_t n = count(list, word);

        free(list);
        if (n != 2)
            return false;
    }
    return true;
}

TEST(change, both_connections_are_authenticated_again_before_a_token_ends)
{
    struct redlock_acquire_options patient = rig_request(20000, 60000);
    struct redlock_lock *holder, *waiter;
    struct outcome outcome = {0};

    start(3);
    set_user("successor", "token");
    program.good_for_ms = 2000;
    rig_connect(&rig);
    holder = rig_hold(&rig, "watched", 20000);
    waiter = rig_new_lock(rig.client, "watched");
    ck_assert_int_eq(redlock_acquire(waiter, &patient, outcome_record, &outcome), 0);
    rig_wait(&rig, both_belong_to, (char[]){"locker"}, "two connections to each master");
    program.user = "successor";
    program.password = "token";
    rig_wait(&rig, both_belong_to, (char[]){"successor"}, "both to be authenticated again");
    for (size_t i = 0; i < rig.n; i++)
        ck_assert_uint_eq(watch_node_stats(rig.client, i).disconnects, 0);
    ck_assert_uint_gt(program.expiring, 5);
    rig_release(&rig, holder);
    rig_wait_outcome(&rig, &outcome);
    outcome_expect(&outcome, REDLOCK_OK);
}

TEST(change, a_token_that_ended_is_told_and_mended)
{
    start(3);
    rig_connect(&rig);
    program.good_for_ms = 100;
    set_user("locker", "fresh");
    rig_do_all(&rig, "CLIENT", "KILL", "USER", "locker", NULL); /* as a master does when a token has ended */
    rig_wait(&rig, has_failed, (char[]){"AUTH: WRONGPASS"}, "the old token to be refused");
    program.password = "fresh";
    rig_wait(&rig, all_have_connected_again, NULL, "the fresh token to be taken");
    set_user("locker", "fresher");
    rig_wait(&rig, has_failed, (char[]){"AUTH: WRONGPASS"}, "the renewal of the token to be refused");
    program.password = "fresher";
    rig_wait_link(&rig, rig.client, 0, REDLOCK_LINK_READY);
    ck_assert_uint_gt(program.refused, 0);
}

/* --- A password where there was none ---------------------------------------------------------------------------- */

static bool every_master_wants_one(void *argument)
{
    for (size_t i = 0; i < rig.n; i++) {
        if (!strstr(watch_node_stats(rig.client, i).last_error, "NOAUTH"))
            return false;
    }
    return true;
}

/* One connection for both commands: only those that were there before need no password. */
static void set_password_and_hang_up(size_t node)
{
    static const char commands[] = "CONFIG SET requirepass sudden\r\nCLIENT KILL TYPE normal\r\n";
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char reply[16];

    snprintf(address.sun_path, sizeof address.sun_path, "%s", strstr(masters_url(rig.masters, node), "://") + 3);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_eq(write(fd, commands, sizeof commands - 1), (int)sizeof commands - 1);
    ck_assert_int_eq(read(fd, reply, 5), 5);
    ck_assert_mem_eq(reply, "+OK\r\n", 5);
    close(fd);
}

TEST_IF(!getenv("REDLOCK_TEST_TLS"), change, a_password_that_is_set_at_run_time_is_asked_for)
{
    start(3);
    program.user = program.password = NULL;
    rig_connect(&rig);
    for (size_t i = 0; i < rig.n; i++)
        set_password_and_hang_up(i);
    rig_wait(&rig, every_master_wants_one, NULL, "NOAUTH");
    program.password = "sudden";
    rig_wait(&rig, all_have_connected_again, NULL, "the password to be taken");
    ck_assert_uint_gt(program.refused, 0);
}

/* --- A service ---------------------------------------------------------------------------------------------------- */

/* The callback runs on the service's thread, which keeps the requests; the answers come from another one. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t more;
    size_t n;
    struct redlock_credentials_request *requests[8];
} desk = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, {NULL}};

static void keep_request(struct redlock_credentials_request *request, const struct redlock_credentials_wanted *wanted,
                         void *user_data)
{
    redlock_credentials_keep(request);
    pthread_mutex_lock(&desk.mutex);
    ck_assert_uint_lt(desk.n, 8);
    desk.requests[desk.n++] = request;
    pthread_cond_signal(&desk.more);
    pthread_mutex_unlock(&desk.mutex);
}

static void answer_requests(struct redlock_client *client, void *user_data)
{
    struct redlock_credentials credentials;

    redlock_credentials_init(&credentials);
    credentials.user = "locker";
    credentials.password = "first";
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(redlock_credentials_answer(desk.requests[i], &credentials), 0);
        redlock_credentials_drop(desk.requests[i]);
    }
}

TEST(change, a_service_is_answered_from_another_thread)
{
    struct redlock_service *service = NULL;
    struct redlock_mutex *mutex = NULL;
    struct redlock_error error = {0};

    start(3);
    rig_connect(&rig); /* declares the masters new */
    desk.n = 0;
    rig.options.on_credentials = keep_request;
    rig.options.connect_timeout_ms = 60000;
    rig.options.node_timeout_ms = rig.options.stall_timeout_ms = 60000;
    ck_assert_msg(redlock_service_create(rig.urls, rig.n, &rig.options, &service, &error) == 0, "%s", error.text);
    pthread_mutex_lock(&desk.mutex);
    while (desk.n < 3)
        pthread_cond_wait(&desk.more, &desk.mutex);
    pthread_mutex_unlock(&desk.mutex);
    ck_assert_int_eq(redlock_service_run(service, answer_requests, NULL), 0);
    ck_assert_int_eq(redlock_mutex_create(service, "served", 6, &mutex), 0);
    ck_assert_int_eq(redlock_mutex_lock(mutex, 60000), 0);
    ck_assert_int_eq(redlock_mutex_unlock(mutex), 0);
    redlock_mutex_destroy(mutex);
    redlock_service_destroy(service);
}

SUITE_WITH_SERVER("credentials")
