#!/usr/bin/env python3
"""redlock agent by its protocol, on three real masters. Prints TAP. Usage: test_agent.py PATH_OF_REDLOCK [TEST...]"""
import contextlib
import http.client
import json
import os
import random
import resource
import select
import signal
import socket
import sys

from agent_rig import PATIENCE_S, Wire, now_us, run, wait_for

HELD = "REDLOCK_HELD"


# --- Locks

def a_lock_is_held_extended_and_released(rig):
    wire, other = Wire(rig), Wire(rig)
    grant = wire.get("acquire", key="one", ttl="8s", fenced=True, label="mine")
    left_us = grant["deadline_us"] - now_us()
    assert 7000000 < left_us < 8000000 and int(grant["fence"]) > 0, grant
    assert "mine/" in rig.redlock("status", "one")
    assert other.refused("acquire", key="one")[0] == HELD
    assert wire.get("extend", lock=grant["lock"], ttl="20s")["deadline_us"] > now_us() + 18000000
    wire.get("release", lock=str(grant["lock"]))
    other.get("acquire", key="one")


def releases_of_all_entries_at_once(rig):
    wire, other = Wire(rig), Wire(rig)
    number = wire.get("acquire", key="entered", ttl="50s")["lock"]
    wire.get("enter", lock=number)
    releases = [wire.begin("release", lock=number) for _ in range(2)]
    answers = {message["id"]: message for message in (wire.read(), wire.read())}
    assert all(answers[release]["ok"] for release in releases), answers
    other.get("acquire", key="entered")


def a_lock_is_renewed_beyond_its_ttl(rig):
    wire = Wire(rig)
    deadline_us = first_us = wire.get("acquire", key="renewed", ttl="1s")["deadline_us"]
    while deadline_us < first_us + 1000000:
        event = wire.event("extended", "lost")
        assert event["event"] == "extended" and event["deadline_us"] > deadline_us, event
        deadline_us = event["deadline_us"]


def sets_permits_and_modes(rig):
    wire, other = Wire(rig), Wire(rig)
    grant = wire.get("acquire", keys=["p", "q", {"key": "pool", "permits": "2/3"}], fenced=True)
    assert [part["key"] for part in grant["parts"]] == ["p", "pool", "pool", "q"], grant
    slot = other.get("acquire", key="pool", permits="1/3")["slot"]
    assert slot in range(3) and slot not in [part.get("slot") for part in grant["parts"]]
    shared = wire.get("acquire", key="shared", mode="upgradeable")
    other.get("acquire", key="shared", mode="shared")
    assert wire.refused("convert", lock=shared["lock"], mode="exclusive")[0] == HELD
    other.close()
    assert wire.get("convert", lock=shared["lock"], mode="exclusive", wait="forever")["token"] != shared["token"]


def a_request_is_canceled(rig):
    wire, other = Wire(rig), Wire(rig)
    other.get("acquire", key="canceled")
    pending = wire.begin("acquire", key="canceled", wait="forever")
    canceling = wire.begin("cancel", request=pending)
    answers = {message["id"]: message for message in (wire.read(), wire.read())}
    assert answers[pending]["status"] == "REDLOCK_CANCELED" and answers[canceling]["ok"], answers


def elections_and_looks(rig):
    leader, other = Wire(rig), Wire(rig)
    leader.get("elect", key="lead", ttl="2s", label="mine")
    elected = leader.event("elected")
    assert int(elected["term"]) > 0, elected
    leader.event("extended")
    other.get("observe", key="lead")
    seen = other.event("changed")
    assert seen["term"] == elected["term"] and seen["label"].startswith("mine/"), seen
    assert other.get("look", key="lead")["verdict"] == "exclusive"
    leader.close()
    other.get("elect", key="lead")
    other.event("elected")


