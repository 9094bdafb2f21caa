#!/usr/bin/env python3
"""redlock-lab failover, run as a user runs it. Prints TAP.

Usage: test_failover.py PATH_OF_REDLOCK_LAB PATH_OF_PLANTED CLOCK_SHIM
The last is found by the command itself; it must have been built.
"""
import csv
import glob
import html.parser
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import json_fields  # noqa: E402  (its place is known only here)

PAGE = pathlib.Path(__file__).resolve().parents[2] / "tools/lab/failover/page"
LAB, PLANTED = [sys.argv[1], "failover"], [sys.argv[2], "failover"]
WATCHDOG_S = 120
# Short phases, and a quarantine of 1.5 s.
SHORT = ("--quiet", "--phase", "500ms", "--ttl", "400ms", "--max-ttl", "500ms", "--rate", "200")
PROMISES = ("double_holds", "fence_regressions", "mixed_writes", "foreign_releases", "leaked_keys")
SCENARIOS = ("baseline", "kill-1", "kill-2", "kill-3", "hang-1", "hang-2", "hang-3", "restart-empty", "rolling-restart",
             "partition", "slow-master", "lost-replies", "clock-step", "holder-dies", "holder-pause")
BY_NAME = ("kill-leader", "kill-lagging", "kill-all", "hang-leader", "hang-all", "partition-holder", "replace-1",
           "grow-3-to-5", "move-all")


def failover(*args, program=LAB, plant=""):
    """Exit code, standard output, standard error."""
    environment = dict(os.environ, FAILOVER_PLANT=plant)
    done = subprocess.run([*program, *args], capture_output=True, text=True, timeout=WATCHDOG_S, check=False,
                          env=environment)
    return done.returncode, done.stdout, done.stderr


def measured(*args, program=LAB, plant="", expected=0):
    """The JSON report of a run with the exit code that is expected."""
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "report.json")
        code, out, err = failover(*SHORT, *args, "--json", path, program=program, plant=plant)
        assert code == expected, f"exit code {code}, not {expected}: {out}{err}"
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
    json_fields.check(report, "redlock-lab-failover.1")
    assert report["exit_code"] == expected, report["exit_code"]
    return report


def safe(*args, expected=0):
    """The scenarios of a run in which nothing was broken, each with its own checks done."""
    report = measured(*args, expected=expected)
    for name in PROMISES:
        assert report["safety"][name] == 0, report["safety"]
    for scenario in report["scenarios"]:
        assert "skipped" not in scenario, scenario["skipped"]
        assert scenario["safety"]["acquisitions"] > 50 and scenario["safety"]["writes"] > 50, scenario["safety"]
        assert scenario["fault_ms"] <= scenario["heal_ms"] <= scenario["healed_ms"] < scenario["end_ms"], scenario
        for phase in ("before", "during", "after"):
            figures = scenario[phase]
            assert figures["offered"] == figures["acquired"] + sum(figures["refused"].values()), figures
    return {scenario["scenario"]: scenario for scenario in report["scenarios"]}


def states_of(scenario, master):
    """A client may meet a started master before the start is noted: that it was not met is test_lanes.c's matter."""
    return {span["state"] for span in scenario["masters"] if span["master"] == master} - {"started, not met"}


def has_tls():
    asked = subprocess.run([sys.argv[1], "nodes", "--node", "rediss://127.0.0.1:1"], capture_output=True, text=True,
                           timeout=WATCHDOG_S, check=False)
    return "built without TLS" not in asked.stdout + asked.stderr


def refused(*args):
    """The message of a call with wrong options."""
    code, out, err = failover(*args)
    assert code == 125, f"exit code {code}, not 125: {out}{err}"
    assert out == "" and "failover" in err, f"{out!r} {err!r}"
    return err


def all_scenarios_are_listed():
    code, out, err = failover("--list")
    assert code == 0 and err == "", err
    listed = [line.split()[0] for line in out.splitlines()]
    assert sorted(listed) == sorted(SCENARIOS + BY_NAME), out
    assert [name for name in listed if name in SCENARIOS] == list(SCENARIOS), out


