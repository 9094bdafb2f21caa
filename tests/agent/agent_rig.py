"""What the tests of the agent share: three real masters and an agent, connections that say what they like, and a run of
tests that prints TAP."""
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from servers import SERVER, start_server  # noqa: E402  (their place is known only here)

REDLOCK = sys.argv[1]
PATIENCE_S = 60


def wait_for(condition, what):
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until, f"waited in vain for {what}"
        time.sleep(0.002)


def now_us():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000


# A service manager: the descriptor becomes number 3, and the rest of the words the program that has it.
ACTIVATE = [sys.executable, "-c", "import os, sys; os.dup2(int(sys.argv[1]), 3); os.environ.update(LISTEN_FDS='1', "
            "LISTEN_PID=str(os.getpid())); os.execv(sys.argv[2], sys.argv[2:])"]


class Rig:
    """Three masters, reached by sockets in a directory of their own, and the agent."""

    def __init__(self, place, environment):
        self.place = place
        self.socket = os.path.join(place, "agent.sock")
        self.state = os.path.join(place, "state")
        masters = [os.path.join(place, f"{i}.sock") for i in range(3)]
        self.servers = [start_server(path) for path in masters]
        self.environment = dict(os.environ, REDLOCK_NODES=",".join(masters), REDLOCK_AGENT=self.socket, **environment)
        self.agent = None

    def redlock(self, *words):
        done = subprocess.run([REDLOCK, *words], capture_output=True, text=True, timeout=PATIENCE_S, check=False,
                              env=self.environment)
        return done.stdout + done.stderr

    def masters_names(self):
        return self.environment["REDLOCK_NODES"].split(",")

    def masters(self, number):
        """Sends all masters a signal."""
        for server in self.servers:
            server.send_signal(number)

    def begin(self, *options):
        """Masters of a machine that stands still for a second are not missing. What it says goes to a file."""
        with open(os.path.join(self.place, "said"), "w") as said:
            return subprocess.Popen([REDLOCK, "agent", "--socket", self.socket, "--node-timeout", "5s", *options],
                                    env=self.environment, stderr=said)

    def said(self):
        with open(os.path.join(self.place, "said")) as said:
            return said.read()

    def start(self, *options):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notices:
            self.environment["NOTIFY_SOCKET"] = os.path.join(self.place, "notify")
            notices.bind(self.environment["NOTIFY_SOCKET"])
            notices.settimeout(PATIENCE_S)
            self.agent = self.begin(*options)
            assert notices.recv(100) == b"READY=1"
            os.unlink(self.environment.pop("NOTIFY_SOCKET"))

    def stop(self, number=signal.SIGTERM):
        """Its exit code."""
        self.agent.send_signal(number)
        code = self.agent.wait(PATIENCE_S)
        self.agent = None
        return code

    def restart(self, *options):
        assert self.stop() == 0, self.said()
        self.start("--state", self.state, *options)

    def end(self):
        if self.agent:
            self.stop(signal.SIGKILL)
        for server in self.servers:
            server.kill()
            server.wait()
            server.stdout.close()

    def is_free(self, key):
        return "free" in self.redlock("status", key)

    def moment_of_acquisition(self, key):
        """When another program gets the key at last, which it waits for."""
        assert "-" in self.redlock("lock", key, "--wait", f"{PATIENCE_S}s", "--ttl", "1s")
        return now_us()


def is_listening(path):
    with socket.socket(socket.AF_UNIX) as stream:
        return stream.connect_ex(path) == 0


class Simulated:
    """An agent that needs nothing but a socket."""

    def __init__(self, place, *options, real=None):
        self.socket = os.path.join(place, "agent.sock")
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("REDLOCK_")}
        self.environment["REDLOCK_NODES"] = "127.0.0.1:1"  # which is not asked
        self.environment["REDLOCK_AGENT"] = self.socket
        self.said = open(os.path.join(place, "said"), "w+")
        self.agent = subprocess.Popen([REDLOCK, "agent", *(real or ["--simulate"]), "--socket", self.socket, *options],
                                      env=self.environment, stderr=self.said)
        wait_for(lambda: is_listening(self.socket) or self.agent.poll() is not None, "an agent that listens")

    def connect(self):
        return Wire(self)

    def words(self):
        self.said.seek(0)
        return self.said.read()

    def end(self):
        self.agent.send_signal(signal.SIGTERM)
        code = self.agent.wait(PATIENCE_S)
        self.said.close()
        return code


class Wire:
    """A connection that says what it likes."""

    def __init__(self, rig):
        self.stream = socket.socket(socket.AF_UNIX)
        self.stream.settimeout(PATIENCE_S)
        self.stream.connect(rig.socket)
        self.lines = self.stream.makefile("rb")
        self.events = []
        self.id = 0

    def tell(self, text):
        self.stream.sendall(text if isinstance(text, bytes) else (text + "\n").encode())

    def read(self):
        line = self.lines.readline()
        return json.loads(line) if line else None

    def begin(self, op, **members):
        self.id += 1
        self.tell(json.dumps({"id": self.id, "op": op, **members}))
        return self.id

    def answer(self, number):
        """Events that come before it are kept."""
        while (message := self.read()).get("id") != number:
            self.events.append(message)
        return message

    def ask(self, op, **members):
        return self.answer(self.begin(op, **members))

    def get(self, op, **members):
        answer = self.ask(op, **members)
        assert answer["ok"], (op, members, answer)
        return answer

    def refused(self, op, **members):
        """The status and why."""
        answer = self.ask(op, **members)
        assert not answer["ok"], (op, members, answer)
        return answer["status"], answer["why"]

    def event(self, *names):
        """The next one with one of these names."""
        while True:
            message = self.events.pop(0) if self.events else self.read()
            if message["event"] in names:
                return message

    def close(self):
        self.lines.close()
        self.stream.close()


def run_tests(tests, call):
    """TAP of the tests that the command line names, or of all. Each is called by `call`."""
    failed = False
    tests = [test for test in tests if test.__name__ in (sys.argv[2:] or [test.__name__])]
    print(f"1..{len(tests)}")
    for number, test in enumerate(tests, 1):
        try:
            call(test)
            print(f"ok {number} {test.__name__}", flush=True)
        except Exception as error:  # whatever it is, the others are run
            failed = True
            print(f"not ok {number} {test.__name__}")
            print("# " + repr(error).replace("\n", "\n# "), flush=True)
    return 1 if failed else 0


def run(tests, environment=None):
    """Each test begins with an agent that has a file for its state; what it locks it gives back."""
    if SERVER is None:
        print("1..0 # SKIP there is no redis-server")
        return 0
    with tempfile.TemporaryDirectory() as place:
        rig = Rig(place, environment or {})

        def call(test):
            if rig.agent is None:
                rig.start("--state", rig.state)
            test(rig)

        try:
            rig.redlock("nodes", "--new-deployment", "--yes")
            return run_tests(tests, call)
        finally:
            rig.end()
