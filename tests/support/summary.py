"""Counts what `meson test` ran: single tests of programs that report as TAP, whole programs otherwise.

    summary.py TESTLOG.json...

The last line reads "N passed, N failed, N skipped". Exit status 1 if anything failed, or if nothing ran at all."""

import json
import re
import sys

TAP_LINE = re.compile(r"^(not ok|ok)\b[^#\n]*(?:#\s*(skip|todo))?", re.IGNORECASE | re.MULTILINE)
GOOD_RESULTS = {"OK", "EXPECTEDFAIL"}


def count_tap(test):
    passed = failed = skipped = 0
    for match in TAP_LINE.finditer(test.get("stdout") or ""):
        directive = (match.group(2) or "").lower()
        if directive == "skip":
            skipped += 1
        elif match.group(1).lower() == "ok" or directive == "todo":
            passed += 1
        else:
            failed += 1
    return passed, failed, skipped


def count(test):
    passed, failed, skipped = count_tap(test)
    result = test["result"]
    if result == "SKIP":
        return passed, failed, skipped or 1
    if result not in GOOD_RESULTS and failed == 0:
        failed = 1  # it crashed, timed out, or does not report as TAP
    if passed + failed + skipped == 0:
        passed = 1
    return passed, failed, skipped


def main(paths):
    total = [0, 0, 0]
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as log:
            tests = [json.loads(line) for line in log if line.strip()]
        counts = [sum(column) for column in zip(*map(count, tests))] or [0, 0, 0]
        seconds = sum(test["duration"] for test in tests)
        name = path.rsplit("/", 1)[-1].removesuffix(".json")
        print(f"{name:20} {counts[0]:6} passed {counts[1]:4} failed {counts[2]:4} skipped {seconds:8.1f} s")
        for test in tests:
            if test["result"] not in GOOD_RESULTS | {"SKIP"}:
                print(f"    {test['result']}: {test['name']}")
        total = [a + b for a, b in zip(total, counts)]
    print(f"{total[0]} passed, {total[1]} failed, {total[2]} skipped")
    return 1 if total[1] or not total[0] else 0


sys.exit(main(sys.argv[1:]))
