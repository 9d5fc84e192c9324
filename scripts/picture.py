#!/usr/bin/env python3
"""Draws accuracy against multiples of the trained length, as an SVG file for README.

    scripts/picture.py results/data/reference/report.json counting flip_flop:far last_x_retrieval:far -o picture.svg

Each task is a panel; after ':' comes the grid: length (the default), far or distance. A thin line is a seed, a thick line is
the mean over the seeds. Where a run stopped a grid, its accuracy was below 0.50 twice, and the line ends.
"""

import argparse
import html
import json
import math
import sys

COLORS = ["#4c78a8", "#f58518", "#54a24b", "#e45756", "#b279a2"]
WIDTH, HEIGHT, LEFT, TOP, GAP = 200, 170, 46, 44, 26  # of a panel, and around it


def refuse(message):
    print(f"picture.py: {message}", file=sys.stderr)
    sys.exit(2)


def curves_of(report, task, option, encoding):
    """Returns the points (multiple, accuracy) of each seed."""
    curves = []
    for experiment in report["experiments"]:
        if experiment["task"].split(":")[0] != task or experiment["encoding"] != encoding:
            continue
        for grid in experiment.get("grid", []):
            if grid["option"] == option:
                curves.append(
                    [(p["multiple"], p["sequence"]["correct"] / p["sequence"]["total"]) for p in grid["points"]]
                )
    return curves


def mean_curve(curves):
    """Returns the mean over the seeds at the multiples that all of them have."""
    multiples = set.intersection(*(set(m for m, _ in curve) for curve in curves))
    return [(m, sum(dict(curve)[m] for curve in curves) / len(curves)) for m in sorted(multiples)]


def line(points, color, width, opacity, at):
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(*point) for point in points))
    return (
        f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="{width}" stroke-opacity="{opacity}" '
        'stroke-linejoin="round"/>'
    )


def text(x, y, content, anchor="middle", color="#666", size=11):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}" font-size="{size}">{html.escape(content)}</text>'


def panel(report, number, task, option, encodings):
    """Returns the SVG elements of one task."""
    left, largest = LEFT + number * (WIDTH + GAP), math.log2(16)

    def at(multiple, accuracy):
        return left + math.log2(multiple) / largest * WIDTH, TOP + (1 - accuracy) * HEIGHT

    parts = [text(left + WIDTH / 2, TOP - 10, task.replace("_", " "), color="#333", size=12)]
    for accuracy in (0, 0.5, 0.9, 1):
        (x0, y), (x1, _) = at(1, accuracy), at(16, accuracy)
        dash = ' stroke-dasharray="3 3"' if accuracy == 0.9 else ""
        parts.append(f'<line x1="{x0}" y1="{y:.1f}" x2="{x1}" y2="{y:.1f}" stroke="#ddd"{dash}/>')
        if number == 0:
            parts.append(text(x0 - 6, y + 4, f"{accuracy:g}", "end"))
    for multiple in (1, 2, 4, 8, 16):
        parts.append(text(at(multiple, 0)[0], TOP + HEIGHT + 15, f"{multiple}x"))
    what = "distance" if option == "distance" else "length"
    parts.append(text(left + WIDTH / 2, TOP + HEIGHT + 31, f"multiple of the trained {what}"))
    for name, color in zip(encodings, COLORS):
        curves = curves_of(report, task, option, name)
        if not curves:
            refuse(f"no experiment of '{name}' on '{task}' has the grid '{option}'")
        parts += [line(curve, color, 1, 0.35, at) for curve in curves]
        parts.append(line(mean_curve(curves), color, 2.5, 1, at))
    return parts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", help="a report with length grids")
    parser.add_argument("tasks", nargs="+", help="tasks, such as counting or last_x_retrieval:distance")
    parser.add_argument("-e", "--encodings", default="rope,alibi,cope", help="at most five")
    parser.add_argument("-o", "--output", required=True, help="an .svg file")
    request = parser.parse_args()
    encodings = request.encodings.split(",")
    if len(encodings) > len(COLORS):
        refuse(f"{len(encodings)} encodings are given, expected at most {len(COLORS)}")
    try:
        with open(request.report, encoding="utf-8") as file:
            report = json.load(file)
    except (OSError, ValueError) as error:
        refuse(f"{request.report}: {error}")
    parts = []
    for number, item in enumerate(request.tasks):
        task, _, option = item.partition(":")
        parts += panel(report, number, task, option or "length", encodings)
    x = LEFT
    for name, color in zip(encodings, COLORS):
        parts.append(f'<line x1="{x}" y1="12" x2="{x + 22}" y2="12" stroke="{color}" stroke-width="2.5"/>')
        parts.append(text(x + 28, 16, name, "start", "#333", 12))
        x += 44 + 8 * len(name)
    parts.append(
        text(14, TOP + HEIGHT / 2, "sequences right").replace(
            "<text", f'<text transform="rotate(-90 14 {TOP + HEIGHT / 2})"'
        )
    )
    width, height = LEFT + len(request.tasks) * (WIDTH + GAP) + 6, TOP + HEIGHT + 40
    with open(request.output, "w", encoding="utf-8") as file:
        file.write(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif">\n'
            f'<rect width="{width}" height="{height}" fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n"
        )


if __name__ == "__main__":
    main()
