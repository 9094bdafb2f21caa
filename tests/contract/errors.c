/* Every caller error of redlock/status.h, provoked: each rule has a code of its own, and a refused call changes
 * nothing. */
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <redlock/semaphore.h>
#include <redlock/election.h>
#include <redlock/latch.h>
#include <redlock/look.h>
#include <redlock/members.h>
#include <redlock/set.h>

#include "errors.h"
#include "program_rig.h"

#define FIRST_ERROR (-100)
#define LAST_ERROR (-199)

static bool seen[FIRST_ERROR - LAST_ERROR + 1];

static void open_three(void)
{
    memset(seen, 0, sizeof seen);
    rig_open(&rig, 3);
}

void errors_expect(int actual, int expected, const char *what)
{
    ck_assert_msg(actual == expected, "%s: %s instead of %s", what, redlock_status_name(actual),
                  redlock_status_name(expected));
    if (actual <= FIRST_ERROR && actual >= LAST_ERROR)
        seen[FIRST_ERROR - actual] = true;
}

GROUP(three, "three masters", open_three, rig_end)

TEST(three, each_rule_for_options_has_its_code)
{
    errors_of_options(&rig);
}

TEST(three, each_rule_for_masters_has_its_code)
{
    errors_of_masters(&rig);
}

TEST(three, each_rule_for_credentials_has_its_code)
{
    errors_of_credentials(&rig);
}

/* --- Keys and the options of an acquisition */

static void refuse_keys(void)
{
    static const char key[REDLOCK_MAX_KEY_BYTES + 1];
    struct redlock_lock *lock = NULL;

    errors_expect(redlock_lock_create(rig.client, "", 0, &lock), REDLOCK_E_KEY_EMPTY, "an empty key");
    errors_expect(redlock_lock_create(rig.client, key, sizeof key, &lock), REDLOCK_E_KEY_TOO_LONG, "a long key");
    errors_expect(redlock_lock_create(rig.client, "redlock:marker", 14, &lock), REDLOCK_E_KEY_RESERVED, "the marker");
    errors_expect(redlock_lock_create(rig.client, "redlock:fence:x", 15, &lock), REDLOCK_E_KEY_RESERVED, "a counter");
    errors_expect(redlock_lock_create(rig.client, "redlock:queue:x", 15, &lock), REDLOCK_E_KEY_RESERVED, "a queue");
    errors_expect(redlock_lock_create(rig.client, "redlock:waiters:x", 17, &lock), REDLOCK_E_KEY_RESERVED, "waiters");
    errors_expect(redlock_lock_create(rig.client, "redlock:permits:x", 17, &lock), REDLOCK_E_KEY_RESERVED,
                  "a directory");
    errors_expect(redlock_lock_create(rig.client, "redlock:permit-waiters:x", 24, &lock), REDLOCK_E_KEY_RESERVED,
                  "its waiters");
    errors_expect(redlock_lock_create(rig.client, "redlock:latch:x", 15, &lock), REDLOCK_E_KEY_RESERVED, "a latch");
    errors_expect(redlock_lock_create(rig.client, NULL, 3, &lock), REDLOCK_E_ARGUMENT, "no key");
    errors_expect(redlock_lock_create(NULL, "k", 1, &lock), REDLOCK_E_ARGUMENT, "no client");
    errors_expect(redlock_lock_create(rig.client, "k", 1, NULL), REDLOCK_E_ARGUMENT, "no result");
    ck_assert_ptr_null(lock);
}

static void refuse_request(struct redlock_lock *lock, const struct redlock_acquire_options *request, int expected,
                        const char *what)
{
    errors_expect(redlock_acquire(lock, request, outcome_record, NULL), expected, what);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_IDLE);
}

#define REQUEST(...) (memcpy(&request, &standard, sizeof(request)), request.__VA_ARGS__, &request)

/* But not where there is a single attempt anyway. */
static void refuse_strict_order_with_attempts(struct redlock_lock *lock)
{
    struct redlock_acquire_options request = rig_request(10000, 1000);

    request.wait = REDLOCK_WAIT_FIFO;
    request.max_attempts = 2;
    errors_expect(redlock_acquire(lock, &request, outcome_record, NULL), REDLOCK_E_WAIT, "strict order with attempts");
}

static const char long_label[] = "a-label-of-sixty-five-characters-is-one-more-than-there-may-be-33";

