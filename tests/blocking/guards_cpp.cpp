#include "guards_cpp.h"

#include <redlock/redlock.hpp>

#include <cmath>
#include <limits>
#include <thread>

static void unlock_in_callback(redlock_client *, void *user_data)
{
    delete static_cast<redlock::guard *>(user_data);
}

static bool assigned(redlock::service &service)
{
    redlock::mutex first(service, "first");
    redlock::guard guard(first);
    redlock::mutex second(service, "second");
    redlock::guard later(second);
    redlock::guard &self = later;

    later = std::move(self);
    if (later.remaining().count() <= 0)
        return false;
    later = std::move(guard);
    return second.remaining().count() == 0 && later.remaining().count() > 0 && guard.remaining().count() == 0;
}

static bool mutex_assigned(redlock::service &service)
{
    redlock::mutex kept(service, "first"), gone(service, "second"), other(service, "first");

    kept.lock();
    gone.lock();
    kept = std::move(gone);
    return other.try_lock_for(std::chrono::minutes(1)) && kept.remaining().count() > 0;
}

static bool ended_in_callback(redlock::service &service)
{
    redlock::mutex mutex(service, "first"), other(service, "first"), third(service, "first");
    redlock::guard *guard = new redlock::guard(mutex);

    redlock_service_run(service.get(), unlock_in_callback, guard);
    return mutex.remaining().count() == 0 && other.try_lock_for(std::chrono::minutes(1)) &&
           !third.try_lock_for(std::chrono::seconds(0));
}

static bool odd_times(redlock::service &service)
{
    typedef std::chrono::duration<double> seconds;
    redlock::mutex mutex(service, "first"), other(service, "first");
    redlock::guard guard(mutex);

    return !other.try_lock_for(seconds(std::numeric_limits<double>::quiet_NaN())) &&
           !other.try_lock_until(std::chrono::steady_clock::time_point::min()) &&
           !other.try_lock_until(std::chrono::time_point<std::chrono::system_clock, std::chrono::hours>::min());
}

template <class Call> static int status_of(Call call)
{
    try {
        call();
        return REDLOCK_OK;
    } catch (const redlock::error &error) {
        return error.status();
    }
}

static bool refused(redlock::service &service)
{
    const std::string text("a\0b", 3);
    redlock::mutex mutex(service, "first");
    redlock::guard guard(mutex);
    redlock_options options;

    redlock_options_init(&options);
    options.max_ttl_ms = REDLOCK_MAX_TTL_MS;
    redlock::service generous({"redis://127.0.0.1:1"}, &options);
    redlock::mutex other(generous, "first");

    return status_of([&] { mutex.extend(std::chrono::milliseconds(-5)); }) == REDLOCK_E_TTL &&
           status_of([&] { mutex.extend(std::chrono::duration<float>(NAN)); }) == REDLOCK_E_TTL &&
           status_of([&] { other.extend(std::chrono::hours(25)); }) == REDLOCK_E_TTL &&
           status_of([&] { other.extend(std::chrono::hours(24)); }) == REDLOCK_E_NOT_HELD &&
           status_of([&] { service.metrics({{text, "x"}}); }) == REDLOCK_E_ARGUMENT &&
           status_of([&] { service.metrics({{"x", text}}); }) == REDLOCK_E_ARGUMENT &&
           status_of([&] { redlock::latch(service, "latch", 1, 1, text); }) == REDLOCK_E_PARTIES &&
           status_of([&] { redlock::service({text}); }) == REDLOCK_E_URL && guard.remaining().count() > 0;
}

/* --- Recursive mutexes ------------------------------------------------------------------------------------------ */

static bool entered_again(redlock::service &service)
{
    redlock::recursive_mutex mutex(service, "first");
    redlock::mutex other(service, "first");
    {
        redlock::recursive_guard outer(mutex);
        {
            redlock::recursive_guard inner(mutex, std::chrono::minutes(1));

            if (mutex.depth() != 2 || inner.remaining().count() <= 0)
                return false;
        }
        if (mutex.depth() != 1 || other.try_lock())
            return false;
    }
    return mutex.depth() == 0 && other.try_lock_for(std::chrono::minutes(1));
}