def help_teaches():
    code, out, err = failover("--help")
    assert code == 0 and err == "", err
    for word in ("--all", "--list", "--nodes", "--fault-hook", "--rate", "--clients", "--phase", "--seed", "--json", "--csv",
                 "--hgrm", "--html", "--max-unavailable", "--persistence", "--resource", "open", "Exit status"):
        assert word in out, f"no {word} in: {out}"
    assert max(len(line) for line in out.splitlines()) <= 100, "too wide"


def wrong_options_are_named():
    assert "--all" in refused()
    assert "kill-9" in refused("kill-9")
    assert "sometimes" in refused("--persistence", "sometimes", "baseline")
    assert "--clients" in refused("--clients", "1", "baseline")
    assert "--rate" in refused("--rate", "1", "baseline")
    assert "--ttl" in refused("--ttl", "3s", "baseline")
    assert "often" in refused("--phase", "often", "baseline")
    assert "3 what? Write 3ms or 3s" in refused("--phase", "3", "baseline")
    assert "--deadline" in refused("--deadline", "500", "baseline")
    assert "--max-unavailable" in refused("--max-unavailable", "2d", "baseline")
    assert "masters" in refused("--masters", "2", "baseline")
    assert "--nodes" in refused("--fault-hook", "true", "baseline")
    assert "redis, postgres, mariadb, file" in refused("--resource", "tape", "baseline")
    assert "--compare" in refused("--compare", "--resource", "file", "baseline")
    assert "same file" in refused("--json", "x", "--csv", "x", "baseline")
    assert "not with --nodes" in refused("--nodes", "a:1,b:1,c:1", "--masters", "3", "baseline")
    assert "not with --nodes" in refused("--nodes", "a:1,b:1,c:1", "--persistence", "none", "baseline")
    assert "--frobnicate" in refused("--frobnicate")


class Page(html.parser.HTMLParser):
    """Checks that tags are balanced, and collects what matters."""
    VOID = ("meta", "br", "link", "img")

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.ids, self.text = [], {}, set(), []

    def handle_starttag(self, tag, attrs):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.ids.update(value for name, value in attrs if name == "id")
        for name, value in attrs:
            assert name not in ("src", "onclick") and not (name == "href" and not value.startswith("#")), (tag, attrs)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data):
        self.text.append(data)