static void refuse_requests(void)
{
    struct redlock_lock *lock = rig_new_lock(rig.client, "errors");
    struct redlock_acquire_options standard, request;

    redlock_acquire_options_init(&standard);
    refuse_request(lock, REQUEST(size = 0), REDLOCK_E_OPTIONS_SIZE, "options without init");
    refuse_request(lock, REQUEST(ttl_ms = 0), REDLOCK_E_TTL, "no ttl");
    refuse_request(lock, REQUEST(ttl_ms = 2), REDLOCK_E_TTL, "a ttl shorter than its drift");
    refuse_request(lock, REQUEST(ttl_ms = 60001), REDLOCK_E_TTL, "a ttl above max_ttl_ms");
    refuse_request(lock, REQUEST(timeout_ms = -2), REDLOCK_E_TIMEOUT, "a negative timeout");
    refuse_request(lock, REQUEST(timeout_ms = INT64_MIN), REDLOCK_E_TIMEOUT, "the most negative timeout");
    refuse_request(lock, REQUEST(timeout_ms = REDLOCK_MAX_TIMEOUT_MS + 1), REDLOCK_E_TIMEOUT, "a timeout above a day");
    refuse_request(lock, REQUEST(max_attempts = 2), REDLOCK_E_RETRY, "two attempts without a timeout");
    refuse_request(lock, REQUEST(retry_delay_ms = 60001), REDLOCK_E_RETRY, "a long delay");
    refuse_request(lock, REQUEST(retry_jitter_ms = 60001), REDLOCK_E_RETRY, "a long jitter");
    refuse_request(lock, REQUEST(retry_delay_ms = request.retry_jitter_ms = 0), REDLOCK_E_RETRY, "no pause at all");
    refuse_request(lock, REQUEST(min_validity_ms = 10000 - 102), REDLOCK_E_MIN_VALIDITY, "more validity than there is");
    refuse_request(lock, REQUEST(renew_ms = 6599), REDLOCK_E_RENEWAL, "a renewal after two thirds of the validity");
    refuse_request(lock, REQUEST(at_risk_ms = 10000 - 102), REDLOCK_E_RENEWAL, "a warning before the lock is held");
    refuse_request(lock, REQUEST(wait = (enum redlock_wait)3), REDLOCK_E_WAIT, "an unknown way to wait");
    refuse_request(lock, REQUEST(wait = (enum redlock_wait)-1), REDLOCK_E_WAIT, "a negative way to wait");
    refuse_strict_order_with_attempts(lock);
    refuse_request(lock, REQUEST(mode = (enum redlock_mode)3), REDLOCK_E_MODE, "an unknown mode");
    refuse_request(lock, REQUEST(mode = (enum redlock_mode)-1), REDLOCK_E_MODE, "a negative mode");
    refuse_request(lock, REQUEST(label = "a b"), REDLOCK_E_CLIENT_NAME, "a label with a space");
    refuse_request(lock, REQUEST(label = long_label), REDLOCK_E_CLIENT_NAME, "a label of 65 characters");
    refuse_request(lock, REQUEST(fenced = 2), REDLOCK_E_RENEWAL, "a flag that is 2");
    refuse_request(lock, REQUEST(own_token = 2), REDLOCK_E_RENEWAL, "another flag that is 2");
    errors_expect(redlock_acquire(lock, NULL, NULL, NULL), REDLOCK_E_ARGUMENT, "no callback");
    errors_expect(redlock_acquire(NULL, NULL, outcome_record, NULL), REDLOCK_E_ARGUMENT, "no lock");
}

TEST(three, each_rule_for_keys_and_acquisitions_has_its_code)
{
    refuse_keys();
    refuse_requests();
}

/* --- The state of a lock */

/* The lock is held, and afterwards as before. */
static void refuse_by_depth(struct redlock_lock *lock)
{
    char text[REDLOCK_MAX_EXPORT_BYTES];

    errors_expect(redlock_reenter(lock, 60000), REDLOCK_EXPIRING, "more validity than there is");
    ck_assert_uint_eq(redlock_lock_depth(lock), 1);
    for (unsigned depth = 1; depth < REDLOCK_MAX_DEPTH; depth++)
        ck_assert_int_eq(redlock_reenter(lock, 0), 0);
    ck_assert_uint_eq(redlock_lock_depth(lock), REDLOCK_MAX_DEPTH);
    errors_expect(redlock_reenter(lock, 0), REDLOCK_E_DEPTH, "too many entries");
    errors_expect(redlock_lock_export(lock, text, sizeof text), REDLOCK_E_DEPTH, "export from within");
    errors_expect(redlock_lock_detach(lock), REDLOCK_E_DEPTH, "detach from within");
    errors_expect(redlock_acquire(lock, NULL, outcome_record, NULL), REDLOCK_E_ALREADY_HELD, "acquire from within");
    for (unsigned depth = REDLOCK_MAX_DEPTH; depth > 1; depth--)
        ck_assert_int_eq(redlock_release(lock, NULL, NULL), 0);
    ck_assert_uint_eq(redlock_lock_depth(lock), 1);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_HELD);
}

