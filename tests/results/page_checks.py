"""Checks that the tests of several pages share, and a driver that runs a test in a headless Chromium."""

import copy
import json
import math
import os
import re
import subprocess
import tempfile
from pathlib import Path

from browser import Browser

SCRIPTS = Path(__file__).parent / "pages"
faults = []


def check(right, what):
    if not right:
        faults.append(what)


def run_page_test(script, test, *arguments):
    """Calls a test with a browser, an empty folder and the arguments. The pages have the functions of shared.js and of the
    given script of the folder pages. Prints the faults, or the text that the test returns.

    Returns the exit code, which is 77 if the test is skipped.
    """
    if not Browser.find():
        print("skipped: no chromium (Debian: chromium)")
        return 77
    scripts = [SCRIPTS / name for name in ("shared.js", script) if name]
    with tempfile.TemporaryDirectory() as directory, Browser(*scripts) as browser:
        summary = test(browser, directory, *arguments)
    print("\n".join(faults[:40]) or summary)
    return 1 if faults else 0


def write_by_test(results_tests, what, path):
    """Lets a unit test write the file that browser tests read."""
    subprocess.run(
        [results_tests, f"[.write_{what}]"],
        env={**os.environ, f"POSBENCH_WRITE_{what.upper()}": path},
        check=True,
        stdout=subprocess.DEVNULL,
    )


def small_report(results_tests, directory):
    """Returns the report of the unit tests."""
    path = os.path.join(directory, "small.json")
    write_by_test(results_tests, "report", path)
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def run_smoke(posbench, task, encodings, directory, *arguments):
    """Trains the encodings on a task with the profile smoke."""
    subprocess.run(
        [posbench, "run", "--profile", "smoke", "-t", task, "-e", encodings, "-q", "-o", directory, *arguments],
        check=True,
        stdout=subprocess.DEVNULL,
    )


def told(*command):
    """Returns what a command prints as JSON. `compare` exits with 1 if some results are worse."""
    return json.loads(subprocess.run([*command, "--format", "json"], stdout=subprocess.PIPE).stdout)


def make_page(posbench, report, path, page):
    """Writes a report and its page, and returns the report with its summary and its ranking."""
    with open(path, "w", encoding="utf-8") as file:
        json.dump(report, file)
    subprocess.run([posbench, "report", path, "-o", page], check=True)
    return report | told(posbench, "report", path)


def with_encodings(report, names):
    """Returns the report with the experiments of its first encoding under each of these names."""
    first = report["experiments"][0]["encoding"]
    report = copy.deepcopy(report)
    experiments = [e for e in report["experiments"] if e["encoding"] == first]
    report["experiments"] = [{**copy.deepcopy(e), "encoding": name} for name in names for e in experiments]
    return report


def close(shown, value):
    return shown == value or (shown is not None and value is not None and math.isclose(shown, value, abs_tol=1.0001e-6))


def two_digits(value):
    return ">0.99" if 0.995 <= value < 1 else f"{value:.2f}"


def is_shown(text, value):
    if value is None:
        return text == ""
    if isinstance(value, list):
        return [float(part) for part in text.split()] == value
    return text == value if isinstance(value, str) else float(text) == value


def check_plot(place, plot, chosen):
    """All that is plotted is drawn, is in the table, and is in the specification alone."""
    rows, kind = plot["rows"], plot["kind"]
    shown = [row for row in rows if kind == "heat" or row[2] is not None]
    expected = sum(kind != "curve" or row[0] in chosen for row in shown)
    check(plot["marks"] == expected, f"{place}: {plot['marks']} marks, expected {expected}")
    check(rows and plot["alone"] in (None, len(rows)), f"{place}: its specification alone has {plot['alone']} rows")
    same = len(plot["cells"]) == min(1000, len(rows)) and all(
        len(cells) == plot["headers"] == len(row) and all(map(is_shown, cells, row))
        for cells, row in zip(plot["cells"], rows)
    )
    check(same, f"{place}: the table is not what is plotted")


def look_at(browser, page, noun):
    """Opens a page at two widths and in both color schemes, and checks what holds for each. Returns its sections."""
    for width, dark in [(390, True), (1280, False)]:
        browser.open(page, width, 900, dark)
        seen = browser.run("test.look()")
        place = f"{page}, {width}"
        check(not browser.problems and not seen["problems"], f"{place}: {browser.problems} {seen['problems']}")
        check(browser.requests == ["file://" + page], f"{place}: asked for {browser.requests}")
        check(seen["width"] <= width, f"{place}: {seen['width']} wide")
        check((seen["paper"] == "rgb(255, 255, 255)") != dark, f"{place}: the paper is {seen['paper']}")
        check(noun in seen["noun"], f"{place}: the chooser is of {seen['noun']}, expected {noun}")
        check(len(seen["chosen"]) == min(8, seen["names"]), f"{place}: {len(seen['chosen'])} of {seen['names']} chosen")
        check(seen["title"] == seen["heading"], f"{place}: the title is {seen['title']}")
        for section in seen["sections"]:
            for plot in section["plots"]:
                check_plot(f"{place}: {section['title']}: {plot['title']}", plot, seen["chosen"])
    return {section["title"]: section["plots"] for section in seen["sections"]}


def check_edges(browser, name, page):
    """A table that is wider than the window has a shadow at its right edge until it is scrolled to its end."""
    for dark in (False, True):
        browser.open(page, 390, 844, dark)
        edge = browser.run("test.edge()")
        check(edge["cut"], f"{name}: the first table is not cut off")
        paper = 0x16 if dark else 0xFF
        before = browser.pixels(edge["x"], edge["y"], 4, 1)
        browser.run("test.scroll_to_end()")
        after = browser.pixels(edge["x"], edge["y"], 4, 1)
        check(
            all(abs(value - paper) > 8 for value in before) and all(abs(value - paper) <= 2 for value in after),
            f"{name}: the right edge is {before}, and {after} at the end; the paper is {paper}",
        )


def check_form(browser, name, page, title, address=""):
    """The title names the run without its folders, the first screen has the first table, also on a phone, no text of a plot
    is cut off, the labels of maps do not overlap, and a wide table has a shadow."""
    for width, dark in [(1280, False), (390, True)]:
        browser.open(page, width, 844, dark)
        seen = browser.run("test.opening()")
        check(re.fullmatch(title, seen["title"]), f"{name}: the title is {seen['title']}")
        check(
            seen["row"] is not None and seen["row"] < min(500, seen["plot"] or 500),
            f"{name}, {width}: the first row of the results ends at {seen['row']}, a plot begins at {seen['plot']}",
        )
        browser.open(page, width, 844, dark, address)
        labels = browser.run("test.labels()")
        check(not labels["cut"], f"{name}, {width}: cut off are {labels['cut'][:5]} ({len(labels['cut'])})")
        check(not labels["overlapping"], f"{name}, {width}: {labels['overlapping'][:5]} overlap other labels")
    check_edges(browser, name, page)