def latches_open_when_all_have_arrived(rig):
    one, two = Wire(rig), Wire(rig)
    members = {"name": "l", "parties": 2, "await": True}
    pending = one.begin("latch", generation="1", party="one", **members)
    two.get("latch", generation=1, party="two", **members)
    assert one.answer(pending)["arrived"] == ["one", "two"]
    waiting = [one.begin("latch", generation=2, **members) for _ in range(2)]
    for party in ("one", "two"):
        two.get("latch", name="l", parties=2, generation=2, party=party)
    assert all(one.answer(number)["ok"] for number in waiting)


# --- What was told stays true

def an_extension_does_not_shorten_what_was_told(rig):
    wire = Wire(rig)
    grant = wire.get("acquire", key="told", ttl="10s", renew=False)
    status, why = wire.refused("extend", lock=grant["lock"], ttl="5s")
    assert status == "AGENT_E_REQUEST" and "'ttl'" in why, why
    assert wire.get("extend", lock=grant["lock"], ttl="10s")["deadline_us"] >= grant["deadline_us"]


def a_connection_that_its_client_ends_gives_back_at_once(rig):
    wire, other = Wire(rig), Wire(rig)
    deadline_us = wire.get("acquire", key="closed", ttl="60s")["deadline_us"]
    wire.close()
    other.get("acquire", key="closed", wait="50s")
    assert now_us() < deadline_us - 10000000


def is_disconnected_and_keeps_its_lock(rig, key, do):
    """The agent ends the connection, since the client does that; nobody closes it."""
    wire, other = Wire(rig), Wire(rig)
    deadline_us = wire.get("acquire", key=key, ttl="5s", renew=False)["deadline_us"]
    do(wire)
    wait_for(lambda: "is disconnected" in rig.said(), "the end of the connection")
    other.get("acquire", key=key, wait="50s")
    assert now_us() >= deadline_us


def who_does_not_read_is_disconnected_and_keeps_its_lock(rig):
    def flood(wire):
        wire.stream.setblocking(False)
        with contextlib.suppress(ConnectionError):
            while True:
                select.select([], [wire.stream], [], PATIENCE_S)
                with contextlib.suppress(BlockingIOError):
                    wire.stream.send(b'{"id":1,"op":"look","key":"a","x":1}\n' * 1000)

    rig.restart()
    is_disconnected_and_keeps_its_lock(rig, "flood", flood)
    assert "does not read" in rig.said()


def a_second_signal_ends_the_agent_and_releases_nothing(rig):
    rig.restart()
    rig.stop()
    rig.start()
    wire = Wire(rig)
    wire.get("acquire", key="left", ttl="55s")
    rig.agent.send_signal(signal.SIGTERM)
    wire.event("closing")
    assert wire.read() is None, "the connection is to end"
    assert rig.stop() == -signal.SIGTERM and "end with their ttl" in rig.said(), rig.said()
    assert not rig.is_free("left")


def a_token_that_is_adopted_stands_alone(rig):
    wire = Wire(rig)
    token = wire.get("acquire", key="alone", ttl="30s", linger="20s")["token"]
    wire.close()
    wire = Wire(rig)
    for name, value in (("renew", False), ("linger", "1s"), ("key", "other"), ("keys", ["a", "b"]), ("permits", "1/2")):
        status, why = wire.refused("adopt", token=token, **{name: value})
        assert status == "AGENT_E_REQUEST" and "alone" in why, why
    lock = wire.get("adopt", token=token)["lock"]
    wire.get("release", lock=lock)


def a_lock_is_released_by_its_token(rig):
    wire, other = Wire(rig), Wire(rig)
    token = wire.get("acquire", key="known", own_token=True)["token"]
    assert other.get("release", key="known", token="another")["deleted"] == 0
    assert other.get("release", key="known", token=token)["deleted"] >= 2
    slot = wire.get("acquire", key="pool2", permits="1/2")
    assert other.get("release", key="pool2", token=slot["token"], slot=slot["slot"])["deleted"] >= 2
    assert other.refused("release", key="known", token="", slot=0)[0] == "REDLOCK_E_TOKEN"
    assert other.refused("release", key="known", token=token, slot=99999999999)[0] == "AGENT_E_REQUEST"
    assert other.refused("release", token=token)[0] == "AGENT_E_REQUEST"


