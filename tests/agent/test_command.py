#!/usr/bin/env python3
"""The commands by `--agent`, which then name no masters, on three real masters and an agent. A command under a lock ends
before anybody else has the lock, whatever becomes of the agent. Usage: test_command.py PATH_OF_REDLOCK [TEST...]"""
import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading

from agent_rig import ACTIVATE, PATIENCE_S, REDLOCK, Wire, now_us, run, wait_for

# A process that tells the time for as long as it lives, and what it was told of its lock.
BEAT = """
import json, os, sys, time
print(json.dumps({name: os.environ[name] for name in os.environ if name.startswith("REDLOCK_")}), os.getpid(), flush=True)
while True:
    print(time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000, flush=True)
    time.sleep(0.001)
"""


def environment_of(rig):
    return {name: value for name, value in rig.environment.items() if name != "REDLOCK_NODES"}


def begin(rig, *words, **options):
    return subprocess.Popen([REDLOCK, *words], env=environment_of(rig), text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, **options)


def do(rig, *words, code=0, told=None):
    """What it prints: with REDLOCK_AGENT, and without masters."""
    process = begin(rig, *words, stdin=subprocess.PIPE)
    out, errors = process.communicate(told, PATIENCE_S)
    assert process.returncode == code, (words, process.returncode, out, errors)
    return out if code == 0 else out + errors


