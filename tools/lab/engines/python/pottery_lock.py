"""pottery's Redlock, as its README has it: Redlock(key=..., masters=..., auto_release_time=...), which waits by itself
and says by locked() for how long the lock is still valid. A lock ends by itself after auto_release_time; extend() is
called by hand or not."""
import importlib.metadata
import time

import redis
from pottery import Redlock
from pottery.exceptions import PrimitiveError, ReleaseUnlockedLock
from redis.exceptions import RedisError

from protocol import Refused, addresses, run

TIMEOUT_S = 2  # of the socket, so that a call on a server that hangs comes back


class Hold:
    def __init__(self, lock, until_ns):
        self.lock = lock
        self.until_ns = until_ns

    def remaining_ms(self):
        return self.lock.locked() * 1000

    def release(self):
        try:
            self.lock.release()
            return "ok"
        except ReleaseUnlockedLock:
            return "lost"
        except (PrimitiveError, RedisError):
            return "unconfirmed"


class Engine:
    name = "pottery"
    version = importlib.metadata.version("pottery")
    can = "lease"
    on = "redis:5"
    ttl_ms = 10000

    def open(self, settings):
        self.masters = {redis.Redis(host=host, port=port, socket_timeout=TIMEOUT_S)
                        for host, port in addresses(settings)}

    def acquire(self, key, ttl_ms, timeout_ms):
        lock = Redlock(key=key, masters=self.masters, auto_release_time=ttl_ms / 1000)
        try:
            acquired = lock.acquire(timeout=timeout_ms / 1000) if timeout_ms else lock.acquire(blocking=False)
        except (PrimitiveError, RedisError) as error:
            raise Refused("unreachable", str(error)) from error
        if not acquired:
            raise Refused("deadline", "not acquired")
        return Hold(lock, time.monotonic_ns() + ttl_ms * 1_000_000)


run(Engine())