def check_html(path):
    page = Page()
    with open(path, encoding="utf-8") as file:
        text = file.read()
    page.feed(text)
    page.close()
    assert page.open == [], page.open
    assert page.ids == {"kill-1"}, page.ids
    assert page.tags["svg"] >= 12 and "script" not in page.tags and "link" not in page.tags, page.tags
    assert "http" not in text.replace("http-equiv", ""), "something from elsewhere"
    said = " ".join(page.text)
    for words in ("false grants", "Settings", "For how long could nobody lock?", "No second holder"):
        assert words in said, f"no {words!r}"
    assert said.index("Settings") < said.index("For how long"), "the settings are not at the top"
    assert re.search(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", said), "no ISO date"
    assert not re.search(r"\d us\b", said), "micro is not an u"
    assert "100 s" in said and "300/s" in said, "an axis has no label at its end"
    # The overview; then both charts, five masters and four clients of the scenario.
    assert text.count('x1="100.00%" x2="100.00%"') == 1 + 11, "a picture has no line at the end of its axis"
    for words in ("@media print", "max-width: 700px", "prefers-color-scheme", "viewport"):
        assert words in text, f"no {words!r}"
    assert (PAGE / "report.css").read_text() in text, "the style sheet is not that of the file"
    assert "{{" not in text, "a mark was not filled in: " + text[text.index("{{"):][:40]


def check_csv(path, scenario):
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(scenario["buckets"]), len(rows)
    assert {row["phase"] for row in rows} == {"before", "during", "after"}
    assert sum(int(row["acquired"]) for row in rows) == sum(scenario[phase]["acquired"]
                                                           for phase in ("before", "during", "after"))
    assert [row["time_s"] for row in rows[:3]] == ["0.0", "0.1", "0.2"]
    assert {row["masters_voting"] for row in rows} == {"5", "4"}, rows


def check_hgrm(path, scenario):
    with open(path, encoding="utf-8") as file:
        tables = file.read().split("# kill-1, ")[1:]
    assert [table.split(";")[0] for table in tables] == ["before", "during", "after"]
    for table in tables:
        phase = table.split(";")[0]
        rows = [[float(cell) for cell in line.split()] for line in table.splitlines() if re.match(r"\s+\d", line)]
        values, percentiles, counts = ([row[i] for row in rows] for i in range(3))
        assert values == sorted(values) and percentiles == sorted(percentiles) and percentiles[-1] == 1, table
        assert counts[-1] == scenario[phase]["acquired"], (counts[-1], phase)
        assert "#[Mean" in table and "#[Total count" in table, table


def every_form_of_the_report_says_the_same():
    with tempfile.TemporaryDirectory() as place:
        paths = {form: os.path.join(place, "report." + form) for form in ("json", "csv", "hgrm", "html")}
        code, out, err = failover(*SHORT, "kill-1", *(word for form, path in paths.items()
                                                      for word in ("--" + form, path)))
        assert code == 0, f"exit code {code}: {out}{err}"
        with open(paths["json"], encoding="utf-8") as file:
            report = json.load(file)
        scenario = report["scenarios"][0]
        check_html(paths["html"])
        check_csv(paths["csv"], scenario)
        check_hgrm(paths["hgrm"], scenario)
    assert out.index("false grants") < out.index("kill-1"), "the safety counters come first"
    for words in ("unavailable", "ttl 400 ms", "seed 1", "round trip"):
        assert words in out, f"no {words!r} in: {out}"
    assert states_of(scenario, 1) == {"up", "down", "quarantine"}, scenario["masters"]
    assert states_of(scenario, 2) == {"up"}, scenario["masters"]
    assert scenario["detected_after_ms"] is not None and scenario["recovered_after_ms"] is not None
    assert 1400 < scenario["all_vote_after_ms"] < 4000, scenario["all_vote_after_ms"]
    assert scenario["after"]["commands_per_lock"] > 15 and report["environment"]["server"].startswith(("redis", "valkey"))
    leaders = sorted((term["from_ms"], term["to_ms"], term["fence"]) for term in scenario["leaders"])
    assert len(leaders) > 3 and all(a[1] <= b[0] and a[2] < b[2] for a, b in zip(leaders, leaders[1:])), leaders


def a_lost_quorum_is_refused_in_time_and_comes_back():
    """Longer than the user allows, which has an exit code of its own."""
    scenario = safe("kill-3", "--max-unavailable", "100ms", expected=2)["kill-3"]
    assert scenario["during"]["refused"]["no_quorum"] + scenario["during"]["refused"]["unanswered"] > 30
    assert scenario["unavailable"]["longest_ms"] > 1500, scenario["unavailable"]
    assert 1400 < scenario["recovered_after_ms"] < 4000, scenario["recovered_after_ms"]
    assert scenario["after"]["acquired"] > 50, scenario["after"]
    assert 0 < scenario["during"]["longest_refusal_ms"] < 2000, scenario["during"]


def the_leader_has_a_successor_when_it_crashes_or_stands_still():
    scenarios = safe("holder-dies", "holder-pause")
    for scenario in scenarios.values():
        assert scenario["takeover_ms"] > scenario["takeover_theory_ms"] - 50, scenario["takeover_ms"]
        assert scenario["takeover_ms"] < scenario["takeover_theory_ms"] + 3000, scenario["takeover_ms"]
        assert 0 < scenario["takeover_theory_ms"] <= 410, scenario["takeover_theory_ms"]
    assert scenarios["holder-pause"]["safety"]["late_writes_refused"] >= 1, scenarios["holder-pause"]["safety"]


def kinds_of_stores():
    """Those whose servers and clients are here; MariaDB and PostgreSQL are looked for as the command does it."""
    postgres = glob.glob("/usr/lib/postgresql/*/bin/postgres") or shutil.which("postgres")
    mariadb = os.path.exists("/usr/sbin/mariadbd") or shutil.which("mariadbd")
    return ["redis", "file", *(["postgres"] if postgres and shutil.which("psql") else []),
            *(["mariadb"] if mariadb and shutil.which("mariadb") else [])]


def a_guarded_store_refuses_the_late_write_of_a_paused_leader():
    """... which the unguarded record of the same store takes."""
    for kind in kinds_of_stores():
        report = measured("holder-pause", "--resource", kind)
        safety = report["safety"]
        assert report["environment"]["resource"] == kind, report["environment"]
        assert safety["guarded_late_refused"] >= 1 and safety["guarded_late_stored"] == 0, (kind, safety)
        assert safety["unguarded_late_stored"] >= 1, (kind, safety)
        stored = safety["guarded_writes"]
        assert stored > 50 and safety["unguarded_writes"] == stored + safety["guarded_late_refused"], (kind, safety)


def stores_are_told_in_every_form_and_only_if_there_is_one():
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "report.html")
        for resource, tiles, told in (((), 5, False), (("--resource", "file"), 6, True)):
            code, out, err = failover(*SHORT, "holder-dies", *resource, "--html", path)
            assert code == 0, f"exit code {code}: {out}{err}"
            page = pathlib.Path(path).read_text(encoding="utf-8")
            assert ("late writes to the store (file): with the guard 0 refused, 0 stored" in out) == told, out
            assert page.count("Late writes to the store (file)") == (2 if told else 0), resource
            assert page.count('<div class="tile"') == tiles, resource


