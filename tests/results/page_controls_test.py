"""Uses the controls of pages of `posbench report` in a headless Chromium: filters, saving, the list of encodings.

    page_controls_test.py POSBENCH RESULTS_TESTS

Then it checks the colors of encodings and a page of 10,000 experiments. Exit code 77: skipped, no Chromium.
"""

import json
import os
import subprocess
import sys

from drawn_report import drawn_report
from page_checks import check, make_page, run_page_test, small_report, with_encodings


def check_saved(browser, page):
    """Plots of every kind are saved as SVG and as PNG, with title, legend and background."""
    for kind, dark in [("curve", False), ("heat", True), ("dots", False)]:
        browser.open(page, dark=dark)
        saved = browser.run(f"test.saved('{kind}')")
        check(saved["types"] == ["image/svg+xml", "image/png"], f"{kind}: saved are {saved['types']}")
        svg = saved["svg"]
        check(svg.startswith("<svg") and f">{saved['title']}<" in svg, f"{kind}: the SVG is {svg[:200]}")
        check(f'fill="{"#16171b" if dark else "#fff"}"' in svg, f"{kind}: the SVG has no background: {svg[:400]}")
        check(saved["width"] > 1.5 * saved["drawn"] or kind == "heat", f"{kind}: the PNG has {saved['width']} pixels")
        if kind == "curve":
            names = browser.run("test.chosen()")
            check(names and all(f">{name}<" in svg for name in names), f"the SVG has no legend of {names}")
        check(not browser.problems, f"{kind}: {browser.problems}")


def check_colors(browser, posbench, report, directory):
    """An encoding has one color on all pages, whatever else is on them, and encodings of the profile quick differ."""
    path, page = os.path.join(directory, "colors.json"), os.path.join(directory, "colors.html")
    colors = []
    for names in [
        ["cope", "rope:base=500000", "none", "rope"],
        ["alibi", "rope", "sinusoidal", "learned_abs", "shaw_k", "cope", "none"],
    ]:
        make_page(posbench, with_encodings(report, names), path, page)
        browser.open(page)
        colors.append(browser.run("test.colors()"))
    few, many = colors
    check(all(few[name] == many[name] for name in ("cope", "rope", "none")), f"colors differ between pages: {colors}")
    check(few["rope"] == few["rope:base=500000"], f"two forms of an encoding differ in color: {few}")
    check(len(set(many.values())) == 7, f"encodings share colors: {many}")


def check_filters(browser, page, report):
    """Filters and orders change the plots, are in the address of the page, and are restored from it."""
    encodings, tasks = ({e[key] for e in report["experiments"]} for key in ("encoding", "task"))
    browser.open(page)
    whole = browser.run("test.map()")
    check((set(whole["rows"]), set(whole["columns"])) == (encodings, tasks), f"the map has {whole}")
    browser.run("test.filter('nothing')")
    headings, hidden = browser.run("test.empty_headings()")
    check(headings == 0 and hidden > 0, "the filter leaves empty headings")
    browser.run("test.filter('rope counting')")
    few = browser.run("test.map()")
    check(
        few["columns"] == [t for t in whole["columns"] if "counting" in t]
        and few["rows"] == [e for e in whole["rows"] if "rope" in e]
        and 0 < few["curves"] < whole["curves"],
        f"filtered by text the map has {few}",
    )
    address = browser.run("test.hash()")
    check("text=rope" in address, f"the address is {address}")
    browser.open(page, address=address)
    check(
        browser.run("test.map()") == few and browser.run("test.filter_text()") == "rope counting",
        "the address does not bring a filter back",
    )
    task = sorted(tasks)[0]
    of_task = [row for row in report["summary"] if row["task"] == task]
    values = {row["encoding"]: row["in_distribution"]["sequence"]["mean"] for row in of_task}
    shown = {}
    for choice in ("family=rotary", "sort=name", f"sort=task+{task}", "sort=family"):
        browser.open(page, address=choice)
        shown[choice.split("+")[0]] = browser.run("test.map()")
    rotary = shown["family=rotary"]["rows"]
    check(
        rotary == [e for e in whole["rows"] if e.startswith(("rope", "xpos"))] and rotary,
        f"filtered by family the map has {rotary}",
    )
    check(shown["sort=name"]["rows"] == sorted(encodings), "not sorted by name")
    rows, families = shown["sort=task"]["rows"], shown["sort=family"]["families"]
    check([values[e] for e in rows] == sorted(values.values(), reverse=True), f"sorted by a task the map has {rows}")
    check(families == sorted(families) and len(set(families)) > 1, f"sorted by family: {families}")


def check_legend(browser):
    """The legend has the chosen encodings in the order of the page, each with the color and dash of its curve."""
    seen = browser.run("test.legend()")
    check(len(seen["legend"]) > 2 and seen["legend"] == seen["drawn"], f"the legend is {seen}")
    names = [name for name, *_ in seen["legend"]]
    check(names == [name for name in seen["ranked"] if name in names], f"the legend is not in order: {seen}")


def check_behavior(browser, page):
    """An encoding is drawn if it is chosen, and the policy of the page stops scripts and requests."""
    browser.open(page)
    check_legend(browser)
    before = browser.run("test.symbols()")
    browser.run("test.toggle_first()")
    after = browser.run("test.symbols()")
    check(0 < after < before, f"an encoding that is not chosen is drawn: {before} symbols, then {after}")
    check("show=" in browser.run("test.hash()"), "the address does not say whose curves are shown")
    title = browser.run("""test.insert_image(`src=x onerror="document.title='pwned'"`)""")
    browser.run("test.insert_image('src=https://posbench.invalid/x')")
    stopped = [problem for problem in browser.problems if "Content Security Policy" in problem]
    check(title != "pwned" and stopped, "the Content-Security-Policy does not stop a script in an attribute")
    check(any("posbench.invalid" in problem for problem in stopped), f"it lets a request out: {browser.problems}")


def check_large(browser, posbench, directory):
    """The first plot of 10,000 experiments appears within 3 seconds, and plots outside of the window are not drawn."""
    path, page = os.path.join(directory, "large.json"), os.path.join(directory, "large.html")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(drawn_report(48, 42, 5), file)
    subprocess.run([posbench, "report", path, "-o", page], check=True)
    times = []
    for _ in range(3):  # other work on this machine costs time, but hardly processor time
        before = browser.cpu_seconds()
        browser.open(page, address="again")
        wall = browser.run("test.first()") / 1000
        times.append(min(wall, browser.cpu_seconds() - before))
    check(min(times) < 3, f"the first plot of 10,000 experiments takes {times} s")
    drawn, plots, problems = browser.run("test.counts()")
    check(0 < drawn < 30 < plots and not problems, f"of {plots} plots {drawn} are drawn, with {problems} problems")
    check(
        browser.run("test.map_in_view()") and browser.run("test.width()") <= 1280, "the page is wider than the window"
    )
    return min(times)


def test(browser, directory, posbench, results_tests):
    path, page = os.path.join(directory, "report.json"), os.path.join(directory, "page.html")
    many = with_encodings(small_report(results_tests, directory), [f"encoding{i}" for i in range(12)])
    make_page(posbench, many, path, page)
    check_behavior(browser, page)
    report = make_page(posbench, drawn_report(8, 6, 2), path, page)
    check_filters(browser, page, report)
    check_saved(browser, page)
    check_colors(browser, posbench, report, directory)
    seconds = check_large(browser, posbench, directory)
    return f"the first plot of 10,000 experiments in {seconds:.2f} s"


sys.exit(run_page_test("controls.js", test, *sys.argv[1:]))
