#!/usr/bin/env python3
"""Plants the bugs of planted.txt, which says how it is written.

    plant.py --lists OUTPUT TABLE LIB FILE...   checks the table, and writes the lists that C needs (planted.h)
    plant.py --copy OUTPUT TABLE LIB FILE       writes a copy of a source, with all of its bugs

FILE: sources that are copied and, for the lists, scripts as masters get them. IMPLEMENTATION NOTES: the copies depend on
planted.h alone, which is therefore another one after each change of the table or of this program.
"""
import hashlib
import json
import pathlib
import re
import sys

OPTIONS = r'(?: --[a-z-]+)*'
ABOUT = re.compile(rf'(engine|host|script|model), rule (\d+\.\d+), (?:(\d+) worlds({OPTIONS})|its (story|exploration))')
PLACE = re.compile(r'in (\S+\.(?:[ch]|lua))(?: of ((?: ?\w+)+))?(, twice)?')
BUG = re.compile(r'\bBUG\b(?:\((\w+)\))?')
faults = []


def words(text):
    """Where lines break does not matter, nor how far they are indented."""
    return re.compile(r'\s+'.join(map(re.escape, text.split())))


def indentation_at(source, place):
    return re.match(r'\s*', source[source.rfind('\n', 0, place) + 1:place])[0]


class Edit:
    def __init__(self, bug, number, file, scripts, twice):
        self.bug, self.number, self.file = bug, number, file
        self.scripts, self.times = (scripts or pathlib.Path(file).stem).split(), 2 if twice else 1
        self.old, self.new = [], []

    def fault(self, what):
        faults.append(f'planted.txt:{self.number}: {self.bug}: {what}')

    def text(self):
        return ' '.join(' '.join(self.old).split())

    def find(self, source):
        """The place in the source, where the text must stand exactly once."""
        found = list(words(self.text()).finditer(source))
        if len(found) == 1:
            return found[0].span()
        self.fault(f'in lib/{self.file} this text stands {len(found)} times, and not once: {self.text()}')
        return None

    def replacement(self, indentation):
        return BUG.sub(lambda named: f'RL_MUTANT({named[1] or self.bug})', ('\n' + indentation).join(self.new))


class Bug:
    def __init__(self, name, text, where, rule, budget, options, place):
        self.name, self.text, self.where, self.rule = name, text, where, rule
        self.budget, self.options, self.place = int(budget or 0), (options or '').split(), place or 'worlds'
        self.edits = []


def read_block(lines, number):
    """Of one bug: what it is, where it belongs, and its edits, each a place and texts that begin with - or +."""
    name, _, text = lines[0].partition(': ')
    about = ABOUT.fullmatch(lines[1]) if len(lines) > 1 else None
    if not re.fullmatch(r'[A-Z][A-Z_0-9]+', name) or not text or not about:
        faults.append(f'planted.txt:{number}: "NAME: text" and "engine, rule N.N, N worlds" are expected here')
        return None
    bug = Bug(name, text, *about.groups())
    place, edit = None, None
    for n, line in enumerate(lines[2:], number + 2):
        here = PLACE.fullmatch(line)
        if here:
            place, edit = here, None
        elif place and line[0] == '-':
            if not edit or edit.new:
                edit = Edit(name, n, *place.groups())
                bug.edits.append(edit)
            edit.old.append(line[2:])
        elif edit and line[0] == '+':
            edit.new.append(line[2:])
        else:
            faults.append(f'planted.txt:{n}: {name}: "in FILE", "- text" or "+ replacement" is expected here: {line}')
            return None
    return bug


def read_table(path):
    bugs, block = {}, []
    for number, line in enumerate(path.read_text().split('\n') + [''], 1):
        line = line.rstrip()
        if line and not line.startswith('#'):
            block.append(line)
        elif block and not line:
            bug = read_block(block, number - len(block))
            if bug and bug.name in bugs:
                faults.append(f'planted.txt:{number}: {bug.name} stands here for the second time')
            elif bug:
                bugs[bug.name] = bug
            block = []
    return bugs


def edits_of(bugs, file):
    return [edit for bug in bugs.values() for edit in bug.edits if edit.file == file]


