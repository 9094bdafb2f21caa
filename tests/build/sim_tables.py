"""The tables of tests/sim/README.md name every planted bug, with its budget and its worlds, every oracle and every
story, and nothing that is not there. Each rule of lib/RULES.md names files that are there, and somebody who would
notice; and what is cited of the rules, or quoted, stands there. The reading tables of lib/README.md name files that
are there.

    sim_tables.py SOURCE_ROOT
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
sim = root / 'tests' / 'sim'
sys.dont_write_bytecode = True
sys.path.insert(0, str(sim))
import plant
readme = (sim / 'README.md').read_text()
faults = []


def compare(what, written, real):
    for thing in sorted(written - real):
        faults.append(f'README.md has the {what} {thing}, which is not there')
    for thing in sorted(real - written):
        faults.append(f'README.md does not have the {what} {thing}')


def section(heading):
    return re.search(rf'^## {heading}\n(.*?)(?=^## |\Z)', readme, re.S | re.M)[1]


def row_of_bug(bug):
    """As the table of planted bugs begins: name, where, worlds, budget."""
    return (bug.name, bug.where, ' '.join(sorted(bug.options)) if bug.budget else bug.place, str(bug.budget))


def rows_of_bugs():
    rows = set()
    for name, where, seen, budget in re.findall(r'^\| ([A-Z_0-9]{4,}) \| (\w+) \| (.*?) \| *(\d*) *\|',
                                                section('Planted bugs'), re.M):
        options = re.search(r'`(.*)`', seen)
        worlds = seen.removeprefix('in its ') if seen.startswith('in its ') else ' '.join(sorted(options[1].split())) if options else ''
        rows.add((name, where, worlds, budget or '0'))
    return rows


bugs = plant.read_table(sim / 'planted.txt')
faults += plant.faults
if len(bugs) < 100:
    faults.append(f'only {len(bugs)} planted bugs can be read from planted.txt')
compare('planted bug', rows_of_bugs(), set(map(row_of_bug, bugs.values())))
shown = set(re.findall(r"^  '([A-Z_0-9]+)': '", (sim / 'meson.build').read_text(), re.M))
explored_bugs = set(re.findall(r'\bBUG\(([A-Z_]+), ', (sim / 'explore/changes.c').read_text()))
for bug in bugs.values():
    if bug.place == 'story' and bug.name not in shown:
        faults.append(f'planted.txt: {bug.name} is too rare to be looked for, and has no story in meson.build')
    if bug.place == 'exploration' and bug.name not in explored_bugs:
        faults.append(f'planted.txt: {bug.name} is too rare to be looked for, and no explorer finds it')

oracles = {path.stem.removeprefix('oracle_') for path in sim.glob('oracle_*.c')}
rows = re.findall(r'^\| (`.*?) \|', section('Oracles'), re.M)
compare('oracle', {name for row in rows for name in re.findall(r'`(\w+)`', row)}, oracles)

stories = {path.stem for path in (sim / 'golden').glob('*.story')}
rows = [row.split('|') for row in section('Stories').splitlines() if row.startswith('| ')]
written = {name for row in rows for cell in row for name in re.findall(r'`([a-z-]+)`', cell)}
compare('story', written, stories)

for name in re.findall(r'\b[A-Z]\w*_\w+\b', section('Planted bugs')):
    if name not in bugs:
        faults.append(f'README.md speaks of {name}, which is not in planted.txt')
explored = ''.join(path.read_text() for path in (sim / 'explore').glob('*.c'))
for text in re.findall(r'"([^"]+)"', section('Planted bugs')):
    if f'"{text}"' not in explored:
        faults.append(f'README.md has the bug "{text}", which no explorer has')

# --- The rules


def words(text):
    """On one line, without the signs of comments."""
    return re.sub(r'\s+', ' ', re.sub(r'\n[ \t]*(?:\*|--|#|//)*(?=[ \n])', ' ', text))


def read_rules():
    """Number to text: an item of a list that begins with the number in bold."""
    text = (root / 'lib' / 'RULES.md').read_text()
    rules = {}
    for chapter, body in re.findall(r'^## (\d+)\. .*\n((?:(?!## ).*\n)*)', text, re.M):
        items = re.findall(r'^- \*\*(\d+\.\d+) ((?:(?!- \*\*|## ).*\n?)*)', body, re.M)
        for n, (number, rule) in enumerate(items, 1):
            if number != f'{chapter}.{n}':
                faults.append(f'RULES.md: rule {number} stands where {chapter}.{n} is expected')
            rules[number] = words(rule)
    if len(rules) < 50:
        faults.append(f'only {len(rules)} rules can be read from RULES.md')
    return rules


def check_rule(number, rule):
    where, _, noticed = rule.partition('*where*: ')[2].partition('; *noticed by* ')
    files = re.findall(r'`([^`]+)`', where)
    real = {'oracle': oracles, 'story': stories}
    kind, found = None, 0
    for name in files:
        if not (root / 'lib' / name).is_file():
            faults.append(f'RULES.md: rule {number} is carried out by lib/{name}, which is not there')
    item = r'(oracle|story|stories)|`([\w-]+)`|"([^"]+)"|([A-Z0-9]+_[A-Z_0-9]+)'
    for word, name, text, bug in re.findall(item, noticed):
        if word:
            kind = word.replace('ies', 'y')
            continue
        found += 1
        if bug:
            breaks.setdefault(bug, []).append(number)
        if bug and bug not in bugs:
            faults.append(f'RULES.md: rule {number} names the planted bug {bug}, which is not there')
        if text and f'"{text}"' not in explored:
            faults.append(f'RULES.md: rule {number} names the explored bug "{text}", which is not there')
        if name and name not in real.get(kind, ()):
            faults.append(f'RULES.md: rule {number} names the {kind} {name}, which is not there')
    if '*why*: ' not in rule or not files or not found:
        faults.append(f'RULES.md: rule {number} lacks its reason, its files, or who has noticed')


def check_reading_tables():
    text = (root / 'lib' / 'README.md').read_text().partition('## Building and changing')[0]
    for name in re.findall(r'`(\w+/[\w/]+\.\w+)`', text):
        if not any((root / top / name).exists() for top in ('lib', 'include', '.')):
            faults.append(f'lib/README.md names {name}, which is not there')


def check_citations(path, rules):
    text = words(path.read_text())
    number = r'\d+(?:\.\d+)?(?![\d.]*\d)'
    one = rf'{number}(?: \(\w+\))?'
    for cited in re.findall(rf'\b[Rr]ule \d+\.\d+|\b[Rr]ules {one}(?:(?:,| and| to) {one})*', text):
        for name in re.findall(number, cited):
            if name not in rules and ('.' in name or f'{name}.1' not in rules):
                faults.append(f'{path.relative_to(root)} cites rule {name}, which is not in lib/RULES.md')
    for name, _, double, single in re.findall(
            r'\b[Rr]ule (\d+\.\d+)(?: says)?: ([a-z ]{0,40}?)(?:"([^"]+)"|\'(.+?)\'(?=[\s.,)]))', text):
        for part in re.split(r' \.\.\. ', double or single):
            if part.rstrip('.').lower() not in rules.get(name, '').replace('**', '').lower():
                faults.append(f'{path.relative_to(root)} quotes of rule {name} what it does not say: {part}')


rules = read_rules()
breaks = {}
for number, rule in rules.items():
    check_rule(number, rule)
for bug in bugs.values():
    if bug.rule not in rules:
        faults.append(f'planted.txt: {bug.name} breaks rule {bug.rule}, which is not in RULES.md')
    elif bug.rule not in breaks.get(bug.name, rules):
        faults.append(f'planted.txt: {bug.name} breaks rule {bug.rule}, and RULES.md names it for {breaks[bug.name]}')
for folder in ('lib', 'tests', 'tools', 'include'):
    for path in sorted((root / folder).rglob('*')):
        if path.suffix in ('.c', '.h', '.cpp', '.lua', '.md', '.story') and path.is_file():
            check_citations(path, rules)

check_reading_tables()
for fault in faults:
    print(fault)
sys.exit(bool(faults))
