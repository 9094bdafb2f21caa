/* The blocking interface (redlock/blocking.h) for C++11 and later. A program links nothing but libredlock.
 *
 *     redlock::service service({"redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3"});
 *     redlock::mutex mutex(service, "invoices");
 *     {
 *         redlock::guard guard(mutex, std::chrono::seconds(10));
 *         ... work, while guard.remaining() > guard.remaining().zero() ...
 *     }
 *
 * A mutex is Lockable and TimedLockable as the standard defines them, so std::unique_lock works, too. Functions throw
 * redlock::error, with a status and the reason in words. The rules for threads are those of redlock/blocking.h: to
 * exclude each other, threads create one mutex each, all with the same key. An object that has been moved from may only
 * be destroyed or assigned to. */
#ifndef REDLOCK_REDLOCK_HPP
#define REDLOCK_REDLOCK_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <redlock/blocking.h>
#include <redlock/latch.h>
#include <redlock/metrics.h>

namespace redlock {

class error : public std::runtime_error {
public:
    error(int status, const std::string &text) : std::runtime_error(text), status_(status) {}
    explicit error(int status) : std::runtime_error(redlock_strerror(status)), status_(status) {}

    int status() const noexcept { return status_; } /* enum redlock_status */
    bool retryable() const noexcept { return redlock_status_retryable(status_); }

private:
    int status_;
};

namespace detail {

inline void check(int status)
{
    if (status != REDLOCK_OK)
        throw error(status);
}

/* C would overlook what stands behind a null character. */
inline const char *c_text(const std::string &text, int status)
{
    if (text.find('\0') != std::string::npos)
        throw error(status);
    return text.c_str();
}

typedef std::chrono::duration<double, std::milli> precise_ms;

/* Rounds up. A longer time becomes REDLOCK_MAX_TIMEOUT_MS; one that is no number is none. */
template <class Rep, class Period>
std::int64_t timeout_ms(const std::chrono::duration<Rep, Period> &timeout)
{
    const double ms = precise_ms(timeout).count();

    if (!(ms > 0))
        return 0;
    if (ms >= REDLOCK_MAX_TIMEOUT_MS)
        return REDLOCK_MAX_TIMEOUT_MS;
    const std::int64_t whole = static_cast<std::int64_t>(ms);
    return static_cast<double>(whole) < ms ? whole + 1 : whole;
}

/* The time until then. The difference of two instants could overflow. */
template <class Clock, class Duration>
precise_ms until(const std::chrono::time_point<Clock, Duration> &end)
{
    return precise_ms(end.time_since_epoch()) - precise_ms(Clock::now().time_since_epoch());
}

} // namespace detail

/* --- Service --------------------------------------------------------------------------------------------------- */

class service {
public:
    explicit service(const std::vector<std::string> &masters, const redlock_options *options = nullptr) : usual_()
    {
        std::vector<const char *> urls;
        redlock_error why = {};

        for (const std::string &master : masters)
            urls.push_back(detail::c_text(master, REDLOCK_E_URL));
        const int status = redlock_service_create(urls.data(), urls.size(), options, &service_, &why);
        if (status != REDLOCK_OK)
            throw error(status, why.text);
        redlock_acquire_options_init(&usual_);
        if (options && usual_.ttl_ms > options->max_ttl_ms)
            usual_.ttl_ms = options->max_ttl_ms;
    }

    ~service() { redlock_service_destroy(service_); }
    service(service &&other) noexcept : usual_(other.usual_) { std::swap(service_, other.service_); }
    service &operator=(service &&other) noexcept
    {
        service taken(std::move(other));

        std::swap(usual_, taken.usual_);
        std::swap(service_, taken.service_);
        return *this;
    }
    service(const service &) = delete;
    service &operator=(const service &) = delete;

    /* False: some release has not been confirmed. */
    template <class Rep, class Period>
    bool shutdown(const std::chrono::duration<Rep, Period> &timeout)
    {
        const int status = redlock_service_shutdown(service_, detail::timeout_ms(timeout));

        if (status != REDLOCK_OK && status != REDLOCK_DEADLINE)
            throw error(status);
        return status == REDLOCK_OK;
    }