def who_ends_its_reading_keeps_its_lock(rig):
    wire, other = Wire(rig), Wire(rig)
    deadline_us = wire.get("acquire", key="deaf", ttl="3s", renew=False)["deadline_us"]
    wire.stream.shutdown(socket.SHUT_RD)
    wire.begin("ping")
    other.get("acquire", key="deaf", wait="50s")
    assert now_us() >= deadline_us


def a_line_without_end_ends_its_connection_alone(rig):
    def tell_for_ever(wire):
        with contextlib.suppress(ConnectionError):
            wire.tell(b"x" * (1 << 21))
        assert "1048576" in wire.read()["why"]

    rig.restart()
    witness = Wire(rig)
    is_disconnected_and_keeps_its_lock(rig, "endless", tell_for_ever)
    assert "too long" in rig.said() and witness.get("ping")


def what_was_told_outlives_the_agent(rig):
    rig.stop()
    rig.start()
    wire = Wire(rig)
    last_us = wire.get("acquire", key="outlives", ttl="3s")["deadline_us"]
    other = Wire(rig)
    other.get("acquire", key="returned", ttl="60s")
    other.close()
    last_us = wire.event("extended")["deadline_us"]
    rig.agent.send_signal(signal.SIGTERM)
    moment_us = rig.moment_of_acquisition("outlives")
    while (message := wire.read()) is not None:
        last_us = message.get("deadline_us", last_us)
    assert moment_us >= last_us
    assert rig.agent.wait(PATIENCE_S) == 0 and rig.is_free("returned")
    rig.agent = None


def hold_at_least_outlives_release_and_connection(rig):
    wire, other = Wire(rig), Wire(rig)
    begun_us = now_us()
    grant = wire.get("acquire", key="least", hold_at_least="1s")
    assert 0 < wire.get("release", lock=grant["lock"])["kept_ms"] <= 1000
    wire.get("acquire", key="least too", hold_at_least="1s")
    wire.close()
    pending = [other.begin("acquire", key=key, wait="50s") for key in ("least", "least too")]
    first = other.read()
    assert first["id"] in pending and first["ok"] and now_us() >= begun_us + 1000000, first


# --- From hand to hand

def what_lingers_is_adopted_by_its_token(rig):
    wire, other = Wire(rig), Wire(rig)
    token = wire.get("acquire", key="lingers", linger="50s")["token"]
    wire.close()
    wait_for(lambda: other.ask("adopt", token=token)["ok"], "the end of the connection")
    assert [lock["keys"] for lock in other.get("list")["locks"]] == [["lingers"]]
    assert Wire(rig).refused("adopt", token=token)[0] == "REDLOCK_E_NOT_HELD"


def what_is_pending_when_its_peer_goes_harms_nobody(rig):
    """The masters stand still meanwhile, so that answers come when the peer has gone."""
    wire, other = Wire(rig), Wire(rig)
    grant = wire.get("acquire", key="pending", ttl="50s", linger="50s")
    another = wire.get("acquire", key="pending too", ttl="50s", linger="50s")
    rig.masters(signal.SIGSTOP)
    wire.begin("extend", lock=grant["lock"])
    wire.begin("release", lock=another["lock"])
    wire.begin("look", key="pending")
    wire.begin("acquire", key="pending three", wait="forever")
    wire.get("ping")
    wire.close()
    wait_for(lambda: other.ask("adopt", token=grant["token"])["ok"], "the end of the connection")
    rig.masters(signal.SIGCONT)
    number = other.get("list")["locks"][0]["lock"]
    wait_for(lambda: other.ask("extend", lock=number)["ok"], "the end of the other extension")
    for key in ("pending too", "pending three"):
        other.get("acquire", key=key, wait="50s")


