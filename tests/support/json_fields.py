"""What a document of JSON may have: the fields that a manual page explains in its section JSON."""
import pathlib
import re

MAN = pathlib.Path(__file__).resolve().parents[2] / "tools/man"


def documented(page):
    """The names behind Va in the section."""
    text = (MAN / page).read_text(encoding="utf-8")
    section = re.search(r"^\.Ss JSON\n(.*?)^\.S[sh] ", text, re.M | re.S)[1]
    lines = re.findall(r"^\.(?:It |Pq )?Va (.*)$", section, re.M)
    return {name for line in lines for name in re.findall(r"[a-z][a-z0-9_]+|\bn\b", line)}


def fields(document):
    if isinstance(document, list):
        return set().union(*map(fields, document))
    if isinstance(document, dict):
        return set(document).union(*map(fields, document.values()))
    return set()


def check(document, page):
    assert document["schema"] == 1, document
    missing = fields(document) - documented(page)
    assert not missing, f"{page} does not explain {sorted(missing)}"