    redlock_stats stats() const
    {
        redlock_stats stats;

        detail::check(redlock_service_stats(service_, &stats, sizeof stats));
        return stats;
    }

    /* The statistics in the text format of Prometheus (redlock/metrics.h). Each label is a name and a value. */
    std::string metrics(const std::vector<std::pair<std::string, std::string>> &labels = {}) const
    {
        std::vector<redlock_metric_label> pairs;
        std::vector<char> text(16384);

        for (const auto &label : labels)
            pairs.push_back({detail::c_text(label.first, REDLOCK_E_ARGUMENT),
                             detail::c_text(label.second, REDLOCK_E_ARGUMENT)});
        for (;;) {
            const int length = redlock_service_metrics(service_, pairs.data(), pairs.size(), text.data(), text.size());

            if (length < 0)
                throw error(length);
            if (static_cast<std::size_t>(length) < text.size())
                return std::string(text.data(), static_cast<std::size_t>(length));
            text.resize(static_cast<std::size_t>(length) + 1024);
        }
    }

    redlock_service *get() const noexcept { return service_; }

private:
    friend class mutex;
    friend class recursive_mutex;

    redlock_acquire_options usual_; /* with which locks begin: a ttl of 10 s, or of max_ttl_ms if that is less */
    redlock_service *service_ = nullptr;
};

/* --- Mutex ----------------------------------------------------------------------------------------------------- */

class mutex {
public:
    mutex(service &owner, const std::string &key) : options(owner.usual_), why_()
    {
        detail::check(redlock_mutex_create(owner.get(), key.data(), key.size(), &mutex_));
    }

    ~mutex() { redlock_mutex_destroy(mutex_); } /* releases a held lock */
    mutex(mutex &&other) noexcept : options(other.options), why_(std::move(other.why_))
    {
        std::swap(mutex_, other.mutex_);
    }
    mutex &operator=(mutex &&other) noexcept
    {
        mutex taken(std::move(other));

        std::swap(options, taken.options);
        std::swap(why_, taken.why_);
        std::swap(mutex_, taken.mutex_);
        return *this;
    }
    mutex(const mutex &) = delete;
    mutex &operator=(const mutex &) = delete;

    /* Waits until the lock is held, or throws. */
    void lock() { check(acquire(REDLOCK_FOREVER)); }

    /* One attempt. False: another holder has the lock, or the masters granted too slowly. Throws if too few masters can
     * vote, and for caller errors. */
    bool try_lock() { return won(acquire(0)); }

    template <class Rep, class Period>
    bool try_lock_for(const std::chrono::duration<Rep, Period> &timeout)
    {
        return won(acquire(detail::timeout_ms(timeout)));
    }

    template <class Clock, class Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration> &end)
    {
        return try_lock_for(detail::until(end));
    }

    /* The lock is not held after this, whatever the status: REDLOCK_OK, the masters have confirmed; REDLOCK_NO_QUORUM,
     * not yet; REDLOCK_LOST, the lock had been lost before; REDLOCK_E_OWN_THREAD, in a callback, where nobody waits for
     * the masters; or another caller error. */
    int unlock() noexcept { return redlock_mutex_unlock(mutex_); }

    /* Sets the ttl, as redlock_extend(). */
    template <class Rep, class Period>
    void extend(const std::chrono::duration<Rep, Period> &ttl)
    {
        const double ms = detail::precise_ms(ttl).count();

        if (!(ms >= 0 && ms <= REDLOCK_MAX_TTL_MS))
            throw error(REDLOCK_E_TTL);
        detail::check(redlock_mutex_extend(mutex_, static_cast<std::uint32_t>(detail::timeout_ms(ttl)), nullptr));
    }

    /* The call that another thread is waiting in throws REDLOCK_CANCELED. False: there is none. */
    bool cancel()
    {
        const int status = redlock_mutex_cancel(mutex_);

        if (status != REDLOCK_OK && status != REDLOCK_E_NOTHING_TO_CANCEL)
            throw error(status);
        return status == REDLOCK_OK;
    }

    std::chrono::nanoseconds remaining() const noexcept
    {
        return std::chrono::nanoseconds(redlock_mutex_remaining_ns(mutex_));
    }

    std::uint64_t fence() const noexcept { return redlock_mutex_fence(mutex_); }