def without_tokens_late_writes_are_stored():
    """The exit code is about what the engine promises; a store without a guard promises nothing."""
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "report.json")
        code, out, err = failover("holder-pause", *SHORT, "--engine", "single", "--resource", "redis", "--json", path)
        assert code in (0, 1), f"{code} {err}"
        with open(path, encoding="utf-8") as file:
            safety = json.load(file)["safety"]
    assert safety["guarded_writes"] == safety["guarded_late_refused"] == 0 and safety["unguarded_writes"] > 50, safety
    assert safety["unguarded_late_stored"] >= 1, safety
    assert "there is no token to guard by" in out and "guarded store has taken" not in out, out


def a_planted_gap_in_the_guard_is_caught():
    for kind in ("redis", "file"):
        report = measured("holder-pause", "--resource", kind, program=PLANTED, plant="unguarded", expected=1)
        safety = report["safety"]
        assert safety["guarded_late_stored"] == safety["violations"] >= 1, safety
        assert safety["guarded_late_refused"] == 0, safety


def relays_part_the_clients():
    for options in ((), ("--tls",)) if has_tls() else ((),):
        scenario = safe("partition", "--deadline", "200ms", *options)["partition"]
        during = scenario["during"]
        assert during["acquired"] > 10 and sum(during["refused"].values()) > 10, during
        assert scenario["after"]["acquired"] > 50, scenario["after"]


def a_clock_that_was_set_is_seen():
    scenario = safe("clock-step")["clock-step"]
    for master in (1, 2):
        assert states_of(scenario, master) == {"up", "clock set", "quarantine"}, scenario["masters"]


def clients_follow_while_the_list_of_masters_changes():
    scenarios = safe("replace-1", "grow-3-to-5", "move-all", "--deadline", "5s", "--max-ttl", "600ms")
    for name, comes, leaves in (("replace-1", 6, 1), ("grow-3-to-5", 5, None), ("move-all", 10, 5)):
        scenario = scenarios[name]
        assert scenario["during"]["acquired"] > 50 and scenario["after"]["acquired"] > 50, scenario
        assert sum(scenario["during"]["refused"].values()) == 0, scenario["during"]
        assert {"no member", "up"} <= states_of(scenario, comes), scenario["masters"]
        assert leaves is None or states_of(scenario, leaves) & {"no member", "down"}, scenario["masters"]


