"""Opens pages of `posbench report` in a headless Chromium and checks their content.

    report_page_test.py POSBENCH RESULTS_TESTS [REPORT...]

The reports are the one of the unit tests, one with many encodings, one with hostile names, one of drawn numbers, and the
given ones. Exit code 77: skipped, no Chromium.
"""

import json
import os
import re
import sys

from drawn_report import drawn_report
from page_checks import (
    LOOK,
    check,
    check_edges,
    check_labels,
    check_opening,
    make_page,
    run_page_test,
    small_report,
    with_encodings,
)
from report_page_numbers import check_cells, check_curves, check_summary

MARKUP = [
    "<script>document.title='pwned'</script>",
    "</script><script>document.title='pwned'</script>",
    "<img src=x onerror=\"document.title='pwned'\">",
    "'\"><svg onload=\"document.title='pwned'\">",
    "{{data}}&lt;&amp;",
    "javascript:alert(1)",
    "=cmd|' /C calc'!A0",
    "__proto__",
    "constructor",
    "\\u003cscript\\u003e",
    "]]>",
    "<!--<script>",
]


def hostile(report):
    report = with_encodings(report, MARKUP)
    names = {task["task"]: name for task, name in zip(report["tasks"], MARKUP)}
    for thing in report["tasks"] + report["experiments"]:
        thing["task"] = names[thing["task"]]
    for experiment in report["experiments"]:
        if "reason" in experiment:
            experiment["reason"] = MARKUP[1]
        for point in experiment["learning_curve"]:
            if point["loss"] is not None:
                point["loss"] = 1.7e308
            point["step"] *= 10_000_000
    report["experiments"][0]["seed"] = 2**64 - 1
    report["context"] = {name: MARKUP for name in MARKUP} | {
        "started": MARKUP[0],
        "command": MARKUP[1],
        "cpu": MARKUP[2],
    }
    report["config"] = {"deep": report["context"], "\u2028</pre>": "\u202e\u2029"}
    report["timing"] = {
        "experiments": [
            {"task": e["task"], "encoding": e["encoding"], "seed": e["seed"], "seconds": seconds}
            for e, seconds in zip(report["experiments"], [1e308, -1, 1e11] + [3] * 1000)
        ]
        + [None, 7, [], {}, {"task": []}, {"seconds": "x"}]
    }
    return report


def check_results(name, seen, width, plots):
    """The page opens with the table of results, and the effective lengths or the first curves are on the first screen too."""
    check([plot["title"] for plot in plots] == ["Accuracy"], f"{name}: the results are {[p['title'] for p in plots]}")
    if width < 1000 or len(plots[0]["rows"]) > 8:
        return
    kind = "map" if seen["sections"][1]["title"] == "Effective length and distance" else "curve"
    top, bottom, plot = seen["results"].get("top"), seen["results"].get("bottom"), seen[kind].get("top")
    check(
        top is not None and 0 < top < bottom < plot < 900 - 150,
        f"{name}: the first screen has the table from {top} to {bottom}, and a {kind} from {plot}",
    )


def is_shown(text, value):
    if value is None:
        return text == ""
    if isinstance(value, list):
        return [float(part) for part in text.split()] == value
    return text == value if isinstance(value, str) else float(text) == value


def check_plot(place, plot, chosen):
    """All that is plotted is drawn, is in the table, and is in the specification alone."""
    expected = {
        "table": 0,
        "heat": len(plot["rows"]),
        "curve": sum(row[0] in chosen for row in plot["rows"]),
        "dots": sum(row[2] is not None for row in plot["rows"]),
    }[plot["kind"]]
    check(
        plot["marks"] == expected and (expected > 0 or plot["kind"] == "table"),
        f"{place}: {plot['marks']} marks, expected {expected}",
    )
    check(plot["alone"] in (None, len(plot["rows"])), f"{place}: its specification alone has {plot['alone']} rows")
    same = len(plot["cells"]) == min(1000, len(plot["rows"])) > 0 and all(
        len(cells) == plot["headers"] == len(row) and all(map(is_shown, cells, row))
        for cells, row in zip(plot["cells"], plot["rows"])
    )
    check(same, f"{place}: the table is not what is plotted")
    if plot["kind"] == "curve":
        dots = sum(len(row[-1]) for row in plot["rows"] if row[0] in chosen and len(row[-1]) > 1)
        check(plot["seeds"] == dots, f"{place}: {plot['seeds']} dots of seeds, expected {dots}")


