/* Static probes for tracers such as bpftrace (USDT). Each is one instruction that does nothing until a tracer is
 * attached, and nothing at all in a library that was built without sys/sdt.h or with -Dusdt=disabled.
 *
 *     redlock:acquire  lock, key, key_size               an acquisition begins
 *     redlock:grant    lock, key, key_size, elapsed_us   ... and has taken the lock
 *     redlock:refuse   lock, key, key_size, elapsed_us, status   ... or has not, for any reason
 *     redlock:renew    lock, key, key_size               a renewal was confirmed by a quorum
 *     redlock:lost     lock, key, key_size, loss         the validity ended while the lock was held
 *
 * The manual page redlock_client_stats(3) lists them for users. */
#ifndef RL_API_PROBES_H
#define RL_API_PROBES_H

#ifdef RL_USDT
#include <sys/sdt.h>

/* Its macros leave out variable arguments, which clang sees where they are used. The name of that warning has changed;
 * this is the group that has it. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpedantic"
#endif

#define RL_PROBE_KEY(lock) (lock), &(lock)->key->bytes[0], (lock)->key->size
#define RL_PROBE(name, lock) RL_PROBE_OF(3, name, RL_PROBE_KEY(lock))
#define RL_PROBE_1(name, lock, a) RL_PROBE_OF(4, name, RL_PROBE_KEY(lock), a)
#define RL_PROBE_2(name, lock, a, b) RL_PROBE_OF(5, name, RL_PROBE_KEY(lock), a, b)
#define RL_PROBE_OF(n, name, ...) DTRACE_PROBE##n(redlock, name, __VA_ARGS__)
#else
#define RL_PROBE(name, lock) ((void)0)
#define RL_PROBE_1(name, lock, a) ((void)0)
#define RL_PROBE_2(name, lock, a, b) ((void)0)
#endif

#endif
