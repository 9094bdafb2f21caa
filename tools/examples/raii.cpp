// C++11: a guard that gives the lock back when its scope ends, whatever ends it.
//
//     raii URL...
#include <iostream>
#include <mutex>
#include <redlock/redlock.hpp>

static void work(redlock::mutex &mutex)
{
    redlock::guard guard(mutex, std::chrono::seconds(10));
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(guard.remaining());

    std::cout << "locked for " << left.count() << " ms, fencing token " << guard.fence() << "\n";
    throw std::runtime_error("something else went wrong");
}

int main(int argc, char **argv)
try {
    redlock::service service(std::vector<std::string>(argv + 1, argv + argc));
    redlock::mutex mutex(service, "orders");

    mutex.options.fenced = 1;
    try {
        work(mutex);
    } catch (const redlock::error &) {
        throw;
    } catch (const std::exception &why) {
        std::cout << why.what() << ", and the lock is free: " << std::boolalpha << mutex.try_lock() << "\n";
    }
    std::cout << "unlock: " << redlock_strerror(mutex.unlock()) << "\n";

    // The standard's own wrappers fit, too.
    std::unique_lock<redlock::mutex> again(mutex, std::chrono::milliseconds(500));
    std::cout << "again: " << again.owns_lock() << "\n";
    return again.owns_lock() ? 0 : 1;
} catch (const redlock::error &why) {
    std::cerr << "not locked: " << why.what() << "\n";
    return 1;
}
