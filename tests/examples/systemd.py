#!/usr/bin/env python3
"""The unit of tools/examples/orders.service: systemd-analyze finds nothing wrong with it, and of two machines that run
its command one says that it is ready, by the server itself. The other stands by, and takes over.

    systemd.py SOURCE_ROOT REDLOCK MASTER...
"""
import os
import pathlib
import re
import shlex
import shutil
import socket
import struct
import subprocess
import sys
import tempfile

from standby import PATIENCE_S, declare, end, fail

root, redlock, *masters = sys.argv[1:]
redlock = str(pathlib.Path(redlock).resolve())
text = pathlib.Path(root, "tools/examples/orders.service").read_text()
work = pathlib.Path(tempfile.mkdtemp())

# What a server does that knows sd_notify(3).
server = work / "orders-server"
server.write_text(f"""#!{sys.executable}
import os, socket, sys, time
assert sys.argv[1:] == ["--port", "8080"], sys.argv
with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as to:
    to.sendto(b"READY=1\\nSTATUS=serving", os.environ["NOTIFY_SOCKET"])
time.sleep({PATIENCE_S})
""")
server.chmod(0o755)


def verify(unit):
    if not shutil.which("systemd-analyze"):
        print("there is no systemd-analyze: the unit is run, but not verified")
        return
    path = work / "orders.service"
    path.write_text(unit)
    # Manual pages of what is not installed.
    found = subprocess.run(["systemd-analyze", "verify", "--man=no", path], capture_output=True, text=True)
    if found.returncode != 0 or "orders.service" in found.stderr:
        fail(f"systemd-analyze: {found.stderr}")


class Machine:
    """Stands for systemd on one machine: a socket, and the unit's command."""

    def __init__(self, name, command, environment):
        self.notes = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notes.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.notes.settimeout(PATIENCE_S)
        self.notes.bind(str(work / name))
        self.process = subprocess.Popen(command, env=dict(environment, NOTIFY_SOCKET=str(work / name)))

    def next_note(self):
        note, ancillary, _, _ = self.notes.recvmsg(512, socket.CMSG_SPACE(struct.calcsize("3i")))
        return note.decode().split("\n"), struct.unpack("3i", ancillary[0][2])[0]

    def expect(self, wanted, by_redlock):
        while True:
            words, sender = self.next_note()
            if wanted in words and (sender == self.process.pid) == by_redlock:
                return
            if "READY=1" in words:
                fail(f"ready before '{wanted}': {words} of {sender}, redlock is {self.process.pid}")


verify(text.replace("/usr/bin/redlock", redlock).replace("/usr/bin/orders-server", str(server)))
for line in ("Type=notify", "NotifyAccess=all", "TimeoutStartSec=infinity"):
    if line not in text.splitlines():
        fail(f"the unit has no {line}")
words = shlex.split(re.search(r"^ExecStart=(.*)$", text, re.M).group(1))
if words[0] != "/usr/bin/redlock" or "/usr/bin/orders-server" not in words:
    fail(f"not understood: {words}")
command = [redlock, *(str(server) if word == "/usr/bin/orders-server" else word for word in words[1:])]

environment = declare(redlock, masters)
one = Machine("one", command, environment)
one.expect("STATUS=waiting for the lock", by_redlock=True)
one.expect("READY=1", by_redlock=False)
other = Machine("other", command, environment)
other.expect("STATUS=waiting for the lock", by_redlock=True)
status = end(one.process)
one.expect("STOPPING=1", by_redlock=True)
other.expect("READY=1", by_redlock=False)
end(other.process)
if status != -15:
    fail(f"redlock ended with {status}")
shutil.rmtree(work)
