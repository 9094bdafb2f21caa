"""What tests/support/summary.py says of failed tests: which, why, and not without end.

    failures.py SOURCE_ROOT"""

import json
import os
import subprocess
import sys
import tempfile

SUMMARY = os.path.join(sys.argv[1], "tests/support/summary.py")
MAX_LINES = 60
MAX_COLUMNS = 1000

bad = 0


def expect(good, what, said):
    global bad
    if not good:
        print(f"{what}; it says:\n{said}")
        bad = 1


def summarize(*tests):
    """The exit status, and what comes before the table."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "gcc.json")
        with open(path, "w", encoding="utf-8") as log:
            for test in tests:
                log.write(json.dumps({"name": "suite / program", "duration": 1.0, "stdout": "", **test}) + "\n")
        done = subprocess.run([sys.executable, SUMMARY, path], stdout=subprocess.PIPE, check=False)
    said = done.stdout.decode()
    reasons, _, table = ("\n" + said).partition("\ngcc  ")
    expect(table, "there is no table behind the reasons", said)
    return done.returncode, reasons.strip("\n")


def failed_tests_are_told_with_their_whole_messages():
    status, said = summarize({
        "result": "FAIL", "returncode": 1, "stderr": "master 3 was slow\n",
        "stdout": "ok 1 - a.c:case:fine: Passed\nnot ok 2 - a.c:case:wrong: Assertion 'x == 1'\nx was 2\n"
                  "ok 3 - a.c:case:fine_too: Passed\nnot ok 4 - later # TODO\n1..4\n"})
    expect(status == 1, "a failure gives another exit status than 1", said)
    for text in ("gcc: FAIL: suite / program", "not ok 2 - a.c:case:wrong: Assertion 'x == 1'", "x was 2",
                 "master 3 was slow"):
        expect(text in said, f"'{text}' is missing", said)
    for text in ("fine", "later", "1..4"):
        expect(text not in said, f"'{text}' is no failure", said)


def a_crash_is_told_by_its_last_words():
    stderr = "".join(f"line {i}\n" for i in range(1000)) + "Segmentation fault\n"
    _, said = summarize({"result": "ERROR", "returncode": -11, "stdout": "ok 1 - first\nok 2 - second\n",
                         "stderr": stderr})
    for text in ("exit status -11", "ok 2 - second", "line 999\n", "Segmentation fault"):
        expect(text in said, f"'{text}' is missing", said)
    expect("line 9\n" not in said, "the beginning is told, not the end", said)


def a_sanitizers_report_is_told_from_its_beginning():
    report = "==7==ERROR: AddressSanitizer: heap-use-after-free\n" + "".join(f"shadow {i}\n" for i in range(100))
    _, said = summarize({"result": "FAIL", "returncode": 1, "stdout": "not ok 1 - a: Early exit\n",
                         "stderr": "before\n" * 100 + report})
    for text in ("not ok 1 - a: Early exit", "heap-use-after-free", "shadow 0"):
        expect(text in said, f"'{text}' is missing", said)
    expect("before" not in said, "what came before the report is told", said)


def no_program_gets_more_lines_than_are_read():
    for stdout in ("not ok 1 - a: b\n" * 500, "ok 1 - a: b\n" * 500):
        for stderr in ("error\n" * 500, "error" * 100000, ""):
            _, said = summarize({"result": "FAIL", "returncode": 1, "stdout": stdout, "stderr": stderr})
            expect(len(said.splitlines()) <= MAX_LINES, f"more than {MAX_LINES} lines", said)
            expect(len(said) <= MAX_LINES * MAX_COLUMNS, f"lines longer than {MAX_COLUMNS}", said)
            expect("error" in said or not stderr, "standard error is missing", said)
    test = {"result": "FAIL", "returncode": 1, "stdout": "not ok 1 - a: b\n"}
    _, said = summarize(*[test] * 500)
    expect(len(said.splitlines()) <= 100, "hundreds of failures are told one by one", said)


def tests_that_were_left_out_are_counted():
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "gcc.json")
        with open(path, "w", encoding="utf-8") as log:
            json.dump({"name": "suite / program", "duration": 1.0, "result": "OK", "returncode": 0,
                       "stdout": "# SKIP channels: Redis 6.0.16 lacks them\nok 1 - a: b\nok 2 - c # SKIP why\n1..2\n"}, log)
        done = subprocess.run([sys.executable, SUMMARY, path], stdout=subprocess.PIPE, check=False)
    said = done.stdout.decode()
    expect(said.endswith("1 passed, 0 failed, 2 skipped\n"), "skipped tests are not counted", said)


def nothing_is_told_of_success():
    status, said = summarize({"result": "OK", "returncode": 0, "stdout": "ok 1 - a: b\n"},
                             {"result": "SKIP", "returncode": 77})
    expect(status == 0, "success gives another exit status than 0", said)
    expect(said == "", "something is told", said)


failed_tests_are_told_with_their_whole_messages()
a_crash_is_told_by_its_last_words()
a_sanitizers_report_is_told_from_its_beginning()
no_program_gets_more_lines_than_are_read()
tests_that_were_left_out_are_counted()
nothing_is_told_of_success()
sys.exit(bad)