def a_text_is_adopted_by_one_only(rig):
    one, two, three = Wire(rig), Wire(rig), Wire(rig)
    text = one.get("export", lock=one.get("acquire", key="text", ttl="30s")["lock"])["text"]
    assert one.get("list")["locks"] == []
    adopted = two.get("adopt", key="text", text=text)
    assert three.refused("adopt", key="text", text=text)[0] == "REDLOCK_E_ALREADY_HELD"
    two.get("release", lock=adopted["lock"])
    assert three.refused("adopt", key="text", text=text)[0] == "REDLOCK_E_ALREADY_HELD"
    rig.restart()
    assert Wire(rig).refused("adopt", key="text", text=text)[0] == "REDLOCK_E_ALREADY_HELD"


def an_agent_leaves_its_locks_to_the_next(rig):
    wire = Wire(rig)
    grants = [wire.get("acquire", key="renewed not", ttl="3s", renew=False),
              wire.get("acquire", key="deep", ttl="10s"),
              wire.get("acquire", key="lingering", ttl="10s", linger="50s"),
              wire.get("acquire", keys=["s", {"key": "slots", "permits": "1/3"}], ttl="10s")]
    assert wire.get("enter", lock=grants[1]["lock"])["depth"] == 2
    assert wire.refused("export", lock=grants[1]["lock"])[0] == "REDLOCK_E_DEPTH"
    rig.restart()
    assert wire.event("closing")["why"] and wire.read() is None
    assert not os.path.exists(rig.state)
    wire, other = Wire(rig), Wire(rig)
    adopted = [wire.get("adopt", token=grant.get("token") or grant["parts"][0]["token"]) for grant in grants]
    wire.get("release", lock=adopted[1]["lock"])
    assert other.refused("acquire", key="deep")[0] == HELD
    wire.get("release", lock=adopted[1]["lock"])
    other.get("acquire", key="deep")
    event = wire.event("extended", "lost")
    while event["lock"] != adopted[0]["lock"]:
        event = wire.event("extended", "lost")
    assert event["event"] == "lost", event
    wire.close()
    wait_for(lambda: other.ask("adopt", token=grants[2]["token"])["ok"], "the lock that lingers again")
    other.get("acquire", key="s", wait="50s")


def a_start_that_fails_takes_nothing(rig):
    state = '{"locks":[{"of":"another agent"}],"spent":[]}'
    with open(rig.state, "w") as file:
        file.write(state)
    second = rig.begin("--state", rig.state)
    assert second.wait(PATIENCE_S) == 3 and "another agent listens" in rig.said(), rig.said()
    with open(rig.state) as file:
        assert file.read() == state
    Wire(rig).get("ping")
    assert "no socket" in rig.redlock("agent", "--socket", rig.state)
    with open(rig.state) as file:
        assert file.read() == state
    os.unlink(rig.state)


# --- Requests that are wrong