static void refuse_by_state(void)
{
    struct redlock_lock *lock = rig_new_lock(rig.client, "state");
    struct outcome outcome = {0}, released = {0};
    char text[REDLOCK_MAX_EXPORT_BYTES];

    errors_expect(redlock_extend(lock, 0, outcome_record, NULL), REDLOCK_E_NOT_HELD, "extend before acquire");
    errors_expect(redlock_release(lock, NULL, NULL), REDLOCK_E_NOT_HELD, "release before acquire");
    errors_expect(redlock_lock_detach(lock), REDLOCK_E_NOT_HELD, "detach before acquire");
    errors_expect(redlock_reenter(lock, 0), REDLOCK_E_NOT_HELD, "re-enter before acquire");
    errors_expect(redlock_convert(lock, REDLOCK_SHARED, 0, outcome_record, NULL), REDLOCK_E_NOT_HELD,
                  "convert before acquire");
    errors_expect(redlock_convert(lock, REDLOCK_SHARED, 0, NULL, NULL), REDLOCK_E_ARGUMENT, "convert without callback");
    errors_expect(redlock_convert(NULL, REDLOCK_SHARED, 0, outcome_record, NULL), REDLOCK_E_ARGUMENT,
                  "convert nothing");
    errors_expect(redlock_convert(lock, (enum redlock_mode)3, 0, outcome_record, NULL), REDLOCK_E_MODE,
                  "convert to an unknown mode");
    errors_expect(redlock_convert(lock, REDLOCK_SHARED, -2, outcome_record, NULL), REDLOCK_E_TIMEOUT,
                  "convert with a negative timeout");
    errors_expect(redlock_cancel(lock), REDLOCK_E_NOTHING_TO_CANCEL, "cancel nothing");
    errors_expect(redlock_lock_export(lock, text, sizeof text), REDLOCK_E_NOT_HELD, "export before acquire");
    errors_expect(redlock_lock_export(lock, NULL, 0), REDLOCK_E_ARGUMENT, "export to nowhere");
    errors_expect(redlock_lock_adopt(lock, NULL, NULL), REDLOCK_E_ARGUMENT, "adopt nothing");
    errors_expect(redlock_lock_adopt(lock, NULL, ""), REDLOCK_E_EXPORT, "adopt an empty text");
    errors_expect(redlock_lock_adopt(lock, NULL, "redlock1:a:b:c"), REDLOCK_E_EXPORT, "adopt a text cut off");
    errors_expect(redlock_release_token(lock, "", NULL, NULL), REDLOCK_E_TOKEN, "an empty token");
    errors_expect(redlock_acquire(lock, NULL, outcome_record, &outcome), 0, "acquire");
    errors_expect(redlock_acquire(lock, NULL, outcome_record, &outcome), REDLOCK_E_BUSY, "acquire twice");
    errors_expect(redlock_lock_export(lock, text, sizeof text), REDLOCK_E_BUSY, "export while acquiring");
    errors_expect(redlock_release(lock, NULL, NULL), REDLOCK_E_BUSY, "release while acquiring");
    errors_expect(redlock_reenter(lock, 0), REDLOCK_E_BUSY, "re-enter while acquiring");
    rig_wait_outcome(&rig, &outcome);
    outcome_expect(&outcome, REDLOCK_OK);
    errors_expect(redlock_acquire(lock, NULL, outcome_record, NULL), REDLOCK_E_ALREADY_HELD, "acquire a held lock");
    refuse_by_depth(lock);
    errors_expect(redlock_lock_export(lock, text, 100), REDLOCK_E_LIMIT, "export to a small place");
    errors_expect(redlock_extend(lock, 60001, outcome_record, NULL), REDLOCK_E_TTL, "extend beyond max_ttl_ms");
    errors_expect(redlock_extend(lock, 0, NULL, NULL), REDLOCK_E_ARGUMENT, "extend without callback");
    errors_expect(redlock_cancel(lock), REDLOCK_E_NOTHING_TO_CANCEL, "cancel a held lock");
    errors_expect(redlock_release(lock, outcome_record, &released), 0, "release");
    errors_expect(redlock_release(lock, NULL, NULL), REDLOCK_E_BUSY, "release twice");
    errors_expect(redlock_reenter(lock, 0), REDLOCK_E_NOT_HELD, "re-enter while releasing");
    errors_expect(redlock_cancel(lock), REDLOCK_E_NOTHING_TO_CANCEL, "cancel a release");
    rig_wait_outcome(&rig, &released);
    outcome_expect(&released, REDLOCK_OK);
}

static void set_must_not_run(struct redlock_set *set, const struct redlock_set_result *result, void *user_data)
{
    ck_abort_msg("a refused call has called back");
}

static void refuse_by_keys_of_a_set(void)
{
    struct redlock_set *set;

    ck_assert_int_eq(redlock_set_create(rig.client, &set), 0);
    errors_expect(redlock_set_acquire(set, NULL, set_must_not_run, NULL), REDLOCK_E_SET_KEYS, "an empty set");
    errors_expect(redlock_set_release(set, NULL, NULL), REDLOCK_E_NOT_HELD, "release a set that is not held");
    errors_expect(redlock_set_extend(set, 0, set_must_not_run, NULL), REDLOCK_E_NOT_HELD, "extend it");
    errors_expect(redlock_set_cancel(set), REDLOCK_E_NOTHING_TO_CANCEL, "cancel it");
    ck_assert_int_eq(redlock_set_add(set, "one", 3), 0);
    errors_expect(redlock_set_add(set, "one", 3), REDLOCK_E_SET_KEYS, "a key twice");
    errors_expect(redlock_set_acquire(set, NULL, set_must_not_run, NULL), REDLOCK_E_SET_KEYS, "a set of one");
    redlock_set_destroy(set);
}

/* Two readers that both waited to be alone would do so for ever. */
static void refuse_upgrades(void)
{
    struct redlock_acquire_options request = rig_request(10000, 0);
    struct redlock_lock *lock;

    request.mode = REDLOCK_SHARED;
    lock = rig_hold_as(&rig, "shared", &request);
    errors_expect(redlock_convert(lock, REDLOCK_EXCLUSIVE, 0, outcome_record, NULL), REDLOCK_E_UPGRADE,
                  "make a shared lock exclusive");
    errors_expect(redlock_convert(lock, REDLOCK_UPGRADEABLE, REDLOCK_FOREVER, outcome_record, NULL), REDLOCK_E_UPGRADE,
                  "make a shared lock upgradeable");
    ck_assert_int_eq(redlock_lock_mode(lock), REDLOCK_SHARED);
    redlock_lock_destroy(lock);
}

