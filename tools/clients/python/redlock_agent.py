"""Distributed locks over independent Redis masters, by the redlock agent of this machine.

    client = redlock_agent.Client()             # the agent's socket: $REDLOCK_AGENT, or where it is by default
    with client.lock("orders", wait=5) as held:
        ship_orders(fence=held.fence)           # held.remaining: seconds that the lock is certain to last

A lock is renewed by the agent until it is released. It is given back when the program closes its connection or dies.
`remaining` is compared with this program's own reading of the clock: when it is 0 the lock may be another's, whatever
has become of the agent. Where that matters call `held.check()` before each step, or pass `on_lost`.

Client is for threads, AsyncClient for asyncio, to be awaited. Durations are seconds. A forked child holds nothing.

If the agent does not answer, because it is stopped for example, a lock's acquisition fails 10 s after its wait, an
extension fails at the lock's deadline, and release() returns then, since the lock has ended.
"""
import asyncio
import concurrent.futures
import contextlib
import copy
import json
import os
import select
import socket
import threading
import time
import weakref


class RedlockError(Exception):
    """What the agent has refused. `status` is its word, REDLOCK_...; `retry`: the same may succeed later."""

    def __init__(self, status, why, answer=None):
        super().__init__(f"{why} ({status})")
        self.status, self.answer = status, answer or {}
        self.retry = self.answer.get("retry", False)


class NotAcquired(RedlockError):
    """Others have the lock, or too few masters could be asked, for as long as was waited."""


class Lost(RedlockError):
    """The lock was held, and is not certain to be held any more."""


_ANSWER_S = 10


def _now_us():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000


def _ms(seconds):
    return max(0, round(seconds * 1000)) if isinstance(seconds, (int, float)) else seconds


class _Lock:
    """acquire(), release() and extend(); of an AsyncClient they are to be awaited. A lock that is held is its own
    context: `with client.lock(...) as held`."""

    def __init__(self, client, on_lost, members):
        self._client, self._on_lost, self._members = client, on_lost, members
        self._number, self._deadline_us, self._why = None, 0, "it is not held"
        self._release = None  # the request, of a lock that is given up; False: no agent is there to be asked
        self.fence = self.token = self.slot = self.parts = None

    @property
    def remaining(self):
        """Seconds that the lock is certain to last; 0: it is not held."""
        return max(0, self._deadline_us - _now_us()) / 1e6

    def check(self):
        """Raises Lost unless the lock is held at this moment."""
        if self.remaining == 0:
            raise Lost("REDLOCK_LOST", self._why)

    def acquire(self):
        if self._number is not None:
            raise RedlockError("REDLOCK_E_ALREADY_HELD", "this lock is held: make another one for the same key")
        wait = self._members["wait"]
        return self._client._wait(lambda: self._client._request("acquire", self._members, self._granted),
                                  wait / 1000 + _ANSWER_S if isinstance(wait, int) else None)

    def extend(self, ttl=None):
        """The ttl from now on. The agent refuses one that ends before `remaining`."""
        self.check()
        members = {"lock": self._number, "ttl": _ms(ttl)}
        return self._client._wait(lambda: self._client._request("extend", members), self.remaining, self)

    def release(self):
        """Waits for the agent until the deadline at most. Where no agent answers, the next one is told."""
        with self._client._mutex:
            if self._number is None:
                raise Lost("REDLOCK_LOST", self._why)
            given_up = self._client._locks[self._number] = copy.copy(self)
            self._number, self._deadline_us = None, 0
            given_up._give_back()
        return self._client._wait(lambda: given_up._release)

    def _granted(self, answer):
        self._number, self._why = answer["lock"], "its deadline has passed"
        self._client._locks[self._number] = self
        self._deadline_us = answer["deadline_us"] - self._client._offset_us
        self.fence = int(answer["fence"]) if "fence" in answer else None
        self.token, self.slot, self.parts = answer.get("token"), answer.get("slot"), answer.get("parts")
        return self

    def _give_back(self):
        """The lock stays known until the agent has it back, for another one that adopts it."""
        self._on_lost = None
        self._release = self._number > 0 and self._client._request("release", {"lock": self._number},
                                                                   lambda answer: self._forget() and answer)

    def _forget(self):
        number, self._number, self._deadline_us = self._number, None, 0
        self._client._locks.pop(number, None)
        return number

    def _end(self, why):
        self._why, number = why, self._forget()
        self._client._stop_waiting(self._release)
        if self._release is None and number and number > 0:
            self._client._request("release", {"lock": number})
        if number and self._on_lost:
            self._client._tell(self._on_lost, self)


