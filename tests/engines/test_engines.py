#!/usr/bin/env python3
"""redlock-lab engine: an engine of the tests' own, without and with each fault that the check must name, `single`, and `agent`.

    test_engines.py LAB TINY SINGLE AGENT
"""
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

lab, tiny, single, agent = sys.argv[1:5]

# What is planted, and what must be said of it.
FAULTS = {
    "name": r"calls itself 'etcd'",
    "ttl": r"a line that makes no sense \(ttl= is not a number of milliseconds",
    "malformed": r"a line that makes no sense .*: acquired \d+ soon",
    "twice": r"answers what was not asked|answers twice",
    "order": r"out of order within one ID",
    "dies": r"ended by itself with status 9",
    "refuses": r"gives up: there is no such folder",
    "clock": r"T0 from before the order was given",
    "two": r"grants two holders",
    "fence": r"fence that does not grow: 7 after 7",
    "immortal": r"does not exit at the end of its standard input",
    "silent": r"does not answer bye",
}


def run(*words, fault=None):
    environment = dict(os.environ, REDLOCK_ENGINES=os.path.dirname(tiny))
    if fault:
        environment["TINY_FAULT"] = fault
    return subprocess.run([lab, "engine", *words], env=environment, capture_output=True, text=True, timeout=200)


def check_tiny(fault=None):
    with tempfile.TemporaryDirectory() as folder:
        return run("check", tiny, f"nodes={folder}", fault=fault)


def a_good_engine_has_no_fault():
    done = check_tiny()
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok ") == 7 and "FAULT" not in done.stdout, done.stdout


def fault_is_named(fault):
    done = check_tiny(fault)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "FAULT" in done.stdout and re.search(FAULTS[fault], done.stdout), done.stdout


def silence_is_named():
    """Of each order that waits for an answer. Ten seconds of it are enough, for both at once."""
    silent = {"mute": r"does not answer: release \d+", "late": r"does not answer: acquire \d+"}
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for fault, done in zip(silent, pool.map(check_tiny, silent)):
            assert done.returncode == 1 and re.search(silent[fault], done.stdout), done.stdout + done.stderr


def an_engine_has_no_fault_on_servers_of_its_own(engine):
    done = run("check", engine)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok ") == 7, done.stdout


def help_is_given_behind_a_word_too():
    for words in (["--help"], ["list", "--help"], ["check", "-h"], ["check", "tiny", "--help"]):
        done = run(*words)
        assert done.returncode == 0 and done.stdout.startswith("Usage: redlock-lab engine list"), (words, done)


def engines_are_found_by_name():
    done = run("list")
    assert done.returncode == 0 and re.search(r"^tiny +1\.0 +on folder$", done.stdout, re.M), done.stdout + done.stderr
    done = run("check", "no-such-engine")
    assert done.returncode == 2 and "redlock-engine-no-such-engine" in done.stderr, done.stderr
    for words in ([], ["check"], ["check", tiny, "nodes"], ["shake"]):
        assert run(*words).returncode == 2, words


def failover_says_what_it_cannot_use():
    environment = dict(os.environ, REDLOCK_ENGINES=os.path.dirname(tiny))
    done = subprocess.run([lab, "failover", "baseline", "--engine", "tiny", "--quiet"], env=environment,
                          capture_output=True, text=True, timeout=100)
    assert done.returncode == 125 and "cannot be put on anything" in done.stderr, done.stderr


def runs_end_with(status, faults):
    """bench and failover with each fault, all at once: silence takes ten seconds to be sure of."""
    commands = (["bench", "--engine", "tiny", "-d", "100ms", "--warmup", "50ms"],
                ["failover", "baseline", "--engine", "tiny", "--quiet", "--phase", "200ms"])
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, REDLOCK_ENGINES=os.path.dirname(tiny), TINY_FOLDER=folder)
        runs = [(command, fault, subprocess.Popen([lab, *command], env=dict(environment, TINY_FAULT=fault),
                                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
                for command in commands for fault in faults]
        try:
            for command, fault, run in runs:
                _, err = run.communicate(timeout=100)
                assert run.returncode == status, f"{command[0]} with {fault}: {run.returncode}, {err}"
                assert re.search(faults[fault], err), f"{command[0]} with {fault}: {err}"
        finally:
            for _, _, run in runs:
                run.kill()


def a_good_engine_is_measured():
    runs_end_with(0, {"": "^$"})


def defaults_are_the_ttl_of_the_engines_library():
    with tempfile.TemporaryDirectory() as folder:
        def run_with(*words):
            return subprocess.run([lab, *words], capture_output=True, text=True, timeout=100,
                                  env=dict(os.environ, REDLOCK_ENGINES=os.path.dirname(tiny), TINY_FOLDER=folder))

        def ttls_of(*words):
            done = run_with(*words)
            assert done.returncode == 0, done.stderr
            with open(f"{folder}/ttls", encoding="utf-8") as file:
                ttls = set(file)
            os.unlink(f"{folder}/ttls")
            return ttls

        short = ("failover", "baseline", "--compare", "--quiet", "--phase", "200ms", "--json", f"{folder}/report")
        assert ttls_of(*short, "--engine", "tiny,redlock:defaults") == {"6000\n"}
        with open(f"{folder}/report", encoding="utf-8") as file:
            assert [engine["ttl_ms"] for engine in json.load(file)["engines"]] == [6000, 10000]
        for words in (short, ("failover", "baseline", "--quiet", "--phase", "200ms"),
                      ("bench", "-d", "100ms", "--warmup", "50ms")):
            assert ttls_of(*words, "--engine", "tiny:defaults") == {"700\n"}, words
        done = run_with("failover", "baseline", "--engine", f"{single}:defaults")
        assert done.returncode == 125 and "single has no ttl by default" in done.stderr, done.stderr


def a_broken_engine_ends_the_run_with_status_3():
    runs_end_with(3, {"malformed": r"engine tiny writes a line that makes no sense .*: acquired \d+ soon",
                      "dies": r"engine tiny ended by itself with status 9",
                      "mute": r"engine tiny does not answer: release \d+"})


TESTS = [("a good engine has no fault", a_good_engine_has_no_fault),
         *((f"fault is named: {fault}", lambda fault=fault: fault_is_named(fault)) for fault in FAULTS),
         ("silence is named", silence_is_named),
         *((f"{name} has no fault on servers of its own",
            lambda engine=engine: an_engine_has_no_fault_on_servers_of_its_own(engine))
           for name, engine in (("single", single), ("agent", agent))),
         ("help is given behind a word, too", help_is_given_behind_a_word_too),
         ("engines are found by name", engines_are_found_by_name),
         ("failover says what it cannot use", failover_says_what_it_cannot_use),
         ("bench and failover put a good engine to work", a_good_engine_is_measured),
         ("defaults are the ttl of the engine's library", defaults_are_the_ttl_of_the_engines_library),
         ("bench and failover name what is wrong with an engine", a_broken_engine_ends_the_run_with_status_3)]

print(f"1..{len(TESTS)}")
bad = 0
for number, (name, test) in enumerate(TESTS, 1):
    try:
        test()
        print(f"ok {number} - {name}", flush=True)
    except (AssertionError, subprocess.TimeoutExpired) as error:
        bad += 1
        print(f"not ok {number} - {name}", flush=True)
        for line in str(error).splitlines():
            print(f"# {line}", flush=True)
sys.exit(1 if bad else 0)