/* The name of each slot must fit, so the key of a larger semaphore has to be shorter. */
static void refuse_permits(void)
{
    static const char key[REDLOCK_MAX_KEY_BYTES];
    struct redlock_lock *lock = NULL;

    errors_expect(redlock_permit_create(NULL, "k", 1, 1, &lock), REDLOCK_E_ARGUMENT, "a permit of no client");
    errors_expect(redlock_permit_create(rig.client, "k", 1, 1, NULL), REDLOCK_E_ARGUMENT, "no result");
    errors_expect(redlock_permit_create(rig.client, NULL, 1, 1, &lock), REDLOCK_E_ARGUMENT, "no key");
    errors_expect(redlock_permit_create(rig.client, "k", 1, 0, &lock), REDLOCK_E_PERMITS, "no permits");
    errors_expect(redlock_permit_create(rig.client, "k", 1, REDLOCK_MAX_PERMITS + 1, &lock), REDLOCK_E_PERMITS,
                  "too many permits");
    errors_expect(redlock_permit_create(rig.client, "", 0, 1, &lock), REDLOCK_E_KEY_EMPTY, "an empty key");
    errors_expect(redlock_permit_create(rig.client, "redlock:queue:x", 15, 1, &lock), REDLOCK_E_KEY_RESERVED,
                  "a queue");
    errors_expect(redlock_permit_create(rig.client, key, sizeof key - 2, 11, &lock), REDLOCK_E_KEY_TOO_LONG,
                  "no room for slot 10");
    ck_assert_ptr_null(lock);
    errors_expect(redlock_permit_create(rig.client, key, sizeof key - 2, 10, &lock), 0, "room for slot 9");
    redlock_lock_destroy(lock);
}

static void refuse_slots(void)
{
    struct redlock_lock *plain = rig_new_lock(rig.client, "no permit");
    struct redlock_acquire_options request = rig_request(10000, 0);
    struct redlock_lock *permit;

    ck_assert_int_eq(redlock_permit_create(rig.client, "permits", 7, 2, &permit), 0);
    errors_expect(redlock_release_token(permit, "x", NULL, NULL), REDLOCK_E_PERMITS, "which slot");
    errors_expect(redlock_convert(permit, REDLOCK_SHARED, 0, outcome_record, NULL), REDLOCK_E_MODE, "share a permit");
    request.mode = REDLOCK_SHARED;
    errors_expect(redlock_acquire(permit, &request, outcome_record, NULL), REDLOCK_E_MODE, "acquire a shared permit");
    errors_expect(redlock_release_permit(permit, 2, "x", NULL, NULL), REDLOCK_E_PERMITS, "a slot beyond the last one");
    errors_expect(redlock_release_permit(permit, UINT32_MAX, "x", NULL, NULL), REDLOCK_E_PERMITS, "no slot");
    errors_expect(redlock_release_permit(permit, 0, "", NULL, NULL), REDLOCK_E_TOKEN, "an empty token");
    errors_expect(redlock_release_permit(plain, 0, "x", NULL, NULL), REDLOCK_E_PERMITS, "a slot of a lock");
    errors_expect(redlock_release_permit(NULL, 0, "x", NULL, NULL), REDLOCK_E_ARGUMENT, "no permit");
    errors_expect(redlock_release_permit(permit, UINT32_MAX, NULL, NULL, NULL), REDLOCK_E_ARGUMENT, "no token");
    ck_assert_int_eq(redlock_lock_slot(NULL), -1);
    ck_assert_int_eq(redlock_lock_slot(plain), -1);
    ck_assert_int_eq(redlock_lock_slot(permit), -1);
    ck_assert_uint_eq(redlock_lock_limit(NULL), 0);
    ck_assert_uint_eq(redlock_lock_limit(plain), 0);
    ck_assert_uint_eq(redlock_lock_limit(permit), 2);
    redlock_lock_destroy(permit);
    redlock_lock_destroy(plain);
}

static void look_must_not_run(struct redlock_client *client, const struct redlock_look_result *result, void *user_data)
{
    ck_abort_msg("a refused call has called back");
}

static void refuse_looks(void)
{
    static const char key[REDLOCK_MAX_KEY_BYTES + 1];
    struct redlock_look_result *result = NULL;

    errors_expect(redlock_look(NULL, "k", 1, look_must_not_run, NULL), REDLOCK_E_ARGUMENT, "a look of nobody");
    errors_expect(redlock_look(rig.client, NULL, 1, look_must_not_run, NULL), REDLOCK_E_ARGUMENT, "at no key");
    errors_expect(redlock_look(rig.client, "k", 1, NULL, NULL), REDLOCK_E_ARGUMENT, "for nobody");
    errors_expect(redlock_look(rig.client, "", 0, look_must_not_run, NULL), REDLOCK_E_KEY_EMPTY, "at an empty key");
    errors_expect(redlock_look(rig.client, key, sizeof key, look_must_not_run, NULL), REDLOCK_E_KEY_TOO_LONG,
                  "at a long key");
    errors_expect(redlock_look(rig.client, "redlock:marker", 14, look_must_not_run, NULL), REDLOCK_E_KEY_RESERVED,
                  "at the marker");
    errors_expect(redlock_service_look(NULL, "k", 1, &result), REDLOCK_E_ARGUMENT, "a look of no service");
    errors_expect(redlock_service_look(NULL, "k", 1, NULL), REDLOCK_E_ARGUMENT, "a look without a result");
    ck_assert_ptr_null(result);
    redlock_look_result_free(NULL);
    ck_assert_str_eq(redlock_look_verdict_name((enum redlock_look_verdict)99), "?");
    ck_assert_str_eq(redlock_mode_name((enum redlock_mode)99), "?");
    ck_assert_str_eq(redlock_mode_name(REDLOCK_UPGRADEABLE), "upgradeable");
}

static void change_must_not_run(struct redlock_client *client, const struct redlock_change_report *report,
                                void *user_data)
{
    ck_abort_msg("a refused call has called back");
}