def check_page(name, browser, page, report, width, dark):
    browser.open(page, width, 900, dark)
    seen = browser.run(LOOK)
    name = f"{name}, {width} wide, {'dark' if dark else 'light'}"
    check(not browser.problems and not seen["problems"], f"{name}: {browser.problems} {seen['problems']}")
    check(browser.requests == ["file://" + page], f"{name}: asked for {browser.requests}")
    count = len({e["encoding"] for e in report["experiments"]})
    check(
        seen["title"] == seen["heading"]
        and re.fullmatch(rf".*: {count} position encodings? on \d+ tasks?, \d+ seeds?", seen["title"]),
        f"{name}: the title is {seen['title']}",
    )
    check_results(name, seen, width, seen["sections"][0]["plots"])
    check(seen["width"] <= width, f"{name}: {seen['width']} wide")
    check((seen["paper"] == "rgb(255, 255, 255)") != dark, f"{name}: the paper is {seen['paper']}")
    check(seen["shown"] == min(8, seen["names"]), f"{name}: {seen['shown']} of {seen['names']} encodings are chosen")
    ranks = next(p for s in seen["sections"] for p in s["plots"] if p["title"] == "Mean rank")["rows"]
    chosen = list(dict.fromkeys(row[0] for row in ranks))[:8]
    for section in seen["sections"]:
        for plot in section["plots"]:
            check_plot(f"{name}: {section['title']}: {plot['title']}", plot, chosen)
            if plot["kind"] == "heat":
                check_cells(name, plot)
        if section["plots"][0]["kind"] == "curve":
            check_curves(name, section["title"], section["plots"], report)
    sections = {section["title"]: section["plots"] for section in seen["sections"]}
    expected = ["Results", "Accuracy against length", "Accuracy against distance", "Encodings and tasks"]
    if any("grid" in experiment for experiment in report["experiments"]):
        expected.insert(1, "Effective length and distance")
    check(list(sections)[: len(expected)] == expected, f"{name}: the sections are {list(sections)}")
    inside, outside = (
        plot for plot in sections["Encodings and tasks"] if plot["title"] in ("In distribution", "Out of distribution")
    )
    check(
        (inside["top"] == outside["top"] and inside["left"] < outside["left"]) == (width > 1000),
        f"{name}: the maps are not placed as the width allows",
    )
    check_summary(name, [plot for section in seen["sections"] for plot in section["plots"]], report)
    return sum(len(section["plots"]) for section in seen["sections"])


def test(browser, directory, posbench, results_tests, *given):
    small = small_report(results_tests, directory)
    reports = {
        "small": small,
        "many": with_encodings(small, [f"encoding{i}" for i in range(12)]),
        "hostile": hostile(small),
        "drawn": drawn_report(8, 6, 2) | {"context": {"host": "the-host", "command": "the-command"}},
    }
    for file in given:
        check(
            os.path.getsize(file) < 2_500_000,
            f"{file} has {os.path.getsize(file)} bytes, too many for a repository",
        )
        with open(file, encoding="utf-8") as opened:
            reports[file] = json.load(opened)
    path, page = os.path.join(directory, "report.json"), os.path.join(directory, "page.html")
    plots = 0
    for name, report in reports.items():
        with_summary = make_page(posbench, report, path, page)
        for width, dark in [(1280, False), (390, True)]:
            plots += check_page(name, browser, page, with_summary, width, dark)
        if name in given:
            check_opening(browser, name, page, r"\w+: 7 position encodings on 7 tasks, 5 seeds")
            check_edges(browser, name, page, True)
            check_labels(browser, name, page)
    return f"{plots} plots and tables on {2 * len(reports)} pages"


sys.exit(run_page_test(test, *sys.argv[1:]))
