"""Tells why tests failed, and counts what `meson test` ran: single tests of programs that report as TAP, whole
programs otherwise.

    summary.py TESTLOG.json...

First come the failed programs with their failed tests and what these said, then the table. The last line reads
"N passed, N failed, N skipped". Exit status 1 if anything failed, or if nothing ran at all."""

import json
import re
import sys

TAP_LINE = re.compile(r"^(not ok|ok)\b[^#\n]*(?:#\s*(skip|todo))?", re.IGNORECASE | re.MULTILINE)
SKIP_COMMENT = re.compile(r"^# SKIP ", re.MULTILINE)  # as suite_add_since() has it
TAP_FAILURE = re.compile(r"not ok\b(?![^#]*#\s*todo)", re.IGNORECASE)
TAP_OTHER = re.compile(r"(not ok|ok|Bail out!|1\.\.\d+)\b", re.IGNORECASE)
# Where the report of a sanitizer or of valgrind begins.
REPORT = re.compile(r"==\d+==|.*(Sanitizer|runtime error:)")
GOOD_RESULTS = {"OK", "EXPECTEDFAIL"}

# A failed program gets this many lines, of which the messages of its tests leave some for what it wrote besides; all
# programs after the first few are in the table only.
MAX_LINES = 60
MAX_COLUMNS = 900
MAX_MESSAGE_LINES = 40
MAX_TOLD = 20


def count_tap(test):
    passed = failed = 0
    skipped = len(SKIP_COMMENT.findall(test.get("stdout") or ""))
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


def has_failed(test):
    return test["result"] not in GOOD_RESULTS | {"SKIP"}


def lines_of(test, stream):
    return [line[:MAX_COLUMNS] for line in (test.get(stream) or "").rstrip("\n").splitlines()]


def failure_messages(lines):
    """The lines "not ok ..." of TAP, each with the lines that belong to it: a message may have several."""
    found = []
    inside = False
    for line in lines:
        if TAP_OTHER.match(line):
            inside = bool(TAP_FAILURE.match(line)) or line.startswith("Bail out!")
        if inside:
            found.append(line)
    return found


def cut(lines, room):
    """The first lines that fit, and how many did not."""
    if len(lines) <= room:
        return lines
    return lines[: room - 1] + [f"... {len(lines) - room + 1} lines more"] if room > 0 else []


def last(lines, room):
    """The last lines that fit; but a report from its beginning, which says what is wrong."""
    for i, line in enumerate(lines):
        if REPORT.match(line):
            return cut(lines[i:], room)
    if len(lines) <= room:
        return lines
    return [f"{len(lines) - room + 1} lines before ..."] + lines[len(lines) - room + 1:] if room > 0 else []


def tell(test):
    """What a failed program said, in at most MAX_LINES lines."""
    said = cut(failure_messages(lines_of(test, "stdout")), MAX_MESSAGE_LINES)
    if not said:
        said = last(lines_of(test, "stdout"), MAX_LINES // 2)
    errors = last(lines_of(test, "stderr"), MAX_LINES - 2 - len(said))
    if errors:
        said = said + ["standard error:"] + errors
    how = f", exit status {test['returncode']}" if test.get("returncode") else ""
    return [f"{test['result']}: {test['name']}{how}"] + ["    " + line for line in said]


def tell_all(runs):
    failed = [(name, test) for name, tests in runs for test in tests if has_failed(test)]
    for name, test in failed[:MAX_TOLD]:
        print(f"--- {name}: " + "\n".join(tell(test)))
    if failed:
        print()


def name_of(path):
    return path.rsplit("/", 1)[-1].removesuffix(".json")


def read(path):
    with open(path, encoding="utf-8", errors="replace") as log:
        return [json.loads(line) for line in log if line.strip()]


def main(paths):
    sys.stdout.reconfigure(errors="backslashreplace")
    runs = [(name_of(path), read(path)) for path in paths]
    total = [0, 0, 0]
    tell_all(runs)
    for name, tests in runs:
        counts = [sum(column) for column in zip(*map(count, tests))] or [0, 0, 0]
        seconds = sum(test["duration"] for test in tests)
        print(f"{name:20} {counts[0]:6} passed {counts[1]:4} failed {counts[2]:4} skipped {seconds:8.1f} s")
        for test in filter(has_failed, tests):
            print(f"    {test['result']}: {test['name']}")
        total = [a + b for a, b in zip(total, counts)]
    print(f"{total[0]} passed, {total[1]} failed, {total[2]} skipped")
    return 1 if total[1] or not total[0] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