static void refuse_change(const struct redlock_change_options *options, int status, const char *what)
{
    struct redlock_error error = {0};

    errors_expect(redlock_change_members(rig.client, options, change_must_not_run, NULL, &error), status, what);
    ck_assert_int_eq(error.status, status);
    ck_assert_str_ne(error.text, "");
    errors_expect(redlock_change_members(rig.client, options, change_must_not_run, NULL, NULL), status, what);
}

static void refuse_changes(void)
{
    const char *urls[4] = {rig.urls[0], rig.urls[1], rig.urls[2], rig.urls[0]};
    struct redlock_change_options options;
    struct redlock_view view;
    struct redlock_lock *lock;

    redlock_change_options_init(&options);
    refuse_change(&options, rig.guarded ? REDLOCK_E_NO_MASTERS : REDLOCK_E_MEMBERS, "no masters");
    errors_expect(redlock_change_members(NULL, &options, change_must_not_run, NULL, NULL), REDLOCK_E_ARGUMENT,
                  "nobody's");
    errors_expect(redlock_change_members(rig.client, NULL, change_must_not_run, NULL, NULL), REDLOCK_E_ARGUMENT,
                  "to nothing");
    errors_expect(redlock_change_members(rig.client, &options, NULL, NULL, NULL), REDLOCK_E_ARGUMENT, "for nobody");
    errors_expect(redlock_client_view(NULL, &view, sizeof view), REDLOCK_E_ARGUMENT, "nobody's view");
    errors_expect(redlock_client_view(rig.client, NULL, 0), REDLOCK_E_ARGUMENT, "a view for nobody");
    ck_assert_str_eq(redlock_change_stage_name((enum redlock_change_stage)99), "?");
    ck_assert_str_eq(redlock_change_stage_name(REDLOCK_CHANGE_STANDING), "standing");
    options.size = 0;
    refuse_change(&options, REDLOCK_E_OPTIONS_SIZE, "options without init");
    if (!rig.guarded)
        return;
    redlock_change_options_init(&options);
    options.back = 1;
    refuse_change(&options, REDLOCK_E_MEMBERS, "back to no list");
    options.back = 0;
    options.masters = urls;
    options.n_masters = 4;
    refuse_change(&options, REDLOCK_E_DUPLICATE_MASTER, "a master twice");
    options.n_masters = REDLOCK_MAX_MASTERS + 1;
    refuse_change(&options, REDLOCK_E_TOO_MANY_MASTERS, "too many masters");
    options.n_masters = 3;
    options.quorum = 1;
    refuse_change(&options, REDLOCK_E_QUORUM, "a quorum of one");
    options.quorum = 0;
    urls[1] = "redis://a b";
    refuse_change(&options, REDLOCK_E_URL, "no URL");
    urls[1] = "rediss://10.0.0.1";
    refuse_change(&options, REDLOCK_E_MEMBERS, "TLS for one of them");
    urls[1] = "unix:///a%2cb.sock";
    refuse_change(&options, REDLOCK_E_MEMBERS, "a comma in a path");
    lock = rig_new_lock(rig.client, "k");
    refuse_change(&options, REDLOCK_E_BUSY, "with a lock");
    redlock_lock_destroy(lock);
    ck_assert_int_eq(redlock_client_view(rig.client, &view, sizeof view), 0);
    ck_assert_uint_eq(view.list.n, 3);
    ck_assert_uint_eq(view.turn, 0);
    ck_assert_uint_eq(view.before.n, 0);
}

static void latch_must_not_run(struct redlock_latch *latch, const struct redlock_latch_result *result, void *user_data)
{
    ck_abort_msg("a refused call has called back");
}

static int create_latch(const void *name, size_t size, uint32_t parties, const char *party)
{
    struct redlock_latch *latch = NULL;
    int status = redlock_latch_create(rig.client, name, size, parties, 1, party, NULL, &latch);

    ck_assert(status == 0 || !latch);
    redlock_latch_destroy(latch);
    return status;
}

static void refuse_latches(void)
{
    static const char key[REDLOCK_MAX_KEY_BYTES + 1];
    const size_t longest = REDLOCK_MAX_KEY_BYTES - strlen("redlock:latch:");
    char party[REDLOCK_MAX_PARTY_BYTES + 2];
    struct redlock_latch *latch = NULL;

    memset(party, 'x', sizeof party);
    party[REDLOCK_MAX_PARTY_BYTES + 1] = '\0';
    errors_expect(redlock_latch_create(NULL, "l", 1, 1, 1, "a", NULL, &latch), REDLOCK_E_ARGUMENT, "a latch of nobody");
    errors_expect(redlock_latch_create(rig.client, NULL, 1, 1, 1, "a", NULL, &latch), REDLOCK_E_ARGUMENT, "no name");
    errors_expect(redlock_latch_create(rig.client, "l", 1, 1, 1, "a", NULL, NULL), REDLOCK_E_ARGUMENT, "no result");
    ck_assert_ptr_null(latch);
    errors_expect(create_latch("", 0, 1, "a"), REDLOCK_E_KEY_EMPTY, "an empty name");
    errors_expect(create_latch(key, longest + 1, 1, "a"), REDLOCK_E_KEY_TOO_LONG, "a long name");
    errors_expect(create_latch(key, longest, 1, "a"), 0, "the longest name");
    errors_expect(create_latch("redlock:marker", 14, 1, "a"), REDLOCK_E_KEY_RESERVED, "the marker's name");
    errors_expect(create_latch("l", 1, 0, "a"), REDLOCK_E_PARTIES, "no parties");
    errors_expect(create_latch("l", 1, REDLOCK_MAX_PARTIES + 1, "a"), REDLOCK_E_PARTIES, "too many parties");
    errors_expect(create_latch("l", 1, REDLOCK_MAX_PARTIES, "a"), 0, "as many parties as can be");
    errors_expect(create_latch("l", 1, 1, ""), REDLOCK_E_PARTIES, "an empty party");
    errors_expect(create_latch("l", 1, 1, "a b"), REDLOCK_E_PARTIES, "a space in a party");
    errors_expect(create_latch("l", 1, 1, "\xc3\xa9"), REDLOCK_E_PARTIES, "a party that is not printable");
    errors_expect(create_latch("l", 1, 1, party), REDLOCK_E_PARTIES, "a long party");
    errors_expect(create_latch("l", 1, 1, party + 1), 0, "the longest party");
    errors_expect(create_latch("l", 1, 1, NULL), 0, "no party");
}

