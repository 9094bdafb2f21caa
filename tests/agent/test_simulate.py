#!/usr/bin/env python3
"""`redlock agent --simulate`: masters without servers, and the requests that let time pass and take locks away."""
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from agent_rig import PATIENCE_S, REDLOCK, Simulated, now_us, run_tests  # noqa: E402  (it reads the arguments)


def deadline_of(wire, lock):
    """As it was told last."""
    told = [event["deadline_us"] for event in wire.events if event.get("lock") == lock]
    wire.events.clear()
    return told[-1]


def a_lock_is_renewed_while_an_hour_passes(rig):
    wire = rig.connect()
    assert wire.get("hello", version=1)["simulated"] is True
    lock = wire.get("acquire", key="orders")["lock"]
    began = now_us()
    wire.get("sim.advance", by="1h")
    assert now_us() - began < 3600 * 1000000 / 10
    names = {event["event"] for event in wire.events}
    assert names == {"extended"}, names
    assert deadline_of(wire, lock) > now_us()


def a_lock_that_nobody_renews_is_told_its_deadline_anew_and_ends(rig):
    wire = rig.connect()
    grant = wire.get("acquire", key="orders", renew=False, ttl="20s")
    wire.get("sim.advance", by="5s")
    moved = grant["deadline_us"] - deadline_of(wire, grant["lock"])
    assert 4_900_000 < moved < 5_100_000, moved
    wire.get("sim.advance", by="20s")
    lost = wire.event("lost")
    assert lost["lock"] == grant["lock"] and lost["deadline_us"] <= now_us(), lost
    assert wire.refused("enter", lock=grant["lock"])[0] == "REDLOCK_LOST"


def what_was_told_is_not_taken_back_by_an_extension(rig):
    wire = rig.connect()
    lock = wire.get("acquire", key="orders", renew=False, ttl="20s")["lock"]
    assert not wire.ask("extend", lock=lock, ttl="10s")["ok"]
    wire.get("sim.advance", by="15s")
    wire.get("extend", lock=lock, ttl="10s")
    assert not wire.ask("extend", lock=lock, ttl="8s")["ok"]


def a_stolen_lock_is_lost_with_the_masters_that_say_so(rig):
    wire = rig.connect()
    lock = wire.get("acquire", key="orders")["lock"]
    wire.get("sim.steal", key="orders", ttl="30s")
    wire.get("sim.advance", by="10s")
    lost = wire.event("lost")
    assert lost["lock"] == lock, lost
    assert [master["detail"] for master in lost["masters"]].count("foreign") == 2, lost
    assert wire.refused("acquire", key="orders")[0] == "REDLOCK_HELD"
    assert wire.get("look", key="orders")["holders"][0]["label"] == "another-owner"
    wire.get("sim.advance", by="30s")
    wire.get("acquire", key="orders")


def a_key_that_vanishes_is_lost(rig):
    wire = rig.connect()
    assert wire.refused("sim.lose", key="orders")[0] == "REDLOCK_E_NOT_HELD"
    wire.get("acquire", key="orders")
    wire.get("sim.lose", key="orders")
    wire.get("sim.advance", by="5s")
    assert [master["detail"] for master in wire.event("lost")["masters"]].count("missing") == 2


def failing_masters_put_a_lock_at_risk_and_come_back(rig):
    wire = rig.connect()
    wire.get("acquire", key="orders")
    wire.get("sim.fail-masters", masters=2)
    wire.get("sim.advance", by="10s")
    assert "simulated-1, simulated-2: not reached" in wire.event("at-risk")["why"]
    wire.event("lost")
    assert wire.refused("acquire", key="orders")[0] == "REDLOCK_NO_QUORUM"
    wire.get("sim.fail-masters", masters=0)
    wire.get("sim.advance", by="10s")
    wire.get("acquire", key="orders")


def masters_fail_by_their_names(rig):
    wire = rig.connect()
    lock = wire.get("acquire", key="orders")["lock"]
    wire.get("sim.fail-masters", names=["simulated-2"])
    wire.get("sim.advance", by="1m")
    assert wire.get("extend", lock=lock)["votes"] == 2
    wire.get("sim.fail-masters", names=["simulated-1", "simulated-3"])
    wire.get("sim.advance", by="10s")
    assert "simulated-1, simulated-3: not reached" in wire.event("at-risk")["why"]
    wire.event("lost")
    for names in (["simulated-1", "simulated-4"], "simulated-1", [1], [""]):
        status, why = wire.refused("sim.fail-masters", names=names)
        assert status == "AGENT_E_REQUEST" and "simulated-1, simulated-2, simulated-3" in why, why
    wire.get("sim.fail-masters", names=[])
    wire.get("sim.advance", by="10s")
    wire.get("acquire", key="orders")


def who_waits_has_the_lock_when_its_time_has_come(rig):
    holder, waiter = rig.connect(), rig.connect()
    first = holder.get("acquire", key="orders", fenced=True)
    request = waiter.begin("acquire", key="orders", wait="1h", fenced=True)
    in_vain = waiter.begin("acquire", key="orders", wait="20s")
    holder.get("sim.advance", by="30s")
    assert waiter.answer(in_vain)["status"] == "REDLOCK_DEADLINE"
    holder.get("release", lock=first["lock"])
    second = waiter.answer(request)
    assert second["ok"] and int(second["fence"]) > int(first["fence"]), second


def a_lock_lingers_until_its_time_is_over(rig):
    short, waiter, test = rig.connect(), rig.connect(), rig.connect()
    short.get("acquire", key="orders", linger="30s")
    short.close()
    request = waiter.begin("acquire", key="orders", wait="40s", renew=False)
    test.get("sim.advance", by="25s")
    assert test.refused("acquire", key="orders")[0] == "REDLOCK_HELD"
    test.get("sim.advance", by="1m")
    assert waiter.answer(request)["ok"]