def what_cannot_be_done_is_skipped_with_its_reason():
    os.environ["REDLOCK_CLOCK_SHIM"] = "/nonexistent.so"
    try:
        report = measured("clock-step", "--masters", "3")
    finally:
        del os.environ["REDLOCK_CLOCK_SHIM"]
    assert "redlock-clockshim.so" in report["scenarios"][0]["skipped"], report["scenarios"]
    report = measured("kill-3", "--masters", "3")
    assert "too few" in report["scenarios"][0]["skipped"], report["scenarios"]
    report = measured("partition", "--nodes", "rediss://127.0.0.1:1,rediss://127.0.0.1:2,rediss://127.0.0.1:3")
    assert "--tls-server-name" in report["scenarios"][0]["skipped"], report["scenarios"]


def a_durable_master_has_a_quarantine_only_if_it_was_emptied():
    scenarios = safe("kill-1", "restart-empty", "--persistence", "always")
    killed, emptied = scenarios["kill-1"], scenarios["restart-empty"]
    assert states_of(killed, 1) == {"up", "down"}, killed["masters"]
    assert 0 <= killed["all_vote_after_ms"] < 1300, killed["all_vote_after_ms"]
    assert states_of(emptied, 3) == {"up", "down", "quarantine"}, emptied["masters"]
    assert 1000 < emptied["unavailable"]["longest_ms"] < 6000, emptied["unavailable"]
    assert emptied["after"]["acquired"] > 50, emptied["after"]


def planted(plant, promise, *consequences):
    report = measured("baseline", program=PLANTED, plant=plant, expected=1)
    assert report["safety"][promise] > 0, report["safety"]
    others = [name for name in PROMISES if name not in (promise, *consequences) and report["safety"][name]]
    assert others == [], report["safety"]


def without_a_plant_nothing_is_found():
    report = measured("baseline", program=PLANTED)
    assert report["safety"]["violations"] == 0, report["safety"]


def a_planted_double_holder_is_caught():
    report = measured("baseline", program=PLANTED, plant="double", expected=1)
    assert report["safety"]["double_holds"] > 0, report["safety"]


def a_planted_regression_is_caught():
    planted("regress", "fence_regressions")


def a_planted_foreign_release_is_caught():
    # Three of five masters may have been the leader's whole quorum: without one of them another can have one, too.
    planted("foreign", "foreign_releases", "double_holds", "mixed_writes")


def a_planted_leak_is_caught():
    planted("leak", "leaked_keys")


class Masters:
    """Three of this test's own, and the command that does faults to them."""

    def __init__(self, place):
        self.place = place
        self.servers, self.urls = [], []
        self.password = "secret"
        for i in range(1, 4):
            path = os.path.join(place, f"{i}.sock")
            self.servers.append(subprocess.Popen(
                [os.environ.get("REDLOCK_SERVER") or "redis-server", "--port", "0", "--unixsocket", path, "--save", "",
                 "--dir", place, "--requirepass", self.password], stdout=subprocess.DEVNULL))
            self.urls.append(f"unix://:{self.password}@{path}?db=2")
        self.said = os.path.join(place, "said")
        self.hook = os.path.join(place, "hook")
        pids = " ".join(str(server.pid) for server in self.servers)
        with open(self.hook, "w", encoding="ascii") as file:
            file.write(f'#!/bin/sh\nset -e\necho "$1 $2" >>"{self.said}"\nn=$2\nverb=$1\nset -- {pids}\nshift $((n - 1))\n'
                       'case $verb in hang) kill -STOP "$1" ;; resume) kill -CONT "$1" ;; *) exit 1 ;; esac\n')
        os.chmod(self.hook, 0o700)

    def wait(self):
        """The sockets appear when the servers listen."""
        while not all(os.path.exists(os.path.join(self.place, f"{i}.sock")) for i in range(1, 4)):
            for server in self.servers:
                try:
                    server.wait(timeout=0.02)
                    raise AssertionError("a server has ended")
                except subprocess.TimeoutExpired:
                    pass

    def end(self):
        for server in self.servers:
            server.send_signal(signal.SIGCONT)
            server.kill()
            server.wait()