static void refuse_latch_options(void)
{
    struct redlock_latch_options options;
    struct redlock_latch *latch = NULL;
    const struct {
        uint32_t keep_ms;
        int status;
    } cases[] = {{0, REDLOCK_E_TTL}, {59999, REDLOCK_E_TTL}, {60000, 0}, {REDLOCK_MAX_KEEP_MS, 0},
                 {REDLOCK_MAX_KEEP_MS + 1, REDLOCK_E_TTL}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        redlock_latch_options_init(&options);
        options.keep_ms = cases[i].keep_ms;
        errors_expect(redlock_latch_create(rig.client, "l", 1, 1, 1, "a", &options, &latch), cases[i].status,
                      "keep_ms");
    }
    options = (struct redlock_latch_options){.keep_ms = 60000};
    errors_expect(redlock_latch_create(rig.client, "l", 1, 1, 1, "a", &options, &latch), REDLOCK_E_OPTIONS_SIZE,
                  "options without a size");
}

static void refuse_arrivals(void)
{
    struct redlock_latch *waiter;

    ck_assert_int_eq(redlock_latch_create(rig.client, "l", 1, 1, 1, NULL, NULL, &waiter), 0);
    errors_expect(redlock_latch_arrive(waiter, 0, latch_must_not_run, NULL), REDLOCK_E_PARTIES, "nobody arrives");
    errors_expect(redlock_latch_arrive(NULL, 0, latch_must_not_run, NULL), REDLOCK_E_ARGUMENT, "nowhere");
    errors_expect(redlock_latch_await(NULL, 0, latch_must_not_run, NULL), REDLOCK_E_ARGUMENT, "nothing is awaited");
    errors_expect(redlock_latch_await(waiter, 0, NULL, NULL), REDLOCK_E_ARGUMENT, "by nobody");
    errors_expect(redlock_latch_await(waiter, -2, latch_must_not_run, NULL), REDLOCK_E_TIMEOUT, "before now");
    errors_expect(redlock_latch_await(waiter, REDLOCK_MAX_TIMEOUT_MS + 1, latch_must_not_run, NULL), REDLOCK_E_TIMEOUT,
                  "for too long");
    errors_expect(redlock_latch_cancel(NULL), REDLOCK_E_ARGUMENT, "no latch");
    errors_expect(redlock_latch_cancel(waiter), REDLOCK_E_NOTHING_TO_CANCEL, "nothing pending");
    redlock_latch_destroy(waiter);
    redlock_latch_destroy(NULL);
}

static void election_must_not_run(struct redlock_election *election, const struct redlock_election_event *event,
                                  void *user_data)
{
    ck_abort_msg("a refused call has called back");
}

static void leader_must_not_run(struct redlock_election *election, const struct redlock_leader *leader,
                                void *user_data)
{
    ck_abort_msg("a refused call has called back");
}

static void refuse_elections_of_nothing(void)
{
    struct redlock_election *election;

    errors_expect(redlock_election_create(NULL, "k", 1, &election), REDLOCK_E_ARGUMENT, "an election of nobody");
    errors_expect(redlock_election_create(rig.client, "k", 1, NULL), REDLOCK_E_ARGUMENT, "no result");
    errors_expect(redlock_election_create(rig.client, "", 0, &election), REDLOCK_E_KEY_EMPTY, "an empty key");
    errors_expect(redlock_election_campaign(NULL, NULL, election_must_not_run, NULL), REDLOCK_E_ARGUMENT, "nothing");
    errors_expect(redlock_election_resign(NULL), REDLOCK_E_ARGUMENT, "resign from nothing");
    errors_expect(redlock_election_observe(NULL, 100, leader_must_not_run, NULL), REDLOCK_E_ARGUMENT, "observe");
    ck_assert_int_eq(redlock_election_remaining_ns(NULL), 0);
    ck_assert_uint_eq(redlock_election_term(NULL), 0);
    ck_assert_int_eq(redlock_election_state(NULL), REDLOCK_ELECTION_IDLE);
    ck_assert_str_eq(redlock_election_state_name(REDLOCK_ELECTION_LEADING), "leading");
    ck_assert_str_eq(redlock_election_state_name((enum redlock_election_state)99), "?");
    redlock_election_destroy(NULL);
}