    /* Why the latest call that locks or converts failed, in words for people; empty after success. */
    std::string why() const
    {
        const std::lock_guard<std::mutex> alone(why_access_);

        return why_;
    }

    redlock_mutex *get() const noexcept { return mutex_; }

    /* For the next lock calls, which set the timeout themselves. */
    redlock_acquire_options options;

private:
    friend class mutex_set;
    friend class semaphore;
    friend class shared_mutex;

    mutex(const service &owner, redlock_mutex *created) : options(owner.usual_), why_(), mutex_(created) {}

    struct outcome {
        int status;
        std::string why;
    };

    outcome acquire(std::int64_t timeout_ms) { return acquire(timeout_ms, options.mode); }

    outcome acquire(std::int64_t timeout_ms, redlock_mode mode)
    {
        redlock_acquire_options request = options;
        redlock_result *result = nullptr;

        request.mode = mode;
        request.timeout_ms = timeout_ms;
        if (timeout_ms == 0)
            request.max_attempts = 0;
        const int status = redlock_mutex_acquire(mutex_, &request, &result);
        return keep_why(status, result);
    }

    outcome convert(redlock_mode mode, std::int64_t timeout_ms)
    {
        redlock_result *result = nullptr;
        const int status = redlock_mutex_convert(mutex_, mode, timeout_ms, &result);

        return keep_why(status, result);
    }

    outcome keep_why(int status, redlock_result *result)
    {
        const std::unique_ptr<redlock_result, void (*)(redlock_result *)> owner(result, redlock_result_free);
        const outcome ended = {status, status == REDLOCK_OK ? "" : result ? result->why : redlock_strerror(status)};
        const std::lock_guard<std::mutex> alone(why_access_);

        why_ = ended.why;
        return ended;
    }

    static void check(const outcome &ended)
    {
        if (ended.status != REDLOCK_OK)
            throw error(ended.status, ended.why);
    }

    static bool won(const outcome &ended)
    {
        if (ended.status == REDLOCK_HELD || ended.status == REDLOCK_DEADLINE || ended.status == REDLOCK_TOO_SLOW)
            return false;
        check(ended);
        return true;
    }

    mutable std::mutex why_access_; /* several threads may be in lock calls of one object, though all but one in vain */
    std::string why_;

    redlock_mutex *mutex_ = nullptr;
};

/* --- Read-write mutex ------------------------------------------------------------------------------------------ */

/* A mutex that several may hold together, to read. One object is one holder: threads that read at the same time need an
 * object each, as threads that exclude each other do. It is a std::shared_timed_mutex in this sense, so
 * std::unique_lock, std::shared_lock and the wrappers of Boost for upgradeable mutexes work with it.
 *
 *     redlock::shared_mutex prices(service, "prices");
 *     {
 *         redlock::shared_guard guard(prices, std::chrono::seconds(10));
 *         ... read, beside other readers, while guard.remaining() > guard.remaining().zero() ...
 *     }
 *
 * The functions of a mutex lock it exclusively (options.mode). An upgradeable holder reads beside shared ones; there is
 * one at a time, and it alone can become exclusive. Each holder has a ttl, a deadline and renewals of its own, and may
 * lose its lock alone: then remaining() is 0, whatever others hold, and unlocking returns REDLOCK_LOST. */
class shared_mutex : public mutex {
public:
    shared_mutex(service &owner, const std::string &key) : mutex(owner, key) {}

    /* As lock() and its kind. The functions that unlock all mean the same. */
    void lock_shared() { check(acquire(REDLOCK_FOREVER, REDLOCK_SHARED)); }
    bool try_lock_shared() { return won(acquire(0, REDLOCK_SHARED)); }
    int unlock_shared() noexcept { return unlock(); }

    template <class Rep, class Period>
    bool try_lock_shared_for(const std::chrono::duration<Rep, Period> &timeout)
    {
        return won(acquire(detail::timeout_ms(timeout), REDLOCK_SHARED));
    }

