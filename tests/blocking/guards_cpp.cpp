#include "guards_cpp.h"

#include <redlock/redlock.hpp>

#include <limits>

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

    return status_of([&] { mutex.extend(std::chrono::milliseconds(-5)); }) == REDLOCK_E_TTL &&
           status_of([&] { redlock::latch(service, "latch", 1, 1, text); }) == REDLOCK_E_PARTIES &&
           status_of([&] { redlock::service({text}); }) == REDLOCK_E_URL && guard.remaining().count() > 0;
}

bool cpp_holds(enum cpp_claim claim, const char *const *masters, size_t n_masters, const redlock_options *options)
{
    typedef bool (*check)(redlock::service &);
    static const check checks[] = {assigned, mutex_assigned, ended_in_callback, odd_times, refused};
    redlock::service service(std::vector<std::string>(masters, masters + n_masters), options);

    return checks[claim](service);
}