def wrong_words_are_named_and_harm_nobody(rig):
    witness = Wire(rig)
    held = witness.get("acquire", key="witness", ttl="50s")
    for line, why in [
            ("nonsense", "no JSON object"), ("[1]", "another value"), ('{"op":"ping"}', "'id'"), ("[" * 9000, "no JSON"),
            ('{"id":-1,"op":"ping"}', "'id'"), ('{"id":1.5,"op":"ping"}', "'id'"), ('{"id":"1","op":"ping"}', "'id'"),
            ('{"id":99999999999999999999,"op":"ping"}', "no JSON object"), (b'{"id":1,"op":"\xff"}\n', "0xff"),
            ('{"id":1,"op":"lock"}', "'op' must be"), ('{"id":1,"op":7}', "'op' must be"),
            ('{"id":1,"op":"ping","x":1}', "'x'"), ('{"id":1,"op":"list","lock":1}', "'lock'"),
            ('{"id":1,"op":"hello","version":2}', "version"), ('{"id":1,"op":"hello","version":-1}', "'version'"),
            ('{"id":1,"op":"acquire"}', "'key' and 'keys'"), ('{"id":1,"op":"acquire","kye":"a"}', "'kye'"),
            ('{"id":1,"op":"acquire","key":5}', "'key'"), ('{"id":1,"op":"acquire","key":null}', "'key'"),
            ('{"id":1,"op":"acquire","key":""}', "empty"), ('{"id":1,"op":"acquire","key":"%s"}' % ("k" * 5000), "key"),
            ('{"id":1,"op":"acquire","key":"a\\u0000b"}', "u0000"), ('{"id":1,"op":"acquire","key":"redlock:marker"}', "key"),
            ('{"id":1,"op":"acquire","key":"a","key":"b"}', "duplicate"), ('{"id":1,"op":"acquire","keys":"a"}', "'keys'"),
            ('{"id":1,"op":"acquire","keys":[]}', "'keys'"), ('{"id":1,"op":"acquire","keys":[1]}', "'keys'"),
            ('{"id":1,"op":"acquire","keys":[{}]}', "'key'"), ('{"id":1,"op":"acquire","keys":["a",{"kye":"b"}]}', "'kye'"),
            ('{"id":1,"op":"acquire","keys":["a","a"]}', ""), ('{"id":1,"op":"acquire","keys":["a"],"permits":"1/2"}', "'keys'"),
            ('{"id":1,"op":"acquire","keys":[{"key":"a","permits":"0/0"},"b"]}', "'permits'"),
            ('{"id":1,"op":"acquire","key":"a","ttl":"5"}', "'ttl'"), ('{"id":1,"op":"acquire","key":"a","ttl":-1}', "'ttl'"),
            ('{"id":1,"op":"acquire","key":"a","ttl":0}', "ttl"), ('{"id":1,"op":"acquire","key":"a","ttl":1e300}', "'ttl'"),
            ('{"id":1,"op":"acquire","key":"a","ttl":4294967296}', "'ttl'"), ('{"id":1,"op":"acquire","key":"a","ttl":"1h"}', "ttl"),
            ('{"id":1,"op":"acquire","key":"a","wait":"ever"}', "'wait'"), ('{"id":1,"op":"acquire","key":"a","wait":true}', "'wait'"),
            ('{"id":1,"op":"acquire","key":"a","mode":"x"}', "'mode'"), ('{"id":1,"op":"acquire","key":"a","fenced":1}', "'fenced'"),
            ('{"id":1,"op":"acquire","key":"a","permits":"3"}', "'permits'"), ('{"id":1,"op":"acquire","key":"a","permits":"4/3"}', "'permits'"),
            ('{"id":1,"op":"acquire","key":"a","label":"a b"}', "'label'"), ('{"id":1,"op":"elect","key":"a","label":"a b"}', "'label'"),
            ('{"id":1,"op":"release"}', "'lock'"), ('{"id":1,"op":"release","lock":9}', "no lock of that number"),
            ('{"id":1,"op":"release","lock":-9}', "'lock'"), ('{"id":1,"op":"release","lock":"9x"}', "'lock'"),
            ('{"id":1,"op":"release","lock":""}', "'lock'"), ('{"id":1,"op":"release","lock":"18446744073709551616"}', "'lock'"),
            ('{"id":1,"op":"release","lock":%d}' % held["lock"], "no lock of that number"),
            ('{"id":1,"op":"cancel","request":1.5}', "'request'"), ('{"id":1,"op":"cancel","request":7}', ""),
            ('{"id":1,"op":"resign","election":%d}' % held["lock"], "none of that number"),
            ('{"id":1,"op":"adopt","token":"x"}', "that token"), ('{"id":1,"op":"adopt","token":"%s"}' % held["token"], "that token"),
            ('{"id":1,"op":"adopt","key":"a","text":"x"}', ""), ('{"id":1,"op":"adopt","key":"a"}', "'token' and 'text'"),
            ('{"id":1,"op":"latch","name":"l","parties":1,"generation":1}', "'party'"),
            ('{"id":1,"op":"latch","name":"l","parties":4294967297,"generation":1,"party":"p"}', ""),
            ('{"id":1,"op":"latch","name":"l","parties":1,"generation":-1,"party":"p"}', "'generation'")]:
        wire = Wire(rig)
        wire.tell(line)
        answer = wire.read()
        assert not answer["ok"] and why in answer["why"] and answer["why"], (line, answer)
        wire.get("ping")
        wire.close()
    assert witness.get("list")["locks"][0]["lock"] == held["lock"]
    assert witness.get("extend", lock=held["lock"])["deadline_us"] > held["deadline_us"]


