"""What the tests of the service examples share: masters that vote, processes that end, waiting with a limit."""
import os
import signal
import subprocess
import sys
import time

PATIENCE_S = 60


def skip(reason):
    print(f"SKIP: {reason}")
    sys.exit(77)


def fail(text):
    print(text)
    sys.exit(1)


def declare(redlock, masters):
    """The environment of commands on these masters, which are declared new."""
    environment = dict(os.environ, REDLOCK_NODES=",".join(masters))
    for name in ("NOTIFY_SOCKET", "WATCHDOG_USEC", "REDLOCK_PASSWORD"):
        environment.pop(name, None)
    subprocess.run([redlock, "nodes", "--new-deployment", "--yes"], env=environment, check=True,
                   stdout=subprocess.DEVNULL)
    return environment


def wait_until(true, what):
    end = time.monotonic() + PATIENCE_S
    while not true():
        if time.monotonic() > end:
            fail(f"not within {PATIENCE_S} s: {what}")
        time.sleep(0.02)


def end(process, pid=None):
    """As a manager does it: SIGTERM. The status."""
    os.kill(pid or process.pid, signal.SIGTERM)
    return process.wait(PATIENCE_S)