    template <class Clock, class Duration>
    bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration> &end)
    {
        return try_lock_shared_for(detail::until(end));
    }

    void lock_upgrade() { check(acquire(REDLOCK_FOREVER, REDLOCK_UPGRADEABLE)); }
    bool try_lock_upgrade() { return won(acquire(0, REDLOCK_UPGRADEABLE)); }
    int unlock_upgrade() noexcept { return unlock(); }

    template <class Rep, class Period>
    bool try_lock_upgrade_for(const std::chrono::duration<Rep, Period> &timeout)
    {
        return won(acquire(detail::timeout_ms(timeout), REDLOCK_UPGRADEABLE));
    }

    template <class Clock, class Duration>
    bool try_lock_upgrade_until(const std::chrono::time_point<Clock, Duration> &end)
    {
        return try_lock_upgrade_for(detail::until(end));
    }

    /* From upgradeable to exclusive. It waits, in front of all who wait for the key, until readers have released it.
     * Where it throws or returns false the lock is held as before, unless it has been lost (REDLOCK_LOST). */
    void unlock_upgrade_and_lock() { check(convert(REDLOCK_EXCLUSIVE, REDLOCK_FOREVER)); }
    bool try_unlock_upgrade_and_lock() { return won(convert(REDLOCK_EXCLUSIVE, 0)); }

    template <class Rep, class Period>
    bool try_unlock_upgrade_and_lock_for(const std::chrono::duration<Rep, Period> &timeout)
    {
        return won(convert(REDLOCK_EXCLUSIVE, detail::timeout_ms(timeout)));
    }

    template <class Clock, class Duration>
    bool try_unlock_upgrade_and_lock_until(const std::chrono::time_point<Clock, Duration> &end)
    {
        return try_unlock_upgrade_and_lock_for(detail::until(end));
    }

    /* To a weaker mode, without a gap. The lock has it even if too few masters confirm it: they let others in later.
     * These throw REDLOCK_LOST if the lock has been lost, and for caller errors. */
    void unlock_and_lock_upgrade() { weaken(REDLOCK_UPGRADEABLE); }
    void unlock_and_lock_shared() { weaken(REDLOCK_SHARED); }
    void unlock_upgrade_and_lock_shared() { weaken(REDLOCK_SHARED); }

    /* REDLOCK_EXCLUSIVE if it is not held. */
    redlock_mode mode() const
    {
        redlock_mode mode = REDLOCK_EXCLUSIVE;

        detail::check(redlock_mutex_mode(get(), &mode));
        return mode;
    }

private:
    void weaken(redlock_mode mode)
    {
        const outcome ended = convert(mode, 0);

        if (ended.status != REDLOCK_NO_QUORUM)
            check(ended);
    }
};

/* --- Leader election ------------------------------------------------------------------------------------------- */

/* A candidate, for a thread that waits until it leads. The term is the fencing token of the lock that makes the leader:
 * see redlock/election.h. A leader asks leads() at the moment of acting, and sends the term with what it does.
 *
 *     redlock::leader_election election(service, "scheduler");
 *     election.campaign();
 *     while (election.leads())
 *         ... work, with election.term() ...
 */
class leader_election {
public:
    leader_election(service &owner, const std::string &key) : mutex_(owner, key)
    {
        mutex_.options.fenced = 1;
        mutex_.options.wait = REDLOCK_WAIT_FIFO;
    }

    /* Waits behind the candidates that came before, and returns the term; or throws. */
    std::uint64_t campaign()
    {
        mutex_.lock();
        return mutex_.fence();
    }

    /* False: not elected in time. */
    template <class Rep, class Period>
    bool campaign_for(const std::chrono::duration<Rep, Period> &timeout)
    {
        return mutex_.try_lock_for(timeout);
    }

    /* campaign(), in which another thread is waiting, throws REDLOCK_CANCELED. False: there is none. */
    bool withdraw() { return mutex_.cancel(); }

    bool leads() const noexcept { return remaining() > std::chrono::nanoseconds::zero(); }
    std::chrono::nanoseconds remaining() const noexcept { return mutex_.remaining(); }
    std::uint64_t term() const noexcept { return mutex_.fence(); } /* 0: it does not lead */

    /* The next candidate leads from now on. The status is that of mutex::unlock(). */
    int resign() noexcept { return mutex_.unlock(); }

    /* Its options hold for the next campaign; its watch tells of a loss. */
    mutex &lock() noexcept { return mutex_; }

private:
    mutex mutex_;
};

/* --- Latch ----------------------------------------------------------------------------------------------------- */

