#!/usr/bin/env python3
"""redlock-lab bench, run as a user runs it. Prints TAP. Usage: test_bench.py PATH_OF_REDLOCK_LAB"""
import collections
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import json_fields  # noqa: E402  (its place is known only here)

LAB = sys.argv[1]
WATCHDOG_S = 120
QUANTILES = ("p50", "p99", "p999", "mean", "max")
NUMBERS = ("concurrency", "nodes", "seconds", "locks", "locks_per_s", "busy", "failed", "overlaps",
           "commands_per_lock", "cpu_s_per_10k", "rss_mb", "jain")


def bench(*args):
    """Exit code, standard output, standard error."""
    done = subprocess.run([LAB, "bench", *args], capture_output=True, text=True, timeout=WATCHDOG_S, check=False)
    return done.returncode, done.stdout, done.stderr


def measured(*args, locks_are_counted=True):
    """The JSON line of a run that must succeed."""
    code, out, err = bench("--json", "--warmup", "0.2s", *args)
    assert code == 0, f"exit code {code}: {err}"
    assert out.count("\n") == 1 and out.endswith("\n"), f"not one line: {out!r}"
    result = json.loads(out)
    json_fields.check(result, "redlock-lab-bench.1")
    for name in NUMBERS:
        if locks_are_counted or name != "cpu_s_per_10k":
            assert isinstance(result[name], (int, float)), f"{name} is {result.get(name)!r}"
    for name in ("acquire_us", "release_us", "gap_us", "hold_us"):
        assert all(quantile in result[name] for quantile in QUANTILES), f"{name} is {result[name]}"
    assert result["locks"] > 0 or not locks_are_counted
    assert result["failed"] == 0, f"{result['failed']} acquisitions failed"
    assert result["overlaps"] == 0, f"{result['overlaps']} overlaps"
    assert result["fds"]["end"] <= result["fds"]["start"], f"descriptors: {result['fds']}"
    return result


def refused(*args):
    """The message of a call with wrong options."""
    code, out, err = bench(*args)
    assert code == 2, f"exit code {code}, not 2: {out}{err}"
    assert out == "", f"output in spite of wrong options: {out}"
    assert err.startswith("redlock-lab: bench: ") and "Try 'redlock-lab bench --help'." in err, f"message: {err!r}"
    return err


def assert_increasing(times):
    values = [times[name] for name in ("p50", "p99", "p999", "max")]
    assert values == sorted(values) and values[0] > 0, f"{times}"


def assert_commands(result, each, tasks=1):
    """Each attempt needs so many commands. Fewer go to a master that is late, as one on a busy machine may be for a
    while; and of each task's attempts the one under way at each end of the measurement is counted in part."""
    attempts = result["attempts_per_lock"] * result["locks"]
    commands = result["commands_per_lock"] * result["locks"]
    assert 0.85 * each * attempts - 2 * each * tasks <= commands <= 1.05 * each * attempts + 2 * each * tasks, (
        f"{commands:.0f} commands for {attempts:.0f} attempts, {result['locks']} locks")


def a_lone_classic_task_needs_ten_commands_for_a_lock_on_five_masters():
    result = measured("--scenario", "seq", "--profile", "classic", "--duration", "1s")
    assert result["scenario"] == "seq" and result["profile"] == "classic"
    assert result["concurrency"] == 1 and result["nodes"] == 5
    assert_commands(result, 10)
    assert_increasing(result["acquire_us"])
    assert_increasing(result["release_us"])
    assert abs(result["locks_per_s"] - result["locks"] / result["seconds"]) < 0.01 * result["locks_per_s"]


def a_lone_guarded_task_needs_ten_more_for_the_guards():
    result = measured("--scenario", "seq", "--duration", "1s")
    assert result["profile"] == "guarded"
    assert_commands(result, 20)
    assert_increasing(result["acquire_us"])


def concurrent_tasks_share_the_connections():
    """And at least two of them, on average, the command that releases."""
    result = measured("--scenario", "conc", "--profile", "classic", "--concurrency", "100", "--procs", "3",
                      "--duration", "1s", "--unix")
    assert result["concurrency"] == 100 and result["procs"] == 3
    assert 5 <= result["commands_per_lock"] <= 7.5, result["commands_per_lock"]