TEST(three, each_rule_for_elections_has_its_code)
{
    struct redlock_election_options options;
    struct redlock_election *election;

    refuse_elections_of_nothing();
    ck_assert_int_eq(redlock_election_create(rig.client, "k", 1, &election), 0);
    redlock_election_options_init(&options);
    errors_expect(redlock_election_campaign(election, &options, NULL, NULL), REDLOCK_E_ARGUMENT, "no callback");
    options.size = 0;
    errors_expect(redlock_election_campaign(election, &options, election_must_not_run, NULL), REDLOCK_E_OPTIONS_SIZE,
                  "options that were not initialised");
    redlock_election_options_init(&options);
    options.ttl_ms = REDLOCK_MAX_TTL_MS + 1;
    errors_expect(redlock_election_campaign(election, &options, election_must_not_run, NULL), REDLOCK_E_TTL,
                  "a long ttl");
    redlock_election_options_init(&options);
    options.once = 2;
    errors_expect(redlock_election_campaign(election, &options, election_must_not_run, NULL), REDLOCK_E_RENEWAL,
                  "once is 0 or 1");
    options.once = 0;
    options.label = long_label;
    errors_expect(redlock_election_campaign(election, &options, election_must_not_run, NULL), REDLOCK_E_CLIENT_NAME,
                  "a label of 65 characters");
    options.label = "a b";
    errors_expect(redlock_election_campaign(election, &options, election_must_not_run, NULL), REDLOCK_E_CLIENT_NAME,
                  "a label with a space");
    options.label = NULL;
    options.renew_ms = options.ttl_ms;
    errors_expect(redlock_election_campaign(election, &options, election_must_not_run, NULL), REDLOCK_E_RENEWAL,
                  "a late renewal");
    ck_assert_int_eq(redlock_election_state(election), REDLOCK_ELECTION_IDLE);
    errors_expect(redlock_election_resign(election), REDLOCK_E_NOT_HELD, "resign from no candidacy");
    errors_expect(redlock_election_observe(election, 9, leader_must_not_run, NULL), REDLOCK_E_TIMEOUT, "too often");
    errors_expect(redlock_election_observe(election, 3600001, leader_must_not_run, NULL), REDLOCK_E_TIMEOUT, "seldom");
    redlock_election_destroy(election);
}

static void refuse_without_object(void)
{
    struct redlock_stats stats;
    struct redlock_node_stats node;
    struct redlock_node_info info;
    char text[8];

    errors_expect(redlock_extend(NULL, 0, outcome_record, NULL), REDLOCK_E_ARGUMENT, "extend nothing");
    errors_expect(redlock_reenter(NULL, 0), REDLOCK_E_ARGUMENT, "re-enter nothing");
    errors_expect(redlock_set_create(NULL, NULL), REDLOCK_E_ARGUMENT, "a set of nothing");
    errors_expect(redlock_set_add(NULL, "k", 1), REDLOCK_E_ARGUMENT, "add to nothing");
    errors_expect(redlock_set_acquire(NULL, NULL, NULL, NULL), REDLOCK_E_ARGUMENT, "acquire no set");
    errors_expect(redlock_set_extend(NULL, 0, NULL, NULL), REDLOCK_E_ARGUMENT, "extend no set");
    errors_expect(redlock_set_release(NULL, NULL, NULL), REDLOCK_E_ARGUMENT, "release no set");
    errors_expect(redlock_set_cancel(NULL), REDLOCK_E_ARGUMENT, "cancel no set");
    errors_expect(redlock_set_watch(NULL, NULL, NULL), REDLOCK_E_ARGUMENT, "watch no set");
    errors_expect(redlock_set_keep_rest(NULL, 1), REDLOCK_E_ARGUMENT, "keep the rest of no set");
    errors_expect(redlock_set_detach(NULL), REDLOCK_E_ARGUMENT, "detach no set");
    errors_expect(redlock_set_export(NULL, text, sizeof text), REDLOCK_E_ARGUMENT, "export no set");
    errors_expect(redlock_set_adopt(NULL, NULL, ""), REDLOCK_E_ARGUMENT, "adopt into no set");
    ck_assert_int_eq(redlock_set_remaining_ns(NULL), 0);
    ck_assert_int_eq(redlock_set_state(NULL), REDLOCK_STATE_IDLE);
    ck_assert_uint_eq(redlock_set_size(NULL), 0);
    ck_assert_ptr_null(redlock_set_lock(NULL, 0));
    redlock_set_destroy(NULL);
    errors_expect(redlock_release(NULL, NULL, NULL), REDLOCK_E_ARGUMENT, "release nothing");
    errors_expect(redlock_cancel(NULL), REDLOCK_E_ARGUMENT, "cancel nothing");
    errors_expect(redlock_lock_watch(NULL, NULL, NULL), REDLOCK_E_ARGUMENT, "watch nothing");
    errors_expect(redlock_lock_adopt(NULL, NULL, "x"), REDLOCK_E_ARGUMENT, "adopt with nothing");
    errors_expect(redlock_client_node_info(rig.client, 3, &info, sizeof info), REDLOCK_E_ARGUMENT, "no such master");
    errors_expect(redlock_client_shutdown(NULL, 1, NULL, NULL), REDLOCK_E_ARGUMENT, "shut nothing down");
    errors_expect(redlock_client_stats(NULL, &stats, sizeof stats), REDLOCK_E_ARGUMENT, "statistics of nothing");
    errors_expect(redlock_client_node_stats(rig.client, 3, &node, sizeof node), REDLOCK_E_ARGUMENT, "no such master");
}

TEST(three, each_rule_for_latches_has_its_code)
{
    refuse_latches();
    refuse_latch_options();
    refuse_arrivals();
}

TEST(three, each_rule_for_looks_has_its_code)
{
    refuse_looks();
    refuse_changes();
}

