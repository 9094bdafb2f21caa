#!/usr/bin/env python3
"""How lib and the command stand: numbers that may get better, and not worse.

    house.py SOURCE_ROOT [--list]

lib/README.md says what a folder is for, and calls.py finds circles. Here is what no compiler sees: files that are too
small or too long, records and words that there should be one of, comments without a subject. Each line of MEASURES has a
limit that the code keeps today. Who makes a number better lowers its limit with it; --list prints all numbers.
"""
import pathlib
import re
import statistics
import sys

root = pathlib.Path(sys.argv[1])
LEAST, MOST = "at least", "at most"


def sources(folder, *ends):
    return [path for path in sorted((root / folder).rglob("*")) if path.suffix in (ends or (".c", ".h"))]


def lines_of(path):
    return path.read_text().count("\n")


def count(pattern, paths, flags=re.MULTILINE):
    return sum(len(re.findall(pattern, path.read_text(), flags)) for path in paths)


def share_of_small():
    sizes = [lines_of(path) for path in sources("lib", ".c")]
    return round(100 * sum(size < 60 for size in sizes) / len(sizes), 1)


# Who begins and ends what: each of these once in lib/api.
def records_of_a_call():
    return count(r"^    bool accepted\b", sources("lib/api"))


def enter_leave_pairs():
    return count(r"^(?:static )?void \w*_?enter\(", sources("lib/api", ".c"))


def delivery_loops():
    return count(r"rl_list_move_all\(&due, ", sources("lib/api", ".c"))



def kinds_named_by_the_client():
    text = "".join((root / "lib/api" / name).read_text() for name in ("client.c", "shutdown.c", "handle.h"))
    return len(re.findall(r"\b(?:rl_|redlock_)(?:lock|set|election|latch|look)(?:s|es)?_\w+\(|"
                          r"\bstruct redlock_(?:lock|set|election|latch|look)\b", text))


# The files of host that know of semaphores and upgrades, beside those that carry them out.
def host_files_that_name_kinds():
    own = {"semaphore.c", "semaphore.h", "permits.c", "permits.h", "upgrade.c", "upgrade.h"}
    return sum(bool(re.search(r"\b(?:rl_)?(?:semaphore|permit|upgrade)s?\w*\b", code(path.read_text())))
               for path in sources("lib/host") if path.name not in own)


def code(text):
    return re.sub(r"/\*.*?\*/|\"(?:\\.|[^\"\\])*\"", "", text, flags=re.DOTALL)


# The comment of a function says what the function does, or what is so; "it", "those" and "who" leave that to the reader.
PRONOUN = r"^/\* (?:It|Its|They|Their|Those|These|This|That|Who|Whose|What|Which)\b[^/]*?\*/\n(?:static )?[a-z][\w *]*\("


def comments_that_begin_with_a_pronoun():
    return count(PRONOUN, sources("lib", ".c"))


# Words that have had a second meaning: a slot is a permit's number, an attempt is one try, a look inspects a key.
SECOND_MEANINGS = r"^struct (?:rl_slot|rl_attempt|rl_pending|rl_question|rl_gather|rl_departures|rl_host_attempt) \{"


def place_of_the_lock_function():
    text = (root / "include/redlock/blocking.h").read_text()
    names = re.findall(r"\b(redlock_\w+)\(", code(text))
    return list(dict.fromkeys(names)).index("redlock_mutex_lock") + 1


MEASURES = [
    ("files of lib, without the masters of redlock-test",
     lambda: len(sources("lib")) - len(sources("lib/simulated")), MOST, 300),
    ("median length of a .c file of lib", lambda: statistics.median(map(lines_of, sources("lib", ".c"))), LEAST, 180),
    ("share of .c files under 60 lines, in percent", share_of_small, MOST, 10),
    ("longest .c file of lib", lambda: max(map(lines_of, sources("lib", ".c"))), MOST, 500),
    ("records of a call in api", records_of_a_call, MOST, 1),
    ("functions that enter an object", enter_leave_pairs, MOST, 1),
    ("loops that deliver what is due", delivery_loops, MOST, 1),
    ("kinds of objects that the client names", kinds_named_by_the_client, MOST, 0),
    ("files of host that name semaphores or upgrades", host_files_that_name_kinds, MOST, 2),
    ("citations of documents that are not here",
     lambda: count(r"\b(?:protocol|family) (?:section )?\d", sources("lib")), MOST, 0),
    ("types with a word that has two meanings", lambda: count(SECOND_MEANINGS, sources("lib")), MOST, 0),
    ("comments of functions that begin with a pronoun", comments_that_begin_with_a_pronoun, MOST, 10),
    ("place of redlock_mutex_lock in blocking.h", place_of_the_lock_function, MOST, 5),
    ("lines of lib and the command",
     lambda: sum(map(lines_of, sources("lib") + sources("tools/cli"))), MOST, 67039),
    ("lines of the agent", lambda: sum(map(lines_of, sources("tools/agent"))), MOST, 3888),
    ("lines of the tests", lambda: sum(map(lines_of, sources("tests"))), MOST, 105568),
]


def main():
    failed = False
    for name, measure, way, limit in MEASURES:
        value = measure()
        kept = value <= limit if way == MOST else value >= limit
        failed |= not kept
        if "--list" in sys.argv or not kept:
            print(f"{name}: {value} ({way} {limit})")
    return 1 if failed else 0


sys.exit(main())
