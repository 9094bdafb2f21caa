"""The protocol of tools/lab/engines/README.md, for engines in Python: run() with an object that has

    name, version, can, on, and ttl_ms if the library uses one when its user names none
    open(settings)                          settings: a dict of the fields of "open"
    acquire(key, ttl_ms, timeout_ms)        a hold, or raises Refused

and holds that have remaining_ms() (None: no end is known) and release() (an outcome), and may have until_ns, an instant
of time.monotonic_ns(). Every operation runs in a thread of its own."""
import os
import sys
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote, unquote, urlsplit

THREADS = 300


class Refused(Exception):
    def __init__(self, reason, text):
        super().__init__(text)
        self.reason = reason


def addresses(settings):
    """(host, port) of each node."""
    nodes = settings["nodes"].split(",")
    parts = [urlsplit(node if "://" in node else "redis://" + node) for node in nodes]
    return [(part.hostname, part.port) for part in parts]


_writing = threading.Lock()


def say(*words):
    with _writing:
        sys.stdout.write(" ".join(str(word) for word in words) + "\n")
        sys.stdout.flush()


def _fail(text):
    say("failed", quote(text) or "-")
    os._exit(1)


class _Runner:
    def __init__(self, engine):
        self.engine = engine
        self.prefix = ""
        self.holds = {}

    def acquire(self, identity, key, ttl_ms, timeout_ms, *_):
        t0 = time.monotonic_ns()
        try:
            hold = self.engine.acquire(self.prefix + unquote(key), int(ttl_ms), int(timeout_ms))
        except Refused as refused:
            say("refused", identity, t0, time.monotonic_ns(), refused.reason, quote(str(refused)) or "-")
            return
        t1 = time.monotonic_ns()
        until = getattr(hold, "until_ns", None)
        self.holds[identity] = hold
        say("acquired", identity, t0, t1, *([] if until is None else [f"until={until}"]))

    def valid(self, identity, *_):
        t0 = time.monotonic_ns()
        remaining = self.holds[identity].remaining_ms()
        say("valid", identity, t0, time.monotonic_ns(), "-" if remaining is None else max(0, int(remaining)))

    def release(self, identity, *_):
        hold = self.holds.pop(identity)
        t0 = time.monotonic_ns()
        outcome = hold.release()
        say("released", identity, t0, time.monotonic_ns(), outcome)

    def open(self, *fields):
        settings = {name: unquote(value) for name, value in (field.split("=", 1) for field in fields)}
        self.prefix = settings.get("prefix", "")
        self.engine.open(settings)
        say("opened")

    def hello(self, *_):
        engine = self.engine
        ttl_ms = getattr(engine, "ttl_ms", 0)
        say("hello", 1, engine.name, engine.version, f"can={engine.can}", f"on={engine.on}",
            *([f"ttl={ttl_ms}"] if ttl_ms else []))

    def bye(self, *_):
        say("bye")
        os._exit(0)


def _guarded(job, fields):
    try:
        job(*fields)
    except Exception:  # a fault of the engine, which ends it
        traceback.print_exc()
        _fail(traceback.format_exc(limit=-1))


def run(engine):
    runner = _Runner(engine)
    pool = ThreadPoolExecutor(THREADS)
    for line in sys.stdin:
        order, *fields = line.rstrip("\n").split(" ")
        if order in ("hello", "open", "bye"):
            _guarded(getattr(runner, order), fields)
        elif order in ("acquire", "valid", "release"):
            pool.submit(_guarded, getattr(runner, order), fields)
        else:
            _fail(f"what is {order}?")
    os._exit(0)  # the end of a holder
