#!/usr/bin/env python3
"""The client for Python of redlock agent, on three real masters. Prints TAP. Usage: test_python.py PATH_OF_REDLOCK [TEST...]"""
import asyncio
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading

from agent_rig import PATIENCE_S, Wire, now_us, run, wait_for

CLIENT = str(pathlib.Path(__file__).resolve().parents[2] / "tools/clients/python")
sys.dont_write_bytecode = True
sys.path.insert(0, CLIENT)
import redlock_agent  # noqa: E402  (its place is known only here)


def raises(kind, do):
    try:
        do()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def is_awaited(rig, key):
    status = rig.redlock("status", key)
    return "waits" in status or "queue" in status


def program(rig, text):
    """Another program, which has printed a line."""
    child = subprocess.Popen([sys.executable, "-c", "import os, time, redlock_agent\n" + text], env=rig.environment,
                             stdout=subprocess.PIPE)
    child.stdout.readline()
    return child


def a_lock_is_held_extended_and_released(rig):
    with redlock_agent.Client(rig.socket) as client, redlock_agent.Client(rig.socket) as other:
        with client.lock("one", ttl=8, wait=5, fenced=True, label="mine") as held:
            assert 7 < held.remaining <= 8 and held.fence > 0
            assert "mine/" in rig.redlock("status", "one")
            error = raises(redlock_agent.NotAcquired, other.lock("one").acquire)
            assert error.status == "REDLOCK_HELD" and error.retry, error
            assert raises(redlock_agent.RedlockError, lambda: held.extend(1)).status == "AGENT_E_REQUEST"
            held.extend(20)
            assert held.remaining > 18
        assert held.remaining == 0 and rig.is_free("one")
        raises(redlock_agent.Lost, held.check)
        raises(ValueError, client.lock("a\0b").acquire)
    raises(redlock_agent.RedlockError, client.lock("one").acquire)
    error = raises(FileNotFoundError, redlock_agent.Client(rig.socket + "-no").lock("one").acquire)
    assert "`redlock agent`" in str(error) and rig.socket + "-no" in str(error), error


def sets_permits_and_modes(rig):
    with redlock_agent.Client(rig.socket) as client, redlock_agent.Client(rig.socket) as other:
        with client.lock(["a", "b", {"key": "pool", "permits": "2/3"}], fenced=True) as held:
            assert [part["key"] for part in held.parts] == ["a", "b", "pool", "pool"], held.parts
            with other.lock("pool", permits="1/3") as permit:
                assert permit.slot in range(3) and permit.slot not in [part.get("slot") for part in held.parts]
        with client.lock("a", mode="shared"), other.lock("a", mode="shared"):
            raises(redlock_agent.NotAcquired, client.lock("a").acquire)


def a_function_under_a_lock(rig):
    with redlock_agent.Client(rig.socket) as client:
        @client.lock("a", wait=5)
        def locked():
            return not rig.is_free("a")

        assert locked() and locked()


def a_holder_that_is_killed_makes_room(rig):
    holder = program(rig, "held = redlock_agent.Client().lock('a', ttl=60, wait=60).acquire()\n"
                          "print(flush=True)\ntime.sleep(1000)\n")
    with redlock_agent.Client(rig.socket) as client:
        waiter = threading.Thread(target=lambda: client.lock("a", wait=50).acquire())
        waiter.start()
        wait_for(lambda: is_awaited(rig, "a"), "a waiter")
        holder.kill()
        holder.communicate()
        waiter.join(PATIENCE_S / 2)
        assert not waiter.is_alive(), "the ttl of a minute was waited for"


def a_forked_child_closes_and_has_nothing_of_its_parent(rig):
    with redlock_agent.Client(rig.socket) as client, client.lock("a", ttl=30) as held:
        child = os.fork()
        if child == 0:
            had = held.remaining > 0
            client.close()
            os._exit(had)
        assert os.waitpid(child, 0)[1] == 0
        assert [lock["lock"] for lock in client.call("list")["locks"]] == [held._number]
        held.check()


def a_forked_child_keeps_nothing_of_a_parent_that_dies(rig):
    """The child lives until its standard output is closed: by then another program has the lock."""
    holder = program(rig, "held = redlock_agent.Client().lock('a', ttl=60, wait=60).acquire()\n"
                          "if os.fork():\n    print(flush=True)\n    time.sleep(1000)\n"
                          "import select\npoll = select.poll()\npoll.register(1, 0)\npoll.poll()\n")
    holder.kill()
    holder.wait()
    with redlock_agent.Client(rig.socket) as client, client.lock("a", wait=50):
        pass
    holder.stdout.close()


def a_client_goes_on_with_the_next_agent(rig):
    lost = []
    with redlock_agent.Client(rig.socket) as client:
        held = client.lock(["a", "b"], ttl=10, on_lost=lost.append).acquire()
        permit = client.lock("pool", permits="1/3", ttl=10, on_lost=lost.append).acquire()
        for _ in range(3):
            rig.restart()
            wait_for(lambda: held._number > 0 and permit._number > 0, "the adoption by the next agent")
        held.extend()
        assert not lost and held.remaining > 9 and permit.remaining > 0
        held.release()
        permit.release()