class Lock(_Lock, contextlib.ContextDecorator):
    """As a decorator it is acquired for each call of the function."""

    def _recreate_cm(self):
        return Lock(self._client, self._on_lost, self._members)

    __enter__ = _Lock.acquire

    def __exit__(self, kind, error, trace):
        with contextlib.suppress(*(RedlockError, OSError) if kind else ()):
            self.release()


class AsyncLock(_Lock):
    __aenter__ = _Lock.acquire

    async def __aexit__(self, kind, error, trace):
        with contextlib.suppress(*(RedlockError, OSError) if kind else ()):
            await self.release()


class _Client:
    """Requests by id, locks by number, and a thread that reads. It connects when it is used, and to the next agent."""

    _all = weakref.WeakSet()

    def __init__(self, path=None):
        runtime = os.environ.get("XDG_RUNTIME_DIR") or "/run"
        self.path = path or os.environ.get("REDLOCK_AGENT") or f"{runtime}/redlock.sock"
        self._all.add(self)
        self._mutex = threading.RLock()
        self._ids, self._pending, self._locks = 0, {}, {}
        self._offset_us = 0  # the agent's clock less this program's
        self._closed, self._socket, self._why = False, None, None

    def lock(self, key, *, ttl=10, wait=0, on_lost=None, mode=None, permits=None, fenced=None, label=None, linger=None,
             hold_at_least=None, min_validity=None):
        """A lock on a key, or on several at once (a list). wait: how long to try, or "forever". mode: "shared" or
        "upgradeable". permits="1/10": one of ten. fenced: with a fencing token. linger: how long it outlives the
        connection. on_lost(lock) is called if it is lost, in a thread of its own or by asyncio's loop."""
        return self._lock_type(self, on_lost, {
            "keys" if isinstance(key, (list, tuple)) else "key": key, "ttl": _ms(ttl), "wait": _ms(wait), "mode": mode,
            "permits": permits, "fenced": fenced, "label": label, "linger": _ms(linger),
            "hold_at_least": _ms(hold_at_least), "min_validity": _ms(min_validity)})

    def call(self, op, then=None, **members):
        """Any request of PROTOCOL.md: its answer, or RedlockError."""
        return self._wait(lambda: self._request(op, members, then))

    def close(self):
        """Gives back what is held."""
        self._closed = True
        with self._mutex, contextlib.suppress(OSError):
            for lock in list(self._locks.values()):
                lock._forget()
            if self._socket:
                self._socket.shutdown(socket.SHUT_RDWR)

    @classmethod
    def _leave_to_parent(cls):
        """A child that was forked begins anew. It does not keep the connections of its parent open."""
        for client in cls._all:
            for lock in client._locks.values():
                lock._number, lock._deadline_us, lock._why = None, 0, "the parent has it"
            if client._socket:
                client._socket.close()
            client.__init__(client.path)

    def _request(self, op, members, then=None):
        """`then` gets the answer as soon as it is read, and what it returns is the future's result."""
        future = concurrent.futures.Future()
        with self._mutex:
            if self._closed:
                raise RedlockError("REDLOCK_E_CLOSING", "this client has been closed")
            if self._socket is None:
                self._connect()
            self._ids = future.number = self._ids + 1
            members = {name: value for name, value in members.items() if value is not None}
            line = json.dumps({"id": future.number, "op": op, **members}, ensure_ascii=False).encode() + b"\n"
            if len(line) > 1 << 20 or b"\\u0000" in line.replace(b"\\\\", b""):
                raise ValueError("a text has a NUL character, or the request is longer than 1 MiB")
            self._pending[future.number] = future, op, then
            with contextlib.suppress(OSError):  # the thread finds the end of the connection
                self._socket.sendall(line)
        return future

    @contextlib.contextmanager
    def _asking(self, begin, held=None):
        """What an answer brings for which nobody waits any more is given back. Held: its deadline is the limit."""
        future = begin()
        try:
            yield future
        except BaseException as error:
            with self._mutex, contextlib.suppress(RedlockError):
                if future.cancel():
                    if future.number in self._pending:
                        self._request("cancel", {"request": future.number})
                elif not future.exception() and isinstance(future.result(), _Lock):
                    future.result()._end("nobody waited for it any more")
            if isinstance(error, concurrent.futures.TimeoutError):
                if held:
                    held.check()
                why = f"the agent at {self.path} does not answer"
                raise RedlockError("AGENT_E_GONE", why, {"retry": True}) from None
            raise

    def _connect(self):
        """Requests may follow the first one at once, since it is answered before them."""
        stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            stream.connect(self.path)
        except OSError as error:
            stream.close()
            raise OSError(error.errno, f"{error.strerror}: is `redlock agent` running there?", self.path) from None
        self._socket, asked_us = stream, _now_us()
        self._request("hello", {"version": 1}, lambda answer: self._compare_clocks(asked_us, answer["boottime_us"]))
        for number, lock in self._locks.items():
            self._request("adopt", {"token": lock.token or lock.parts[0]["token"]},
                          lambda answer, number=number: self._adopted(number, answer))
        threading.Thread(target=self._read, args=(stream,), daemon=True, name="redlock-agent").start()

    def _stop_waiting(self, future):
        """What is still asked for settles as done: the next agent is told, or the deadline has passed."""
        if future and self._pending.pop(future.number, None) and future.set_running_or_notify_cancel():
            future.set_result(None)

    def _compare_clocks(self, asked_us, boottime_us):
        """Another time namespace has another clock. The earliest reading that is possible makes a deadline earlier."""
        self._offset_us = 0 if asked_us <= boottime_us <= _now_us() else boottime_us - asked_us

    def _adopted(self, number, grant):
        """What has ended meanwhile is given back."""
        lock = self._locks.pop(number, None)
        if lock is None:
            self._request("release", {"lock": grant["lock"]})
        elif lock._granted(grant)._release is not None:
            lock._give_back()

    def _read(self, stream):
        poll = select.poll()
        poll.register(stream, select.POLLIN)
        part, buffer = True, b""
        with contextlib.suppress(OSError):
            while part:
                if poll.poll(0) or poll.poll(self._expire()):  # the agent may have extended what seems to be over
                    part = stream.recv(1 << 16)
                    *lines, buffer = (buffer + part).split(b"\n")
                    for line in lines:
                        self._received(line)
        self._ended()
        while self._locks:
            time.sleep(0.02)
            self._expire()
            with contextlib.suppress(OSError, RedlockError), self._mutex:
                if self._locks and self._socket is None:
                    self._connect()
                return

    def _received(self, line):
        message = json.loads(line)
        with self._mutex:
            lock, event = self._locks.get(message.get("lock")), message.get("event")
            if event == "closing":
                self._why = message["why"]
            elif lock and event == "lost":
                lock._end(message.get("why") or message.get("loss"))
            elif lock and "deadline_us" in message:
                lock._deadline_us = message["deadline_us"] - self._offset_us
            if event:
                return
            future, op, then = self._pending.pop(message["id"], (concurrent.futures.Future(), None, None))
            if not future.set_running_or_notify_cancel():
                if op == "acquire" and message["ok"]:
                    self._request("release", {"lock": message["lock"]})
            elif message["ok"]:
                future.set_result(then(message) if then else message)
            else:
                status = message["status"]  # with _E_ it says what is wrong with the request
                kind = NotAcquired if op == "acquire" and "_E_" not in status else RedlockError
                kind = Lost if status in ("REDLOCK_LOST", "REDLOCK_E_NOT_HELD") else kind
                future.set_exception(kind(status, message["why"], message))

    def _expire(self):
        """Returns in how many milliseconds the next deadline passes; None: nothing is held."""
        with self._mutex:
            for lock in list(self._locks.values()):
                if lock.remaining == 0:
                    lock._end("its deadline has passed, and the agent has not extended it")
            return min((lock.remaining * 1000 + 1 for lock in self._locks.values()), default=None)

    def _ended(self):
        """What is held has negative numbers until another agent has it."""
        with self._mutex:
            self._socket.close()
            self._socket, why = None, self._why or "it has closed the connection"
            self._locks = {-place: lock for place, lock in enumerate(self._locks.values(), 1)}
            for number, lock in self._locks.items():
                lock._number = number
                self._stop_waiting(lock._release)
            pending, self._pending = self._pending, {}
        for future, _, _ in pending.values():
            if future.set_running_or_notify_cancel():
                future.set_exception(RedlockError("AGENT_E_GONE", f"the agent at {self.path}: {why}", {"retry": True}))


class Client(_Client, contextlib.AbstractContextManager):
    _lock_type = Lock

    def _wait(self, begin, limit=None, held=None):
        with self._asking(begin, held) as future:
            return future and future.result(limit)

    def _tell(self, on_lost, lock):
        threading.Thread(target=on_lost, args=(lock,), daemon=True, name="redlock-lost").start()

    def __exit__(self, *error):
        self.close()


class AsyncClient(_Client, contextlib.AbstractAsyncContextManager):
    _lock_type = AsyncLock

    async def _wait(self, begin, limit=None, held=None):
        self._loop = asyncio.get_running_loop()
        with self._asking(begin, held) as future:
            if future and not (await asyncio.wait({answer := asyncio.wrap_future(future)}, timeout=limit))[0]:
                raise concurrent.futures.TimeoutError
            return future and answer.result()

    def _tell(self, on_lost, lock):
        with contextlib.suppress(RuntimeError):  # the loop has been closed
            self._loop.call_soon_threadsafe(on_lost, lock)

    async def close(self, *_):
        super().close()

    __aexit__ = close


os.register_at_fork(after_in_child=_Client._leave_to_parent)