class Run:
    """A `redlock run` whose command tells the time; behind `before`, another command that executes it."""

    def __init__(self, rig, key, *options, before=()):
        self.process = subprocess.Popen([*before, REDLOCK, "run", key, "--verbose", *options, "--", sys.executable, "-c",
                                         BEAT], env=environment_of(rig), text=True, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.latest_us, self.said = 0, ""
        first, _, pid = self.process.stdout.readline().rpartition(" ")
        self.environment, self.pid = json.loads(first), int(pid)
        self.readers = [threading.Thread(target=read) for read in (self.read_beats, self.read_words)]
        for reader in self.readers:
            reader.start()

    def read_beats(self):
        for line in self.process.stdout:
            self.latest_us = int(line)

    def read_words(self):
        for line in self.process.stderr:
            self.said += line

    def waits_for(self, words):
        wait_for(lambda: words in self.said, f"'{words}' in: {self.said}")

    def end(self, number=None):
        """The status of `redlock run`, when all is said."""
        if number is not None:
            self.process.send_signal(number)
        status = self.process.wait(PATIENCE_S)
        for reader in self.readers:
            reader.join()
        return status


# --- Commands that do one thing

def locks_are_taken_and_given_up_without_masters(rig):
    token = do(rig, "lock", "one", "--fence", "--label", "mine").split()[0]
    assert "mine/" in do(rig, "lock", "one", code=1)
    seen = json.loads(do(rig, "status", "one", "--json"))
    assert seen["verdict"] == "held" and seen["held_by"][0]["token_prefix"] == token[:8], seen
    assert "mine/" in do(rig, "status", "one") and not rig.is_free("one")
    answer = json.loads(do(rig, "unlock", "one", "-", "--json", told=token))
    assert answer["deleted"] >= 2 and len(answer["masters"]) == 3, answer
    assert rig.is_free("one") and "was not held" in do(rig, "unlock", "one", token, code=1)
    do(rig, "status", "one", code=1)


def a_file_is_good_with_the_agent_and_without(rig):
    path = os.path.join(rig.place, "hold.json")
    do(rig, "lock", "-k", "p", "-k", "q", "--fence", "--ttl", "20s", "-f", path)
    first = int(do(rig, "check", path))
    assert "extended" in rig.redlock("extend", path, "--ttl", "40s", "-v")
    second = int(do(rig, "check", path))
    answer = json.loads(do(rig, "extend", path, "--ttl", "59s", "--json"))
    assert first <= 20000 < second <= 40000 < int(do(rig, "check", path)) <= 59000
    assert answer["quorum"] == 2 and answer["granted"] == 3 and [part["key"] for part in answer["locks"]] == ["p", "q"]
    do(rig, "extend", path, "--ttl", "20s", code=2)
    do(rig, "unlock", "-f", path)
    assert rig.is_free("p") and rig.is_free("q") and not os.path.exists(path)


def permits_and_shared_locks(rig):
    lines = [line.split() for line in do(rig, "lock", "pool", "--permits", "2/3").splitlines()]
    assert sorted(int(slot) for _, slot in lines) == sorted({int(slot) for _, slot in lines})
    assert "too many permits" in do(rig, "lock", "pool", "--permits", "2/3", code=1)
    do(rig, "unlock", "pool", lines[0][0], "--slot", lines[0][1])
    do(rig, "lock", "pool", "--permits", "2/3")
    tokens = [do(rig, "lock", "shared", "--shared").strip() for _ in range(2)]
    do(rig, "lock", "shared", code=1)
    assert len(json.loads(do(rig, "status", "shared", "--json"))["held_by"]) == 2
    for token in tokens:
        do(rig, "unlock", "shared", token)
    assert rig.is_free("shared")


def latches_open_when_all_have_arrived(rig):
    name = ("import", "--parties", "2", "--generation", "18446744073709551615")
    do(rig, "latch", "arrive", *name, "--party", "east")
    assert "1 of 2 parties" in do(rig, "latch", "await", *name, "--wait", "0", code=1)
    waiting = begin(rig, "latch", "await", *name, "--json")
    do(rig, "latch", "arrive", *name, "--party", "west", "--keep", "1h")
    assert json.loads(waiting.communicate(timeout=PATIENCE_S)[0])["arrived"] == ["east", "west"]
    do(rig, "latch", "await", "import", "--parties", "3", "--generation", name[-1], code=2)


def what_does_not_go_together_is_refused(rig):
    for option in ("--nodes=a,b", "--quorum=2", "--max-ttl=5s", "--password-file=x", "--tls-ca=x", "--node-timeout=2s",
                   "--profile=classic", "--prefix=x", "--may-follow=x"):
        words = do(rig, "lock", "x", "--agent", rig.socket, option, code=2)
        assert option.split("=")[0] + " has no place beside --agent" in words, words
    for option in ("--latch", "--permits=3", "--verbose"):
        assert "name the masters" in do(rig, "status", "x", option, code=2)
    assert "ttl" in do(rig, "lock", "x", "--ttl", "10m", code=2)
    assert "x" * 40 in do(rig, "lock", "x", "--agent", "x" * 200, code=3)
    assert "free" in rig.redlock("status", "x", "--agent", rig.socket)


def keys_that_the_agent_does_not_allow(rig):
    rig.restart("--allow", "*:ours/")
    assert "may not use the key 'x'" in do(rig, "lock", "x", code=2)
    assert "may not use the key 'x'" in do(rig, "unlock", "x", "token", code=2)
    assert "may not use the key 'x'" in do(rig, "run", "x", "--", "true", code=125)
    do(rig, "run", "ours/x", "--", "true")
    rig.restart()


def an_agent_that_is_not_there_is_waited_for(rig):
    rig.stop()
    assert "is 'redlock agent' running there?" in do(rig, "lock", "later", code=3)
    do(rig, "status", "later", code=3)
    assert "is 'redlock agent' running there?" in do(rig, "run", "later", "--", "true", code=125)
    waiting = begin(rig, "run", "later", "--wait", "forever", "--", "echo", "now")
    rig.start("--state", rig.state)
    assert waiting.communicate(timeout=PATIENCE_S)[0] == "now\n" and waiting.returncode == 0


def an_agent_that_does_not_answer_is_named(rig):
    rig.agent.send_signal(signal.SIGSTOP)
    try:
        assert "does not answer" in do(rig, "lock", "mute", code=3)
    finally:
        rig.agent.send_signal(signal.SIGCONT)
    do(rig, "lock", "mute", "--wait", "20s", "--ttl", "1s")


def an_agent_that_has_no_place_says_so(rig):
    rig.restart("--max-connections", "1")
    wire = Wire(rig)
    wire.get("ping")
    assert "(--max-connections)" in do(rig, "lock", "full", code=3)
    waiting = begin(rig, "run", "full", "--wait", "forever", "--", "true")
    wire.close()
    assert waiting.wait(PATIENCE_S) == 0
    rig.restart()


def masters_that_are_missing_are_named(rig):
    for server in rig.servers[1:]:
        server.send_signal(signal.SIGSTOP)
    try:
        rig.restart("--node-timeout", "300ms")
        words = do(rig, "lock", "few", code=3)
        assert "of 3 masters" in words and "(2 needed)" in words and rig.masters_names()[1] in words, words
        assert "of 3 masters" in do(rig, "run", "few", "--", "true", code=122)
        do(rig, "status", "few", code=3)
    finally:
        rig.masters(signal.SIGCONT)
        rig.restart()


def a_key_of_another_program_is_not_waited_for(rig):
    for name in rig.masters_names()[:2]:
        with socket.socket(socket.AF_UNIX) as master:
            master.connect(name)
            master.sendall(b"SET foreign x\r\n")
            assert master.recv(10) == b"+OK\r\n"
    assert "another program" in do(rig, "run", "foreign", "--wait", "forever", "--", "true", code=121)
    do(rig, "lock", "foreign", code=4)
    do(rig, "status", "foreign", code=4)


def bytes_that_are_no_text_are_refused(rig):
    for words in (("lock", b"\xff"), ("run", b"\xff", "--", "true"), ("status", b"\xff"), ("unlock", "k", b"\xff")):
        assert "no UTF-8" in do(rig, *words, code=125 if words[0] == "run" else 2)


def what_a_command_leaves_behind_keeps_the_lock_and_is_told(rig):
    run = begin(rig, "run", "left", "--ttl", "1s", "--", "sh", "-c", "sleep 600 & echo $!")
    left = int(run.stdout.readline())
    wait_for(lambda: not rig.is_free("left#ended"), "a note for others")
    assert "has ended, but not all that this has started" in do(rig, "run", "left", "--", "true", code=124)
    os.kill(left, signal.SIGTERM)
    assert run.wait(PATIENCE_S) == 0
    wait_for(lambda: rig.is_free("left#ended"), "the end of the note")
    assert rig.is_free("left")


def another_program_at_the_socket_is_named(rig):
    path = os.path.join(rig.place, "other.sock")
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(path)
        other.listen()
        asking = begin(rig, "lock", "x", "--agent", path)
        stream, _ = other.accept()
        with stream:
            stream.sendall(b"HTTP/1.1 400 Bad Request\r\n")
            assert "no JSON" in asking.communicate(timeout=PATIENCE_S)[1] and asking.returncode == 3


class StandIn:
    """An agent that has nobody behind it: it grants what is asked for until it is told what not to answer."""

    def __init__(self, rig, *silent):
        self.path, self.asked, self.waits = os.path.join(rig.place, "stand-in.sock"), [], []
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)
        self.listening = socket.socket(socket.AF_UNIX)
        self.listening.bind(self.path)
        self.listening.listen()
        self.silent = silent
        self.server = threading.Thread(target=self.serve, daemon=True)
        self.server.start()

    def close(self):
        """The thread must have left accept(): another socket may get the number of the descriptor."""
        self.listening.shutdown(socket.SHUT_RDWR)
        self.server.join()
        self.listening.close()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                stream, _ = self.listening.accept()
                threading.Thread(target=self.answer, args=(stream,), daemon=True).start()

    def answer(self, stream):
        with stream, stream.makefile() as lines:
            for line in lines:
                request = json.loads(line)
                self.asked.append(request["op"])
                self.waits += [request["wait"]] if request["op"] == "acquire" else []
                words = {"id": request["id"], "ok": True, "boottime_us": now_us(), "lock": 1, "token": "t",
                         "deadline_us": now_us() + 20000000, "ttl_ms": 20000}
                if request["op"] not in self.silent:
                    stream.sendall(json.dumps(words).encode() + b"\n")


