"""fenced_sqlite and fenced_postgres, where they were built: their databases have the guards of tools/fencing, which
refuse the token of an earlier hold.

    fenced.py EXAMPLES URL..."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fencing"))
from test_fencing import Postgres, Skip, Sqlite  # noqa: E402  (its place is known only here)

PATIENCE_S = 60


def check(program, database, resource, urls):
    def write(state, code=0, **token):
        done = subprocess.run([program, database, state, *urls], env={**os.environ, **token}, capture_output=True,
                              text=True, timeout=PATIENCE_S, check=False)
        assert done.returncode == code, f"{program}: exit code {done.returncode}: {done.stdout}{done.stderr}"
        return done.stderr if code else int(re.fullmatch(rf"token (\d+): order 7 is {state}\n", done.stdout)[1])

    first, second = write("paid"), write("sent")
    assert second > first, (first, second)
    assert "not written: " in (said := write("late", 1, OLD_TOKEN=str(first))) and "late write" in said, said
    assert resource.read() == "sent", resource.read()
    assert write("here", OLD_TOKEN=str(second)) == second  # a holder may write more than once
    assert resource.read() == "here", resource.read()


def main(examples, *urls):
    for name, kind, database in (("sqlite", Sqlite, "{}/db"), ("postgres", Postgres, "host={} user=test dbname=postgres")):
        program = f"{examples}/example-fenced_{name}"
        if not os.path.exists(program):
            print(f"fenced_{name} was not built")
            continue
        with tempfile.TemporaryDirectory() as place:
            try:
                resource = kind(place)
            except Skip as why:
                print(f"fenced_{name} was not run: {why}")
                continue
            try:
                check(program, database.format(place), resource, urls)
            finally:
                resource.close()
            print(f"fenced_{name}: an old token was refused")


main(*sys.argv[1:])
