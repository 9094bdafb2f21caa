#!/usr/bin/env python3
"""What the object files say of the calls between the files of lib/, and of most folders of tools/.

    calls.py SOURCE_ROOT ARCHIVE...     in the build directory

File A uses file B if an undefined symbol of A is defined by B. The archives together hold the objects of lib/. Of an
archive of tools/ only circles are looked for.

- No files of one folder use each other in a circle, except those in the table below. A circle that the table does not
  have, or that is larger than the table says, is an error; so is an entry of the table that the code has outgrown.
- Files call functions of their own folder and of those below it only (MAY_CALL).
- In the folders of OWN_HEADERS, what other files use of FILE.c is declared in FILE.h of the same folder, or in the
  public headers. In tools/, a table of functions may be declared beside its type, where all implementations of one
  interface stand together. No header of lib/ declares what another file defines.

A call through a pointer is in no symbol table. That is how a lower file may reach a higher one, and each such pointer
is a decision that a reader can see: a table of functions, or a callback that the caller hands in.
"""
import collections
import os
import pathlib
import re
import subprocess
import sys

# FIXED: the circle has a reason to stay, and is exactly as listed. SHRINKING: it is being untied; it may get smaller
# (then the table may follow), but not larger, and when it is gone it leaves the table.
FIXED, SHRINKING = "fixed", "shrinking"
Circle = collections.namedtuple("Circle", "folder kind reason files")
KNOWN = []

OWN_HEADERS = ["util", "votes", "engine", "kinds", "codec", "stream", "driver", "host", "api", "blocking", "lab"]

# What a header declares: functions and constants.
DECLARED = re.compile(r"^(?:extern [\w ]*[ *](?=\w+;)|(?!static|typedef|extern)[a-z][\w ]*[ *](?=\w+\())(rl_\w+)",
                      re.MULTILINE)

# What the functions of include/redlock begin with.
PUBLIC = "redlock_"

# The folders whose functions the files of a folder may call. Those that are not listed are kept in order by their
# includes (layers.sh).
MAY_CALL = {"util": [], "votes": [], "engine": ["votes"], "kinds": ["votes"], "codec": ["util", "kinds"],
            "stream": [], "driver": ["util", "codec", "stream"],
            "host": ["util", "votes", "engine", "kinds", "codec"],
            "blocking": ["util", "api"], "simulated": ["util", "codec", "driver", "api"]}


# With TLS the library has the second ones, whose place the first one takes without it.
ALTERNATIVES = {"lib/stream/tls_none.c": ["lib/stream/tls.c", "lib/stream/tls_context.c", "lib/stream/tls_socket.c",
                                          "lib/stream/tls_words.c"]}


def absent(sources, objects):
    """What should be in the archives and is not; files that belong to another way to build the library."""
    failures = []
    others = set()
    for one, many in ALTERNATIVES.items():
        others |= set(many) if one in objects else {one}
    failures += [f"{source}: in none of the archives" for source in sources if source not in objects
                 and source not in others]
    failures += [f"{source}: in the archives with what it is an alternative to" for source in others
                 if source in objects]
    return failures


def declarations(root, source):
    headers = [(root / name).with_suffix(".h") for name in [source, *ALTERNATIVES.get(source, [])]]
    return "".join(header.read_text() for header in headers if header.exists())


def read_objects(archive, sources):
    """{source: (defined symbols, undefined symbols)} for the members of an archive.

    Meson names an object after its source's path as seen from the folder of the archive, "/" replaced by "_"."""
    folder = os.path.dirname(archive)
    by_member = {os.path.relpath(source, folder).replace("/", "_") + ".o": source for source in sources}
    listing = subprocess.run(["nm", archive], capture_output=True, text=True, check=True).stdout
    objects = {}
    for line in listing.splitlines():
        if line.endswith(".o:"):
            member = os.path.basename(line[:-1])
            if member not in by_member:
                sys.exit(f"{archive}: {member} belongs to no file of {folder}")
            defined, undefined = objects.setdefault(by_member[member], (set(), set()))
        elif match := re.match(r"[0-9a-f ]* ([A-Za-z]) (\S+)$", line):
            kind, symbol = match.groups()
            if kind in "TDBRVW":
                defined.add(symbol)
            elif kind == "U":
                undefined.add(symbol)
    return objects


def find_uses(objects):
    """{user: {used: symbols}}, across folders."""
    home = {symbol: source for source, (defined, _) in objects.items() for symbol in defined}
    uses = {source: collections.defaultdict(set) for source in objects}
    for source, (_, undefined) in objects.items():
        for symbol in undefined:
            if home.get(symbol, source) != source:
                uses[source][home[symbol]].add(symbol)
    return uses