TEST(three, each_rule_for_permits_has_its_code)
{
    refuse_permits();
    refuse_upgrades();
    refuse_slots();
}

TEST(three, each_state_refuses_with_its_code)
{
    refuse_by_state();
    refuse_by_keys_of_a_set();
    refuse_without_object();
}

static void refuse_above_max_claims(void)
{
    struct redlock_options before = rig.options;
    struct redlock_client *client, *first = rig.client;
    struct outcome outcome;

    rig.options.max_claims = 1;
    client = rig_new_client(&rig);
    rig.client = client;
    rig_hold(&rig, "only", 30000);
    outcome = rig_acquire(&rig, rig_new_lock(client, "one too many"), NULL);
    errors_expect(outcome.status, REDLOCK_E_LIMIT, "a second value");
    ck_assert_uint_eq(masters_count_key(rig.masters, "one too many"), 0);
    redlock_client_destroy(client);
    rig.client = first;
    rig.options = before;
}

/* The child cannot report through Check; its exit status is the code. */
static int in_child(int (*call)(void))
{
    int status = 0;
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        _exit(-call());
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    return -WEXITSTATUS(status);
}

static int use_the_parents_client(void)
{
    struct redlock_lock *lock;

    return redlock_lock_create(rig.client, "x", 1, &lock);
}

static void *no_memory(size_t size)
{
    return NULL;
}

/* What the event library refuses is the system's refusal. */
static int create_without_events(void)
{
    struct redlock_client *client;

    event_set_mem_functions(no_memory, realloc, free);
    return redlock_client_create(rig.base, rig.urls, 3, NULL, &client, NULL);
}

static void refuse_by_system(void)
{
    errors_expect(in_child(use_the_parents_client), REDLOCK_E_FORKED, "a call in the child");
    errors_expect(in_child(create_without_events), REDLOCK_E_SYSTEM, "a client without events");
}

static void ignore(struct redlock_client *client, int status, void *user_data)
{
}

static void refuse_while_closing(void)
{
    struct redlock_lock *lock;

    errors_expect(redlock_client_shutdown(rig.client, 1000, NULL, NULL), REDLOCK_E_ARGUMENT, "no callback");
    errors_expect(redlock_client_shutdown(rig.client, 0, ignore, NULL), REDLOCK_E_TIMEOUT, "no time to shut down");
    errors_expect(redlock_client_shutdown(rig.client, REDLOCK_FOREVER, ignore, NULL), REDLOCK_E_TIMEOUT, "forever");
    errors_expect(redlock_client_shutdown(rig.client, 1000, ignore, NULL), 0, "shutdown");
    errors_expect(redlock_client_shutdown(rig.client, 1000, ignore, NULL), REDLOCK_E_CLOSING, "shut down twice");
    errors_expect(redlock_lock_create(rig.client, "x", 1, &lock), REDLOCK_E_CLOSING, "a lock of a closing client");
}

/* The lack of memory is left to the tests of the allocator, and what only the blocking interface says to its own. */
TEST(three, every_caller_error_has_been_provoked)
{
    errors_of_options(&rig);
    errors_of_masters(&rig);
    errors_of_credentials(&rig);
    refuse_changes();
    refuse_keys();
    refuse_requests();
    refuse_by_state();
    refuse_by_keys_of_a_set();
    refuse_permits();
    refuse_slots();
    refuse_latches();
    refuse_upgrades();
    refuse_without_object();
    refuse_above_max_claims();
    refuse_by_system();
    refuse_while_closing();
#define MUST_BE_SEEN(name, number, retryable, text)                                                                    \
    if ((number) <= FIRST_ERROR && (number) != REDLOCK_E_NOMEM && (number) != REDLOCK_E_OWN_THREAD &&                  \
        (number) != REDLOCK_E_OWNER && (number) != REDLOCK_E_SET && (number) != REDLOCK_E_UNFENCED)                    \
        ck_assert_msg(seen[FIRST_ERROR - (number) > 0 ? FIRST_ERROR - (number) : 0], "%s was never seen", #name);
    REDLOCK_STATUS_MAP(MUST_BE_SEEN)
}

TEST(three, every_status_has_a_name_and_a_sentence)
{
#define HAS_TEXT(name, number, retryable, text)                                                                        \
    ck_assert_str_eq(redlock_status_name(number), "REDLOCK_" #name);                                                   \
    ck_assert_str_eq(redlock_strerror(number), text);                                                                  \
    ck_assert(redlock_status_retryable(number) == (retryable));
    REDLOCK_STATUS_MAP(HAS_TEXT)
    ck_assert_str_eq(redlock_status_name(-1000), "REDLOCK_UNKNOWN");
    ck_assert_ptr_nonnull(redlock_strerror(INT_MIN));
    ck_assert_ptr_nonnull(redlock_strerror(INT_MAX));
}

/* Two capitals begin a constant's name, or NULL; "URL" is a word. */
static void expect_plain_words(const char *text)
{
    ck_assert_msg(text[strlen(text) - 1] != '.', "a full stop: %s", text);
    for (const char *at = text; *at; at++) {
        if (!strncmp(at, "URL", 3))
            at += 2;
        else
            ck_assert_msg(!isupper((unsigned char)at[0]) || !isupper((unsigned char)at[1]), "capitals: %s", text);
    }
}

TEST(three, sentences_have_no_identifiers_in_capitals_and_no_full_stop)
{
    for (int status = 0; status >= LAST_ERROR; status--)
        expect_plain_words(redlock_strerror(status));
}

SUITE_WITH_SERVER("errors")