/* A std::latch for parties in several processes: see redlock/latch.h. The parties have names, so one that says twice
 * that it has arrived is counted once, and there is no count_down() by a number.
 *
 *     redlock::latch ready(service, "ready", 3, run, "cache");
 *     ready.arrive_and_wait();
 *
 * A barrier is a latch for each round, with the number of the round as generation. A latch is to live for as long as
 * others may still wait: it brings back what masters lose. */
class latch {
public:
    /* Without a party it can only wait. */
    latch(service &owner, const std::string &name, std::uint32_t parties, std::uint64_t generation,
          const std::string &party = std::string(), const redlock_latch_options *options = nullptr)
    {
        detail::check(redlock_service_latch_create(owner.get(), name.data(), name.size(), parties, generation,
                                                   party.empty() ? nullptr : detail::c_text(party, REDLOCK_E_PARTIES),
                                                   options, &latch_));
    }

    ~latch() { redlock_service_latch_destroy(latch_); }
    latch(latch &&other) noexcept { std::swap(latch_, other.latch_); }
    latch &operator=(latch &&other) noexcept
    {
        latch taken(std::move(other));

        std::swap(latch_, taken.latch_);
        return *this;
    }
    latch(const latch &) = delete;
    latch &operator=(const latch &) = delete;

    /* Returns when a quorum of masters has recorded that the party has arrived. */
    void arrive() { end(&redlock_service_latch_arrive, REDLOCK_FOREVER); }

    /* False: not recorded in time, but it may be recorded later. */
    template <class Rep, class Period>
    bool arrive_for(const std::chrono::duration<Rep, Period> &timeout)
    {
        return end(&redlock_service_latch_arrive, detail::timeout_ms(timeout));
    }

    /* Returns when all parties have arrived. */
    void wait() const { end(&redlock_service_latch_await, REDLOCK_FOREVER); }

    /* False: not all of them have, as far as is known. */
    template <class Rep, class Period>
    bool wait_for(const std::chrono::duration<Rep, Period> &timeout) const
    {
        return end(&redlock_service_latch_await, detail::timeout_ms(timeout));
    }

    template <class Clock, class Duration>
    bool wait_until(const std::chrono::time_point<Clock, Duration> &when) const
    {
        return wait_for(detail::until(when));
    }

    /* Asks the masters once. */
    bool try_wait() const { return end(&redlock_service_latch_await, 0); }

    void arrive_and_wait()
    {
        arrive();
        wait();
    }

    /* Other threads, which wait in those functions, throw REDLOCK_CANCELED. False: there are none. */
    bool cancel()
    {
        const int status = redlock_service_latch_cancel(latch_);

        if (status != REDLOCK_E_NOTHING_TO_CANCEL)
            detail::check(status);
        return status == REDLOCK_OK;
    }

    redlock_service_latch *get() const noexcept { return latch_; }

private:
    typedef int (*operation)(redlock_service_latch *, std::int64_t, redlock_latch_result **);

    bool end(operation call, std::int64_t timeout_ms) const
    {
        redlock_latch_result *result = nullptr;
        const int status = call(latch_, timeout_ms, &result);
        const std::unique_ptr<redlock_latch_result, void (*)(redlock_latch_result *)> owned(
            result, redlock_latch_result_free);

        if (status != REDLOCK_OK && status != REDLOCK_DEADLINE)
            throw owned && *owned->why ? error(status, owned->why) : error(status);
        return status == REDLOCK_OK;
    }

    redlock_service_latch *latch_ = nullptr;
};

/* --- Mutex of several keys ------------------------------------------------------------------------------------- */

/* Several keys, held all together or not at all. A guard of it is to keys what std::scoped_lock is to mutexes: sets
 * that overlap never wait for each other in a circle, in whichever order their keys are written.
 *
 *     redlock::mutex_set accounts(service, {"account/17", "account/4"});
 *     redlock::guard guard(accounts, std::chrono::seconds(10)); */
class mutex_set : public mutex {
public:
    mutex_set(service &owner, const std::vector<std::string> &keys) : mutex(owner, create(owner))
    {
        for (const std::string &key : keys)
            detail::check(redlock_mutex_add(get(), key.data(), key.size()));
    }

