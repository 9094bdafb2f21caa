"""The tables of tests/sim/README.md name every planted bug, with its budget and its worlds, every oracle and every
story, and nothing that is not there.

    sim_tables.py SOURCE_ROOT
"""
import pathlib
import re
import sys

sim = pathlib.Path(sys.argv[1]) / 'tests' / 'sim'
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

oracles = section('Oracles')
written = {name for row in re.findall(r'^\| (`.*?) \|', oracles, re.M) for name in re.findall(r'`(\w+)`', row)}
compare('oracle', written, {path.stem.removeprefix('oracle_') for path in sim.glob('oracle_*.c')})

rows = [row.split('|') for row in section('Stories').splitlines() if row.startswith('| ')]
written = {name for row in rows for cell in row for name in re.findall(r'`([a-z-]+)`', cell)}
compare('story', written, {path.stem for path in (sim / 'golden').glob('*.story')})

names = {bug[0] for bug in bugs}
for name in re.findall(r'\b[A-Z]\w*_\w+\b', section('Planted bugs')):
    if name not in names:
        faults.append(f'README.md speaks of {name}, which is not in mutants.h')
explored = ''.join(path.read_text() for path in (sim / 'explore').glob('*.c'))
for text in re.findall(r'"([^"]+)"', section('Planted bugs')):
    if f'"{text}"' not in explored:
        faults.append(f'README.md has the bug "{text}", which no explorer has')

for fault in faults:
    print(fault)
sys.exit(bool(faults))
