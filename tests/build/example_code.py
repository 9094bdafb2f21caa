#!/usr/bin/env python3
"""The examples of the documents compile, and whole programs link.

    example_code.py SOURCE_ROOT BUILD_ROOT LIBRARY_DIR        $CC, $CXX

Examples are the literal displays in EXAMPLES of the manual pages of section 3, the C programs in README.md and in
tools/examples, and the indented code in the first comment of a public header, and in every comment of the one for C++.
Functions of an example stay outside, the rest is the body of a function. An example has the headers that its page
names, the system's, and the objects of GIVEN: what it uses beside them it must declare itself. A program has nothing
but its own text, and the language's standard.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

root, build, library = (pathlib.Path(argument) for argument in sys.argv[1:4])
CC = os.environ.get("CC", "cc")
CXX = next((name for name in (os.environ.get("CXX"), "c++", "g++", "clang++") if name and shutil.which(name)), None)
WARNINGS = ["-O2", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-Wno-unused-function",
            f"-I{root}/include", f"-I{build}/include"]

# Headers of databases, and what pkg-config calls them; a program for one that is not installed is not compiled.
DATABASES = {"sqlite3.h": "sqlite3", "libpq-fe.h": "libpq"}

# The first words of displays that are not C.
OTHER_LANGUAGES = ("increase(", "bpftrace ", "find_package(")

SYSTEM = """
#include <err.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <syslog.h>
#include <unistd.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#if __has_include(<uv.h>)
#include <uv.h>
#else
typedef struct uv_loop_s uv_loop_t;
typedef struct uv_poll_s { void *data; } uv_poll_t;
enum { UV_READABLE = 1 };
int uv_poll_init(uv_loop_t *loop, uv_poll_t *poll, int fd);
int uv_poll_start(uv_poll_t *poll, int events, void (*cb)(uv_poll_t *poll, int status, int events));
#endif
"""

# What the text around an example speaks of: objects of the program, and its own functions.
GIVEN = """
struct redlock_client;
struct redlock_completion;
struct redlock_error;
struct redlock_lock;
struct redlock_mutex;
struct redlock_queue;
struct redlock_result;
struct redlock_service;
extern const char *const masters[3];
extern struct event_base *base;
extern struct redlock_client *client;
extern struct redlock_lock *lock;
extern struct redlock_service *service;
extern struct redlock_mutex *mutex;
extern struct redlock_queue *queue;
extern struct redlock_options options;
extern char text[];
extern int pipe_to_successor;
extern void *my_request;
extern void *request;
extern void *worker;
extern uv_loop_t *loop;
void acquired(struct redlock_lock *lock, const struct redlock_result *result, void *user_data);
void begin_nothing_new(void *worker);
const char *current_token(void *tokens);
void go_on(void *user_data, int status);
void send_response(void *request, const char *type, const char *body, size_t size);
void stop_at_once(void *worker);
void work(void);
void write_order(void);
"""

GIVEN_CXX = """
#include <iostream>
extern redlock::service service;
extern redlock::shared_mutex prices;
extern std::uint64_t run;
"""


def displays(page):
    """The literal displays of EXAMPLES, as a reader sees them."""
    examples = re.search(r"^\.Sh EXAMPLES\n(.*?)(?=^\.Sh |\Z)", page, re.M | re.S)
    found = re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed", examples.group(1) if examples else "", re.M | re.S)
    return [re.sub(r"\\(.)", lambda match: {"e": "\\", "&": "", "-": "-"}[match.group(1)], text) for text in found]


def indented(comment):
    """The code in a comment: its indented paragraphs, from the first one with a semicolon on."""
    texts = [""]
    for paragraph in comment.split("\n *\n"):
        if not re.search(r"^ \*     ", paragraph, re.M):
            texts.append("")
        elif texts[-1] or ";" in paragraph:
            lines = [line[7:] for line in paragraph.splitlines() if line.startswith(" *     ")]
            texts[-1] += "\n".join(lines) + "\n\n"
    texts = [re.sub(r"\(\.\.\. .*? \.\.\.\)", "(true)", text) for text in texts if text]
    return [re.sub(r"^( *)(\.\.\. .*)$", r"\1; /* \2 */", text, flags=re.M) for text in texts]


def split(text):
    """What stands outside of functions (directives, functions, static objects), and the statements between."""
    outside, inside, in_function = [], [], False
    for line in text.splitlines():
        starts = line.startswith("static ")
        (outside if in_function or starts or line.startswith("#") else inside).append(line)
        in_function = line != "}" and (in_function or (starts and not line.endswith(";")))
    return "\n".join(outside), "\n".join(inside)


def given_to(outside):
    """The lines of GIVEN that do not speak of what the example defines itself."""
    own = set(re.findall(r"^static .*?(\w+)(?:\(| =|;)", outside, re.M))
    return "\n".join(line for line in GIVEN.splitlines() if not own & set(re.findall(r"(\w+)(?:\[\d*\])?[(;]", line)))


def fragment(text, headers, language):
    """A file that can be compiled."""
    outside, inside = split(text)
    includes = "".join(f"#include <{header}>\n" for header in headers)
    if language == "c++":
        return f"{includes}{GIVEN_CXX}void example();\nvoid example()\n{{\n{inside}\n}}\n"
    result, end = ("int", "return 0;") if re.search(r"^ *return [^;]", inside, re.M) else ("void", "")
    return (f"#define _DEFAULT_SOURCE\n{includes}{SYSTEM}{given_to(outside)}\n{outside}\n"
            f"{result} example(void);\n{result} example(void)\n{{\n{inside}\n{end}\n}}\n")


def flags_of(package):
    found = subprocess.run(["pkg-config", "--cflags", "--libs", package], capture_output=True, text=True)
    return found.stdout.split()


class Compiler:
    def __init__(self, work):
        self.work = work
        self.failures = []
        self.counts = {"fragment": 0, "program": 0}

    def run(self, where, source, command):
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode:
            self.failures.append(f"{where}:\n{source}\n{result.stderr}")

    def program(self, where, text, compiler, suffix):
        path = self.work / f"program{suffix}"
        path.write_text(text)
        self.counts["program"] += 1
        simulation = ["-lredlock-test"] if "redlock/simulation.h" in text else []
        if simulation and not (library / "libredlock-test.so").exists():
            return
        database = next((name for header, name in DATABASES.items() if f"<{header}>" in text), None)
        if database and not (flags := flags_of(database)):
            return
        self.run(where, text, [*compiler, *WARNINGS, "-pthread", str(path), "-o", str(self.work / "program"),
                               f"-L{library}", *simulation, "-lredlock", "-levent_core", *(flags if database else [])])

    def example(self, where, text, headers, language="c"):
        if language == "c++" and not CXX:
            return
        compiler = [CXX, "-std=c++11"] if language == "c++" else [CC, "-std=c11"]
        if re.search(r"^int main\(", text, re.M):
            self.program(where, text, compiler, ".cc" if language == "c++" else ".c")
            return
        source = fragment(text, headers, language)
        path = self.work / ("example.cc" if language == "c++" else "example.c")
        path.write_text(source)
        self.counts["fragment"] += 1
        self.run(where, text, [*compiler, *WARNINGS, "-c", str(path), "-o", str(self.work / "example.o")])


def compile_all(compiler):
    for path in sorted((root / "tools/man").glob("*.3")):
        page = path.read_text()
        headers = [name for name in re.findall(r"^\.In (\S+)", page, re.M) if name.endswith(".h")]
        for number, text in enumerate(displays(page), 1):
            if text.startswith(OTHER_LANGUAGES):
                continue
            if "redlock::" in text:
                compiler.example(f"{path.name}, example {number}", text, ["redlock/redlock.hpp"], "c++")
            else:
                compiler.example(f"{path.name}, example {number}", text, headers)
    for path in sorted((root / "include/redlock").glob("*.h*")):
        language = "c++" if path.suffix == ".hpp" else "c"
        comments = re.findall(r"^/\*(.*?)\*/", path.read_text(), re.M | re.S)
        found = [text for comment in comments[: None if language == "c++" else 1] for text in indented(comment)]
        for number, text in enumerate(found, 1):
            compiler.example(f"{path.name}, example {number}", text, [f"redlock/{path.name}"], language)
    for path in sorted((root / "tools/examples").glob("*.c*")):
        compiler.example(f"tools/examples/{path.name}", path.read_text(), [], "c++" if path.suffix == ".cpp" else "c")
    readme = root / "README.md"
    programs = re.findall(r"^```c\n(.*?)^```", readme.read_text(), re.M | re.S) if readme.exists() else []
    for number, text in enumerate(programs, 1):
        compiler.example(f"README.md, program {number}", text, ["redlock/redlock.h"])


with tempfile.TemporaryDirectory() as directory:
    all_of_them = Compiler(pathlib.Path(directory))
    compile_all(all_of_them)
if all_of_them.counts["fragment"] < 20 or all_of_them.counts["program"] < 10:
    all_of_them.failures.append(f"the examples were not found: {all_of_them.counts}")
print("\n".join(all_of_them.failures) or "{fragment} fragments, {program} programs".format(**all_of_them.counts))
sys.exit(bool(all_of_them.failures))
