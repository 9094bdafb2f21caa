#!/usr/bin/env python3
"""Situations that every client of the agent has to pass, on real masters; with --simulate most of them, on an agent that
simulates its masters. Prints TAP, and how long a lock took to change hands.

Usage: conformance.py PATH_OF_REDLOCK DRIVER [--simulate] [SITUATION...]

DRIVER is the command of a small program that uses the client in question. It reads a command a line, a JSON object with
`id` and `do`, and prints a line for each, with that id, as soon as it is done: several may be under way.

    lock       name, key or keys, ttl, wait, fenced, mode      fence (as text); what is held has that name from now on
    cancel     of: the id of a lock that waits                 the lock itself is answered with `canceled`
    remaining  name                                            remaining
    extend     name, ttl
    release    name
    wait-lost  name                                            when the client tells that the lock is lost: remaining
    child      starts a program that lives on                  pid
    fork       name                                            remaining, as a forked child sees it
    close

and, of what only PHP has,

    abandon    of: the id of a lock that waits; its Fiber is gone
    blind      name                                            remaining, as a program sees it that cannot read the clock
    copy, serialize   name
    forever    waits for an infinite number of seconds

Times are milliseconds. What fails is answered with `error`, which is not-acquired, lost, or other, and `why`, the text
of the error. What a language does not have is answered with `unsupported`."""
import contextlib
import functools
import json
import os
import resource
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

DRIVER = shlex.split(sys.argv.pop(2))
SIMULATE = sys.argv[2:3] == ["--simulate"]
if SIMULATE:
    sys.argv.pop(2)
sys.dont_write_bytecode = True
from agent_rig import PATIENCE_S, Simulated, Wire, run, run_tests, wait_for  # noqa: E402  (it reads the arguments)

MAJORITY = 2  # of the three masters
MANY_DESCRIPTORS = [sys.executable, "-c", "import os, sys\nfor _ in range(1024): os.dup2(2, os.dup(2))\n"
                    "os.execvp(sys.argv[1], sys.argv[1:])"]


class Unsupported(Exception):
    """The language has no such thing."""


class Refused(Exception):
    """An error of the client."""

    def __init__(self, answer):
        super().__init__(f"{answer['error']}: {answer['why']}")
        self.kind, self.why = answer["error"], answer["why"]