static bool shared_again(redlock::service &service)
{
    redlock::recursive_mutex mutex(service, "first", REDLOCK_OWNERS_NAMED);
    const int reader = 0, other = 0;

    mutex.options.mode = REDLOCK_SHARED;
    redlock::recursive_guard outer(mutex, &reader), inner(mutex, &reader);

    mutex.options.mode = REDLOCK_EXCLUSIVE;
    return status_of([&] { redlock::recursive_guard writer(mutex, &reader); }) == REDLOCK_E_UPGRADE &&
           status_of([&] { mutex.try_lock(&reader); }) == REDLOCK_E_UPGRADE && !mutex.try_lock(&other) &&
           mutex.unlock(&other) == REDLOCK_E_OWNER && mutex.depth() == 2;
}

/* --- Elections -------------------------------------------------------------------------------------------------- */

static bool elected_in_turn(redlock::service &service)
{
    redlock::leader_election first(service, "chair"), second(service, "chair");
    const std::uint64_t term = first.campaign();
    std::uint64_t next_term = 0;

    std::thread candidate([&] { next_term = second.campaign(); });
    const bool alone = first.leads() && first.term() == term && !second.leads() && second.term() == 0;
    const int resigned = first.resign();
    candidate.join();
    return term > 0 && alone && resigned == REDLOCK_OK && !first.leads() && first.term() == 0 && next_term > term &&
           second.leads() && second.term() == next_term && second.remaining() > std::chrono::seconds(1);
}

static bool not_elected_in_time(redlock::service &service)
{
    redlock::leader_election leader(service, "chair"), candidate(service, "chair");

    return leader.campaign_for(std::chrono::minutes(1)) && !candidate.campaign_for(std::chrono::milliseconds(20)) &&
           !candidate.lock().why().empty() && !candidate.leads() && candidate.resign() == REDLOCK_E_NOT_HELD &&
           leader.leads();
}

static bool withdrawn(redlock::service &service)
{
    redlock::leader_election leader(service, "chair"), candidate(service, "chair");
    int status = REDLOCK_OK;

    leader.campaign();
    std::thread waiter([&] { status = status_of([&] { candidate.campaign(); }); });
    while (!candidate.withdraw())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    waiter.join();
    return status == REDLOCK_CANCELED && !candidate.withdraw() && leader.leads();
}

/* The next leader is elected when the term has ended, and the earlier one may be elected anew. */
static bool term_ended(redlock::service &service)
{
    redlock::leader_election leader(service, "chair"), next(service, "chair");

    leader.lock().options.ttl_ms = 300;
    leader.lock().options.renew_ms = REDLOCK_NO_RENEWAL;
    const std::uint64_t term = leader.campaign(), next_term = next.campaign();

    if (leader.leads() || leader.term() || !next.leads() || next_term <= term || leader.resign() != REDLOCK_LOST)
        return false;
    next.resign();
    return leader.campaign() > next_term;
}

/* Whether each of many calls was told its own outcome: the holder is another, or the other thread is asking. */
static bool tries_in_vain(redlock::mutex &mutex)
{
    for (int i = 0; i < 500; i++) {
        try {
            if (mutex.try_lock() || mutex.why().empty())
                return false;
        } catch (const redlock::error &error) {
            if (error.status() != REDLOCK_E_BUSY || error.what() != std::string(redlock_strerror(REDLOCK_E_BUSY)))
                return false;
        }
    }
    return true;
}

static bool tried_twice_at_once(redlock::service &service)
{
    redlock::mutex held(service, "first"), wanted(service, "first");
    redlock::guard guard(held);
    bool other_told = false;
    std::thread other([&] { other_told = tries_in_vain(wanted); });
    const bool told = tries_in_vain(wanted);

    other.join();
    return told && other_told;
}

bool cpp_holds(enum cpp_claim claim, const char *const *masters, size_t n_masters, const redlock_options *options)
{
    typedef bool (*check)(redlock::service &);
    static const check checks[] = {
        assigned,     mutex_assigned,  ended_in_callback,   odd_times, refused,    entered_again,
        shared_again, elected_in_turn, not_elected_in_time, withdrawn, term_ended, tried_twice_at_once,
    };
    redlock::service service(std::vector<std::string>(masters, masters + n_masters), options);

    return checks[claim](service);
}