    /* Without keys; they are added before it is locked. */
    explicit mutex_set(service &owner) : mutex(owner, create(owner)) {}

    mutex_set &add(const std::string &key, redlock_mode mode = REDLOCK_EXCLUSIVE)
    {
        detail::check(redlock_mutex_add_mode(get(), key.data(), key.size(), mode));
        return *this;
    }

    /* One permit of a semaphore with so many permits. */
    mutex_set &add_permit(const std::string &key, std::uint32_t limit)
    {
        detail::check(redlock_mutex_add_permit(get(), key.data(), key.size(), limit));
        return *this;
    }

    /* n permits of a semaphore. */
    mutex_set &add_permits(const std::string &key, std::uint32_t n, std::uint32_t limit)
    {
        detail::check(redlock_mutex_add_permits(get(), key.data(), key.size(), n, limit));
        return *this;
    }

    /* When a key is lost the others are kept until the set is unlocked or locked anew, and not released at once. */
    mutex_set &keep_rest(bool keep = true)
    {
        detail::check(redlock_mutex_keep_rest(get(), keep));
        return *this;
    }

    /* The keys in ascending order. */
    std::vector<std::string> keys() const
    {
        std::vector<std::string> all;
        redlock_part part;

        for (std::size_t i = 0; redlock_mutex_part(get(), i, &part, sizeof part) == REDLOCK_OK; i++)
            all.emplace_back(static_cast<const char *>(part.key), part.key_size);
        return all;
    }

    /* The fencing token of one of the keys; 0 if the set does not have it. */
    std::uint64_t fence(const std::string &key) const
    {
        redlock_part part;

        return find(key, part) ? part.fence : 0;
    }

    /* The slot of the permit with this key; -1 if the set does not have one. Of several permits it is one of theirs. */
    std::int32_t slot(const std::string &key) const
    {
        redlock_part part;

        return find(key, part) ? part.slot : -1;
    }

    /* The slots of all permits with this key. */
    std::vector<std::int32_t> slots(const std::string &key) const
    {
        std::vector<std::int32_t> all;
        redlock_part part;

        for (std::size_t i = 0; redlock_mutex_part(get(), i, &part, sizeof part) == REDLOCK_OK; i++) {
            if (part.slot >= 0 && is_key(key, part))
                all.push_back(part.slot);
        }
        return all;
    }

private:
    static bool is_key(const std::string &key, const redlock_part &part)
    {
        return key.compare(0, std::string::npos, static_cast<const char *>(part.key), part.key_size) == 0;
    }

    bool find(const std::string &key, redlock_part &ret_part) const
    {
        for (std::size_t i = 0; redlock_mutex_part(get(), i, &ret_part, sizeof ret_part) == REDLOCK_OK; i++) {
            if (is_key(key, ret_part))
                return true;
        }
        return false;
    }

    static redlock_mutex *create(service &owner)
    {
        redlock_mutex *created = nullptr;

        detail::check(redlock_mutex_create_set(owner.get(), &created));
        return created;
    }
};

/* --- Semaphore ------------------------------------------------------------------------------------------------- */

/* One permit of a semaphore of which at most `limit` are held at any time, whoever holds them. Threads that want a
 * permit each need an object each. The names are those of std::counting_semaphore; those of a mutex mean the same, so
 * that a guard holds a permit, too.
 *
 *     redlock::semaphore connection(service, "database", 20);
 *     redlock::guard guard(connection, std::chrono::seconds(10)); */
class semaphore : public mutex {
public:
    semaphore(service &owner, const std::string &key, std::uint32_t limit) : mutex(owner, create(owner, key, limit))
    {
    }

    void acquire() { lock(); }
    bool try_acquire() { return try_lock(); }

    template <class Rep, class Period> bool try_acquire_for(const std::chrono::duration<Rep, Period> &timeout)
    {
        return try_lock_for(timeout);
    }

    template <class Clock, class Duration>
    bool try_acquire_until(const std::chrono::time_point<Clock, Duration> &end)
    {
        return try_lock_until(end);
    }

    int release() noexcept { return unlock(); }