def drawn_value(chance, depth=0):
    some = [None, True, -1, 0, 1, 1.5, 2**53, 1e300, "", "a", "1h", "forever", "1/3", "shared", "x" * 5000, "\u20ac", [], {}]
    if depth < 30 and chance.random() < 0.5:
        inner = drawn_value(chance, depth + 1)
        return chance.choice([[inner], {"key": inner}, ["a", inner]])
    return chance.choice(some)


def drawn_line(chance, number):
    """A request that makes sense, with some of its members changed, and then some of its bytes."""
    key, lock = f"drawn{chance.randrange(4)}", chance.randrange(12)
    request = {"id": number, **chance.choice([
        {"op": "hello", "version": 1}, {"op": "acquire", "key": key, "ttl": "1s", "wait": "50ms", "fenced": True},
        {"op": "acquire", "keys": [key, {"key": "pool", "permits": "1/3"}]}, {"op": "acquire", "key": key, "mode": "shared"},
        {"op": "extend", "lock": lock, "ttl": "2s"}, {"op": "release", "lock": lock}, {"op": "enter", "lock": lock},
        {"op": "convert", "lock": lock, "mode": "exclusive"}, {"op": "export", "lock": lock}, {"op": "adopt", "key": key, "text": "x"},
        {"op": "elect", "key": "led"}, {"op": "resign", "election": lock}, {"op": "observe", "key": "led"}, {"op": "look", "key": key},
        {"op": "latch", "name": "gate", "parties": 2, "generation": 1, "party": "p"}, {"op": "list"},
        {"op": "cancel", "request": number - 3}])}
    for _ in range(chance.choice([0, 0, 1, 1, 2])):
        request[chance.choice([*request, "ttl", "wait", "label", "permits", "token"])] = drawn_value(chance)
    line = bytearray(json.dumps(request).encode())
    for _ in range(chance.choice([0, 0, 0, 1, 3])):
        at = chance.randrange(len(line))
        line[at:at + chance.randrange(3)] = chance.randbytes(chance.randrange(3))
    return bytes(line) + b"\n"


def whatever_is_said_is_answered_and_harms_nobody_else(rig):
    seed = int(os.environ.get("REDLOCK_TEST_SEED") or random.randrange(1 << 32))
    chance, witness = random.Random(seed), Wire(rig)
    held = witness.get("acquire", key="watched", ttl="50s")
    try:
        for _ in range(40):
            wire = Wire(rig)
            for number in range(1, 26):
                wire.tell(drawn_line(chance, number))
            wire.id = 1000000
            wire.get("ping")
            wire.close()
        assert witness.get("extend", lock=held["lock"])["deadline_us"] > held["deadline_us"]
        wait_for(lambda: all(rig.is_free(f"drawn{i}") for i in range(4)), "the locks of those who have gone")
    except BaseException:
        print(f"# REDLOCK_TEST_SEED={seed}")
        raise


# --- Limits

