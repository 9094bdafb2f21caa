"""The table of `tools/dev matrix`, in Markdown, from its logs.

    matrix_table.py LOGS SYSTEM...

For each system LOGS/SYSTEM has `versions` (lines that begin with compiler, libraries, warnings, server or demo) and a
log of `meson test` for each server and for the common suites."""

import json
import pathlib
import sys

from summary import count


def read_versions(path):
    """{first word: [rests of the lines]}"""
    versions = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        word, rest = line.split(" ", 1)
        versions.setdefault(word, []).append(rest)
    return versions


def describe_run(path):
    if not path.exists():
        return "not run"
    with open(path, encoding="utf-8", errors="replace") as log:
        tests = [json.loads(line) for line in log if line.strip()]
    passed, failed, skipped = [sum(column) for column in zip(*map(count, tests))] or [0, 0, 0]
    text = f"{passed} passed"
    return text + (f", **{failed} failed**" if failed else "") + (f", {skipped} skipped" if skipped else "")


def rows_of(folder):
    versions = read_versions(folder / "versions")
    first = [folder.name, *(versions.get(word, ["?"])[0] for word in ("compiler", "libraries"))]
    if versions.get("warnings", ["0"]) != ["0"]:
        first[1] += f" (**{versions['warnings'][0]} warnings**)"
    servers = versions.get("server", [])
    demos = dict(line.rsplit(" ", 1) for line in versions.get("demo", []))
    yield [*first, "", describe_run(folder / "tests.json"), ""]
    for server in servers:
        program = server.split()[0]
        yield ["", "", "", server, describe_run(folder / f"{program}.json"), demos.get(program, "not run")]


def main(logs, *systems):
    titles = ["system", "compiler", "libraries", "server", "tests", "demo"]
    rows = [row for system in systems for row in rows_of(pathlib.Path(logs) / system)]
    for row in [titles, ["---"] * len(titles), *rows]:
        print("| " + " | ".join(row) + " |")


main(*sys.argv[1:])