class Program:
    """One program that uses the client."""

    def __init__(self, rig, *before):
        self.process = subprocess.Popen([*before, *DRIVER], env=rig.environment, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.answers = {}
        self.ids = 0
        self.changed = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            answer = json.loads(line)
            with self.changed:
                self.answers[answer["id"]] = answer
                self.changed.notify_all()

    def begin(self, do, **members):
        self.ids += 1
        self.process.stdin.write(json.dumps({"id": self.ids, "do": do, **members}) + "\n")
        self.process.stdin.flush()
        return self.ids

    def answer(self, number):
        with self.changed:
            assert self.changed.wait_for(lambda: number in self.answers, PATIENCE_S), "the program does not answer"
            answer = self.answers.pop(number)
        if "unsupported" in answer:
            raise Unsupported()
        if "error" in answer:
            raise Refused(answer)
        return answer

    def ask_php(self, do, **members):
        if not any("php" in word for word in DRIVER):
            raise Unsupported()
        return self.ask(do, **members)

    def ask(self, do, **members):
        return self.answer(self.begin(do, **members))

    def lock(self, name, **members):
        return self.ask("lock", name=name, **({} if "keys" in members else {"key": name}), **members)

    def remaining(self, name):
        return self.ask("remaining", name=name)["remaining"]

    def refusal(self, do, ask=ask, **members):
        try:
            answer = ask(self, do, **members)
        except Refused as refused:
            return refused
        raise AssertionError(f"it is not refused: {answer}")

    def refused(self, number):
        return self.refusal(number, Program.answer)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.kill()
        self.process.stdin.close()


def master_says(path, *words):
    """The number that a master replies."""
    with socket.socket(socket.AF_UNIX) as stream:
        stream.connect(path)
        parts = b"".join(b"$%d\r\n%s\r\n" % (len(word), word.encode()) for word in words)
        stream.sendall(b"*%d\r\n%s" % (len(words), parts))
        with stream.makefile("rb") as replies:
            return int(replies.readline()[1:])


def masters(rig):
    return rig.environment["REDLOCK_NODES"].split(",")


def is_free(rig, key):
    if SIMULATE:
        with contextlib.closing(Wire(rig)) as wire:
            return wire.get("look", key=key)["verdict"] == "free"
    return sum(master_says(path, "EXISTS", key) for path in masters(rig)) < MAJORITY


def take_away(rig, key):
    if SIMULATE:
        with contextlib.closing(Wire(rig)) as wire:
            wire.get("sim.lose", key=key)
        return
    for path in masters(rig)[:MAJORITY]:
        master_says(path, "DEL", key)


def waits(rig, key):
    """Somebody waits for the key."""
    with contextlib.closing(Wire(rig)) as wire:
        return wire.get("look", key=key)["waiting"] > 0


def latest_end_s(rig, key):
    """A majority has the key until then, at the latest, if nobody extends it."""
    left_ms = sorted((master_says(path, "PTTL", key) for path in masters(rig)), reverse=True)
    return boot_s() + (max(0, left_ms[MAJORITY - 1]) + 1) / 1000


def boot_s():
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def note(text):
    print(f"# {text}", flush=True)


# --- Situations ----------------------------------------------------------------------------------------------------


def a_lock_is_granted_and_released(rig):
    with Program(rig) as program:
        program.lock("a", ttl=10000)
        assert 8000 < program.remaining("a") <= 10000
        assert not is_free(rig, "a")
        program.ask("release", name="a")
        assert is_free(rig, "a") and program.remaining("a") == 0
        program.lock("a", ttl=10000)


def a_lock_that_another_has_is_refused(rig):
    with Program(rig) as program, contextlib.closing(Wire(rig)) as wire:
        wire.get("acquire", key="a")
        refused = program.refusal("lock", name="a", key="a")
        assert refused.kind == "not-acquired" and "REDLOCK_HELD" in refused.why, refused


def a_waiter_gets_the_lock_that_is_released(rig):
    with Program(rig) as program, contextlib.closing(Wire(rig)) as wire:
        lock = wire.get("acquire", key="a")["lock"]
        waiting = program.begin("lock", name="a", key="a", wait=50000)
        wait_for(lambda: waits(rig, "a"), "a waiter")
        began_s = boot_s()
        wire.get("release", lock=lock)
        program.answer(waiting)
        note(f"handed over in {(boot_s() - began_s) * 1000:.1f} ms")
        assert program.remaining("a") > 0


def a_wait_is_canceled(rig):
    with Program(rig) as program, contextlib.closing(Wire(rig)) as wire:
        lock = wire.get("acquire", key="a")["lock"]
        waiting = program.begin("lock", name="a", key="a", wait="forever")
        wait_for(lambda: waits(rig, "a"), "a waiter")
        program.ask("cancel", of=waiting)
        assert program.answer(waiting)["canceled"]
        wait_for(lambda: not waits(rig, "a"), "the waiter's end")
        wire.get("release", lock=lock)
        assert is_free(rig, "a")
        program.lock("a")


def what_a_killed_program_held_goes_to_the_next(rig):
    with Program(rig) as holder, Program(rig) as waiter:
        holder.lock("a", ttl=60000)
        waiting = waiter.begin("lock", name="a", key="a", wait=50000)
        wait_for(lambda: waits(rig, "a"), "a waiter")
        began_s = boot_s()
        holder.kill()
        waiter.answer(waiting)
        note(f"taken over in {(boot_s() - began_s) * 1000:.1f} ms, of a ttl of 60 s")
        assert boot_s() - began_s < 20


def a_child_that_lives_on_holds_nothing(rig):
    with Program(rig) as program, contextlib.closing(Wire(rig)) as wire:
        program.lock("a", ttl=60000)
        child = program.ask("child")["pid"]
        try:
            program.kill()
            os.kill(child, 0)
            wire.get("acquire", key="a", wait="20s")
        finally:
            os.kill(child, signal.SIGKILL)


def a_forked_child_holds_nothing_and_harms_nothing(rig):
    with Program(rig) as program:
        program.lock("a")
        assert program.ask("fork", name="a")["remaining"] == 0
        assert program.remaining("a") > 0 and not is_free(rig, "a")


def a_lock_that_is_gone_from_the_masters_is_lost(rig):
    with Program(rig) as program:
        program.lock("a", ttl=40000)
        end_s = boot_s() + program.remaining("a") / 1000
        losing = program.begin("wait-lost", name="a")
        take_away(rig, "a")
        assert program.refusal("extend", name="a", ttl=40000).kind == "lost"
        assert program.answer(losing)["remaining"] == 0 and program.remaining("a") == 0
        assert boot_s() < end_s - 10, "the agent has told the loss, and not the clock"
        assert program.refusal("release", name="a").kind == "lost"
        program.lock("a", wait=50000)


def follow_to_the_end(rig, program, name):
    """Until nobody has it: what the client believes is never longer than what the masters have."""
    losing = program.begin("wait-lost", name=name)
    end_s = latest_end_s(rig, name)
    believed = 0
    while losing not in program.answers:
        asked_s = boot_s()
        left_s = program.remaining(name) / 1000
        believed += left_s > 0
        assert left_s == 0 or asked_s + left_s <= end_s, f"it believes in {left_s} s, the masters in {end_s - asked_s}"
        assert asked_s < end_s + PATIENCE_S / 2, "the program is not told of the loss"
    assert program.answer(losing)["remaining"] == 0 and program.remaining(name) == 0
    assert believed > 0, "it should have been held until its deadline"
    assert program.refusal("release", name=name).kind == "lost"
    wait_for(lambda: is_free(rig, name), "the end of the ttl")


def without_an_agent_a_lock_ends_at_its_deadline(rig):
    with Program(rig) as program:
        program.lock("a", ttl=2000)
        rig.stop(signal.SIGKILL)
        try:
            follow_to_the_end(rig, program, "a")
            assert program.refusal("lock", name="b", key="b").kind == "other"
        finally:
            rig.start("--state", rig.state)
        program.lock("a", wait=50000)


def a_request_that_the_agent_has_not_read_fails_with_it(rig):
    with Program(rig) as program:
        program.lock("a", ttl=2000)
        rig.agent.send_signal(signal.SIGSTOP)
        asking = program.begin("lock", name="b", key="b")
        assert program.remaining("a") > 0  # by now the request has been written, too
        rig.stop(signal.SIGKILL)
        try:
            follow_to_the_end(rig, program, "a")
            refused = program.refused(asking)
            assert refused.kind == "other", refused
        finally:
            rig.start("--state", rig.state)


def with_a_stopped_agent_a_lock_ends_at_its_deadline(rig):
    with Program(rig) as program:
        program.lock("a", ttl=2000)
        rig.agent.send_signal(signal.SIGSTOP)
        try:
            follow_to_the_end(rig, program, "a")
        finally:
            rig.agent.send_signal(signal.SIGCONT)
        assert program.remaining("a") == 0
        program.lock("a", wait=50000)


def a_release_waits_for_a_stopped_agent_until_the_deadline(rig):
    with Program(rig) as program:
        program.lock("a", ttl=2000)
        rig.agent.send_signal(signal.SIGSTOP)
        try:
            program.ask("release", name="a")
        finally:
            rig.agent.send_signal(signal.SIGCONT)
        program.lock("a", wait=50000)


def what_a_stopped_agent_is_asked_for_ends_by_itself(rig):
    with Program(rig) as program, contextlib.closing(Wire(rig)) as wire:
        for name in ("given", "extended"):
            program.lock(name, ttl=2000)
        end_s = boot_s() + program.remaining("extended") / 1000
        rig.agent.send_signal(signal.SIGSTOP)
        try:
            acquiring = program.begin("lock", name="a", key="a", wait=1000)
            releasing = program.begin("release", name="given")
            assert program.refusal("extend", name="extended", ttl=2000).kind == "lost"
            assert boot_s() > end_s - 1 and program.remaining("extended") == 0
            program.answer(releasing)
            refused = program.refused(acquiring)
            assert refused.kind == "other" and "does not answer" in refused.why, refused
        finally:
            rig.agent.send_signal(signal.SIGCONT)
        wire.get("acquire", keys=["given", "extended", "a"], wait="20s")


def a_program_with_many_descriptors_has_locks_too(rig):
    """The connection's is one that select() cannot wait for."""
    with Program(rig, *MANY_DESCRIPTORS) as program, contextlib.closing(Wire(rig)) as wire:
        lock = wire.get("acquire", key="a")["lock"]
        waiting = program.begin("lock", name="a", key="a", wait=50000)
        wait_for(lambda: waits(rig, "a"), "a waiter")
        wire.get("release", lock=lock)
        program.answer(waiting)
        rig.restart()
        assert program.remaining("a") > 0
        program.ask("release", name="a")
        wait_for(lambda: is_free(rig, "a"), "what was released")


def what_is_held_survives_a_restart_of_the_agent(rig):
    with Program(rig) as program:
        program.lock("a", ttl=3000)
        program.lock("both", keys=["b", "c"], ttl=3000)
        for _ in range(2):
            end_s = boot_s() + max(program.remaining("a"), program.remaining("both")) / 1000
            rig.restart()
            while boot_s() < end_s:
                assert program.remaining("a") > 0 and program.remaining("both") > 0
        program.ask("release", name="a")
        program.ask("release", name="both")
        assert is_free(rig, "a") and is_free(rig, "b") and is_free(rig, "c")


def what_is_released_without_an_agent_is_free_with_the_next(rig):
    with Program(rig) as program:
        program.lock("given", ttl=20000)
        assert rig.stop() == 0, rig.said()
        releasing = program.begin("release", name="given")
        wait_for(lambda: program.remaining("given") == 0, "the release")
        rig.start("--state", rig.state)
        program.answer(releasing)
        began_s = boot_s()
        wait_for(lambda: is_free(rig, "given"), "the next agent to give it back")
        note(f"free {boot_s() - began_s:.3f} s after the next agent had begun")
        assert boot_s() - began_s < 10


def a_number_of_the_last_agent_releases_nothing(rig):
    """The next agent counts from 1, as this one does."""
    rig.stop(signal.SIGKILL)
    rig.start("--state", rig.state)
    with Program(rig) as program:
        program.lock("old", ttl=20000)
        rig.stop(signal.SIGKILL)
        rig.start("--state", rig.state)
        program.lock("new", ttl=20000)
        program.ask("release", name="old")
        assert not is_free(rig, "new") and program.remaining("new") > 0


def fencing_tokens_grow(rig):
    fences = []
    with Program(rig) as program, contextlib.closing(Wire(rig)) as wire:
        for number in range(5):
            fences.append(int(program.lock("a", fenced=True)["fence"]))
            program.ask("release", name="a")
            grant = wire.get("acquire", key="a", fenced=True)
            fences.append(int(grant["fence"]))
            wire.get("release", lock=grant["lock"])
    assert fences == sorted(set(fences)), fences


def a_thousand_locks_at_once(rig):
    names = [f"many:{number}" for number in range(1000)]
    with Program(rig) as program:
        began_s = boot_s()
        for waiting in [program.begin("lock", name=name, key=name, ttl=30000) for name in names]:
            program.answer(waiting)
        note(f"granted in {boot_s() - began_s:.2f} s")
        assert all(program.remaining(name) > 0 and not is_free(rig, name) for name in names)
        for waiting in [program.begin("release", name=name) for name in names]:
            program.answer(waiting)
        assert all(is_free(rig, name) for name in names)


def a_bad_request_is_named_and_harms_nothing(rig):
    with Program(rig) as program:
        program.lock("good", ttl=20000)
        for members, why in [({"key": "a", "mode": "wrong"}, "'mode'"), ({"key": "a", "permits": "3"}, "'permits'"),
                             ({"key": ""}, "empty"), ({"key": "a", "ttl": 3600000}, "ttl"), ({"keys": []}, ""),
                             ({"key": "a\0b"}, ""), ({"key": "a" * (1 << 20)}, "")]:
            refused = program.refusal("lock", name="bad", **members)
            assert refused.kind == "other" and why in refused.why, (members.keys(), refused)
        assert program.refusal("extend", name="good", ttl=3600000).kind == "other"
        assert program.remaining("good") > 10000 and not is_free(rig, "good")
        program.ask("release", name="good")
        assert is_free(rig, "good")


def an_extension_makes_it_longer(rig):
    with Program(rig) as program:
        program.lock("a", ttl=10000)
        program.ask("extend", name="a", ttl=30000)
        assert program.remaining("a") > 20000
        assert program.refusal("extend", name="a", ttl=2000).kind == "other"
        assert program.remaining("a") > 20000 and not is_free(rig, "a")


def a_closed_client_gives_back_its_own(rig):
    with Program(rig) as program, Program(rig) as other:
        other.lock("b", ttl=20000)
        program.lock("a", ttl=20000)
        program.ask("close")
        wait_for(lambda: is_free(rig, "a"), "what was held")
        assert program.remaining("a") == 0 and not is_free(rig, "b") and other.remaining("b") > 0


def who_waits_is_told_that_the_client_has_been_closed(rig):
    with Program(rig) as program, contextlib.closing(Wire(rig)) as wire:
        wire.get("acquire", key="a")
        waiting = program.begin("lock", name="a", key="a", wait="forever")
        wait_for(lambda: waits(rig, "a"), "a waiter")
        program.ask("close")
        refused = program.refused(waiting)
        assert refused.kind in ("other", "not-acquired"), refused
        wait_for(lambda: not waits(rig, "a"), "the waiter's end")


def what_the_agent_has_renewed_is_held_after_a_long_sleep(rig):
    with Program(rig) as program:
        program.lock("a", ttl=2000)
        end_s = boot_s() + program.remaining("a") / 1000
        program.process.send_signal(signal.SIGSTOP)
        wait_for(lambda: boot_s() > end_s + 2, "its deadline")
        extending = program.begin("extend", name="a", ttl=2000)
        program.process.send_signal(signal.SIGCONT)
        with contextlib.suppress(Refused):  # as lost, which it only seems to be
            program.answer(extending)
        wait_for(lambda: program.remaining("a") > 0, "what the agent had told meanwhile")
        assert not is_free(rig, "a")
        program.ask("release", name="a")


def a_wait_that_nobody_waits_for_leaves_nothing(rig):
    with Program(rig) as program, contextlib.closing(Wire(rig)) as wire:
        lock = wire.get("acquire", key="a")["lock"]
        waiting = program.begin("lock", name="a", key="a", wait="forever")
        wait_for(lambda: waits(rig, "a"), "a waiter")
        program.ask_php("abandon", of=waiting)
        wait_for(lambda: not waits(rig, "a"), "the waiter's end")
        wire.get("release", lock=lock)
        assert is_free(rig, "a")


def without_a_clock_nothing_is_held(rig):
    with Program(rig) as program:
        program.lock("a")
        assert program.ask_php("blind", name="a")["remaining"] == 0
        wait_for(lambda: is_free(rig, "a"), "what nobody can believe in")


def a_lock_has_no_copy(rig):
    with Program(rig) as program:
        program.lock("a")
        for do in ("copy", "serialize"):
            program.refusal(do, Program.ask_php, name="a")
        assert "forever" in program.refusal("forever", Program.ask_php).why
        assert program.remaining("a") > 0 and not is_free(rig, "a")


def another_time_namespace_has_another_clock(rig):
    unshare = ["unshare", "--time", "--boottime", "1000000", "--fork", "--kill-child"]
    if subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode != 0:
        raise Unsupported()
    with Program(rig, *unshare) as program:
        program.lock("a", ttl=2000)
        assert 0 < program.remaining("a") <= 2000
        rig.stop(signal.SIGKILL)
        try:
            follow_to_the_end(rig, program, "a")
        finally:
            rig.start("--state", rig.state)


SITUATIONS = [a_lock_is_granted_and_released, a_lock_that_another_has_is_refused,
              a_waiter_gets_the_lock_that_is_released, a_wait_is_canceled, what_a_killed_program_held_goes_to_the_next,
              a_child_that_lives_on_holds_nothing, a_forked_child_holds_nothing_and_harms_nothing,
              a_lock_that_is_gone_from_the_masters_is_lost, without_an_agent_a_lock_ends_at_its_deadline,
              a_request_that_the_agent_has_not_read_fails_with_it, with_a_stopped_agent_a_lock_ends_at_its_deadline,
              a_release_waits_for_a_stopped_agent_until_the_deadline, what_a_stopped_agent_is_asked_for_ends_by_itself,
              a_program_with_many_descriptors_has_locks_too, what_is_held_survives_a_restart_of_the_agent,
              what_is_released_without_an_agent_is_free_with_the_next, a_number_of_the_last_agent_releases_nothing,
              fencing_tokens_grow, a_thousand_locks_at_once, a_bad_request_is_named_and_harms_nothing,
              an_extension_makes_it_longer, a_closed_client_gives_back_its_own,
              who_waits_is_told_that_the_client_has_been_closed, what_the_agent_has_renewed_is_held_after_a_long_sleep,
              a_wait_that_nobody_waits_for_leaves_nothing, without_a_clock_nothing_is_held, a_lock_has_no_copy,
              another_time_namespace_has_another_clock]


# They ask the masters themselves, or for the next agent, or for more keys than simulated masters have room for.
NOT_SIMULATED = [without_an_agent_a_lock_ends_at_its_deadline, a_request_that_the_agent_has_not_read_fails_with_it,
                 with_a_stopped_agent_a_lock_ends_at_its_deadline, a_program_with_many_descriptors_has_locks_too,
                 what_is_held_survives_a_restart_of_the_agent, what_is_released_without_an_agent_is_free_with_the_next,
                 a_number_of_the_last_agent_releases_nothing, a_thousand_locks_at_once,
                 another_time_namespace_has_another_clock]


def passed_or_unsupported(situation):
    @functools.wraps(situation)
    def test(rig):
        try:
            situation(rig)
        except Unsupported:
            note("this language has no such thing")
    return test


def run_simulated(tests):
    with tempfile.TemporaryDirectory() as place:
        rig = Simulated(place)
        try:
            return run_tests(tests, lambda test: test(rig))
        finally:
            rig.end()


resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
sys.exit((run_simulated if SIMULATE else run)(
    [passed_or_unsupported(situation) for situation in SITUATIONS if not SIMULATE or situation not in NOT_SIMULATED]))