def folder_of(source):
    """The folder of lib/ or tools/; the folders in it are a part of it."""
    return source.split("/")[1]


def reach(start, uses):
    """All that start uses, directly or by others of its folder."""
    seen = set()
    todo = [start]
    while todo:
        for used in uses[todo.pop()]:
            if folder_of(used) == folder_of(start) and used not in seen:
                seen.add(used)
                todo.append(used)
    return seen


def find_circles(uses):
    """Sets of files, each of which uses and is used by all the others of its set."""
    reached = {source: reach(source, uses) for source in uses}
    circles = {frozenset(other for other in reached[source] if source in reached[other])
               for source in uses if source in reached[source]}
    return sorted(circles, key=sorted)


def names(files):
    return " ".join(sorted(os.path.basename(file) for file in files))


def describe(circle, uses):
    lines = []
    for source in sorted(circle):
        for used in sorted(set(uses[source]) & circle):
            symbols = ", ".join(sorted(uses[source][used]))
            lines.append(f"    {os.path.basename(source)} -> {os.path.basename(used)}: {symbols}")
    return "\n".join(lines)


def files_of(known):
    return frozenset(f"lib/{known.folder}/{name}.c" for name in known.files.split())


def check_circles(uses):
    failures = []
    circles = find_circles(uses)
    for circle in circles:
        if not any(circle <= files_of(known) for known in KNOWN):
            failures.append(f"a circle that the table does not have, or that has grown: {names(circle)}\n"
                            + describe(circle, uses))
    for known in KNOWN:
        inside = [circle for circle in circles if circle <= files_of(known)]
        if not inside:
            failures.append(f"lib/{known.folder} has outgrown this circle, which leaves the table: {known.files}")
        elif known.kind == FIXED and inside != [files_of(known)]:
            failures.append(f"lib/{known.folder} has outgrown a part of this circle, which the table still lists:"
                            f" {known.files}\n  found: " + "; ".join(map(names, inside)))
    return failures


def check_order(uses):
    failures = []
    for source, used_by_source in sorted(uses.items()):
        folder = folder_of(source)
        for used, symbols in sorted(used_by_source.items()):
            if folder in MAY_CALL and folder_of(used) not in [folder, *MAY_CALL[folder]]:
                failures.append(f"{source} must not call {used}: {', '.join(sorted(symbols))}")
    return failures


def beside_their_types(root, source):
    """The tables of functions that a header of this folder of tools/ declares together with their type."""
    tables = set()
    for header in (root / source).parent.glob("*.h") if source.startswith("tools/") else []:
        text = header.read_text()
        tables |= {name for kind, name in re.findall(r"^extern const struct (\w+) (\w+);", text, re.MULTILINE)
                   if re.search(rf"^struct {kind} \{{", text, re.MULTILINE)}
    return tables


def check_headers(root, uses):
    failures = []
    shared = collections.defaultdict(set)
    for used_by in uses.values():
        for used, symbols in used_by.items():
            shared[used] |= symbols
    for source, symbols in sorted(shared.items()):
        if folder_of(source) not in OWN_HEADERS:
            continue
        text = declarations(root, source)
        failures += [f"{source}: {symbol} is used by other files and not declared in its header"
                     for symbol in sorted(symbols - beside_their_types(root, source))
                     if not symbol.startswith(PUBLIC) and not re.search(rf"\b{symbol}\b", text)]
    return failures


def check_foreign_declarations(root, objects):
    failures = []
    home = {symbol: source for source, (defined, _) in objects.items() for symbol in defined}
    for header in sorted(root.glob("lib/**/*.h")):
        name = str(header.relative_to(root))
        for symbol in DECLARED.findall(header.read_text()):
            source = home.get(symbol)
            if source and name not in [str(pathlib.Path(file).with_suffix(".h"))
                                       for file in [source, *ALTERNATIVES.get(source, [])]]:
                failures.append(f"{name}: {symbol} is declared there, and defined by {source}")
    return failures


def main():
    root = pathlib.Path(sys.argv[1])
    sources, tools = ([str(path.relative_to(root)) for path in sorted(root.glob(f"{part}/*/**/*.c"))]
                      for part in ["lib", "tools"])
    if not any("simulated" in archive for archive in sys.argv):  # without Lua 5.1
        sources = [source for source in sources if not source.startswith("lib/simulated/")]
    objects = {}
    for archive in set(sys.argv[2:]):
        objects.update(read_objects(archive, sources + tools))
    failures = absent(sources, objects)
    uses = find_uses(objects)
    failures += check_circles(uses) + check_order(uses) + check_headers(root, uses)
    failures += check_foreign_declarations(root, objects)
    print("\n".join(failures) or f"{len(sources)} files, {len(KNOWN)} known circles")
    return 1 if failures else 0


sys.exit(main())
