// Compiled only: every member of redlock.hpp is used, so that every template is looked at.
#include <mutex>
#include <redlock/redlock.hpp>
#include <type_traits>

static_assert(std::is_nothrow_move_constructible<redlock::service>::value, "a service can be moved");
static_assert(std::is_nothrow_move_constructible<redlock::mutex>::value, "a mutex can be moved");
static_assert(std::is_nothrow_move_assignable<redlock::guard>::value, "a guard can be moved");
static_assert(!std::is_copy_constructible<redlock::service>::value, "a service cannot be copied");
static_assert(!std::is_copy_constructible<redlock::mutex>::value, "a mutex cannot be copied");
static_assert(!std::is_copy_assignable<redlock::guard>::value, "a guard cannot be copied");

bool use_mutex(redlock::mutex &mutex)
{
    mutex.options.ttl_ms = 5000;
    mutex.lock();
    mutex.extend(std::chrono::seconds(5));
    bool won = mutex.try_lock() || mutex.try_lock_for(std::chrono::milliseconds(5));
    won = won || mutex.try_lock_until(std::chrono::steady_clock::now() + std::chrono::seconds(1));
    won = won && mutex.remaining().count() > 0 && mutex.fence() == 0 && !mutex.cancel();
    return won && mutex.unlock() == REDLOCK_OK && mutex.why().empty() && mutex.get() != nullptr;
}

bool use_guards(redlock::mutex &mutex)
{
    redlock::guard first(mutex);
    redlock::guard second(std::move(first));

    first = std::move(second);
    {
        std::lock_guard<redlock::mutex> standard(mutex);
        std::unique_lock<redlock::mutex> deferred(mutex, std::defer_lock);
    }
    redlock::guard timed(mutex, std::chrono::minutes(1));
    return timed.remaining().count() > 0 && timed.fence() == 0 && timed.unlock() == REDLOCK_OK;
}

int main()
try {
    redlock::service service({"redis://127.0.0.1"});
    redlock::service moved(std::move(service));
    redlock::mutex mutex(moved, std::string("key"));

    service = std::move(moved);
    return use_mutex(mutex) && use_guards(mutex) && service.stats().acquires && service.get() &&
           !service.metrics({{"job", "a"}}).empty() && service.shutdown(std::chrono::seconds(1)) ? 0 : 1;
} catch (const redlock::error &why) {
    return why.retryable() ? why.status() : 1;
}
