// C++11: several keys by scope, as std::scoped_lock does it for several mutexes of one process.
//
//     scoped URL...
#include <iostream>
#include <redlock/redlock.hpp>
#include <thread>

static void transfer(redlock::service &service, const std::string &from, const std::string &to)
{
    redlock::mutex_set accounts(service, {from, to});

    accounts.options.fenced = 1;
    redlock::guard guard(accounts, std::chrono::seconds(10));
    std::cout << from + " -> " + to + ": tokens " + std::to_string(accounts.fence(from)) + " and " +
                     std::to_string(accounts.fence(to)) + "\n";
}

static void try_transfer(redlock::service &service, const std::string &from, const std::string &to, int &failed)
try {
    transfer(service, from, to);
} catch (const redlock::error &why) {
    std::cerr << "not locked: " << why.what() << "\n";
    failed = 1;
}

int main(int argc, char **argv)
try {
    redlock::service service(std::vector<std::string>(argv + 1, argv + argc));
    int failed[2] = {0, 0};
    std::thread there(try_transfer, std::ref(service), "alice", "bob", std::ref(failed[0]));
    std::thread back(try_transfer, std::ref(service), "bob", "alice", std::ref(failed[1]));

    there.join();
    back.join();
    return failed[0] || failed[1];
} catch (const redlock::error &why) {
    std::cerr << why.what() << "\n";
    return 1;
}
