#!/usr/bin/env python3
"""Draws the panels of the board from what a Prometheus knows: an SVG that needs nothing from elsewhere.

    picture.py http://localhost:9090 FROM TO >board.svg          in seconds since 1970

Every line is a series that the query of the panel returns, as Grafana would draw it."""
import json
import math
import pathlib
import re
import sys
import urllib.parse
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab/failover/example"))
from timeline import INK, LINE, SOFT, text  # noqa: E402  (their place is known only here)

COLUMNS, WIDTH, HEIGHT, PLOT = 3, 310, 176, 84          # of the board, and of a panel
TOP, LEFT, RIGHT = 30, 56, 8                            # what is around its plot
COLOURS = ["#2f6fb3", "#d98a14", "#1c7a49", "#c8242b", "#8667c9", "#586375"]
STEPS, WINDOW, MOST_NAMES, ROOM = 120, "10s", 6, 26     # instants; of rates; names below a plot, and their length


def fetch(prometheus, expression, begin, end):
    expression = re.sub(r"\$__\w+", WINDOW, expression).replace("$job", ".*").replace("$instance", ".*")
    words = urllib.parse.urlencode({"query": expression, "start": begin, "end": end, "step": (end - begin) / STEPS})
    with urllib.request.urlopen(f"{prometheus}/api/v1/query_range?{words}") as reply:
        return json.load(reply)["data"]["result"]


def name_of(legend, labels):
    """The last part of a path stands for it."""
    words = re.sub(r"\{\{(\w+)\}\}", lambda label: labels.get(label[1], "").rsplit("/", 1)[-1], legend)
    return words if len(words) <= ROOM else words[:ROOM - 1] + "…"


def number_text(number, unit):
    if unit == "s" and abs(number) < 1:
        return f"{number * 1000:.2g} ms"
    return f"{number:.3g}" + (" s" if unit == "s" else "/s" if unit == "ops" else "")


def series_of(panel, prometheus, begin, end):
    """Names with their points, without the instants at which there is none; the largest first, which are named."""
    found = []
    for target in panel["targets"]:
        for result in fetch(prometheus, target["expr"], begin, end):
            points = [(float(at), float(value)) for at, value in result["values"]]
            points = [point for point in points if math.isfinite(point[1])]
            if points:
                found.append((name_of(target["legendFormat"], result["metric"]), points))
    return sorted(found, key=lambda series: -max(abs(number) for _, number in series[1]))


def draw_axes(x, y, low, high, unit):
    right = x + WIDTH - RIGHT
    parts = []
    for at, number in ((y + TOP, high), (y + TOP + PLOT, low)):
        parts += [f'<path d="M{x + LEFT} {at}H{right}" stroke="{LINE}"/>',
                  text(x + LEFT - 4, at + 4, number_text(number, unit), SOFT, 9.5, ' text-anchor="end"')]
    return parts


def draw_panel(panel, series, x, y, begin, end):
    """Longer than a step without a point: the line is broken there."""
    unit = panel["fieldConfig"]["defaults"]["unit"]
    numbers = [number for _, points in series for _, number in points]
    low, high = min(numbers + [0]), max(numbers + [0]) or 1
    parts = [text(x + 6, y + 18, panel["title"], INK, 11.5, ' font-weight="600"')] + draw_axes(x, y, low, high, unit)
    if not series:
        parts.append(text(x + LEFT + 6, y + TOP + 24, "no data", SOFT, 11))
    for i, (name, points) in enumerate(series):
        colour, line, before = COLOURS[i % len(COLOURS)], "", -math.inf
        for at, number in points:
            px = x + LEFT + (WIDTH - LEFT - RIGHT) * (at - begin) / (end - begin)
            py = y + TOP + PLOT * (1 - (number - low) / (high - low))
            line += f"{'L' if at - before < 1.5 * (end - begin) / STEPS else 'M'}{px:.1f} {py:.1f}"
            before = at
        parts.append(f'<path d="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        if i < MOST_NAMES:
            parts.append(text(x + LEFT + i % 2 * 125, y + TOP + PLOT + 16 + i // 2 * 14, name, colour, 10))
    if len(series) > MOST_NAMES:
        parts.append(text(x + 6, y + TOP + PLOT + 44, f"+{len(series) - MOST_NAMES}", SOFT, 10))
    return parts


def main(prometheus, begin, end):
    panels = json.loads((HERE / "dashboard.json").read_text())["panels"]
    width, height = COLUMNS * WIDTH, -(-len(panels) // COLUMNS) * HEIGHT
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
          f'font-family="system-ui, sans-serif">\n<rect width="{width}" height="{height}" fill="#fff"/>')
    for i, panel in enumerate(panels):
        series = series_of(panel, prometheus, begin, end)
        x, y = i % COLUMNS * WIDTH, i // COLUMNS * HEIGHT
        print("\n".join(draw_panel(panel, series, x, y, begin, end)))
    print("</svg>")


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]))
