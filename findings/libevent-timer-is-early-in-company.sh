#!/bin/sh
# A timer of libevent that is set after 30 ms of work is in time while it is alone, and 20 ms early beside another one.
#
# Seen:  libevent 2.1.12. A callback works for 30 ms, then calls event_add() with 20 ms. The timer fires 20 ms later if
#        it is the only event, and at once if any other event wakes the loop. EVENT_BASE_FLAG_PRECISE_TIMER does not
#        help. event_base_update_cache_time() before event_add() does, but for the few ms of the coarse clock that is
#        read without the flag; with both it is in time.
# Guess: a timer never fires before its time, and a precise one less than others; or: if it does, a test that sets one
#        timer shows it.
# Why:   in a callback, event_add() counts from the instant at which the loop woke. The length of the loop's sleep is
#        reckoned from the same old instant, which makes up for it, unless something else ends the sleep.
# Needs: Python 3 and apt of Debian 12.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download --quiet=2 -o APT::Sandbox::User=root libevent-core-2.1-7=2.1.12-stable-8+deb12u1
dpkg-deb --extract ./*.deb .
PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1 python3 - "$work"/usr/lib/*/libevent_core-2.1.so.7 <<'PROGRAM'
import ctypes
import sys
import time

import servers

PERSIST = 0x10
PRECISE = 0x20
WORK = 0.030
DELAY = 0.020
COARSE = 0.010
Callback = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_short, ctypes.c_void_p)
libevent = ctypes.CDLL(sys.argv[1])
for name in ("event_config_new", "event_base_new_with_config", "event_new"):
    getattr(libevent, name).restype = ctypes.c_void_p
libevent.event_get_version.restype = ctypes.c_char_p
VERSION = f"libevent {libevent.event_get_version().decode()[:6]}"


class Timeval(ctypes.Structure):
    _fields_ = [("tv_sec", ctypes.c_long), ("tv_usec", ctypes.c_long)]


def delay_seen(in_company, precise, update):
    """The time from event_add() to the callback."""
    config = ctypes.c_void_p(libevent.event_config_new())
    libevent.event_config_set_flag(config, PRECISE if precise else 0)
    base = ctypes.c_void_p(libevent.event_base_new_with_config(config))
    begun = ended = 0

    def add(callback, seconds, flags=0):
        event = ctypes.c_void_p(libevent.event_new(base, -1, flags, callback, None))
        libevent.event_add(event, ctypes.byref(Timeval(0, int(seconds * 1e6))))
        return event

    def at_first(*_):
        nonlocal begun
        end = time.monotonic() + WORK
        while time.monotonic() < end:
            pass
        if update:
            libevent.event_base_update_cache_time(base)
        begun = time.monotonic()
        events.append(add(late, DELAY))

    def at_end(*_):
        nonlocal ended
        ended = time.monotonic()
        libevent.event_base_loopbreak(base)

    first, late, nothing = Callback(at_first), Callback(at_end), Callback(lambda *_: None)
    events = [add(first, 0)]
    if in_company:
        events.append(add(nothing, 0.001, PERSIST))
    libevent.event_base_dispatch(base)
    for event in events:
        libevent.event_free(event)
    libevent.event_base_free(base)
    libevent.event_config_free(config)
    return ended - begun


def saw(what, expected, slack=0.0, **options):
    least = min(delay_seen(**options) for _ in range(20))
    found = "at once" if least < DELAY / 4 else "in time" if least >= DELAY - slack else "early"
    servers.saw(VERSION, what, f"{found}: the earliest of 20 after {least * 1e3:.1f} ms", expected)


saw("alone", "in time", in_company=False, precise=False, update=False)
saw("in company", "at once", in_company=True, precise=False, update=False)
saw("in company, precise", "at once", in_company=True, precise=True, update=False)
saw("in company, updated (a coarse clock: up to 10 ms)", "in time", COARSE, in_company=True, precise=False, update=True)
saw("in company, precise, updated", "in time", in_company=True, precise=True, update=True)
servers.end()
PROGRAM