def faults_are_done_to_running_masters_by_the_hook():
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        masters = Masters(place)
        try:
            masters.wait()
            scenarios = safe("hang-1", "partition", "--nodes", ",".join(masters.urls), "--fault-hook", masters.hook)
            with open(masters.said, encoding="ascii") as file:
                assert file.read().split("\n") == ["hang 1", "resume 1", ""]
            assert scenarios["hang-1"]["during"]["acquired"] > 50
            report = measured("kill-1", "restart-empty", "baseline", "--nodes", ",".join(masters.urls))
            skipped = {scenario["scenario"]: scenario.get("skipped") for scenario in report["scenarios"]}
            assert "--fault-hook" in skipped["kill-1"] and "--nodes" in skipped["restart-empty"], skipped
            assert skipped["baseline"] is None, skipped
            code, _, err = failover(*SHORT, "kill-1", "--nodes", ",".join(masters.urls), "--fault-hook", masters.hook)
            assert code == 125 and "kill 1" in err, f"{code} {err}"
        finally:
            masters.end()


def a_report_that_cannot_be_written_is_an_error():
    for path in ("/nonexistent/report.json", "/", "/proc/report.json"):
        code, out, err = failover(*SHORT, "baseline", "--json", path)
        assert code == 125 and path in err, f"{code} {err}"
        assert out == "", f"it was run before the file was looked at: {out}"


def engines_are_compared():
    """A single Redis that restarts empty has two holders, which the referee must find; this library has not. A holder
    that is cut off has a successor when its lock has run out."""
    with tempfile.TemporaryDirectory() as folder:
        json_path, html_path, table_path = (f"{folder}/report.{form}" for form in ("json", "html", "md"))
        code, out, err = failover("restart-empty", "kill-leader", "partition-holder", *SHORT, "--engine",
                                  "redlock,single", "--json", json_path, "--html", html_path, "--markdown", table_path)
        assert code == 0, err
        table = pathlib.Path(table_path).read_text(encoding="utf-8").splitlines()
        with open(json_path, encoding="utf-8") as file:
            report = json.load(file)
        with open(html_path, encoding="utf-8") as file:
            page = file.read()
    ours, single = ({scenario["scenario"]: scenario for scenario in engine["scenarios"]} for engine in report["engines"])
    assert [engine["engine"] for engine in report["engines"]] == ["redlock", "single"], report["engines"]
    assert "leads" in ours["kill-leader"]["not_run"] and ours["restart-empty"]["double_holds"] == 0, ours
    assert single["restart-empty"]["double_holds"] >= 1, single
    assert any("second holder" in event["text"] for event in single["restart-empty"]["events"]), single
    for emptied, down in ((ours["restart-empty"], 3), (single["restart-empty"], 1)):
        leaders = sorted((term["from_ms"], term["to_ms"]) for term in emptied["leaders"])
        overlap = any(later[0] < earlier[1] for earlier, later in zip(leaders, leaders[1:]))
        assert leaders and overlap == (emptied["double_holds"] > 0), emptied
        assert sum(span["state"] == "down" for span in emptied["masters"]) == down, emptied
        assert emptied["unavailable_since_ms"] >= emptied["fault_ms"], emptied
    for parted in (ours["partition-holder"], single["partition-holder"]):
        assert parted["double_holds"] == 0 and parted["refused"] > 30, parted
        assert 0 < parted["takeover_ms"] < 400 + 1000, parted
    assert single["kill-leader"]["unavailable_ms"] > 400 and single["kill-leader"]["refused"] > 0, single
    assert "single@" not in out and "second holder at once" in out, out
    head, _, *rows = (line.strip("| ").split(" | ") for line in table if line.startswith("|"))
    assert head == ["lock", "client", "server", "ttl", "kill-leader", "restart-empty", "partition-holder"], head
    assert [row[0] for row in rows] == ["redlock", "single"] and all(len(row) == len(head) for row in rows), rows
    assert rows[0][4] == "–" and rows[1][5].strip().startswith("**two holders**, "), rows
    assert f", locks: {single['restart-empty']['double_holds']}" in rows[1][5], rows
    assert 'href="#single--restart-empty"><b>two holders</b>' in page, page
    assert "{{" not in page and 'href="#single--restart-empty"' in page and 'id="single--restart-empty"' in page, page


