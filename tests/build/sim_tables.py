"""The tables of tests/sim/README.md name every planted bug, with its budget and its worlds, every oracle and every
story, and nothing that is not there. Each rule of lib/RULES.md names files that are there, and somebody who would
notice; and what is cited of the rules, or quoted, stands there.

    sim_tables.py SOURCE_ROOT
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
sim = root / 'tests' / 'sim'
readme = (sim / 'README.md').read_text()
faults = []


def compare(what, written, real):
    for thing in sorted(written - real):
        faults.append(f'README.md has the {what} {thing}, which is not there')
    for thing in sorted(real - written):
        faults.append(f'README.md does not have the {what} {thing}')


def section(heading):
    return re.search(rf'^## {heading}\n(.*?)(?=^## |\Z)', readme, re.S | re.M)[1]


def planted_bugs():
    """Of mutants.h, as rows of the table begin: name, where, worlds, budget."""
    worlds_of_map = {}
    source, header = ((sim / name).read_text().replace('\\\n', '') for name in ('mutants.c', 'mutants.h'))
    row = r'^#define MUTANT_(\w*?)ROW\(.*\{#name, where, budget, text, \{(.*?)\}\}'
    for prefix, worlds in re.findall(row, source, re.M):
        options = ['--' + option.replace('_', '-') for option in re.findall(r'\.(\w+) = true', worlds)]
        worlds_of_map[prefix] = ' '.join(sorted(options))
    rows = set()
    for prefix, body in re.findall(r'^#define MUTANT_(\w*?)MAP\(X\)(.*)', header, re.M):
        for name, where, budget in re.findall(r'X\((\w+), "(\w+)", (\d+),', body):
            rows.add((name, where, 'story' if budget == '0' else worlds_of_map[prefix], budget))
    return rows


def rows_of_bugs():
    rows = set()
    for name, where, seen, budget in re.findall(r'^\| ([A-Z_0-9]{4,}) \| (\w+) \| (.*?) \| *(\d*) *\|',
                                                section('Planted bugs'), re.M):
        options = re.search(r'`(.*)`', seen)
        worlds = 'story' if seen == 'in its story' else ' '.join(sorted(options[1].split())) if options else ''
        rows.add((name, where, worlds, budget or '0'))
    return rows


bugs = planted_bugs()
if len(bugs) < 100:
    faults.append(f'only {len(bugs)} planted bugs can be read from mutants.h')
compare('planted bug', rows_of_bugs(), bugs)

oracles = {path.stem.removeprefix('oracle_') for path in sim.glob('oracle_*.c')}
rows = re.findall(r'^\| (`.*?) \|', section('Oracles'), re.M)
compare('oracle', {name for row in rows for name in re.findall(r'`(\w+)`', row)}, oracles)

stories = {path.stem for path in (sim / 'golden').glob('*.story')}
rows = [row.split('|') for row in section('Stories').splitlines() if row.startswith('| ')]
written = {name for row in rows for cell in row for name in re.findall(r'`([a-z-]+)`', cell)}
compare('story', written, stories)

names = {bug[0] for bug in bugs}
for name in re.findall(r'\b[A-Z]\w*_\w+\b', section('Planted bugs')):
    if name not in names:
        faults.append(f'README.md speaks of {name}, which is not in mutants.h')
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
        if bug and bug not in names:
            faults.append(f'RULES.md: rule {number} names the planted bug {bug}, which is not there')
        if text and f'"{text}"' not in explored:
            faults.append(f'RULES.md: rule {number} names the explored bug "{text}", which is not there')
        if name and name not in real.get(kind, ()):
            faults.append(f'RULES.md: rule {number} names the {kind} {name}, which is not there')
    if '*why*: ' not in rule or not files or not found:
        faults.append(f'RULES.md: rule {number} lacks its reason, its files, or who has noticed')


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
for number, rule in rules.items():
    check_rule(number, rule)
for folder in ('lib', 'tests', 'tools', 'include'):
    for path in sorted((root / folder).rglob('*')):
        if path.suffix in ('.c', '.h', '.cpp', '.lua', '.md', '.story') and path.is_file():
            check_citations(path, rules)

for fault in faults:
    print(fault)
sys.exit(bool(faults))