def without_an_agent_a_lock_ends_at_its_deadline(rig):
    lost = []
    with redlock_agent.Client(rig.socket) as client:
        held = client.lock("a", ttl=1, on_lost=lost.append).acquire()
        deadline_us = held._deadline_us
        rig.stop(signal.SIGKILL)
        wait_for(lambda: lost, "the loss")
        assert now_us() >= deadline_us and held.remaining == 0
        assert isinstance(raises(Exception, client.lock("a").acquire), (OSError, redlock_agent.RedlockError))
        rig.start("--state", rig.state)
        with client.lock("a", wait=30):
            pass


def an_agent_that_is_stopped_prolongs_nothing(rig):
    lost = []
    with redlock_agent.Client(rig.socket) as client:
        held = client.lock("a", ttl=0.5, on_lost=lost.append).acquire()
        rig.agent.send_signal(signal.SIGSTOP)
        wait_for(lambda: lost, "the loss")
        assert held.remaining == 0
        rig.agent.send_signal(signal.SIGCONT)
        with client.lock("a", wait=30):
            pass


def who_is_sent_away_is_told_why(rig):
    rig.restart("--max-connections", "1")
    wire = Wire(rig)
    wire.get("ping")
    with redlock_agent.Client(rig.socket) as client:
        error = raises(redlock_agent.RedlockError, client.lock("a").acquire)
        assert "--max-connections" in str(error) and error.retry, error
    rig.restart()


# For how long a lock was had: between two instants at which it was valid.
LOCKS_UNTIL_STOPPED = """
def now_ns():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)

client, place = redlock_agent.Client(), os.environ["PLACE"]
print(flush=True)
with open(f"{place}/had-{os.getpid()}", "w", buffering=1) as had:
    while not os.path.exists(f"{place}/stop"):
        try:
            with client.lock("met", ttl=1, wait=1) as held:
                begin_ns = now_ns()
                valid = held.remaining > 0
                time.sleep(0.002)
                end_ns = now_ns()
                if valid and held.remaining > 0:
                    print(begin_ns, end_ns, file=had)
        except (redlock_agent.RedlockError, OSError):
            pass
"""


def programs_never_meet_while_their_agent_comes_and_goes(rig):
    def times():
        return sorted(tuple(map(int, line.split())) for path in pathlib.Path(place).glob("had-*")
                      for line in path.read_text().splitlines() if line.count(" "))

    def go_on():
        before = len(times())
        wait_for(lambda: len(times()) > before + 20, "programs that lock")

    def stand_still():
        rig.agent.send_signal(signal.SIGSTOP)
        rig.moment_of_acquisition("met")
        rig.agent.send_signal(signal.SIGCONT)

    def die():
        rig.stop(signal.SIGKILL)
        rig.start("--state", rig.state)

    with tempfile.TemporaryDirectory() as place:
        rig.environment["PLACE"] = place
        children = [program(rig, LOCKS_UNTIL_STOPPED) for _ in range(4)]
        for happens in (die, rig.restart, stand_still, rig.restart, stand_still, die):
            go_on()
            happens()
        go_on()
        open(f"{place}/stop", "w").close()
        for child in children:
            assert child.wait(PATIENCE_S) == 0
            child.stdout.close()
        for (begin_ns, end_ns), (next_ns, _) in zip(times(), times()[1:]):
            assert end_ns < next_ns, (begin_ns, end_ns, next_ns)


def asyncio_too(rig):
    async def main():
        async with redlock_agent.AsyncClient(rig.socket) as client:
            async with client.lock("a", wait=5) as held:
                assert held.remaining > 0
                waiter = asyncio.ensure_future(client.lock("a", wait="forever").acquire())
                while not is_awaited(rig, "a"):
                    await asyncio.sleep(0)
                waiter.cancel()
                await asyncio.wait([waiter])
                wait_for(lambda: not is_awaited(rig, "a"), "the end of the request")
            async with client.lock("a", wait=5):
                pass
            lost = asyncio.Event()
            await client.lock("b", ttl=0.5, on_lost=lambda lock: lost.set()).acquire()
            rig.agent.send_signal(signal.SIGSTOP)
            await asyncio.wait_for(lost.wait(), PATIENCE_S)
            rig.agent.send_signal(signal.SIGCONT)

    asyncio.run(main())


sys.exit(run([
    a_lock_is_held_extended_and_released, sets_permits_and_modes, a_function_under_a_lock,
    a_holder_that_is_killed_makes_room, a_forked_child_closes_and_has_nothing_of_its_parent,
    a_forked_child_keeps_nothing_of_a_parent_that_dies, a_client_goes_on_with_the_next_agent,
    without_an_agent_a_lock_ends_at_its_deadline, an_agent_that_is_stopped_prolongs_nothing,
    who_is_sent_away_is_told_why, programs_never_meet_while_their_agent_comes_and_goes, asyncio_too], {"PYTHONPATH": CLIENT, "PYTHONDONTWRITEBYTECODE": "1"}))