def plant(bugs, file, source):
    """The source with all of its bugs, each of which is on or off at run time."""
    found = [(place, edit) for edit in edits_of(bugs, file) for place in [edit.find(source)] if place]
    copy, last, former = '#include "mutants.h"\n' if found else '', 0, None
    for (begin, end), edit in sorted(found, key=lambda one: one[0]):
        if begin < last:
            edit.fault(f'in lib/{file} this text is changed by {former.bug}, too: {edit.text()}')
        copy += source[last:begin] + edit.replacement(indentation_at(source, begin))
        last, former = end, edit
    return copy + source[last:]


def rows_of_script(edit, lib, scripts):
    """A script is replaced as a whole while its bug is on: what it says may stand in a part that others have, too."""
    source = lib / edit.file
    rows = []
    if source.is_file():
        edit.find(source.read_text())
    else:
        edit.fault(f'there is no lib/{edit.file}')
    old, new = ('\n'.join(filter(None, map(str.strip, text))) for text in (edit.old, edit.new))
    for name in edit.scripts:
        found = scripts.get(name, '').count(old)
        if found != edit.times:
            edit.fault(f'in the script {name}, as masters get it, this text stands {found} times: {edit.text()}')
        rows.append((edit.bug, name.upper(), json.dumps(old), json.dumps(new)))
    return rows


def check_bugs(bugs, copied):
    named = {name for bug in bugs.values() for edit in bug.edits for name in BUG.findall('\n'.join(edit.new))}
    for name in sorted(named - set(bugs) - {''}):
        faults.append(f'planted.txt: there is no bug {name}, which an edit names')
    for bug in bugs.values():
        if (bug.where == 'model') == bool(bug.edits):
            faults.append(f'planted.txt: {bug.name}: a bug has edits, unless the model has it in its own sources')
        for edit in bug.edits:
            if edit.file.endswith('.lua'):
                continue
            if edit.file not in copied:
                edit.fault(f'tests/sim/meson.build copies no lib/{edit.file}')
            if not BUG.search('\n'.join(edit.new)):
                edit.fault(f'the replacement does not say BUG: {edit.text()}')


def write_lists(table, lib, bugs, files):
    scripts = {file.stem: file.read_text() for file in files if file.suffix == '.lua'}
    copied = {str(file.resolve().relative_to(lib)): file for file in files if file.suffix != '.lua'}
    check_bugs(bugs, copied)
    for name, file in copied.items():
        plant(bugs, name, file.read_text())
    rows = [row for bug in bugs.values() for edit in bug.edits if edit.file.endswith('.lua')
            for row in rows_of_script(edit, lib, scripts)]
    digest = hashlib.sha1(table.read_bytes() + pathlib.Path(__file__).read_bytes()).hexdigest()
    lists = f'/* Written by plant.py, of planted.txt ({digest}). */\n\n'
    lists += '/* X(NAME, where, budget, text, fields of struct plan_options) */\n#define PLANTED_BUGS(X)'
    for bug in bugs.values():
        options = ', '.join(f'.{option[2:].replace("-", "_")} = true' for option in bug.options)
        lists += f' \\\n    X({bug.name}, "{bug.where}", {bug.budget}, {json.dumps(bug.text)}, {options or 0})'
    lists += '\n\n/* X(NAME, SCRIPT, what it says, what it says with the bug) */\n#define PLANTED_WORDS(X)'
    return lists + ''.join(f' \\\n    X({", ".join(row)})' for row in rows) + '\n'


def main(mode, output, table, lib, *files):
    table, lib = pathlib.Path(table), pathlib.Path(lib).resolve()
    files = [pathlib.Path(file) for file in files]
    bugs = read_table(table)
    if mode == '--lists':
        text = write_lists(table, lib, bugs, files)
    else:
        text = plant(bugs, str(files[0].resolve().relative_to(lib)), files[0].read_text())
    if faults:
        sys.exit('\n'.join(faults))
    output = pathlib.Path(output)
    if not output.is_file() or output.read_text() != text:
        output.write_text(text)


if __name__ == '__main__':
    main(*sys.argv[1:])
