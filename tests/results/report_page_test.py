"""Opens pages of `posbench report` in a headless Chromium and checks their content.

    report_page_test.py POSBENCH RESULTS_TESTS [REPORT...]

The reports are the one of the unit tests, one with many encodings, one with hostile names, one of drawn numbers, and the
given ones. Exit code 77: skipped, no Chromium.
"""

import json
import os
import sys

from drawn_report import drawn_report
from page_checks import check, check_form, look_at, make_page, run_page_test, small_report, with_encodings
from report_page_numbers import check_cells, check_curves, check_summary

MARKUP = [
    "<script>document.title='pwned'</script>",
    "</script><script>document.title='pwned'</script>",
    "<img src=x onerror=\"document.title='pwned'\">",
    "'\"><svg onload=\"document.title='pwned'\">",
]
MARKUP += ["{{data}}&lt;&amp;", "javascript:alert(1)", "=cmd|' /C calc'!A0", "__proto__", "constructor"]
MARKUP += ["\\u003cscript\\u003e", "]]>", "<!--<script>"]


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


def check_page(name, browser, page, report):
    """The page has the sections that the report has results for, and their plots show its numbers."""
    sections = look_at(browser, page, "encodings")
    expected = ["Accuracy against length", "Accuracy against distance", "Encodings and tasks"]
    if any("grid" in experiment for experiment in report["experiments"]):
        expected[:0] = ["Accuracy against the multiple of the trained length", "Effective length and distance"]
    check(list(sections)[: len(expected)] == expected, f"{name}: the sections are {list(sections)}")
    for title, plots in sections.items():
        for plot in plots:
            if plot["kind"] == "heat":
                check_cells(name, plot)
        if plots[0]["kind"] == "curve":
            check_curves(name, title, plots, report)
    check_summary(name, [plot for plots in sections.values() for plot in plots], report)
    return sum(map(len, sections.values()))


def test(browser, directory, posbench, results_tests, *given):
    small = small_report(results_tests, directory)
    reports = {
        "small": small,
        "many": with_encodings(small, [f"encoding{i}" for i in range(12)]),
        "hostile": hostile(small),
        "drawn": drawn_report(8, 6, 2),
    }
    for file in given:
        with open(file, encoding="utf-8") as opened:
            reports[file] = json.load(opened)
    path, page = os.path.join(directory, "report.json"), os.path.join(directory, "page.html")
    plots = 0
    for name, report in reports.items():
        plots += check_page(name, browser, page, make_page(posbench, report, path, page))
        if name in given:
            check_form(browser, name, page, r"\w+: 7 position encodings on 7 tasks, 5 seeds")
    return f"{plots} plots and tables on {len(reports)} pages"


sys.exit(run_page_test("", test, *sys.argv[1:]))
