// Compiled only: every member of redlock.hpp is used, so that every template is looked at.
#include <mutex>
#include <redlock/redlock.hpp>
#if __cplusplus >= 201402L
#include <shared_mutex>
#endif
#include <type_traits>

static_assert(std::is_nothrow_move_constructible<redlock::service>::value, "a service can be moved");
static_assert(std::is_nothrow_move_constructible<redlock::mutex>::value, "a mutex can be moved");
static_assert(std::is_nothrow_move_assignable<redlock::guard>::value, "a guard can be moved");
static_assert(!std::is_copy_constructible<redlock::service>::value, "a service cannot be copied");
static_assert(!std::is_copy_constructible<redlock::mutex>::value, "a mutex cannot be copied");
static_assert(!std::is_copy_assignable<redlock::guard>::value, "a guard cannot be copied");
static_assert(std::is_nothrow_move_constructible<redlock::recursive_guard>::value, "it can be moved");
static_assert(std::is_nothrow_move_constructible<redlock::shared_mutex>::value, "a read-write mutex can be moved");
static_assert(std::is_nothrow_move_constructible<redlock::upgrade_guard>::value, "its guards can be moved");
static_assert(std::is_nothrow_move_assignable<redlock::latch>::value, "a latch can be moved");
static_assert(!std::is_copy_constructible<redlock::latch>::value, "a latch cannot be copied");
static_assert(!std::is_copy_constructible<redlock::shared_guard>::value, "its guards cannot be copied");
static_assert(!std::is_move_constructible<redlock::recursive_mutex>::value, "threads share it where it is");

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

bool use_election(redlock::service &service)
{
    redlock::leader_election election(service, "scheduler");
    const std::uint64_t term = election.campaign_for(std::chrono::seconds(1)) ? election.term() : election.campaign();

    election.lock().options.ttl_ms = 5000;
    return election.leads() && election.remaining().count() > 0 && term != 0 && !election.withdraw() &&
           election.resign() == REDLOCK_OK;
}

bool use_latch(redlock::service &service)
{
    redlock_latch_options options;

    redlock_latch_options_init(&options);
    redlock::latch latch(service, "ready", 1, 1, "a", &options), waiter(service, "ready", 1, 1);
    redlock::latch moved(std::move(waiter));
    bool open = latch.arrive_for(std::chrono::seconds(1)) && moved.wait_for(std::chrono::seconds(1));

    latch.arrive();
    latch.arrive_and_wait();
    moved.wait();
    open = open && moved.wait_until(std::chrono::steady_clock::now() + std::chrono::seconds(1));
    return open && moved.try_wait() && !moved.cancel() && moved.get() != nullptr;
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

bool use_recursive_mutex(redlock::service &service)
{
    redlock::recursive_mutex threads(service, "threads"), tasks(service, "tasks", REDLOCK_OWNERS_NAMED);
    const int task = 0;

    threads.options.ttl_ms = 5000;
    redlock::recursive_guard outer(threads), inner(threads, std::chrono::seconds(1));
    redlock::recursive_guard moved(std::move(inner));
    redlock::recursive_guard named(tasks, &task), again(tasks, std::chrono::seconds(1), &task);
    std::lock_guard<redlock::recursive_mutex> standard(threads);
    bool won = tasks.try_lock(&task) && tasks.try_lock_for(std::chrono::milliseconds(5), &task);
    won = won && tasks.try_lock_until(std::chrono::steady_clock::now() + std::chrono::seconds(1), &task);
    tasks.lock(&task);
    won = won && tasks.unlock(&task) == REDLOCK_OK && tasks.depth() > 1 && tasks.remaining().count() > 0;
    won = won && tasks.fence() == 0 && tasks.get() && moved.unlock() == REDLOCK_OK;
    return won && outer.remaining().count() > 0 && outer.fence() == 0;
}

bool use_set(redlock::service &service)
{
    redlock::mutex_set set(service, {"b", "a"});
    redlock::mutex_set moved(std::move(set));

    redlock::mutex_set mixed(service);
    mixed.add("a", REDLOCK_SHARED).add("b").add_permit("s", 2).add_permits("t", 2, 3).keep_rest().keep_rest(false);
    redlock::guard both(mixed);

    moved.options.fenced = 1;
    redlock::guard guard(moved, std::chrono::seconds(1));
    return mixed.slot("s") >= 0 && moved.keys().size() == 2 && moved.fence("a") > 0 &&
           guard.unlock() == REDLOCK_OK && !moved.try_lock();
}

static bool use_semaphore(redlock::service &service)
{
    redlock::semaphore permit(service, "permits", 3);

    permit.acquire();
    permit.release();
    if (!permit.try_acquire_for(std::chrono::seconds(1)) || permit.slot() >= 3)
        return false;
    permit.release();
    return permit.try_acquire_until(std::chrono::system_clock::now()) || permit.try_acquire();
}

static bool use_shared_mutex(redlock::service &service)
{
    const auto soon = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    const std::chrono::seconds second(1);
    redlock::shared_mutex mutex(service, "rows");

    mutex.lock_shared();
    bool won = mutex.unlock_shared() == REDLOCK_OK && mutex.try_lock_shared() && mutex.try_lock_shared_for(second) &&
               mutex.try_lock_shared_until(soon);
    mutex.lock_upgrade();
    won = won && mutex.unlock_upgrade() == REDLOCK_OK && mutex.try_lock_upgrade();
    won = won && mutex.try_lock_upgrade_for(second) && mutex.try_lock_upgrade_until(soon);
    mutex.unlock_upgrade_and_lock();
    won = won && mutex.try_unlock_upgrade_and_lock() && mutex.try_unlock_upgrade_and_lock_for(second) &&
          mutex.try_unlock_upgrade_and_lock_until(soon);
    mutex.unlock_and_lock_upgrade();
    mutex.unlock_and_lock_shared();
    mutex.unlock_upgrade_and_lock_shared();
    redlock::shared_guard reader(mutex), timed_reader(mutex, second);
    redlock::upgrade_guard planner(mutex), timed_planner(mutex, second);
    redlock::guard writer(mutex), any(std::move(reader));
    std::unique_lock<redlock::shared_mutex> standard(mutex, second);
#if __cplusplus >= 201402L
    std::shared_lock<redlock::shared_mutex> shared(mutex, second);
    won = won && shared.owns_lock();
#endif
    return won && mutex.mode() == REDLOCK_SHARED && timed_reader.remaining() > second && planner.fence() == 0;
}

int main()
try {
    redlock::service service({"redis://127.0.0.1"});
    redlock::service moved(std::move(service));
    redlock::mutex mutex(moved, std::string("key"));

    service = std::move(moved);
    return use_mutex(mutex) && use_guards(mutex) && use_recursive_mutex(service) && use_set(service) &&
           use_election(service) && use_latch(service) && use_semaphore(service) && use_shared_mutex(service) &&
           service.stats().acquires && service.get() &&
           !service.metrics({{"job", "a"}}).empty() && service.shutdown(std::chrono::seconds(1)) ? 0 : 1;
} catch (const redlock::error &why) {
    return why.retryable() ? why.status() : 1;
}
