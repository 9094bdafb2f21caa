// C++11: threads that begin their work together, when all of them are ready. In a program each of them would be a
// process on a machine of its own.
//
//     together RUN URL...
#include <iostream>
#include <redlock/redlock.hpp>
#include <thread>

static void run(redlock::service &service, const std::string &name, const std::string &party, bool &ended)
try {
    redlock::latch ready(service, name, 3, 1, party);

    // ... load what is needed
    ready.arrive();
    if (!ready.wait_for(std::chrono::seconds(60)))
        return;
    ended = true; // ... work
} catch (const redlock::error &why) {
    std::cerr << party << ": " << why.what() << "\n";
}

int main(int argc, char **argv)
try {
    if (argc < 3)
        throw std::invalid_argument("usage: together RUN URL...");
    redlock::service service(std::vector<std::string>(argv + 2, argv + argc));
    redlock::latch all(service, argv[1], 3, 1); // a name of its own for each run
    bool ended[3] = {};

    std::cout << "all are ready: " << std::boolalpha << all.try_wait() << "\n";
    std::thread cache(run, std::ref(service), argv[1], "cache", std::ref(ended[0]));
    std::thread index(run, std::ref(service), argv[1], "index", std::ref(ended[1]));
    std::thread mail(run, std::ref(service), argv[1], "mail", std::ref(ended[2]));
    std::cout << "all are ready: " << all.wait_for(std::chrono::seconds(60)) << "\n";
    for (std::thread *thread : {&cache, &index, &mail})
        thread->join();
    std::cout << "all have ended: " << (ended[0] && ended[1] && ended[2]) << "\n";

    // Whoever names another number of parties is told.
    try {
        redlock::latch wrong(service, argv[1], 4, 1, "printer");
        wrong.arrive();
    } catch (const redlock::error &why) {
        std::cout << "a fourth one: " << why.what() << "\n";
    }
    return 0;
} catch (const std::exception &why) {
    std::cerr << why.what() << "\n";
    return 1;
}
