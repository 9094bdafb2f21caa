#!/usr/bin/env python3
"""Draws who held one lock when, in each system of a comparison: an SVG that needs nothing from elsewhere.

    timeline.py COMPARISON.json >TIMELINE.svg          what `redlock-lab failover --compare restart-empty --json` wrote

Every bar is a record of the run, and the words follow from the bars: how long two clients held the lock at once, and
for how long nobody could take one. The picture has a background of its own, for light and dark pages."""
import datetime
import html
import json
import sys

WIDTH, LEFT, RIGHT = 880, 88, 28
FROM_S, TO_S = -1, 10                    # the part of the run that is shown, in seconds since the fault
MASTER, CLIENT, GAP = 6, 18, 3           # heights of lanes, and the space below each
WORDS = 150                              # what a bar must measure to have words in it
NAMES = {"redlock": "libredlock", "single@sentinel": "Redis and Sentinel,", "redsync": "redsync (Redlock)"}
STATES = {"up": "#9fd3b6", "down": "#2b313d", "started, not met": "#8667c9", "quarantine": "#8667c9"}
RED, AMBER, GREEN, BLUE, INK, SOFT, LINE = "#c8242b", "#d98a14", "#1c7a49", "#2f6fb3", "#1b2330", "#586375", "#dfe4ec"


def x_of(since_fault_s):
    shown = min(max(since_fault_s, FROM_S), TO_S)
    return LEFT + (WIDTH - LEFT - RIGHT) * (shown - FROM_S) / (TO_S - FROM_S)


def text(x, y, words, colour=INK, size=12, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" font-size="{size}"{more}>{html.escape(words)}</text>'


def label(y, words):
    return text(LEFT - 8, y, words, SOFT, 11.5, ' text-anchor="end"')


def bar(span, y, height, colour, words, *, written=False):
    """Nothing outside of what is shown. The words are the tip of the bar; they are written where there is room."""
    if span[1] <= FROM_S or span[0] >= TO_S:
        return []
    x, width = x_of(span[0]), max(x_of(span[1]) - x_of(span[0]), 1)
    tip = f"{html.escape(words)}, {span[0]:+.3f} s to {span[1]:+.3f} s"
    shape = f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height}" fill="{colour}">'
    parts = [f"{shape}<title>{tip}</title></rect>"]
    if written and width >= WORDS:
        parts.append(text(x + 7, y + height - 5, words, "#fff"))
    return parts


def duration(seconds):
    return f"{seconds:.1f} s" if seconds >= 0.95 else f"{seconds * 1000:.0f} ms"


class System:
    """One system's outcome, with instants in seconds since the fault."""

    def __init__(self, engine):
        outcome = engine["scenarios"][0]

        def since_fault(item):
            return tuple((item[end] - outcome["fault_ms"]) / 1000 for end in ("from_ms", "to_ms"))

        self.name = f'{NAMES.get(engine["engine"], engine["engine"])} {engine["version"].replace("-", " ")}'
        self.masters = [(item["master"], item["state"], since_fault(item)) for item in outcome["masters"]]
        self.masters.sort(key=lambda item: item[1] == "quarantine")      # it lies over what the master does
        self.terms = sorted((since_fault(item), item["client"]) for item in outcome["leaders"])
        start_s = (outcome["unavailable_since_ms"] - outcome["fault_ms"]) / 1000
        self.refusing = (start_s, start_s + outcome["unavailable_ms"] / 1000)
        self.doubles = [(second[0], min(first[1], second[1])) for i, (first, _) in enumerate(self.terms)
                        for second, _ in self.terms[i + 1:] if second[0] < first[1]]
        if bool(self.doubles) != (outcome["double_holds"] > 0):
            raise SystemExit(f"{self.name}: the referee saw {outcome['double_holds']} locks with two holders at once, "
                             f"and the leader's lock had {len(self.doubles)}")

    def verdict(self):
        if self.doubles:
            return f"two holders at once for {duration(sum(end - begin for begin, end in self.doubles))}"
        return f"one holder at a time; no new lock for {duration(self.refusing[1] - self.refusing[0])}"

    def draw_term(self, span, client, y):
        doubles = [double for double in self.doubles if double[0] < span[1] and span[0] < double[1]]
        parts = bar(span, y, CLIENT, BLUE, f"client {client} holds the lock", written=not doubles)
        for begin, end in doubles:
            words = "has been granted it as well: two holders at once" if span[0] == begin else "holds it still"
            parts += bar((begin, end), y, CLIENT, RED, f"client {client} {words}", written=True)
        return parts

    def draw_heading(self, y):
        """It stands out from the line of the fault."""
        return [text(LEFT, y, self.name, INK, 14,
                     ' font-weight="600" stroke="#fff" stroke-width="5" paint-order="stroke"'),
                text(WIDTH - RIGHT, y, self.verdict(), RED if self.doubles else GREEN, 13,
                     ' font-weight="600" text-anchor="end"')]

    def draw(self, y):
        """Returns the picture and where it ends: the masters, the clients, and when no client could take any lock."""
        n = max(master for master, _, _ in self.masters)
        parts = [label(y + n * (MASTER + GAP) / 2 + 3, f"{n} masters")]
        for master, state, span in self.masters:
            parts += bar(span, y + (master - 1) * (MASTER + GAP), MASTER, STATES[state], f"master {master}: {state}")
        y += n * (MASTER + GAP) + 3
        for client in sorted({client for _, client in self.terms}):
            parts += [label(y + 13, f"client {client}"),
                      f'<path d="M{LEFT} {y + CLIENT / 2}H{WIDTH - RIGHT}" stroke="{LINE}"/>']
            for span in (span for span, holder in self.terms if holder == client):
                parts += self.draw_term(span, client, y)
            y += CLIENT + GAP
        parts += [label(y + 10, "new locks")] + bar(self.refusing, y + 3, MASTER, AMBER, "no client can take a lock")
        return parts, y + 26