def leaders_are_told_anew_and_observers_hear_of_the_next(rig):
    leader, observer = rig.connect(), rig.connect()
    leader.get("elect", key="boss", once=True)
    leader.event("elected")
    leader.get("sim.advance", by="1m")
    assert leader.events[-1]["event"] == "extended" and leader.events[-1]["deadline_us"] > now_us()
    observer.get("observe", key="boss")
    assert observer.event("changed")["leader"]
    leader.get("sim.steal", key="boss")
    leader.get("sim.advance", by="10s")
    leader.event("lost")


def tokens_follow_from_the_seed(rig):
    wire = rig.connect()
    tokens = []
    for seed in (5, "5", 6):
        wire.get("sim.seed", seed=seed)
        grant = wire.get("acquire", key="orders")
        tokens.append(grant["token"][:36])
        wire.get("release", lock=grant["lock"])
    assert tokens[0] == tokens[1] != tokens[2], tokens


def what_makes_no_sense_is_refused(rig):
    wire = rig.connect()
    for why, op, members in [("'by' is missing", "sim.advance", {}), ("'by' must be", "sim.advance", {"by": "-1s"}),
                             ("'key' is missing", "sim.lose", {}), ("'key' is missing", "sim.steal", {}),
                             ("0 to 3", "sim.fail-masters", {"masters": 4}), ("'names'", "sim.fail-masters", {}),
                             ("'names'", "sim.fail-masters", {"masters": 0, "names": []}),
                             ("'seed' must be", "sim.seed", {"seed": "x"}),
                             ("no member 'for'", "sim.advance", {"by": "1s", "for": 1}),
                             ("sim.advance, sim.lose", "sim.nothing", {}), ("sim.advance, sim.lose", "sim.", {})]:
        status, words = wire.refused(op, **members)
        assert status == "AGENT_E_REQUEST" and why in words, (op, words)
    assert wire.refused("sim.steal", key="orders", ttl=0)[0] == "REDLOCK_E_TTL"
    assert wire.refused("sim.steal", key="")[0] == "REDLOCK_E_KEY_EMPTY"
    assert wire.refused("sim.steal", key="k" * 1025)[0] == "REDLOCK_E_KEY_TOO_LONG"
    first, second = wire.begin("sim.advance", by="1h"), wire.begin("sim.advance", by="1s")
    assert wire.answer(second)["status"] == "REDLOCK_E_BUSY"
    assert wire.answer(first)["ok"]


def an_agent_that_ends_while_time_passes_ends_in_order(rig):
    wire = rig.connect()
    wire.get("acquire", key="orders")
    wire.begin("sim.advance", by="1000h")
    assert rig.end() == 0, rig.words()


def rights_hold_for_its_requests(place):
    rig = Simulated(place, "--allow", "nobody:x", "--prefix", "p:")
    wire = rig.connect()
    assert wire.refused("sim.steal", key="orders")[0] == "AGENT_E_RIGHTS"
    assert wire.refused("sim.lose", key="orders")[0] == "AGENT_E_RIGHTS"
    assert rig.end() == 0


def a_prefix_stands_before_the_key(place):
    rig = Simulated(place, "--prefix", "p:")
    wire = rig.connect()
    wire.get("acquire", key="orders")
    wire.get("sim.lose", key="orders")
    assert rig.end() == 0


def options_that_contradict_it_are_refused(place):
    for options, why in [(["--nodes", "a,b,c"], "leave out --node"), (["--node", "a"], "leave out --node"),
                         (["--state", os.path.join(place, "state")], "--state and --simulate exclude each other")]:
        done = subprocess.run([REDLOCK, "agent", "--simulate", *options], capture_output=True, text=True, check=False,
                              timeout=PATIENCE_S)
        assert done.returncode == 2 and why in done.stderr, done


def other_agents_do_not_know_these_requests(place):
    rig = Simulated(place, real=["--nodes", "127.0.0.1:1"])
    wire = rig.connect()
    assert "simulated" not in wire.get("hello", version=1)
    status, why = wire.refused("sim.advance", by="1s")
    assert rig.end() == 0
    assert status == "AGENT_E_REQUEST" and "--simulate" in why, why


WITH_AGENT = [a_lock_is_renewed_while_an_hour_passes, a_lock_that_nobody_renews_is_told_its_deadline_anew_and_ends,
              what_was_told_is_not_taken_back_by_an_extension, a_stolen_lock_is_lost_with_the_masters_that_say_so,
              a_key_that_vanishes_is_lost, failing_masters_put_a_lock_at_risk_and_come_back, masters_fail_by_their_names,
              who_waits_has_the_lock_when_its_time_has_come, a_lock_lingers_until_its_time_is_over,
              leaders_are_told_anew_and_observers_hear_of_the_next, tokens_follow_from_the_seed,
              what_makes_no_sense_is_refused, an_agent_that_ends_while_time_passes_ends_in_order]
ALONE = [rights_hold_for_its_requests, a_prefix_stands_before_the_key, options_that_contradict_it_are_refused,
         other_agents_do_not_know_these_requests]


def call(test):
    with tempfile.TemporaryDirectory() as place:
        if test in ALONE:
            test(place)
            return
        rig = Simulated(place)
        try:
            test(rig)
        finally:
            if rig.agent.poll() is None:
                assert rig.end() == 0, rig.words()


sys.exit(run_tests(WITH_AGENT + ALONE, call))
