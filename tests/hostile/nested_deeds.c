#include "nested.h"

struct redlock_client *mine, *theirs;
struct redlock_lock *reported, *neighbour, *foreign;
struct outcome bystander;

static void on_shutdown(struct redlock_client *client, int status, void *user_data)
{
    (void)client;
    (void)status;
    (void)user_data;
}

static void destroy_reported(void)
{
    redlock_lock_destroy(reported);
    redlock_lock_destroy(reported); /* still borrowed: the second time does nothing */
}

static void destroy_neighbour(void)
{
    redlock_lock_destroy(neighbour);
}

static void destroy_mine(void)
{
    redlock_client_destroy(mine);
    redlock_client_destroy(mine);
    mine = NULL;
}

static void destroy_theirs(void)
{
    redlock_client_destroy(theirs);
    theirs = NULL;
}

static void destroy_all(void)
{
    redlock_lock_destroy(neighbour);
    destroy_theirs();
    redlock_lock_destroy(reported);
    destroy_mine();
}

static void shut_both_down(void)
{
    (void)redlock_client_shutdown(mine, 1000, on_shutdown, NULL);
    ck_assert_int_eq(redlock_client_shutdown(theirs, 1000, on_shutdown, NULL), 0);
}

static void shut_down_and_destroy(void)
{
    shut_both_down();
    destroy_theirs();
    destroy_mine();
}

/* Whatever each call answers: it must leave everything in order. */
static void call_everything(void)
{
    struct redlock_lock *locks[] = {reported, neighbour, foreign};

    for (size_t i = 0; i < 3; i++) {
        (void)redlock_cancel(locks[i]);
        (void)redlock_reenter(locks[i], 0);
        (void)redlock_reenter(locks[i], 1);
        (void)redlock_release(locks[i], outcome_record, &bystander);
        (void)redlock_lock_detach(locks[i]);
        (void)redlock_release(locks[i], NULL, NULL);
        (void)redlock_release(locks[i], NULL, NULL);
        (void)redlock_lock_detach(locks[i]);
        (void)redlock_release_token(locks[i], "somebody", NULL, NULL);
        (void)redlock_extend(locks[i], 0, outcome_record, &bystander);
        (void)redlock_acquire(locks[i], NULL, outcome_record, &bystander);
    }
}

static void call_everything_and_destroy(void)
{
    call_everything();
    destroy_all();
}

static void do_nothing(void)
{
}

void (*const deeds[N_DEEDS])(void) = {
    do_nothing,      destroy_reported, destroy_neighbour,     destroy_mine,    destroy_theirs,
    destroy_all,     shut_both_down,   shut_down_and_destroy, call_everything, call_everything_and_destroy,
};