def draw_axis(top, bottom):
    parts = []
    for second in range(FROM_S, TO_S + 1):
        parts += [f'<path d="M{x_of(second):.1f} {top}V{bottom}" stroke="{LINE}"/>',
                  text(x_of(second), bottom + 15, f"{second:+d} s" if second else "0", SOFT, 11.5,
                       ' text-anchor="middle"')]
    return parts


def draw_key(y):
    parts, x = [], 16
    for colour, words in ((STATES["up"], "votes"), (STATES["down"], "down"),
                          (STATES["quarantine"], "up, but does not vote yet"), (BLUE, "holds the lock"),
                          (RED, "two holders at once"), (AMBER, "no client can take a lock")):
        parts += [f'<rect x="{x}" y="{y - 9}" width="11" height="11" fill="{colour}"/>',
                  text(x + 16, y, words, SOFT, 11.5)]
        x += 32 + round(6.5 * len(words))
    return parts


def caption(report):
    environment = report["environment"]
    date = datetime.date.fromisoformat(environment["date"][:10])
    engines = ",".join(engine["engine"] for engine in report["engines"])
    return (f"{date.day} {date:%B %Y}, {report['engines'][0]['server']}, ttl {environment['ttl_ms'] // 1000} s: "
            f"redlock-lab failover --compare restart-empty --phase {environment['phase_ms']}ms --engine {engines}")


def main(path):
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    top, y, lanes, headings = 62, 68, [], []
    for engine in report["engines"]:
        system = System(engine)
        headings += system.draw_heading(y + 12)
        parts, y = system.draw(y + 20)
        lanes += parts
    title = "Most masters restart with nothing in their memory, while a client holds a lock"
    fault = f'<path d="M{x_of(0):.1f} {top - 4}V{y - 6}" stroke="{INK}" stroke-dasharray="4 3"/>'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 66}" role="img" '
             f'font-family="system-ui,-apple-system,\'Segoe UI\',\'DejaVu Sans\',Arial,sans-serif">',
             f"<title>{title}</title>",
             f'<rect width="{WIDTH}" height="{y + 66}" rx="8" fill="#fff" stroke="{LINE}"/>',
             text(LEFT, 30, title, INK, 17, ' font-weight="600"'),
             text(x_of(0), 52, "the masters restart, empty", INK, 12, ' text-anchor="start"')]
    parts += draw_axis(top, y - 6) + lanes + [fault] + headings + draw_key(y + 32)
    parts.append(text(WIDTH / 2, y + 54, caption(report), SOFT, 9.5, ' text-anchor="middle"'))
    print("\n".join(parts + ["</svg>"]))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(sys.argv[1])