def concurrent_tasks_share_the_guards():
    """At least two tasks' locks in a turn of the loop, on average."""
    result = measured("--scenario", "conc", "--concurrency", "200", "--duration", "1s")
    assert 5 <= result["commands_per_lock"] <= 12.5, result["commands_per_lock"]


def a_delay_is_felt_once_each_way():
    result = measured("--scenario", "seq", "--delay", "20ms", "--duration", "1s")
    assert result["delay_ms"] == 20
    assert result["acquire_us"]["p50"] >= 40000, result["acquire_us"]
    assert result["release_us"]["p50"] >= 40000, result["release_us"]


def hammering_tasks_exclude_each_other():
    result = measured("--scenario", "hammer", "--concurrency", "8", "--procs", "2", "--duration", "1s", "--hold", "1ms",
                      "--retry-delay", "1ms", "--retry-jitter", "5ms")
    assert result["hold_us"]["p50"] >= 500, result["hold_us"]
    assert 0 < result["busy"] <= 1, result["busy"]
    assert 1 / 8 <= result["jain"] <= 1, result["jain"]
    assert result["gap_us"]["n"] > 0 and result["gap_us"]["p50"] > 0, result["gap_us"]


def permits_are_never_exceeded():
    result = measured("--scenario", "hammer", "--concurrency", "6", "--procs", "2", "--permits", "2", "--hold", "1ms",
                      "--duration", "0.5s")
    assert result["permits"] == 2 and 0 < result["busy"] <= 1, result
    assert result["overlaps"] == 0 and result["gap_us"]["n"] > 0, result
    assert "--permits" in refused("--scenario", "fence", "--permits", "2")
    assert "--permits" in refused("--scenario", "shared", "--permits", "2")
    assert "--permits" in refused("--permits", "1025")


def tasks_with_clients_of_their_own_have_connections_of_their_own():
    shared = measured("--scenario", "hammer", "--concurrency", "6", "--procs", "2", "--duration", "0.5s")
    own = measured("--scenario", "hammer", "--concurrency", "6", "--procs", "2", "--duration", "0.5s", "--own-clients")
    assert own["fds"]["start"] >= shared["fds"]["start"] + 2 * 5, (own["fds"], shared["fds"])


def a_set_of_five_takes_the_round_trip_of_one_key():
    result = measured("--scenario", "set5", "--local", "3", "--delay", "10ms", "--count", "20")
    assert 20000 <= result["acquire_us"]["p50"] < 80000, result["acquire_us"]  # one after the other: 100000
    assert result["commands_per_lock"] >= (5 + 1) * 3, result["commands_per_lock"]  # its keys are released together


def readers_behind_a_writer_come_together():
    result = measured("--scenario", "readers", "--concurrency", "9", "--local", "3", "--delay", "10ms", "--count", "90")
    for name in ("together_us", "gap_us"):
        assert result[name]["n"] > 0 and 20000 <= result[name]["p50"] < 80000, (name, result[name])
    assert result["writer_us"]["n"] + result["acquire_us"]["n"] == result["locks"], result
    for words in (("--procs", "2"), ("--concurrency", "1")):
        assert "at least one reader" in refused("--scenario", "readers", *words)


def a_writer_has_its_turn_among_readers():
    result = measured("--scenario", "mixed", "--concurrency", "5", "--local", "3", "--hold", "2ms", "--duration", "1s")
    assert result["writer_us"]["n"] >= 2 and result["acquire_us"]["n"] > result["writer_us"]["n"], result
    assert result["overlaps"] == 0 and result["failed"] == 0, result


def the_writers_pause_is_an_option():
    result = measured("--scenario", "mixed", "--local", "3", "--concurrency", "3", "--duration", "1s", "--pause", "5s")
    assert result["pause_ms"] == 5000 and result["writer_us"]["n"] <= 1 and result["acquire_us"]["n"] > 0, result


def an_owner_enters_again_without_asking_masters():
    result = measured("--scenario", "reenter", "--local", "3", "--concurrency", "2", "--duration", "0.5s")
    assert result["locks"] > 100 and result["acquire_us"]["n"] == result["locks"], result
    # The keys may be renewed meanwhile.
    assert result["commands_per_lock"] * result["locks"] < 30, result


