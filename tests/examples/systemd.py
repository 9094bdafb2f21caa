#!/usr/bin/env python3
"""The units of tools/examples: systemd-analyze finds nothing wrong with them. Of two machines that run the command of
orders.service one says that it is ready, by the server itself; the other stands by, and takes over. The agent of
redlock-agent.service says that it is ready when its socket can be used, and one that follows it has its locks. Who
connects to redlock-agent.socket is served when there is an agent.

    systemd.py SOURCE_ROOT REDLOCK MASTER...
"""
import json
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
agent_text = pathlib.Path(root, "tools/examples/redlock-agent.service").read_text()
socket_text = pathlib.Path(root, "tools/examples/redlock-agent.socket").read_text()
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


def verify(name, unit):
    if not shutil.which("systemd-analyze"):
        print("there is no systemd-analyze: the unit is run, but not verified")
        return
    path = work / name
    path.write_text(unit)
    # Manual pages of what is not installed.
    found = subprocess.run(["systemd-analyze", "verify", "--man=no", path], capture_output=True, text=True)
    if found.returncode != 0 or name in found.stderr:
        fail(f"systemd-analyze: {found.stderr}")


class Machine:
    """Stands for systemd on one machine: a socket, and the unit's command."""

    def __init__(self, name, command, environment, **options):
        self.notes = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notes.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.notes.settimeout(PATIENCE_S)
        self.notes.bind(str(work / name))
        self.process = subprocess.Popen(command, env=dict(environment, NOTIFY_SOCKET=str(work / name)),
                                        **options)

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


verify("redlock-agent.service", agent_text.replace("/usr/bin/redlock", redlock))
verify("redlock-agent.socket", socket_text)
verify("orders.service", text.replace("/usr/bin/redlock", redlock).replace("/usr/bin/orders-server", str(server)))
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


def ask(connection, line):
    connection.sendall(line.encode() + b"\n")
    answer = json.loads(connection.makefile().readline())
    if not answer["ok"]:
        fail(f"{line}: {answer}")
    return answer


def connect():
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(str(work / "agent.sock"))
    return connection


words = shlex.split(re.search(r"^ExecStart=(.*)$", agent_text, re.M).group(1))
command = [redlock, *(word.replace("/run/redlock", str(work)) for word in words[1:])]
group = command.index("--socket-group")
del command[group:group + 2]  # there is none of that name here
agent = Machine("agent", command, environment)
agent.expect("READY=1", by_redlock=True)
with connect() as program:
    grant = ask(program, '{"id": 1, "op": "acquire", "key": "orders"}')
    end(agent.process)
agent = Machine("next", command, environment)
agent.expect("READY=1", by_redlock=True)
with connect() as program:
    if ask(program, json.dumps({"id": 1, "op": "adopt", "token": grant["token"]}))["ttl_ms"] != 10000:
        fail("the next agent has another lock")
end(agent.process)

# The socket of redlock-agent.socket: who connects before there is an agent waits, and so does who loses one.
if re.search(r"^RuntimeDirectory=(.*)$", agent_text, re.M).group(1) in re.search(r"^ListenStream=(.*)$", socket_text,
                                                                                re.M).group(1).split("/"):
    fail("the socket goes with the runtime directory of the service")
path = str(work / "systemd.sock")
with socket.socket(socket.AF_UNIX) as listening:
    listening.bind(path)
    listening.listen()
    activate = ("import os, sys; os.dup2(int(sys.argv[1]), 3); os.environ.update(LISTEN_FDS='1', "
                "LISTEN_PID=str(os.getpid())); os.execv(sys.argv[2], sys.argv[2:])")
    activated = [sys.executable, "-c", activate, str(listening.fileno()), *command]
    others = {name: value for name, value in environment.items() if name != "REDLOCK_NODES"}
    runs = subprocess.Popen([redlock, "run", "activated", "--agent", path, "--wait", "forever", "--ttl", "5s", "--", "sh",
                             "-c", "echo begun; read line; echo $line"], env=others, text=True, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE)
    for name in ("first", "second"):
        agent = Machine(name, activated, environment, pass_fds=[listening.fileno()])
        agent.expect("READY=1", by_redlock=True)
        if name == "first" and runs.stdout.readline() != "begun\n":
            fail("the agent has not answered at the socket that it was given")
        if (work / "agent.sock").exists():
            fail("the agent has opened a socket of its own")
        if name == "first":
            end(agent.process)
    said, _ = runs.communicate("done\n", timeout=PATIENCE_S)
    if said != "done\n" or runs.returncode != 0:
        fail(f"the lock was not taken up by the next agent: {runs.returncode} {said}")
    end(agent.process)
    if not pathlib.Path(path).exists():
        fail("the agent has removed the socket of the manager")
shutil.rmtree(work)