    /* The number of the permit that is held, from 0 to limit - 1. */
    std::int32_t slot() const
    {
        std::int32_t number = -1;

        detail::check(redlock_mutex_slot(get(), &number));
        return number;
    }

private:
    static redlock_mutex *create(service &owner, const std::string &key, std::uint32_t limit)
    {
        redlock_mutex *created = nullptr;

        detail::check(redlock_mutex_create_permit(owner.get(), key.data(), key.size(), limit, &created));
        return created;
    }
};

/* --- Recursive mutex ------------------------------------------------------------------------------------------- */

/* One owner at a time holds it, and may lock it again; threads share one such object. The owners are threads, or, if it
 * is made with REDLOCK_OWNERS_NAMED, whatever the calls name by a pointer: a task that moves between threads. */
class recursive_mutex {
public:
    recursive_mutex(service &owner, const std::string &key, redlock_owners owners = REDLOCK_OWNERS_THREADS)
        : options(owner.usual_)
    {
        detail::check(redlock_mutex_create_recursive(owner.get(), key.data(), key.size(), owners, &mutex_));
    }

    ~recursive_mutex() { redlock_mutex_destroy(mutex_); } /* releases a held lock, whatever its depth */
    recursive_mutex(const recursive_mutex &) = delete;
    recursive_mutex &operator=(const recursive_mutex &) = delete;

    /* Waits until the lock is held, or throws; REDLOCK_LOST, if this owner has lost it and has yet to unlock it;
     * REDLOCK_E_UPGRADE, if it holds the lock in a weaker mode than options.mode. */
    void lock(const void *owner = nullptr) { detail::check(acquire(owner, REDLOCK_FOREVER)); }

    /* One attempt. False: another holder or owner has the lock, or the masters granted too slowly. */
    bool try_lock(const void *owner = nullptr) { return won(acquire(owner, 0)); }

    template <class Rep, class Period>
    bool try_lock_for(const std::chrono::duration<Rep, Period> &timeout, const void *owner = nullptr)
    {
        return won(acquire(owner, detail::timeout_ms(timeout)));
    }

    template <class Clock, class Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration> &end, const void *owner = nullptr)
    {
        return try_lock_for(detail::until(end), owner);
    }

    /* As mutex::unlock(). REDLOCK_E_OWNER: another owner has the lock. */
    int unlock(const void *owner = nullptr) noexcept
    {
        return owner ? redlock_mutex_unlock_as(mutex_, owner) : redlock_mutex_unlock(mutex_);
    }

    /* How many calls of unlock() are due. */
    std::uint32_t depth() const noexcept { return redlock_mutex_depth(mutex_); }

    std::chrono::nanoseconds remaining() const noexcept
    {
        return std::chrono::nanoseconds(redlock_mutex_remaining_ns(mutex_));
    }

    std::uint64_t fence() const noexcept { return redlock_mutex_fence(mutex_); }
    redlock_mutex *get() const noexcept { return mutex_; }

    /* For all lock calls, which set the timeout themselves. It is set before threads share the object. */
    redlock_acquire_options options;

private:
    int acquire(const void *owner, std::int64_t timeout_ms)
    {
        redlock_acquire_options request = options;

        request.timeout_ms = timeout_ms;
        if (timeout_ms == 0)
            request.max_attempts = 0;
        return owner ? redlock_mutex_acquire_as(mutex_, owner, &request, nullptr)
                     : redlock_mutex_acquire(mutex_, &request, nullptr);
    }

    static bool won(int status)
    {
        if (status == REDLOCK_HELD || status == REDLOCK_DEADLINE || status == REDLOCK_TOO_SLOW)
            return false;
        detail::check(status);
        return true;
    }

    redlock_mutex *mutex_ = nullptr;
};

/* --- Guard ----------------------------------------------------------------------------------------------------- */

/* One entry into a recursive mutex, from its construction to its end; guards may be nested. */
class recursive_guard {
public:
    explicit recursive_guard(recursive_mutex &held, const void *owner = nullptr) : mutex_(&held), owner_(owner)
    {
        held.lock(owner);
    }

    /* Throws REDLOCK_DEADLINE if the lock is not held in time. */
    template <class Rep, class Period>
    recursive_guard(recursive_mutex &held, const std::chrono::duration<Rep, Period> &timeout,
                    const void *owner = nullptr)
        : mutex_(&held), owner_(owner)
    {
        if (!held.try_lock_for(timeout, owner))
            throw error(REDLOCK_DEADLINE);
    }