def a_latch_opens_in_each_round_when_all_have_arrived():
    result = measured("--scenario", "latch", "--local", "3", "--concurrency", "5", "--duration", "0.5s", "--own-clients")
    assert result["locks"] >= 5 and result["violations"] == 0, result
    assert result["gap_us"]["n"] == result["locks"] and result["acquire_us"]["n"] > 0, result
    assert_increasing(result["gap_us"])
    assert "2 to 1000" in refused("--scenario", "latch", "--concurrency", "1")
    assert "2 to 1000" in refused("--scenario", "latch", "--concurrency", "1001")
    assert "one process" in refused("--scenario", "latch", "--procs", "2")


def of_candidates_each_leads_in_turn_and_alone():
    result = measured("--scenario", "election", "--local", "3", "--concurrency", "4", "--procs", "2", "--hold", "1ms",
                      "--duration", "1s")
    assert result["locks"] > 4 and result["overlaps"] == 0 and result["violations"] == 0, result
    assert result["gap_us"]["n"] > 0 and 0 < result["busy"] <= 1 and result["jain"] > 0.5, result


def fresh_keys_can_be_shared():
    result = measured("--scenario", "shared", "--local", "3", "--duration", "0.5s")
    assert result["acquire_us"]["n"] > 0 and result["failed"] == 0, result
    assert "--floor" in refused("--scenario", "shared", "--floor")


