// A stranger's program in C++11: takes locks on the given masters, and gives them back.
#include <iostream>
#include <redlock/redlock.hpp>

static void expect(bool holds, const char *what)
{
    if (!holds)
        throw std::runtime_error(what);
}

// Two readers, one of whom becomes the writer when the other has gone.
static void share(redlock::service &service)
{
    redlock::shared_mutex first(service, "shared"), second(service, "shared"), writer(service, "shared");
    redlock::upgrade_guard upgradeable(first, std::chrono::seconds(10));
    {
        redlock::shared_guard reader(second, std::chrono::seconds(10));

        expect(first.mode() == REDLOCK_UPGRADEABLE && second.mode() == REDLOCK_SHARED, "the modes are wrong");
        expect(!writer.try_lock() && !first.try_unlock_upgrade_and_lock(), "a writer beside a reader");
        expect(first.mode() == REDLOCK_UPGRADEABLE && upgradeable.remaining().count() > 0, "a failed upgrade has lost");
    }
    first.unlock_upgrade_and_lock();
    expect(first.mode() == REDLOCK_EXCLUSIVE && !second.try_lock_shared(), "a reader beside a writer");
    first.unlock_and_lock_upgrade();
    expect(first.mode() == REDLOCK_UPGRADEABLE, "not upgradeable any more");
    first.unlock_upgrade_and_lock_shared();
    expect(first.mode() == REDLOCK_SHARED, "not shared any more");
    expect(second.try_lock_shared_for(std::chrono::seconds(10)) && !writer.try_lock(), "readers do not share");
    expect(second.unlock_shared() == REDLOCK_OK && upgradeable.unlock() == REDLOCK_OK, "not unlocked");
    expect(writer.try_lock_for(std::chrono::seconds(10)), "the key is not free");
}

// What makes locks of each kind gives them a ttl that the deployment allows.
static void take_each_kind(redlock::service &service)
{
    redlock::mutex_set set(service, {"b", "a"});
    redlock::semaphore permit(service, "permits", 2);
    redlock::recursive_mutex recursive(service, "recursive");
    redlock::guard both(set, std::chrono::seconds(10)), one(permit, std::chrono::seconds(10));
    redlock::recursive_guard outer(recursive, std::chrono::seconds(10));

    expect(both.remaining().count() > 0 && one.remaining().count() > 0 && recursive.depth() == 1,
           "one kind is missing");
}

// Two parties of a latch; a leader, and a candidate that leads when the first one has resigned.
static void meet_and_elect(redlock::service &service)
{
    redlock::latch left(service, "latch", 2, 1, "left"), right(service, "latch", 2, 1, "right");
    redlock::leader_election leader(service, "leader"), candidate(service, "leader");

    left.arrive();
    expect(!left.try_wait(), "a latch opens before all have arrived");
    right.arrive_and_wait();
    expect(left.wait_for(std::chrono::seconds(10)), "a latch stays shut though all have arrived");

    const std::uint64_t term = leader.campaign();

    expect(leader.leads() && !candidate.campaign_for(std::chrono::milliseconds(0)), "two lead");
    expect(leader.resign() == REDLOCK_OK && candidate.campaign() > term && candidate.leads(), "nobody leads");
}

// consumer VERSION URL...
int main(int argc, char **argv)
try {
    redlock_options options;

    redlock_options_init(&options);
    options.join = REDLOCK_JOIN_DECLARE; // fresh masters, started for this program
    options.max_ttl_ms = 5000;           // less than the usual ttl
    if (argc < 3 || redlock_version() != std::string(argv[1]) || redlock_version() != std::string(REDLOCK_VERSION))
        throw std::runtime_error(std::string("version ") + redlock_version());

    redlock::service service(std::vector<std::string>(argv + 2, argv + argc), &options);
    redlock::mutex mutex(service, "consumer");
    redlock::mutex rival(service, "consumer");
    redlock::guard guard(mutex, std::chrono::seconds(10));

    expect(guard.remaining() > guard.remaining().zero() && !rival.try_lock(), "not locked");
    share(service);
    take_each_kind(service);
    meet_and_elect(service);
    return guard.unlock() == REDLOCK_OK && rival.try_lock() ? 0 : 1;
} catch (const std::exception &why) {
    std::cerr << why.what() << "\n";
    return 1;
}