    ~recursive_guard() { unlock(); }
    recursive_guard(recursive_guard &&other) noexcept : mutex_(other.mutex_), owner_(other.owner_)
    {
        other.mutex_ = nullptr;
    }
    recursive_guard(const recursive_guard &) = delete;
    recursive_guard &operator=(const recursive_guard &) = delete;

    /* Ends this entry before the destructor does, and returns the status: see recursive_mutex::unlock(). */
    int unlock() noexcept
    {
        recursive_mutex *const held = mutex_;

        mutex_ = nullptr;
        return held ? held->unlock(owner_) : static_cast<int>(REDLOCK_E_NOT_HELD);
    }

    std::chrono::nanoseconds remaining() const noexcept
    {
        return mutex_ ? mutex_->remaining() : std::chrono::nanoseconds::zero();
    }

    std::uint64_t fence() const noexcept { return mutex_ ? mutex_->fence() : 0; }

private:
    recursive_mutex *mutex_;
    const void *owner_;
};

/* Holds a mutex from its construction to its end. A guard can be moved; one that is assigned to unlocks its mutex at
 * once. The mutex must outlive it, and stay where it is. */
class guard {
public:
    explicit guard(mutex &held) : mutex_(&held) { held.lock(); }

    /* Throws REDLOCK_DEADLINE if the lock is not held in time. */
    template <class Rep, class Period>
    guard(mutex &held, const std::chrono::duration<Rep, Period> &timeout)
        : mutex_(&in_time(held, held.try_lock_for(timeout)))
    {
    }

    ~guard()
    {
        if (mutex_)
            mutex_->unlock();
    }
    guard(guard &&other) noexcept { std::swap(mutex_, other.mutex_); }
    guard &operator=(guard &&other) noexcept
    {
        guard taken(std::move(other));

        std::swap(mutex_, taken.mutex_);
        return *this;
    }
    guard(const guard &) = delete;
    guard &operator=(const guard &) = delete;

    /* Unlocks before the destructor does, and returns the status: see mutex::unlock(). */
    int unlock() noexcept
    {
        mutex *const held = mutex_;

        mutex_ = nullptr;
        return held ? held->unlock() : static_cast<int>(REDLOCK_E_NOT_HELD);
    }

    std::chrono::nanoseconds remaining() const noexcept
    {
        return mutex_ ? mutex_->remaining() : std::chrono::nanoseconds::zero();
    }

    std::uint64_t fence() const noexcept { return mutex_ ? mutex_->fence() : 0; }

protected:
    struct locked {};
    guard(mutex &held, locked) noexcept : mutex_(&held) {}

    static mutex &in_time(mutex &held, bool won)
    {
        if (!won)
            throw error(REDLOCK_DEADLINE, held.why());
        return held;
    }

private:
    mutex *mutex_ = nullptr;
};

/* Holds a read-write mutex shared. Otherwise it is a guard. */
class shared_guard : public guard {
public:
    explicit shared_guard(shared_mutex &held) : guard(locked_shared(held), locked()) {}

    template <class Rep, class Period>
    shared_guard(shared_mutex &held, const std::chrono::duration<Rep, Period> &timeout)
        : guard(in_time(held, held.try_lock_shared_for(timeout)), locked())
    {
    }

private:
    static mutex &locked_shared(shared_mutex &held)
    {
        held.lock_shared();
        return held;
    }
};

/* Holds a read-write mutex upgradeable, until the mutex is told to become exclusive or shared. Otherwise it is a guard.
 *
 *     redlock::upgrade_guard guard(prices);
 *     if (... it must write ...)
 *         prices.unlock_upgrade_and_lock(); */
class upgrade_guard : public guard {
public:
    explicit upgrade_guard(shared_mutex &held) : guard(locked_upgrade(held), locked()) {}

    template <class Rep, class Period>
    upgrade_guard(shared_mutex &held, const std::chrono::duration<Rep, Period> &timeout)
        : guard(in_time(held, held.try_lock_upgrade_for(timeout)), locked())
    {
    }

private:
    static mutex &locked_upgrade(shared_mutex &held)
    {
        held.lock_upgrade();
        return held;
    }
};

} // namespace redlock

#endif
