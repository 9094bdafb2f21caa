#!/usr/bin/env python3
"""Every field that a command prints is explained in redlock(1). Prints TAP. Usage: test_json.py PATH_OF_REDLOCK"""
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
import json_fields  # noqa: E402  (its place is known only here)
from servers import SERVER, start_server  # noqa: E402

REDLOCK = sys.argv[1]
PAGE = "redlock.1"
WATCHDOG_S = 60


class Masters:
    """Three, reached by sockets in a directory of their own."""

    def __init__(self, place):
        self.sockets = [os.path.join(place, f"{i}.sock") for i in range(3)]
        self.servers = [start_server(path) for path in self.sockets]
        self.environment = dict(os.environ, REDLOCK_NODES=",".join(self.sockets))

    def redlock(self, expected, *words, stdin=""):
        """The documents that it prints. Masters of a machine that stands still for a second are not missing."""
        patience = [] if words[0] == "check" else ["--node-timeout", "5s"]
        done = subprocess.run([REDLOCK, words[0], *patience, *words[1:]], input=stdin, capture_output=True, text=True, timeout=WATCHDOG_S,
                              check=False, env=self.environment)
        assert done.returncode == expected, f"{words}: exit code {done.returncode}: {done.stdout}{done.stderr}"
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("{")]
        assert lines, f"{words}: no JSON: {done.stdout}{done.stderr}"
        documents = [json.loads(line) for line in lines]
        for document in documents:
            json_fields.check(document, PAGE)
        return documents[-1]

    def tell(self, command):
        """The first master, one command in its inline form."""
        with socket.socket(socket.AF_UNIX) as master:
            master.connect(self.sockets[0])
            master.sendall(command.encode() + b"\r\n")
            assert master.recv(100).startswith(b":"), command

    def end(self):
        for server in self.servers:
            server.send_signal(signal.SIGKILL)
            server.wait()
            server.stdout.close()


def what_is_printed_is_explained(masters):
    hold = os.path.join(os.path.dirname(masters.sockets[0]), "hold.json")
    nodes = masters.redlock(1, "nodes", "--json")
    assert nodes["verdict"] == "unsafe" and nodes["masters"][0]["advice"], nodes
    masters.redlock(3, "lock", "k", "--json")
    masters.redlock(0, "nodes", "--new-deployment", "--yes", "--json")
    first = masters.redlock(0, "lock", "k", "--json", "--fenced")
    assert first["fence"] >= 1 and len(first["masters"]) == 3, first
    masters.redlock(1, "lock", "k", "--json", "--wait", "200ms")
    masters.redlock(0, "status", "k", "--json")
    masters.redlock(0, "status", "k", "--json", "--verbose")
    listed = masters.redlock(0, "ls", "--json")
    assert [(key["key"], key["kind"], key["verdict"]) for key in listed["keys"]] == [("k", "lock", "held")], listed
    masters.redlock(1, "status", "k", "--latch", "--json")
    masters.tell('HSET redlock:latch:k n 2 gen 4 was "3 2" open 1 a:somebody 1')
    latch = masters.redlock(0, "status", "k", "--latch", "--json")
    assert latch["masters"][0]["generation_before"] == "3" and latch["arrived"] == ["somebody"], latch
    masters.redlock(124, "run", "--key", "k", "--json-log", "--verbose", "--", "true")
    released = masters.redlock(0, "unlock", "k", "-", "--json", stdin=first["token"] + "\n")
    assert released["status"] == "REDLOCK_OK", released
    masters.redlock(1, "unlock", "k", "-", "--json", stdin=first["token"] + "\n")
    masters.redlock(1, "break", "k", "--yes", "--json")
    masters.redlock(0, "lock", "k", "--token-file", "-")
    broken = masters.redlock(0, "break", "k", "--yes", "--json")
    assert all(master["present"] and master["pttl_ms"] > 0 for master in broken["masters"]), broken
    masters.redlock(0, "run", "--key", "k", "--json-log", "--verbose", "--lock-file", "-", "--", "true")
    masters.redlock(0, "run", "--key", "k", "--lock-file", hold, "--", "cat", hold)


def what_goes_wrong_is_explained(masters):
    for server in masters.servers[:2]:
        server.kill()
        server.wait()
    masters.redlock(3, "nodes", "--json")
    masters.redlock(3, "status", "k", "--json")
    masters.redlock(3, "lock", "k", "--json")
    masters.redlock(3, "unlock", "k", "token", "--json")
    masters.redlock(3, "break", "k", "--yes", "--json")
    masters.redlock(122, "run", "--key", "k", "--json-log", "--", "true")


def what_the_source_can_print_is_explained(masters):
    """Also what this test has not brought about."""
    names = {"key", "key_hex", "schema"}
    for source in (ROOT / "tools/cli").rglob("*.c"):
        for call in re.findall(r"cli_json_\w+\(([^;]*);", source.read_text(encoding="utf-8")):
            names.update(re.findall(r'^[^"]*?, (?:\w+ \? )?"([a-z_0-9]+)"(?: : "[a-z_0-9]+")?', call))
    missing = names - json_fields.documented(PAGE)
    assert len(names) > 50 and not missing, f"{PAGE} does not explain {sorted(missing)}"


def main():
    tests = [what_is_printed_is_explained, what_goes_wrong_is_explained, what_the_source_can_print_is_explained]
    failed = False
    if SERVER is None:
        print("1..0 # SKIP there is no redis-server")
        return 0
    print(f"1..{len(tests)}")
    with tempfile.TemporaryDirectory() as place:
        masters = Masters(place)
        try:
            for number, test in enumerate(tests, 1):
                try:
                    test(masters)
                    print(f"ok {number} {test.__name__}")
                except AssertionError as error:
                    failed = True
                    print(f"not ok {number} {test.__name__}")
                    print("# " + str(error).replace("\n", "\n# "))
        finally:
            masters.end()
    return 1 if failed else 0


sys.exit(main())
