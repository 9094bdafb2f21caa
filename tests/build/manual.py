#!/usr/bin/env python3
"""The manual pages of section 3 say what the headers say.

    manual.py SOURCE_ROOT

Every exported function has its prototype, unchanged, in one page, which names it in its first line. Every constant and
every member of a public structure is explained in some page, and members of options, results and statistics in the page
that is about these. Every status has its number and its text. No page speaks of a function, a page or a constant that
does not exist.
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
headers = {path.name: path.read_text() for path in (root / "include/redlock").glob("*.h*") if path.suffix != ".hpp"}
pages = {path.stem: path.read_text() for path in (root / "tools/man").glob("*.3")}
others = {(path.stem, path.suffix[1:]) for path in (root / "tools/man").glob("*.[1-8]")}
failures = []


def fail(text):
    failures.append(text)


def words(text):
    return " ".join(text.split())


def split_arguments(text):
    return tuple(words(argument) for argument in text.split(","))


# --- What the headers have

code = {name: re.sub(r"/\*.*?\*/", " ", text, flags=re.S) for name, text in headers.items()}
everything = "\n".join(code.values()).replace("REDLOCK_STATUS_ENUM", "")
functions = {
    name: (words(result), split_arguments(arguments))
    for result, name, arguments in re.findall(r"REDLOCK_API(?:_USED)?\s+([^;#]*?)(redlock_\w+)\(([^;]*?)\);", everything)
}
callbacks = {
    name: ("typedef void", split_arguments(arguments))
    for name, arguments in re.findall(r"typedef void \(\*(\w+)\)\((.*?)\);", everything, re.S)
}
macros = set(re.findall(r"#define (redlock_\w+)\(", everything))
text_macros = set(re.findall(r"#define (REDLOCK_\w+)\(", everything))
enumerators = {
    name
    for body in re.findall(r"enum \w+ \{(.*?)\};", everything, re.S)
    for name in re.findall(r"\b(REDLOCK_\w+)\b(?=\s*(?:=|,|$))", body, re.M)
}
defines = set(re.findall(r"#define (REDLOCK_\w+)[ \t]+\S", everything)) - {"REDLOCK_API", "REDLOCK_API_USED"}
statuses = {
    "REDLOCK_" + name: (number, retryable == "true", text)
    for name, number, retryable, text in re.findall(r'X\((\w+), (-?\d+), (\w+),\s+"([^"]*)"\)', headers["status.h"])
}
members = {
    struct: set(re.findall(r"(\w+)(?:\[\d+\])?(?=[;,])", re.sub(r"\b\w+\s*\(\*(\w+)\)\(.*?\)", r"\1", body)))
    for struct, body in re.findall(r"struct (redlock_\w+) \{(.*?)\n\};", everything, re.S)
}

# --- What the pages have


def synopsis(page):
    found = {}
    for result, name, arguments in re.findall(r"^\.Ft ([^\n]*)\n\.Fo (\S+)\n(.*?)\.Fc$", page, re.M | re.S):
        listed = tuple(re.findall(r'^\.Fa "(.*)"$', arguments, re.M))
        found[re.sub(r"\W", "", name)] = (result, listed)
    return found


def names(page):
    return set(re.findall(r"^\.Nm (\S+)", page.split(".Sh LIBRARY")[0], re.M))


described = {}
for stem, page in pages.items():
    prototypes = synopsis(page)
    for name, prototype in prototypes.items():
        known = functions.get(name) or callbacks.get(name)
        if name in described:
            fail(f"{name} is in {stem}.3 and in {described[name]}.3")
        described[name] = stem
        if known != prototype and name not in macros:
            fail(f"{stem}.3: {name} is not as in the headers: {prototype}, {known}")
    callable_here = {name for name in prototypes if name not in callbacks}
    if names(page) - {stem} != callable_here - {stem}:
        fail(f"{stem}.3: its first line does not name what its synopsis has: {names(page) ^ callable_here}")
for name in (functions.keys() | callbacks.keys() | macros) - described.keys():
    fail(f"{name} has no manual page")

# --- What they refer to

aliases = {name for page in pages.values() for name in names(page)}
for stem, page in pages.items():
    # Names stand alone, or several in a row.
    for line in re.findall(r"^\..*\bFn .*$", page, re.M):
        for name in re.findall(r"\bredlock_\w+", line):
            if name not in functions and name not in macros:
                fail(f"{stem}.3 speaks of {name}(), which does not exist")
    for name, section in re.findall(r"\bXr (\w+) (\d)", page):
        if name.startswith(("redlock", "libredlock")) and (name, section) not in others and (
            section != "3" or name not in aliases
        ):
            fail(f"{stem}.3 refers to {name}({section}), which does not exist")
    for name in re.findall(r"\bREDLOCK_[A-Z_]+\b", page):
        if name not in enumerators | defines | text_macros | statuses.keys() | {"REDLOCK_UNKNOWN", stem.upper()}:
            fail(f"{stem}.3 speaks of {name}, which does not exist")

whole = "\n".join(pages.values())
for name in sorted(enumerators | defines | statuses.keys()):
    if not re.search(rf"\b{name}\b", whole) and not name.endswith("_H"):
        fail(f"no page speaks of {name}")


def explained_in(text):
    lines = re.findall(r"^\..*\bVa .*$", text, re.M)
    return {name for line in lines for name in re.findall(r"\w+", line.split("Va ", 1)[1])}


# Where a reader looks for the members of these; those of any other structure may be explained in any page.
homes = {
    "redlock_options": "redlock_options_init",
    "redlock_acquire_options": "redlock_options_init",
    "redlock_stats": "redlock_client_stats",
    "redlock_node_stats": "redlock_client_stats",
    "redlock_node_info": "redlock_client_stats",
    "redlock_result": "redlock_result",
    "redlock_node_result": "redlock_result",
}
for struct, wanted in members.items():
    explained = explained_in(pages.get(homes[struct], "") if struct in homes else whole)
    for name in sorted(wanted - explained - {"size"} - ({"text"} if struct == "redlock_error" else set())):
        fail(f"{homes.get(struct, 'some page')} should explain {name} of struct {struct}")
for struct in homes.keys() - members.keys():
    fail(f"no header has struct {struct}")

# --- Statuses

listed = {
    name: (number.replace("\\", ""), bool(retryable), words(text))
    for name, number, retryable, text in re.findall(
        r"^\.It Dv (\w+) Pq (\\?-?\d+)(, retryable)?\n(.*?)(?=^\.)", pages.get("redlock_strerror", ""), re.M | re.S
    )
}
for name, (number, retryable, text) in statuses.items():
    if listed.get(name) != (number, retryable, text[0].upper() + text[1:] + "."):
        fail(f"redlock_strerror.3: {name} is {listed.get(name)}, in the header {(number, retryable, text)}")

if len(functions) < 50 or len(statuses) < 40 or len(members) < 8 or len(enumerators) < 60:
    fail("the headers were not understood")
print("\n".join(failures) or f"{len(functions)} functions in {len(pages)} pages")
sys.exit(bool(failures))