def a_herd_serves_everyone_once_each_round():
    result = measured("--scenario", "herd", "--concurrency", "8", "--procs", "2", "--duration", "1s",
                      "--retry-delay", "1ms", "--retry-jitter", "5ms")
    assert result["locks"] >= 8, result["locks"]
    # Each task is at most one round ahead of another, when the measurement begins and when it ends. A slow machine does
    # few rounds.
    least = max(result["locks"] // 8 - 2, 0)
    assert result["jain"] >= 4 * least * (least + 2) / (2 * least + 2) ** 2 - 0.001, (result["jain"], result["locks"])
    assert 0 < result["busy"] <= 1 or result["hold_us"]["max"] == 0


def faults_report_both_phases():
    for scenario in ("hung1", "hung2", "killed1", "killed2"):
        result = measured("--scenario", scenario, "--duration", "1.5s", "--reps", "1")
        healthy, degraded = result["healthy"], result["degraded"]
        for phase in (healthy, degraded):
            assert phase["locks"] > 0 and phase["failed"] == 0 and phase["overlaps"] == 0, f"{scenario}: {phase}"
        assert_increasing(degraded["acquire_us"])
        ratio = degraded["acquire_us"]["p99"] / healthy["acquire_us"]["p99"]
        assert abs(ratio - result["p99_ratio"]) < 0.01, f"{scenario}: {ratio} and {result['p99_ratio']}"
        # Masters that are gone are not written to for long. Each that hangs may delay one release by the node
        # timeout, so a short phase can have so few locks that those in progress at its ends count.
        commands = degraded["commands_per_lock"] * degraded["locks"]
        assert commands < 20.5 * (degraded["locks"] + 3), f"{scenario}: {commands} commands, {degraded['locks']} locks"


def the_number_of_locks_can_end_a_run():
    result = measured("--scenario", "conc", "--concurrency", "16", "--locks", "500", "--unix")
    assert 500 <= result["locks"] <= 600, result["locks"]


def the_floor_is_measured_in_alternation():
    result = measured("--scenario", "conc", "--floor", "--reps", "2", "--duration", "1s")
    floor = result["floor"]
    assert floor["slices"] == 2
    for figure in ("acquire_p50", "locks_per_s", "cpu_s_per_10k"):
        for side in ("library", "floor", "ratio"):
            assert floor[side][figure] > 0, f"{side} {figure}: {floor[side]}"


def threads_are_compared_with_asynchronous_tasks():
    result = measured("--scenario", "blocking", "--concurrency", "8", "--reps", "2", "--duration", "1s")
    assert result["concurrency"] == 8
    for group in ("alone", "many"):
        comparison = result["blocking"][group]
        for figure in ("acquire_p50", "locks_per_s", "cpu_s_per_10k"):
            for side in ("library", group, "ratio"):
                assert comparison[side][figure] > 0, f"{group} {side} {figure}: {comparison}"
    blocking = result["blocking"]
    assert abs(blocking["rate"] * blocking["many"]["ratio"]["locks_per_s"] - 1) < 0.01, blocking
    assert isinstance(blocking["longer_us"], float) and isinstance(blocking["rate_met"], bool)


def the_profiles_are_compared_in_alternation():
    result = measured("--profile", "both", "--floor", "--reps", "2", "--duration", "1s")
    assert result["profile"] == "guarded"
    for other in ("classic", "floor"):
        for figure in ("acquire_p50", "locks_per_s", "cpu_s_per_10k"):
            for side in ("library", "library_best", other, other + "_best", "ratio"):
                assert result[other][side][figure] > 0, f"{other} {side} {figure}: {result[other]}"
    # The locks of the classic slices are not counted among the guarded ones.
    assert_commands(result, 20)


def held_locks_are_renewed_and_counted():
    result = measured("--scenario", "hold", "--locks", "300", "--ttl", "6s", "--duration", "4s", "--idle", "0.2s",
                      locks_are_counted=False)
    held = result["hold"]
    assert held["locks"] == 300 and held["lost"] == 0, held
    # Each of them every 2 s, and one more or less at the ends.
    assert 300 * (result["seconds"] / 2 - 1) <= held["renewals"] <= 300 * (result["seconds"] / 2 + 1), held
    assert abs(held["renewals_per_s"] - held["renewals"] / result["seconds"]) < 1, held
    idle = held["idle_cpu_s"] / held["idle_s"]
    assert abs(held["cpu_percent"] - 100 * (held["cpu_s"] / result["seconds"] - idle)) < 0.01, held
    # Many locks in one command for each of the five masters.
    assert 5 <= held["commands"] < 5 * held["renewals"], held
    assert held["heap_bytes_per_lock"] is None or 100 < held["heap_bytes_per_lock"] < 10000, held
    assert held["cpu_met"] == (held["cpu_percent"] <= 2.5), held
    if held["heap_bytes_per_lock"] is not None:
        assert held["bytes_met"] == (held["heap_bytes_per_lock"] <= 640), held


def held_locks_are_measured_for_two_renewals_at_least():
    code, out, err = bench("--scenario", "hold", "--locks", "10", "--ttl", "1200ms", "--duration", "0.1s", "--idle", "0.1s")
    assert code == 0, err
    measured_s = float(re.search(r"measured for ([0-9.]+) s", out).group(1))
    assert 0.75 <= measured_s < 60, out  # a timer of 0.8 s, which the measurement itself may begin late
    for words in ("renewals", "CPU", "memory", "goal: CPU", "goal: memory", "pass"):
        assert words in out, f"no {words!r} in: {out}"


def fencing_tokens_grow():
    result = measured("--scenario", "fence", "--count", "400", "--keys", "2")
    fence = result["fence"]
    assert result["concurrency"] == 16 and result["procs"] == 4
    assert 400 <= fence["acquisitions"] == result["locks"] <= 450, fence
    assert fence["violations"] == 0 and fence["restarts"] == 0, fence
    assert 0 <= fence["one_trip"] <= 1 and abs(fence["one_trip"] - 1 + fence["raises"] / fence["acquisitions"]) < 1e-4


def fencing_tokens_grow_while_masters_are_restarted():
    code, out, err = bench("--scenario", "fence", "--duration", "4s", "--ttl", "300ms", "--restarts", "700ms",
                           "--persistence", "mixed", "--json")
    assert code == 0, f"exit code {code}: {out}{err}"
    result = json.loads(out)
    json_fields.check(result, "redlock-lab-bench.1")
    assert result["fence"]["restarts"] >= 2 and result["fence"]["violations"] == 0, result["fence"]
    assert result["locks"] > 0 and result["overlaps"] == 0, result


def a_broken_promise_has_an_exit_code_of_its_own():
    """Masters that forget everything, one after the other, all of them in the time that one holder has its lock: the
    classic profile cannot stand that, and the guarded one can."""
    args = ("--scenario", "hammer", "--concurrency", "4", "--restarts", "100ms", "--hold", "1500ms", "--retry-delay",
            "1ms", "--retry-jitter", "5ms", "--duration", "5s", "--json")
    code, out, err = bench(*args, "--profile", "classic")
    assert code == 1 and json.loads(out)["overlaps"] > 0, f"exit code {code}: {out}{err}"
    code, out, err = bench(*args, "--profile", "guarded")
    assert code == 0 and json.loads(out)["overlaps"] == 0, f"exit code {code}: {out}{err}"


def people_get_a_table():
    code, out, _ = bench("--scenario", "hammer", "--concurrency", "2", "--duration", "0.3s", "--hold", "1.5ms")
    assert code == 0
    for words in ("locks", "per second", "commands per lock", "key held", "p99.9", "acquire", "release", "hold"):
        assert words in out, f"no {words!r} in: {out}"


class Page(html.parser.HTMLParser):
    """What is in which kind of element, and the bars. Elements must be closed in their order."""
    def __init__(self, text):
        super().__init__()
        self.open, self.texts, self.bars = [], collections.defaultdict(str), 0
        self.feed(text)
        self.close()
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        assert tag != "script" and not {"src", "href"} & {name for name, _ in attrs}, self.get_starttag_text()
        self.open.append(tag)
        self.bars += ("class", "bar") in attrs

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> after {self.open}"

    def handle_data(self, data):
        self.texts[self.open[-1] if self.open else ""] += data


def a_page_has_the_figures_and_the_histograms():
    with tempfile.TemporaryDirectory() as place:
        path = pathlib.Path(place) / "page.html"
        common = ("--duration", "0.3s", "--warmup", "0.1s", "--html", str(path))
        code, out, err = bench("--scenario", "hammer", "--concurrency", "2", *common)
        assert code == 0, err
        text = path.read_text()
        page = Page(text)
        assert page.texts["pre"] == out, f"not the printed figures: {page.texts['pre']}"
        assert page.texts["h3"] == "acquirereleaserelease to next", page.texts["h3"]
        locks = int(re.search(r"^  locks +(\d+)", out, re.M)[1])
        acquired = re.search(r"<h3>acquire</h3>(.*?)</svg>", text, re.S)[1]
        counts = [int(count) for count in re.findall(r"<title>(\d+) from [\d.]+ (?:\u00b5s|ms|s) on</title>", acquired)]
        assert len(counts) > 1 and sum(counts) == locks, (counts, locks)
        result = measured("--scenario", "seq", "--floor", "--reps", "2", *common)
        page = Page(path.read_text())
        assert "floor" in page.texts["pre"] and str(result["locks"]) in page.texts["pre"], page.texts["pre"]
        assert page.texts["h3"] == "acquirerelease" and page.bars > 1, page.texts["h3"]
        code, out, err = bench("--html", f"{place}/absent/page.html")
        assert code == 3 and out == "" and "absent/page.html" in err, (code, out, err)
    assert "--table" in refused("--html", "page.html", "--table")


def running_masters_can_be_named():
    """Nobody listens on port 1, and the message names the master and the reason."""
    code, out, err = bench("--nodes", "127.0.0.1:1,redis://127.0.0.1:2", "--duration", "0.1s")
    assert code == 3 and out == "", f"exit code {code}: {out}{err}"
    assert "127.0.0.1:1" in err and "127.0.0.1:2" in err, err


def faults_are_refused_on_masters_of_others():
    for scenario in ("hung1", "killed2"):
        assert "--local" in refused("--scenario", scenario, "--nodes", "127.0.0.1:1")
    assert "--local" in refused("--scenario", "fence", "--restarts", "500ms", "--nodes", "127.0.0.1:1")


def wrong_options_are_named():
    assert "nonsense" in refused("--scenario", "nonsense")
    assert "--frobnicate" in refused("--frobnicate")
    assert "stray" in refused("stray")
    assert "--concurrency" in refused("--concurrency", "0")
    assert "--duration" in refused("--duration", "nan")
    assert "--duration" in refused("--duration", "0")
    assert "5 what? Write 5ms or 5s" in refused("--duration", "5")
    assert "--warmup" in refused("--warmup", "0.5")
    assert "--delay" in refused("--delay", "0.0000001s")
    assert "--ttl" in refused("--ttl", "-5")
    assert "at least 5ms" in refused("--ttl", "4ms")
    assert "both be 0" in refused("--retry-delay", "0", "--retry-jitter", "0")
    assert "--hold" in refused("--ttl", "100ms", "--hold", "100ms")
    assert "--procs" in refused("--procs", "2")
    assert "--persistence" in refused("--persistence", "maybe")
    assert "--floor" in refused("--floor", "--scenario", "herd")
    assert "both" in refused("--profile", "both", "--scenario", "fence")
    assert "--profile" in refused("--profile", "careless")
    assert "--keys" in refused("--scenario", "fence", "--keys", "65")
    assert "--procs" in refused("--scenario", "hold", "--procs", "2")
    assert "--hold" in refused("--scenario", "fence", "--hold", "1ms")
    assert "--own-clients" in refused("--scenario", "hold", "--own-clients")
    assert "--procs" in refused("--scenario", "blocking", "--procs", "2")
    assert "--restarts" in refused("--scenario", "blocking", "--restarts", "500ms")
    assert "--restarts" in refused("--scenario", "hung1", "--restarts", "500ms")
    assert "1000000" in refused("--scenario", "hold", "--locks", "1000001")
    assert "conc" in refused("--scenario", "seq", "--concurrency", "2")
    assert "--nodes" in refused("--nodes", "a:1,,b:2")
    assert "exclude" in refused("--nodes", "a:1", "--local", "3")
    assert "not with --nodes" in refused("--nodes", "a:1", "--persistence", "volatile")
    assert "not with --nodes" in refused("--nodes", "a:1", "--unix")
    assert "without --scenario" in refused("--scenario", "seq", "--table")
    for words in (("fence",), ("hung1",), ("seq", "--permits", "3"), ("conc", "--restarts", "1s")):
        assert "--engine and --compare have" in refused("--engine", "single", "--scenario", *words), words
    assert "--local" in refused("--nodes", "a:1", "--delay", "1ms")
    assert "exclude" in refused("--table", "--delay", "1ms")
    assert "--delay" in refused("--delay", "1001ms")


def a_fault_must_leave_a_quorum():
    assert "quorum" in refused("--scenario", "killed2", "--local", "4")


def help_fits_a_terminal_of_80_columns():
    for words in (["--help"], ["bench", "--help"], ["failover", "--help"], ["engine", "--help"]):
        done = subprocess.run([LAB, *words], capture_output=True, text=True, timeout=WATCHDOG_S, check=True)
        assert done.stdout.startswith(f"Usage: redlock-lab {words[0] if words[1:] else 'COMMAND'}"), done.stdout
        wide = [line for line in done.stdout.splitlines() if len(line) > 80]
        assert not wide, wide


def help_names_every_option():
    code, out, err = bench("--help")
    assert code == 0 and err == ""
    named = set(re.findall(r"--[a-z-]+", out))
    for option in ("nodes", "local", "scenario", "concurrency", "duration", "ttl", "hold", "procs", "json", "html", "floor",
                   "warmup", "pin", "persistence", "locks", "retry-delay", "retry-jitter", "table", "profile", "scenario",
                   "keys", "permits", "restarts", "idle", "pause"):
        assert "--" + option in named, f"--{option} is not in the help text"
    for scenario in ("seq", "conc", "blocking", "hammer", "herd", "hung1", "hung2", "killed1", "killed2", "readers",
                     "mixed", "reenter", "latch", "election", "hold", "fence"):
        assert re.search(rf"\b{scenario}\b", out), f"{scenario} is not in the help text"


def engines_are_measured_side_by_side():
    code, out, err = bench("--engine", "redlock,single", "-d", "200ms", "--warmup", "50ms")
    assert code == 0, err
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in out.splitlines() if line.startswith("| ")][1:]
    assert [row[:3] for row in rows] == [[system, load, tasks] for system in ("redlock", "single") for load, tasks in
                                         (("seq", "1"), ("conc", "64"), ("herd", "16"), ("hammer", "16"))], out
    assert all(row[9] == "0" for row in rows), f"two holders: {out}"
    assert all(int(row[3]) > 0 for row in rows if row[1] != "hammer"), out
    for words in (("--engine", "single", "--json"), ("--compare", "--nodes", "redis://a")):
        code, _, err = bench(*words)
        assert code == 2 and "--engine and --compare" in err, err
    code, _, err = bench("--engine", "single,")
    assert code == 3 and "empty item in the list of engines 'single,'" in err, err
    code, _, err = bench("--engine", "nothing")
    assert code == 3 and "redlock-engine-nothing" in err, err


