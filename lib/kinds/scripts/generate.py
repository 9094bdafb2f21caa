"""The scripts as they are sent, and as C: NAME.lua for each, with all parts in it, and scripts.h.

    generate.py OUTPUT_DIR SCRIPT.lua...

@PART@ stands for part.lua. Of comments only the first line is kept. scripts.h has RL_NAME_LUA, the text as a literal,
and RL_NAME_SHA1, as SCRIPT LOAD answers.
"""
import hashlib
import pathlib
import re
import sys


def whole(path):
    return re.sub(r'@([A-Z_]+)@', lambda part: whole(path.with_name(part[1].lower() + '.lua')), path.read_text())


def sent(text):
    lines = [line.strip() for line in text.split('\n')]
    return '\n'.join(lines[:1] + [line for line in lines[1:] if line and not line.startswith('--')]) + '\n'


def literal(text):
    lines = text.replace('\\', '\\\\').replace('"', '\\"').split('\n')[:-1]
    return ''.join(f' \\\n    "{line}\\n"' for line in lines)


output = pathlib.Path(sys.argv[1])
header = ['/* Generated from lib/kinds/scripts/NAME.lua. */', '#ifndef RL_SCRIPTS_H', '#define RL_SCRIPTS_H', '',
          '/* C11 promises no more than 4095 characters in a literal; every compiler that we know takes more. */',
          '#pragma GCC diagnostic ignored "-Woverlength-strings"', '']
for path in map(pathlib.Path, sys.argv[2:]):
    text = sent(whole(path))
    (output / path.name).write_text(text)
    name = path.stem.upper()
    header += [f'#define RL_{name}_SHA1 "{hashlib.sha1(text.encode()).hexdigest()}"',
               f'#define RL_{name}_LUA{literal(text)}', '']
(output / 'scripts.h').write_text('\n'.join(header + ['#endif', '']))