def the_agent_outlives_a_holder_that_dies():
    """Its successor has the lock long before it would have run out, and both agents keep the promises of the library
    when masters come back empty and when one of them is cut off."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/report.json"
        code, _, err = failover("holder-dies", "restart-empty", "partition-holder", *SHORT, "--compare", "--ttl", "5s",
                                "--max-ttl", "5s", "--engine", "agent", "--json", path)
        assert code == 0, err
        with open(path, encoding="utf-8") as file:
            outcomes = {outcome["scenario"]: outcome for outcome in json.load(file)["engines"][0]["scenarios"]}
    dies, emptied, parted = (outcomes[name] for name in ("holder-dies", "restart-empty", "partition-holder"))
    assert 0 <= dies["takeover_ms"] < 1500, dies
    assert sum(span["state"] == "down" for span in emptied["masters"]) == 3, emptied
    assert emptied["unavailable_ms"] > 2000, emptied
    assert parted["takeover_ms"] > 500 and parted["refused"] > 30, parted
    for outcome in outcomes.values():
        assert outcome["double_holds"] == outcome["fence_regressions"] == outcome["double_writes"] == 0, outcome


def a_comparison_fails_for_this_library_alone():
    def exit_code(scenario, engines, limit, **how):
        return failover("--compare", scenario, *SHORT, "--engine", engines, "--max-unavailable", limit, **how)[0]

    assert exit_code("baseline", "redlock", "1m", program=PLANTED, plant="double") == 1
    assert exit_code("restart-empty", "redlock", "500ms") == 2
    assert exit_code("kill-leader", "single", "100ms") == 0


def two_holders_behind_sentinel_are_found():
    """The master dies with a lock that its replicas have not heard of, and one of them is promoted. It knows of no
    earlier holder either, whose key would keep out the second one until the first lock has nearly ended."""
    with tempfile.TemporaryDirectory() as folder:
        json_path = f"{folder}/report.json"
        code, out, err = failover("kill-lagging", "--quiet", "--compare", "--phase", "300ms", "--rate", "20", "--ttl",
                                  "10s", "--max-ttl", "10s", "--engine", "single@sentinel", "--json", json_path)
        assert code == 0, err
        with open(json_path, encoding="utf-8") as file:
            outcome = json.load(file)["engines"][0]["scenarios"][0]
    assert outcome["double_holds"] >= 1 and outcome["unavailable_ms"] > 1000, outcome
    told = [event["text"] for event in outcome["events"]]
    first, down, second = (next(i for i, text in enumerate(told) if words in text)
                           for words in ("acquires", "down", "second holder"))
    assert first < down < second, told
    waited_ms = outcome["events"][second]["since_fault_ms"] - outcome["events"][first]["since_fault_ms"]
    assert waited_ms < 9000, outcome["events"]


def a_report_about_one_engine_names_it_and_counts_its_servers():
    """Whether it keeps its promises, which decides between the exit codes, is not asked here."""
    with tempfile.TemporaryDirectory() as folder:
        json_path, html_path = f"{folder}/report.json", f"{folder}/report.html"
        code, out, err = failover("baseline", *SHORT, "--engine", "single", "--json", json_path, "--html", html_path)
        assert code in (0, 1), f"{code} {err}"
        with open(json_path, encoding="utf-8") as file:
            environment = json.load(file)["environment"]
        with open(html_path, encoding="utf-8") as file:
            page = file.read()
    assert environment["masters"] == 1 and environment["subject"].startswith("single, "), environment
    assert f'{environment["subject"]}, ' in out and "; 1 master by redis" in out and "libredlock" not in out, out
    assert "<dd>1, redis" in page and "Failover report of single, " in page and "guarded profile" not in page, page


def comparisons_have_their_defaults_however_they_are_spelled():
    """A ttl of 5s fits the max_ttl of comparisons alone, so that only then the other mistake is complained of."""
    wrong = ("--ttl", "5s", "--fault-hook", "true", "baseline")
    for spelling in (("--compare",), ("--comp",), ("--engine", "redlock,single"), ("--eng=redlock,single",)):
        assert "--fault-hook" in refused(*spelling, *wrong), spelling
    assert "--max-ttl" in refused("--html", "--compare", *wrong)
    assert "--max-ttl" in refused("--engine", "single", *wrong)


def unknown_engines_are_named():
    assert "redlock-engine-nothing" in refused("--engine", "nothing", "baseline")
    for names in ("", ",", "single,"):
        assert "empty item" in refused(f"--engine={names}", "baseline"), names
    assert "it knows redis:1,sentinel" in refused("--engine", "single@etcd", "baseline")
    assert "--nodes" in refused("--engine", "single", "--nodes", "redis://a,redis://b,redis://c", "baseline")
    assert "--html" in refused("--engine", "single,redlock", "--csv", "/tmp/x", "baseline")
    assert "--compare" in refused("--engine", "single", "--markdown", "/tmp/x", "baseline")


TESTS = [all_scenarios_are_listed, engines_are_compared, the_agent_outlives_a_holder_that_dies, a_comparison_fails_for_this_library_alone,
         two_holders_behind_sentinel_are_found,
         a_report_about_one_engine_names_it_and_counts_its_servers,
         comparisons_have_their_defaults_however_they_are_spelled, unknown_engines_are_named, help_teaches,
         wrong_options_are_named, every_form_of_the_report_says_the_same,
         a_lost_quorum_is_refused_in_time_and_comes_back, the_leader_has_a_successor_when_it_crashes_or_stands_still,
         a_guarded_store_refuses_the_late_write_of_a_paused_leader,
         stores_are_told_in_every_form_and_only_if_there_is_one, without_tokens_late_writes_are_stored,
         relays_part_the_clients, a_clock_that_was_set_is_seen,
         clients_follow_while_the_list_of_masters_changes, what_cannot_be_done_is_skipped_with_its_reason,
         a_durable_master_has_a_quarantine_only_if_it_was_emptied,
         without_a_plant_nothing_is_found, a_planted_double_holder_is_caught, a_planted_regression_is_caught,
         a_planted_foreign_release_is_caught, a_planted_leak_is_caught,
         a_planted_gap_in_the_guard_is_caught, faults_are_done_to_running_masters_by_the_hook,
         a_report_that_cannot_be_written_is_an_error]


def has_server():
    return shutil.which(os.environ.get("REDLOCK_SERVER") or "redis-server") is not None


def main():
    if not has_server():
        print("1..0 # SKIP no redis-server")
        return 0
    print(f"1..{len(TESTS)}")
    failed = 0
    for number, test in enumerate(TESTS, 1):
        name = test.__name__.replace("_", " ")
        try:
            test()
            print(f"ok {number} {name}", flush=True)
        except (AssertionError, KeyError, ValueError, subprocess.TimeoutExpired) as problem:
            failed += 1
            print(f"not ok {number} {name}")
            for line in str(problem).splitlines() or [repr(problem)]:
                print("#", line, flush=True)
    return 1 if failed else 0


sys.exit(main())