def the_agent_is_an_engine():
    """... of which one load can be asked for. The agent counts the commands of all processes: each of five masters
    has two for a fresh key, and two for its release."""
    def row(*words):
        code, out, err = bench("--engine", "agent", "-d", "500ms", "--warmup", "50ms", *words)
        assert code == 0, err
        rows = [line.strip("| ").split(" | ") for line in out.splitlines() if line.startswith("| agent ")]
        assert len(rows) == 1 and int(rows[0][3]) > 0 and rows[0][-1] == "0", out
        return rows[0]

    alone, together = row("-s", "seq"), row("-s", "hammer", "-c", "8", "--procs", "4")
    assert alone[1:3] == ["seq", "1"] and 15 < float(alone[-3]) < 25, alone
    assert together[1:3] == ["hammer", "8"] and 0 < float(together[-3]) < 25, together


def a_delay_is_felt_by_engines_too():
    code, out, err = bench("--engine", "single", "--delay", "5ms", "-d", "200ms", "--warmup", "50ms")
    assert code == 0, err
    assert "5 ms late each way" in out, out
    p50_us = re.search(r"^\| single \| seq \| 1 \| \d+ \| (\d+) /", out, re.M)
    assert p50_us and int(p50_us[1]) >= 10000, out


TESTS = [
    engines_are_measured_side_by_side,
    the_agent_is_an_engine,
    a_delay_is_felt_by_engines_too,
    a_lone_classic_task_needs_ten_commands_for_a_lock_on_five_masters,
    a_lone_guarded_task_needs_ten_more_for_the_guards,
    concurrent_tasks_share_the_connections,
    concurrent_tasks_share_the_guards,
    a_delay_is_felt_once_each_way,
    hammering_tasks_exclude_each_other,
    permits_are_never_exceeded,
    tasks_with_clients_of_their_own_have_connections_of_their_own,
    a_herd_serves_everyone_once_each_round,
    faults_report_both_phases,
    the_number_of_locks_can_end_a_run,
    the_floor_is_measured_in_alternation,
    threads_are_compared_with_asynchronous_tasks,
    the_profiles_are_compared_in_alternation,
    held_locks_are_renewed_and_counted,
    held_locks_are_measured_for_two_renewals_at_least,
    fencing_tokens_grow,
    fencing_tokens_grow_while_masters_are_restarted,
    a_set_of_five_takes_the_round_trip_of_one_key,
    readers_behind_a_writer_come_together,
    a_writer_has_its_turn_among_readers,
    the_writers_pause_is_an_option,
    an_owner_enters_again_without_asking_masters,
    a_latch_opens_in_each_round_when_all_have_arrived,
    of_candidates_each_leads_in_turn_and_alone,
    fresh_keys_can_be_shared,
    a_broken_promise_has_an_exit_code_of_its_own,
    people_get_a_table,
    a_page_has_the_figures_and_the_histograms,
    running_masters_can_be_named,
    faults_are_refused_on_masters_of_others,
    wrong_options_are_named,
    a_fault_must_leave_a_quorum,
    help_fits_a_terminal_of_80_columns,
    help_names_every_option,
]


def main():
    if not shutil.which(os.environ.get("REDLOCK_SERVER", "redis-server")):
        print("1..0 # SKIP there is no redis-server")
        return 0
    failures = 0
    print(f"1..{len(TESTS)}")
    for number, test in enumerate(TESTS, 1):
        try:
            test()
            print(f"ok {number} - {test.__name__}", flush=True)
        except (AssertionError, KeyError, ValueError, subprocess.TimeoutExpired) as problem:
            failures += 1
            print(f"not ok {number} - {test.__name__}\n# {type(problem).__name__}: {problem}", flush=True)
    return 1 if failures else 0


sys.exit(main())
