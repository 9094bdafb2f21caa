"""redis-py's own Lock, as its documentation has it: client.lock(name, timeout=...), which asks again every 0.1 s. It
has one server, which Sentinel may name; the lock ends by itself, and is extended by hand or not at all."""
import time

import redis
from redis.exceptions import LockNotOwnedError, RedisError
from redis.sentinel import Sentinel

from protocol import Refused, addresses, run

TIMEOUT_S = 2  # of the socket, so that a call on a server that hangs comes back


class Hold:
    def __init__(self, lock, until_ns):
        self.lock = lock
        self.until_ns = until_ns

    def remaining_ms(self):
        return (self.until_ns - time.monotonic_ns()) / 1e6

    def release(self):
        try:
            self.lock.release()
            return "ok"
        except LockNotOwnedError:
            return "lost"
        except RedisError:
            return "unconfirmed"


class Engine:
    name = "redis-py"
    version = redis.__version__
    can = "lease"
    on = "redis:1,sentinel"

    def open(self, settings):
        if settings.get("system") == "sentinel":
            sentinel = Sentinel(addresses(settings), socket_timeout=TIMEOUT_S)
            self.client = sentinel.master_for(settings.get("master", "redlock"), socket_timeout=TIMEOUT_S)
        else:
            host, port = addresses(settings)[0]
            self.client = redis.Redis(host=host, port=port, socket_timeout=TIMEOUT_S)

    def acquire(self, key, ttl_ms, timeout_ms):
        lock = self.client.lock(key, timeout=ttl_ms / 1000, thread_local=False)
        deadline_ns = time.monotonic_ns() + timeout_ms * 1_000_000
        try:
            acquired = lock.acquire(blocking=timeout_ms > 0, blocking_timeout=timeout_ms / 1000)
        except RedisError as error:
            raise Refused("unreachable", str(error)) from error
        if not acquired:
            raise Refused("held" if time.monotonic_ns() < deadline_ns + 1_000_000_000 else "deadline", "not acquired")
        return Hold(lock, time.monotonic_ns() + ttl_ms * 1_000_000)


run(Engine())
