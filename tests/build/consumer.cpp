// A stranger's program in C++11: takes a lock on the given masters, and gives it back.
#include <iostream>
#include <redlock/redlock.hpp>

// consumer VERSION URL...
int main(int argc, char **argv)
try {
    redlock_options options;

    redlock_options_init(&options);
    options.join = REDLOCK_JOIN_DECLARE; // fresh masters, started for this program
    if (argc < 3 || redlock_version() != std::string(argv[1]) || redlock_version() != std::string(REDLOCK_VERSION))
        throw std::runtime_error(std::string("version ") + redlock_version());

    redlock::service service(std::vector<std::string>(argv + 2, argv + argc), &options);
    redlock::mutex mutex(service, "consumer");
    redlock::mutex rival(service, "consumer");
    redlock::guard guard(mutex, std::chrono::seconds(10));

    if (guard.remaining() <= guard.remaining().zero() || rival.try_lock())
        throw std::runtime_error("not locked");
    return guard.unlock() == REDLOCK_OK && rival.try_lock() ? 0 : 1;
} catch (const std::exception &why) {
    std::cerr << why.what() << "\n";
    return 1;
}