def a_signal_ends_a_command_that_waits_for_the_agent(rig):
    agent = StandIn(rig, "export", "latch", "look")
    for op, words in (("export", ("lock", "x")), ("look", ("status", "x")),
                      ("latch", ("latch", "await", "x", "--parties", "2", "--generation", "1"))):
        waiting = begin(rig, *words, "--agent", agent.path)
        wait_for(lambda: op in agent.asked, op)
        waiting.send_signal(signal.SIGINT)
        _, errors = waiting.communicate(timeout=PATIENCE_S)
        assert waiting.returncode == -signal.SIGINT, (words, waiting.returncode, errors)
    agent.close()


def a_command_waits_as_long_as_it_is_told(rig):
    """However late it comes to ask: many at one time are slow."""
    agent = StandIn(rig)
    for process in [begin(rig, "lock", "x", "--agent", agent.path) for _ in range(20)]:
        process.communicate(timeout=PATIENCE_S)
    assert agent.waits == [0] * 20, agent.waits
    do(rig, "lock", "x", "--agent", agent.path, "--wait", "forever")
    do(rig, "lock", "x", "--agent", agent.path, "--wait", "50s")
    assert agent.waits[20] == "forever" and 40000 < agent.waits[21] <= 50000, agent.waits
    agent.close()