def rights_and_limits(rig):
    rig.restart("--allow", "*:web/", "--max-locks", "1", "--max-connections", "2", "--max-requests", "1")
    one, two, three = Wire(rig), Wire(rig), Wire(rig)
    status, why = one.refused("acquire", key="a")
    assert status == "AGENT_E_RIGHTS" and "'a'" in why, why
    one.get("acquire", key="web/a")
    assert one.refused("acquire", key="web/b")[0] == "REDLOCK_E_LIMIT"
    pending = two.begin("acquire", key="web/a", wait="forever")
    assert two.refused("look", key="web/a")[0] == "REDLOCK_E_LIMIT"
    one.close()
    assert two.answer(pending)["ok"]
    assert "--max-connections" in three.read()["why"] and three.read() is None
    rig.restart()


def connections_of_masters(rig):
    """How many each has, but for the one that asks; a client of the library has two, one of which listens."""
    def count(path):
        with socket.socket(socket.AF_UNIX) as stream, stream.makefile("rb") as lines:
            stream.connect(path)
            stream.sendall(b"INFO clients\r\n")
            return next(int(line.split(b":")[1]) for line in lines if line.startswith(b"connected_clients:")) - 1
    return [count(path) for path in rig.masters_names()]


def a_thousand_connections_of_one_process(rig):
    """None of which costs the masters one."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 4096), most))
    rig.restart()
    wires = [Wire(rig) for _ in range(1000)]
    for i, wire in enumerate(wires):
        wire.begin("acquire", key=f"of-{i}", ttl="50s")
    for wire in wires:
        assert wire.answer(1)["ok"]
    assert max(connections_of_masters(rig)) <= 2, connections_of_masters(rig)
    assert "--max-connections" in Wire(rig).read()["why"]
    for wire in wires:
        wire.close()
    wait_for(lambda: all(rig.is_free(f"of-{i}") for i in (0, 499, 999)), "all to be given back")


def connections_wait_while_there_are_no_descriptors(rig):
    rig.restart()
    Wire(rig).get("ping")
    limits = resource.prlimit(rig.agent.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(rig.agent.pid, resource.RLIMIT_NOFILE, (3, limits[1]))
    wire = Wire(rig)
    number = wire.begin("ping")
    wait_for(lambda: "no connection can be taken" in rig.said(), "the complaint")
    resource.prlimit(rig.agent.pid, resource.RLIMIT_NOFILE, limits)
    assert wire.answer(number)["ok"] and rig.said().count("no connection can be taken") < 10


# --- Metrics

def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def fetch(port, method="GET", path="/metrics", body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    connection.request(method, path, body)
    reply = connection.getresponse()
    text = reply.read().decode()
    connection.close()
    return reply.status, text


def metrics_are_answered_over_http(rig):
    port = free_port()
    rig.restart("--metrics-listen", str(port), "--metrics-class", "order:=orders")
    wire = Wire(rig)
    wire.get("acquire", key="order:1", ttl="50s")
    wire.refused("acquire", key="order:1")
    status, text = fetch(port)
    lines = text.splitlines()
    assert status == 200 and 'redlock_key_acquired_total{key_class="orders"} 1' in lines, text
    assert 'redlock_key_failures_total{key_class="orders",reason="held"} 1' in lines
    assert 'redlock_acquire_seconds_count{result="held"} 1' in lines and "redlock_quorum_margin 1" in lines
    assert fetch(port, "HEAD") == (200, "")
    assert fetch(port, path="/")[0] == 404 and fetch(port, "POST", body="x")[0] in (405, 413, 501)
    assert rig.stop() == 0
    with contextlib.suppress(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), PATIENCE_S)
        raise AssertionError("the port is open when the agent has ended")


def who_ends_its_writing_is_answered(rig):
    port = free_port()
    rig.restart("--metrics-listen", str(port))
    for _ in range(50):
        with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as scraper:
            scraper.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
            scraper.shutdown(socket.SHUT_WR)
            head, _, page = b"".join(iter(lambda: scraper.recv(1 << 16), b"")).partition(b"\r\n\r\n")
        assert b"Content-Length: %d\r\n" % len(page) in head + b"\r\n", head


def those_who_misuse_the_port_disturb_nobody(rig):
    port = free_port()
    rig.restart("--metrics-listen", f"127.0.0.1:{port}")
    idle = [socket.create_connection(("127.0.0.1", port), PATIENCE_S) for _ in range(60)]
    for number, words in enumerate([b"\0\xff\r\n\r\n", b"GET " + b"x" * 100000, b"GET /metrics HTTP/1.1\r\n" * 1000]):
        idle[number].sendall(words)
    Wire(rig).get("acquire", key="undisturbed", ttl="50s")
    taken = len(os.listdir(f"/proc/{rig.agent.pid}/fd"))
    assert taken < 60, f"{taken} descriptors for connections that say nothing"
    assert fetch(port)[0] == 200  # when those that came first have had their time
    for connection in idle:
        connection.close()
    assert rig.stop() == 0


def scrapes_wait_while_there_are_no_descriptors(rig):
    port = free_port()
    rig.restart("--metrics-listen", str(port))
    limits = resource.prlimit(rig.agent.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(rig.agent.pid, resource.RLIMIT_NOFILE, (3, limits[1]))
    with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as scraper:
        scraper.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
        wait_for(lambda: "no connection can be taken" in rig.said(), "the complaint")
        resource.prlimit(rig.agent.pid, resource.RLIMIT_NOFILE, limits)
        assert scraper.recv(100).startswith(b"HTTP/1.1 200 OK\r\n")
    assert rig.said().count("no connection can be taken") < 10


def a_port_that_cannot_be_used_is_named(rig):
    assert rig.stop() == 0
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        for where, code, words in [(str(taken.getsockname()[1]), 3, "Address already in use"), ("0", 2, "takes a port"),
                                   ("localhost:80", 2, "takes a port"), ("65536", 2, "takes a port"),
                                   ("127.0.0.1:9199x", 2, "takes a port")]:
            assert rig.begin("--metrics-listen", where).wait(PATIENCE_S) == code, where
            assert "--metrics-listen" in rig.said() and words in rig.said(), rig.said()
    rig.start("--state", rig.state)


sys.exit(run([
    a_lock_is_held_extended_and_released, releases_of_all_entries_at_once, a_lock_is_renewed_beyond_its_ttl,
    sets_permits_and_modes, a_request_is_canceled, elections_and_looks, latches_open_when_all_have_arrived,
    an_extension_does_not_shorten_what_was_told, a_connection_that_its_client_ends_gives_back_at_once,
    a_second_signal_ends_the_agent_and_releases_nothing, a_token_that_is_adopted_stands_alone,
    a_lock_is_released_by_its_token,
    who_does_not_read_is_disconnected_and_keeps_its_lock, who_ends_its_reading_keeps_its_lock,
    a_line_without_end_ends_its_connection_alone,
    what_was_told_outlives_the_agent, hold_at_least_outlives_release_and_connection, what_lingers_is_adopted_by_its_token,
    what_is_pending_when_its_peer_goes_harms_nobody, a_text_is_adopted_by_one_only,
    an_agent_leaves_its_locks_to_the_next, a_start_that_fails_takes_nothing, wrong_words_are_named_and_harm_nobody,
    whatever_is_said_is_answered_and_harms_nobody_else, rights_and_limits, metrics_are_answered_over_http, who_ends_its_writing_is_answered,
    those_who_misuse_the_port_disturb_nobody, scrapes_wait_while_there_are_no_descriptors, a_port_that_cannot_be_used_is_named,
    a_thousand_connections_of_one_process, connections_wait_while_there_are_no_descriptors]))
