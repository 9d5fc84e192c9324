"""Checks that the tests of several pages share, and a driver that runs a test in a headless Chromium."""

import copy
import json
import math
import os
import re
import subprocess
import tempfile

from browser import Browser

faults = []


def check(right, what):
    if not right:
        faults.append(what)


def run_page_test(test, *arguments):
    """Calls a test with a browser, an empty folder and the arguments. Prints the faults, or the text that the test returns.

    Returns the exit code, which is 77 if the test is skipped.
    """
    if not Browser.find():
        print("skipped: no chromium (Debian: chromium)")
        return 77
    with tempfile.TemporaryDirectory() as directory, Browser() as browser:
        summary = test(browser, directory, *arguments)
    print("\n".join(faults[:40]) or summary)
    return 1 if faults else 0


def small_report(results_tests, directory):
    """Returns the report of the unit tests."""
    path = os.path.join(directory, "small.json")
    subprocess.run(
        [results_tests, "[.write_report]"],
        env={**os.environ, "POSBENCH_WRITE_REPORT": path},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def run_smoke(posbench, task, encodings, directory, *arguments):
    """Trains the encodings on a task with the profile smoke."""
    subprocess.run(
        [posbench, "run", "--profile", "smoke", "-t", task, "-e", encodings, "-q", "-o", directory, *arguments],
        check=True,
        stdout=subprocess.DEVNULL,
    )


def make_page(posbench, report, path, page):
    """Writes a report and its page, and returns the report with its summary and its ranking."""
    with open(path, "w", encoding="utf-8") as file:
        json.dump(report, file)
    subprocess.run([posbench, "report", path, "-o", page], check=True)
    summary = subprocess.run([posbench, "report", path, "--format", "json"], check=True, stdout=subprocess.PIPE)
    return report | json.loads(summary.stdout)


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


# Returns the data of the page and the things that it shows: the rows of each plot, as given and in its table, the drawn
# marks, and the rows of its specification alone.
LOOK = """(async () => {
  await posbench.draw_all();
  const sections = [];
  for (const section of document.querySelectorAll("main > section")) {
    const plots = [];
    for (const figure of section.querySelectorAll("figure")) {
      for (const details of figure.querySelectorAll("details")) details.open = true;
      await new Promise(resolve => setTimeout(resolve));
      const plot = figure.plot;
      const cells = [...figure.querySelectorAll("tbody tr")].map(row => [...row.cells].map(cell => cell.textContent));
      const shape = {heat: "cells", curve: "means", dots: "means"}[plot.kind];
      const marks = [...figure.querySelectorAll(`.view .${shape} path`)].filter(path => path.getAttribute("d"));
      const count = selector => figure.querySelectorAll(`.view ${selector}`).length, box = figure.getBoundingClientRect();
      const trained = figure.querySelector(".view .trained_range path");
      let alone = null;
      if (shape) {
        const view = new vega.View(vega.parse(JSON.parse(figure.querySelector("pre").textContent), {}, {ast: true}),
                                   {expr: vega.expressionInterpreter, renderer: "none"});
        await view.runAsync();
        alone = view.data("table").length;
      }
      plots.push({kind: plot.kind, title: plot.title, rows: plot.rows, cells, marks: marks.length, alone, details: plot.details,
                  signals: plot.signals, seeds: count(".seed_dots path"), lines: count(".level_lines line"), bars: count(".range_bars path"),
                  trained: trained ? trained.getBoundingClientRect().width : 0,
                  texts: [...figure.querySelectorAll(".view .labels text")].map(text => text.textContent),
                  left: box.left, top: box.top, colors: plot.view && plot.kind === "heat" ? plot.view.scale("color").domain() : null, headers: [...figure.querySelectorAll("thead th")].length});
    }
    sections.push({title: section.querySelector("h2").textContent, plots});
  }
  const box = selector => { const {top, bottom} = document.querySelector(selector)?.getBoundingClientRect() || {}; return {top, bottom}; };
  return {sections, problems: posbench.problems, heading: document.querySelector("h1").textContent,
          results: box(".results"), curve: box("figure.curve"), map: box("figure.heat"), names: document.querySelectorAll("#chooser label").length,
          shown: document.querySelectorAll("#chooser input:checked").length, title: document.title,
          width: document.documentElement.scrollWidth, paper: getComputedStyle(document.body).backgroundColor};
})()"""


def drawn(browser, script):
    """Returns the value of a script after everything on the page was drawn again."""
    return browser.run(
        f"(async () => {{ await new Promise(resolve => setTimeout(resolve, 250)); await posbench.draw_all(); return {script}; }})()"
    )


def look_at(browser, page, noun):
    """Returns the sections of a page. Checks them at both widths and in both color schemes."""
    for width, dark in [(390, True), (1280, False)]:
        browser.open(page, width, 900, dark)
        seen = browser.run(LOOK)
        check(
            not browser.problems
            and not seen["problems"]
            and browser.requests == ["file://" + page]
            and seen["width"] <= width,
            f"{page}, {width}: {browser.problems} {seen['problems']} {browser.requests} {seen['width']} wide",
        )
        check(
            noun in browser.run("document.querySelector('#chooser summary').textContent"),
            f"{page}: the chooser is not of {noun}",
        )
        for section in seen["sections"]:
            for plot in section["plots"]:
                drawn = 0 if plot["kind"] == "table" else sum(row[2] is not None for row in plot["rows"])
                check(
                    plot["marks"] == drawn and plot["rows"],
                    f"{page}, {width}: {plot['title']}: {plot['marks']} marks of {drawn}",
                )
    return {section["title"]: section["plots"] for section in seen["sections"]}


# Returns the first table, whether it is cut off, and the middle of its right edge below the header.
EDGE = """(() => {
  const table = document.querySelector(".results"), scroll = table.parentNode, box = scroll.getBoundingClientRect();
  scroll.scrollIntoView({block: "start"});
  const row = table.querySelector("tbody tr:nth-child(2)").getBoundingClientRect(), now = scroll.getBoundingClientRect();
  return {cut: scroll.scrollWidth > scroll.clientWidth + 1, x: Math.floor(now.right) - 5, y: Math.floor(row.top + scrollY) + 2};
})()"""


def check_edges(browser, name, page, is_cut):
    """A table that is wider than the window has a shadow at its right edge until it is scrolled to its end."""
    for dark in (False, True):
        browser.open(page, 390, 844, dark)
        edge = browser.run(EDGE)
        check(edge["cut"] == is_cut, f"{name}: the first table is {'cut off' if edge['cut'] else 'not cut off'}")
        paper = 0x16 if dark else 0xFF
        before = browser.pixels(edge["x"], edge["y"], 4, 1)
        if not is_cut:
            continue
        browser.run(
            "(document.querySelector('.results').parentNode.scrollLeft = 1e6, new Promise(requestAnimationFrame))"
        )
        after = browser.pixels(edge["x"], edge["y"], 4, 1)
        check(
            all(abs(value - paper) > 8 for value in before) and all(abs(value - paper) <= 2 for value in after),
            f"{name}: the right edge is {before}, and {after} at the end; the paper is {paper}",
        )


# Returns the texts of plots that are cut off at an edge of their view, and the pairs of x labels that overlap.
LABELS = """posbench.draw_all().then(() => {
  const cut = [], overlapping = [], boxes = new Map();
  for (const plot of posbench.plots.filter(plot => plot.view_node && !plot.node.closest("[hidden]"))) {
    const svg = plot.view_node.querySelector("svg").getBoundingClientRect();
    for (const text of plot.view_node.querySelectorAll("svg text")) {
      const box = text.getBoundingClientRect();
      if (box.width && (box.left < svg.left - 1 || box.right > svg.right + 1)) cut.push(`${plot.title}: ${text.textContent}`);
    }
    if (plot.kind !== "heat") continue;
    const axis = [...plot.view_node.querySelectorAll(".role-axis")].map(node => [...node.querySelectorAll(".role-axis-label text")])
      .find(texts => texts.length > 1 && texts[0].getAttribute("transform")?.includes("rotate")) || [];
    for (const [i, text] of axis.slice(1).entries()) {  // the distance of sloping lines of text, and the height of the letters
      const numbers = node => node.getAttribute("transform").match(/-?[\\d.]+/g).map(Number);
      const [x, , angle] = numbers(text), [before] = numbers(axis[i]);
      const gap = Math.abs(x - before) * Math.abs(Math.sin(angle * Math.PI / 180));
      if (gap < 1.1 * parseFloat(text.getAttribute("font-size"))) overlapping.push(`${plot.title}: ${text.textContent}`);
    }
  }
  return {cut, overlapping};
})"""


def check_labels(browser, name, page, address=""):
    """No text of a plot is cut off, and the labels of maps do not overlap."""
    for width, dark in [(1280, False), (390, True)]:
        browser.open(page, width, 844, dark, address)
        labels = browser.run(LABELS)
        check(not labels["cut"], f"{name}, {width}: cut off are {labels['cut'][:5]} ({len(labels['cut'])})")
        check(not labels["overlapping"], f"{name}, {width}: {labels['overlapping'][:5]} overlap other labels")


def check_opening(browser, name, page, title):
    """The title names the run without its folders, and the first screen has the first table, also on a phone."""
    for width in (1280, 390):
        browser.open(page, width, 844)
        seen = browser.run("""({title: document.title, filters: document.querySelector("#filters") &&
          getComputedStyle(document.querySelector("#filters")).position,
          row: document.querySelector(".results tbody tr")?.getBoundingClientRect().bottom,
          plot: document.querySelector("figure .view")?.getBoundingClientRect().top})""")
        check(re.fullmatch(title, seen["title"]), f"{name}: the title is {seen['title']}")
        check(
            seen["row"] is not None and seen["row"] < min(500, seen["plot"] or 500),
            f"{name}, {width}: the first row of the results ends at {seen['row']}, a plot begins at {seen['plot']}",
        )
        expected = "sticky" if width == 1280 else "static"
        check(seen["filters"] in (None, expected), f"{name}, {width}: the filters are {seen['filters']}")