def an_agent_that_has_granted_and_is_silent_then_is_named(rig):
    agent = StandIn(rig, "export", "ping")
    assert "does not answer" in do(rig, "lock", "x", "--agent", agent.path, "-f", os.path.join(rig.place, "x.json"), code=3)
    assert "release" in agent.asked, agent.asked
    agent.close()


# --- redlock run

def a_command_runs_under_the_lock(rig):
    run = Run(rig, "job", "--fence", "--ttl", "1s", "--label", "mine")
    assert int(run.environment["REDLOCK_FENCE"]) > 0 and run.environment["REDLOCK_KEY"] == "job", run.environment
    assert run.environment["REDLOCK_NODES_OK"] in ("2/3", "3/3"), run.environment
    assert "mine/" in rig.redlock("status", "job") and "mine/" in do(rig, "run", "job", "--", "true", code=124)
    until_us = int(run.environment["REDLOCK_VALID_UNTIL"]) / 1000
    wait_for(lambda: run.latest_us > until_us + 1000000, "a command that outlives the first deadline by renewals")
    run.waits_for("is renewed: 3/3 masters")
    assert run.end(signal.SIGTERM) == -signal.SIGTERM and "'job' is released" in run.said and rig.is_free("job")


def no_descriptor_of_the_agent_reaches_the_command(rig):
    seen = do(rig, "run", "fds", "--", "sh", "-c", "ls -l /proc/$$/fd")
    assert "pipe:" in seen and "socket:" not in seen, seen


def a_wait_is_told_and_ends_by_a_signal(rig):
    wire = Wire(rig)
    wire.get("acquire", key="awaited", label="theirs")
    waiting = begin(rig, "run", "awaited", "--wait", "forever", "--", "true")
    assert "theirs/" in waiting.stderr.readline()
    waiting.terminate()
    assert waiting.wait(PATIENCE_S) == -signal.SIGTERM
    waiting = begin(rig, "run", "awaited", "--wait", "forever", "--", "true")
    wait_for(lambda: wire.get("look", key="awaited")["waiting"] == 1, "the one who waits, and not the other")
    rig.restart()
    wire = Wire(rig)
    rig.redlock("break", "awaited", "--yes")
    assert waiting.wait(PATIENCE_S) == 0


def a_lock_is_held_at_least_so_long(rig):
    begun_us = now_us()
    do(rig, "run", "least", "--hold-at-least", "3s", "--", "true")
    ended_us = now_us()
    moment_us = rig.moment_of_acquisition("least")
    assert begun_us + 3000000 <= moment_us < ended_us + 20000000 and ended_us < begun_us + 3000000
    do(rig, "run", "not-begun", "--hold-at-least", "50s", "--", "/no/such/command", code=127)
    assert rig.is_free("not-begun")


def processes_of(group):
    """How many live in the process group."""
    found = 0
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, of = path.read_text().rpartition(") ")[2].split()[:3]
            found += of == str(group) and state not in "ZX"
    return found


MANY = "for i in $(seq 400); do sleep 600 & done; echo $$; wait"


def is_taken_over_when_nothing_is_left(rig, key, ttl, before_kill):
    """The command's group is looked at as soon as another has the lock, and the kill takes a while."""
    run = begin(rig, "run", key, "--ttl", ttl, "--verbose", "--", "sh", "-c", MANY)
    group = int(run.stdout.readline())
    assert processes_of(group) == 401
    before_kill(run)
    wire, watcher = Wire(rig), Wire(rig)
    waiting = wire.begin("acquire", key=key, wait="forever")
    wait_for(lambda: watcher.get("look", key=key)["waiting"] == 1, "another one who waits")
    killed_us = now_us()
    run.kill()
    assert wire.answer(waiting)["ok"]
    left, took_us = processes_of(group), now_us() - killed_us
    assert left == 0, f"{left} processes are left of the command"
    assert took_us < int(ttl[:-1]) * 500000, took_us
    run.wait()
    wire.close()


def a_killed_run_is_taken_over_at_once(rig):
    is_taken_over_when_nothing_is_left(rig, "taken", "50s", lambda run: None)


def a_run_that_was_taken_up_by_the_next_agent_as_well(rig):
    def restart(run):
        rig.restart()
        for words in ("has ended the connection", "is renewed"):
            while words not in run.stderr.readline():
                assert run.poll() is None

    is_taken_over_when_nothing_is_left(rig, "taken-up", "8s", restart)


# --- An agent that fails

def ends_before_another_has_it(rig, key, fail, before=(), ahead_us=0):
    """The clock of the command may be ahead."""
    run = Run(rig, key, "--ttl", "2s", before=before)
    wait_for(lambda: run.latest_us > 0, "the command")
    moments = []
    other = threading.Thread(target=lambda: moments.append(rig.moment_of_acquisition(key)))
    fail()
    other.start()
    assert run.end() == 123, run.said
    other.join()
    latest_us = run.latest_us - ahead_us
    assert latest_us < moments[0], f"{latest_us - moments[0]} us too long"
    assert not os.path.exists(f"/proc/{run.pid}")
    return run


def a_stopped_agent_ends_the_command_in_time(rig):
    try:
        run = ends_before_another_has_it(rig, "stopped", lambda: rig.agent.send_signal(signal.SIGSTOP))
    finally:
        rig.agent.send_signal(signal.SIGCONT)
    assert "could not be renewed: the command is warned" in run.said, run.said


def in_a_time_namespace_the_agents_clock_is_another(rig):
    before = ["unshare", "--time", "--boottime", "1000000", "--monotonic", "1000000"]
    if subprocess.run([*before, "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        print("# no time namespace can be made here")
        return
    ends_before_another_has_it(rig, "elsewhere", lambda: rig.stop(signal.SIGKILL), before, 1000000 * 1000000)


def a_killed_agent_ends_the_command_in_time(rig):
    run = ends_before_another_has_it(rig, "killed", lambda: rig.stop(signal.SIGKILL))
    assert "has ended the connection" in run.said, run.said


def an_agent_that_does_not_know_the_lock_ends_the_command_in_time(rig):
    def restart():
        rig.stop(signal.SIGKILL)
        rig.start("--state", rig.state)

    run = ends_before_another_has_it(rig, "unknown", restart)
    assert "does not know it" in run.said, run.said


def the_next_agent_takes_up_the_lock(rig):
    run = Run(rig, "kept", "--ttl", "2s")
    for _ in range(2):
        rig.restart()
        restarted_us = now_us()
        wait_for(lambda: run.latest_us > restarted_us + 3000000 or run.process.poll() is not None, "a command that lives")
    assert run.process.poll() is None, run.said
    assert run.environment["REDLOCK_TOKEN"][:8] in rig.redlock("status", "kept")
    assert run.end(signal.SIGTERM) == -signal.SIGTERM and "is released" in run.said, run.said
    assert rig.is_free("kept")


def an_agent_that_comes_late_takes_up_the_lock(rig):
    """What was asked of it meanwhile is to be found on a connection that is open still."""
    run = Run(rig, "late", "--ttl", "45s")
    rig.stop()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(rig.socket)
        listening.listen()
        since_us = now_us()
        wait_for(lambda: now_us() > since_us + 8000000, "the end of the patience of a command that holds nothing")
        rig.agent = subprocess.Popen([*ACTIVATE, str(listening.fileno()), os.path.abspath(REDLOCK), "agent", "--state",
                                      rig.state], env=rig.environment, pass_fds=[listening.fileno()])
        wait_for(lambda: "is renewed" in run.said or "does not know it" in run.said, "a renewal")
        assert run.environment["REDLOCK_TOKEN"][:8] in rig.redlock("status", "late"), run.said
        assert run.end(signal.SIGTERM) == -signal.SIGTERM and "'late' is released" in run.said, run.said
        rig.stop()
    os.unlink(rig.socket)


def a_lock_that_no_agent_knows_is_released_by_its_token(rig):
    run = Run(rig, "orphan", "--ttl", "59s")
    rig.stop(signal.SIGKILL)
    run.waits_for("has ended the connection")
    rig.start("--state", rig.state)
    run.waits_for("does not know it")
    assert run.end(signal.SIGTERM) == -signal.SIGTERM and rig.is_free("orphan"), run.said


def a_lock_that_is_lost_is_told(rig):
    run = Run(rig, "broken", "--ttl", "30s")
    rig.redlock("break", "broken", "--yes")
    assert run.end() == 123 and "'broken' is lost: too many masters no longer had the key" in run.said, run.said


def a_lock_that_is_gone_at_the_release_is_told(rig):
    run = Run(rig, "gone", "--ttl", "55s")
    rig.redlock("break", "gone", "--yes")
    assert run.end(signal.SIGTERM) == -signal.SIGTERM
    assert "masters no longer had 'gone' when it was to be released" in run.said, run.said


if __name__ == "__main__":
    sys.exit(run([
        locks_are_taken_and_given_up_without_masters,
        a_file_is_good_with_the_agent_and_without,
        permits_and_shared_locks,
        latches_open_when_all_have_arrived,
        what_does_not_go_together_is_refused,
        keys_that_the_agent_does_not_allow,
        an_agent_that_is_not_there_is_waited_for,
        an_agent_that_does_not_answer_is_named,
        an_agent_that_has_no_place_says_so,
        masters_that_are_missing_are_named,
        a_key_of_another_program_is_not_waited_for,
        bytes_that_are_no_text_are_refused,
        another_program_at_the_socket_is_named,
        a_signal_ends_a_command_that_waits_for_the_agent,
        a_command_waits_as_long_as_it_is_told,
        an_agent_that_has_granted_and_is_silent_then_is_named,
        a_command_runs_under_the_lock,
        no_descriptor_of_the_agent_reaches_the_command,
        a_wait_is_told_and_ends_by_a_signal,
        a_lock_is_held_at_least_so_long,
        what_a_command_leaves_behind_keeps_the_lock_and_is_told,
        a_killed_run_is_taken_over_at_once,
        a_run_that_was_taken_up_by_the_next_agent_as_well,
        a_stopped_agent_ends_the_command_in_time,
        in_a_time_namespace_the_agents_clock_is_another,
        a_killed_agent_ends_the_command_in_time,
        an_agent_that_does_not_know_the_lock_ends_the_command_in_time,
        the_next_agent_takes_up_the_lock,
        an_agent_that_comes_late_takes_up_the_lock,
        a_lock_that_no_agent_knows_is_released_by_its_token,
        a_lock_that_is_lost_is_told,
        a_lock_that_is_gone_at_the_release_is_told,
    ]))
