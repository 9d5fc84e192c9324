"""Opens pages of `posbench report` in a headless Chromium and checks their content.

    page_test.py POSBENCH RESULTS_TESTS [REPORT...]

The reports are the one of the unit tests, one with many encodings, one with hostile names, one of drawn numbers, and the
given ones. Then it checks pages of `posbench inspect` and one of 10,000 experiments. Exit code 77: skipped, no Chromium.
"""

import copy
import html
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import urllib.parse

from browser import Browser
from drawn_report import drawn_report

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
faults = []


def check(right, what):
    if not right:
        faults.append(what)


def with_encodings(report, names):
    """Returns the report with the experiments of its first encoding under each of these names."""
    first = report["experiments"][0]["encoding"]
    report = copy.deepcopy(report)
    experiments = [e for e in report["experiments"] if e["encoding"] == first]
    report["experiments"] = [{**copy.deepcopy(e), "encoding": name} for name in names for e in experiments]
    return report


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


def close(shown, value):
    return shown == value or (shown is not None and value is not None and math.isclose(shown, value, abs_tol=1.0001e-6))


def check_summary(name, plots, report):
    """The maps and the ranking agree with the summary of the report."""
    kinds = [
        ("in_distribution", "sequence"),
        ("out_of_distribution", "sequence"),
        ("in_distribution", "above_trivial"),
        ("out_of_distribution", "above_trivial"),
    ]
    maps = [plot for plot in plots if plot["kind"] == "heat"]
    check(len(maps) == len(kinds), f"{name}: {len(maps)} maps")
    for plot, (kind, metric) in zip(maps, kinds):
        rows = {(row["encoding"], row["task"]): row for row in report["summary"] if row[kind]}
        check(
            len(plot["rows"]) == len(rows), f"{name}: {plot['title']}: {len(plot['rows'])} cells, expected {len(rows)}"
        )
        for encoding, task, value, least, greatest, low, high, solved, seeds, mark, _, note in plot["rows"]:
            row = rows[encoding, task]
            gain, hidden = (
                row["learned"]["late_gain"],
                kind.startswith("out") and 2 * row["learned"]["seeds"] < row["learned"]["of"],
            )
            expected = "" if not hidden else "not learned" if gain is None else f"not learned ({gain:+.2f})"
            check(
                note == expected,
                f"{name}: {plot['title']}: the cell of {encoding}, {task} says '{note}', expected '{expected}'",
            )
            check(
                close(least, min(row[kind][metric]["values"])) and close(greatest, max(row[kind][metric]["values"])),
                f"{name}: {plot['title']}: the seeds of {encoding}, {task}",
            )
            spread, interval = row[kind][metric], row[kind][metric]["interval"] or {"low": None, "high": None}
            check(
                close(value, spread["mean"])
                and close(low, interval["low"])
                and close(high, interval["high"])
                and close(solved, row[kind]["solved"])
                and seeds == len(row["seeds"])
                and mark == "d" * (row["diverged"] > 0) + "f" * (row["failed"] > 0),
                f"{name}: {plot['title']}: the cell of {encoding}, {task}",
            )
    ranking = {row["encoding"]: row for row in report["ranking"]}
    for encoding, kind, mean, low, high, tasks in next(p for p in plots if p["title"] == "Mean rank")["rows"]:
        rank = ranking[encoding][kind.replace(" ", "_")]
        check(
            close(mean, rank["mean"])
            and close(low, rank["interval"]["low"])
            and close(high, rank["interval"]["high"])
            and tasks == rank["tasks"],
            f"{name}: the rank of {encoding}",
        )


def mean(values):
    return sum(values) / len(values)


def check_levels(name, section, plot, report):
    """The lines of a plot are chance and the best trivial predictor of its splits, where they are tested."""
    task = next(task for task in report["tasks"] if task["task"] == plot["details"]["task"])
    splits = {split["name"]: split for split in task["splits"]}
    levels = plot["signals"]["levels"]
    for level in levels:
        split = splits[level["split"]]
        best = max(split["trivial"].values(), default=0)
        check(
            close(level["y"], split["chance"] if level["what"] == "chance" else best) and level["from"] <= level["to"],
            f"{name}: {section}: {plot['title']}: the line {level}",
        )
    for split in {level["split"] for level in levels}:
        best = max(splits[split]["trivial"].values(), default=0)
        kinds = [level["what"] == "chance" for level in levels if level["split"] == split]
        check(
            kinds == [True, False] if best > splits[split]["chance"] else kinds == [True],
            f"{name}: {section}: {plot['title']}: lines of {split}",
        )
    trained = {split["name"] for split in task["splits"] if split["kind"] == "in_distribution"}
    check(
        plot["lines"] == len(levels) > 0, f"{name}: {section}: {plot['title']}: {plot['lines']} lines of {len(levels)}"
    )
    check(
        (plot["trained"] > 0) == bool(trained & set(plot["details"]["splits"])),
        f"{name}: {section}: {plot['title']}: the trained range",
    )


def check_curves(name, section, plots, report):
    """Curves are means over the experiments of the report, computed here again."""
    for plot in plots:
        if section != "Learning curves":
            check_levels(name, section, plot, report)
        for row in plot["rows"]:
            encoding, x, y, *rest, seeds = row
            experiments = [
                e for e in report["experiments"] if (e["task"], e["encoding"]) == (plot["details"]["task"], encoding)
            ]
            if section == "Learning curves":
                points = [p for e in experiments for p in e["learning_curve"] if p["step"] == x]
                values = [p["validation_sequence"] for p in points]
                check(
                    close(rest[0], mean([p["validation_token"] for p in points])),
                    f"{name}: {section}: {plot['title']}: {row}",
                )
            else:
                unit = section.split()[-1]
                first, last, cases = rest
                values, total = [], 0
                for experiment in experiments:
                    places = {}
                    for split in experiment["splits"]:
                        if split["name"] not in plot["details"]["splits"]:
                            continue
                        for item in split[f"by_{unit}"]:
                            if isinstance(item, list):
                                item = {unit: item[0], "token": {"correct": item[1], "total": item[2]}}
                            places.setdefault(item[unit], item["token"])
                    chosen = [places[place] for place in places if first <= place <= last]
                    total += sum(count["total"] for count in chosen)
                    if experiment["status"] != "ok":
                        values.append(0)
                    elif sum(count["total"] for count in chosen):
                        values.append(
                            sum(count["correct"] for count in chosen) / sum(count["total"] for count in chosen)
                        )
                check(cases == total and x == (first + last) / 2, f"{name}: {section}: {plot['title']}: {row}")
            check(
                len(seeds) == len(values) and all(map(close, seeds, values)),
                f"{name}: {section}: {plot['title']}: the seeds {row}",
            )
            check(
                close(y, mean(values)),
                f"{name}: {section}: {plot['title']}: {y} at {x} of {encoding}, expected {mean(values)}",
            )


def check_distances(name, plots, report):
    """No curve by distance has splits of different lengths."""
    for plot in plots:
        lengths = set()
        for experiment in report["experiments"]:
            if experiment["task"] != plot["details"]["task"]:
                continue
            for split in experiment["splits"]:
                if split["name"] in plot["details"]["splits"]:
                    places = [item[0] if isinstance(item, list) else item["length"] for item in split["by_length"]]
                    lengths.add((split["name"], min(places), max(places)))
        ranges = [
            (min(low for n, low, _ in lengths if n == split), max(high for n, _, high in lengths if n == split))
            for split in {n for n, _, _ in lengths}
        ]
        check(len(set(ranges)) == 1, f"{name}: {plot['title']} pools the lengths {ranges}")


def two_digits(value):
    return ">0.99" if 0.995 <= value < 1 else f"{value:.2f}"


def check_cells(name, plot, width):
    """The cells of a map have the expected texts, and bars from the worst seed to the best."""
    bars = sum(row[4] > row[3] and not row[11] for row in plot["rows"])
    check(plot["bars"] == bars, f"{name}: {plot['title']}: {plot['bars']} bars, expected {bars}")
    if len({row[1] for row in plot["rows"]}) > 12:
        return
    for row, text in zip(plot["rows"], plot["texts"]):
        expected = ["notlearned"] if row[11] else {two_digits(row[2]) + row[9], two_digits(row[2] + 1e-9) + row[9]}
        check(text in expected, f"{name}: {plot['title']}: the cell of {row[:3]} says {text}, expected {expected}")


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
          results: box(".results"), curve: box("figure.curve"), names: document.querySelectorAll("#chooser label").length,
          shown: document.querySelectorAll("#chooser input:checked").length, title: document.title,
          width: document.documentElement.scrollWidth, paper: getComputedStyle(document.body).backgroundColor};
})()"""


def check_results(name, seen, width, plots):
    """The page opens with the table of results, and the first curves are on the first screen too."""
    check([plot["title"] for plot in plots] == ["Accuracy"], f"{name}: the results are {[p['title'] for p in plots]}")
    if width < 1000 or len(plots[0]["rows"]) > 8:
        return
    top, bottom, curve = seen["results"].get("top"), seen["results"].get("bottom"), seen["curve"].get("top")
    check(
        top is not None and 0 < top < bottom < curve < 900 - 150,
        f"{name}: the first screen has the table from {top} to {bottom}, and curves from {curve}",
    )


def check_table(browser, posbench, path, page):
    """The table at the top is the one that the terminal prints."""
    told = subprocess.run([posbench, "report", path, "--format", "markdown"], check=True, stdout=subprocess.PIPE)
    lines = told.stdout.decode().split("\n\n")[0].splitlines()
    rows = [[html.unescape(text.strip()).replace("\\", "") for text in line.split("|")[1:-1]] for line in lines]
    browser.open(page)
    shown = browser.run(
        "[...document.querySelectorAll('.results tr')].map(row => [...row.cells].map(cell => cell.textContent))"
    )
    check(shown[0] == rows[0], f"the columns of the results are {shown[0]}, expected {rows[0]}")
    check(sorted(shown[1:]) == sorted(rows[2:]), f"the results are {shown[1:]}, expected {rows[2:]}")
    order = browser.run("posbench.plots.find(plot => plot.title === 'Mean rank').rows.map(row => row[0])")
    check([row[0] for row in shown[1:]] == list(dict.fromkeys(order)), "the results are not in the order of the ranks")


SAVED = """(async () => {
  await posbench.draw_all();
  const blobs = [], figure = document.querySelector("figure.KIND");
  URL.createObjectURL = blob => { blobs.push(blob); return "about:blank"; };
  HTMLAnchorElement.prototype.click = () => {};
  for (const name of ["Save as SVG", "Save as PNG"]) {
    [...figure.querySelectorAll("button")].find(button => button.textContent === name).click();
    for (let i = 0; i < 100 && blobs.length < (name === "Save as SVG" ? 1 : 2); ++i) await new Promise(resolve => setTimeout(resolve, 20));
  }
  const [svg, png] = blobs, bitmap = png && await createImageBitmap(png);
  return {svg: svg && await svg.text(), types: blobs.map(blob => blob.type), width: bitmap?.width, drawn: figure.plot.drawn, title: figure.plot.title};
})()"""


def check_saved(browser, page):
    """Plots of every kind are saved as SVG and as PNG, with title, legend and background."""
    for kind, dark in [("curve", False), ("heat", True), ("dots", False)]:
        browser.open(page, dark=dark)
        saved = browser.run(SAVED.replace("KIND", kind))
        check(saved["types"] == ["image/svg+xml", "image/png"], f"{kind}: saved are {saved['types']}")
        svg = saved["svg"] or ""
        check(svg.startswith("<svg") and f">{saved['title']}<" in svg, f"{kind}: the SVG is {svg[:200]}")
        check(f'fill="{"#16171b" if dark else "#fff"}"' in svg, f"{kind}: the SVG has no background: {svg[:400]}")
        check(
            (saved["width"] or 0) > 1.5 * saved["drawn"] or kind == "heat",
            f"{kind}: the PNG has {saved['width']} pixels",
        )
        if kind == "curve":
            names = browser.run(
                "[...document.querySelectorAll('#chooser input:checked')].map(box => box.parentNode.textContent)"
            )
            check(names and all(f">{name}<" in svg for name in names), f"the SVG has no legend of {names}")
        check(not browser.problems, f"{kind}: {browser.problems}")


COLORS = "Object.fromEntries([...posbench.family_of.keys()].map(name => [name, posbench.color_of(name)]))"


def check_colors(browser, posbench, report, directory):
    """An encoding has one color on all pages, whatever else is on them, and encodings of the profile quick differ."""
    path, page = os.path.join(directory, "colors.json"), os.path.join(directory, "colors.html")
    colors = []
    for names in [
        ["cope", "rope:base=500000", "none", "rope"],
        ["alibi", "rope", "sinusoidal", "learned_abs", "shaw_k", "cope", "none"],
    ]:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(with_encodings(report, names), file)
        subprocess.run([posbench, "report", path, "-o", page], check=True)
        browser.open(page)
        colors.append(browser.run(COLORS))
    few, many = colors
    check(all(few[name] == many[name] for name in ("cope", "rope", "none")), f"colors differ between pages: {colors}")
    check(few["rope"] == few["rope:base=500000"], f"two forms of an encoding differ in color: {few}")
    check(len(set(many.values())) == 7, f"encodings share colors: {many}")
    subprocess.run([posbench, "board", "-t", "flip_flop", "-o", page], check=True)
    browser.open(page)
    board = browser.run(COLORS)
    check(all(board[name] == many[name] for name in many), "the board has other colors than a report")


def is_shown(text, value):
    if value is None:
        return text == ""
    if isinstance(value, list):
        return [float(part) for part in text.split()] == value
    return text == value if isinstance(value, str) else float(text) == value


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
            place = f"{name}: {section['title']}: {plot['title']}"
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
            check(
                plot["alone"] in (None, len(plot["rows"])), f"{place}: its specification alone has {plot['alone']} rows"
            )
            same = len(plot["cells"]) == min(1000, len(plot["rows"])) > 0 and all(
                len(cells) == plot["headers"] == len(row) and all(map(is_shown, cells, row))
                for cells, row in zip(plot["cells"], plot["rows"])
            )
            check(same, f"{place}: the table is not what is plotted")
            if plot["kind"] == "curve":
                dots = sum(len(row[-1]) for row in plot["rows"] if row[0] in chosen and len(row[-1]) > 1)
                check(plot["seeds"] == dots, f"{place}: {plot['seeds']} dots of seeds, expected {dots}")
            if plot["kind"] == "heat":
                check_cells(name, plot, width)
        if section["plots"][0]["kind"] == "curve":
            check_curves(name, section["title"], section["plots"], report)
    titles = [section["title"] for section in seen["sections"]]
    check(
        titles[:4] == ["Results", "Accuracy against length", "Accuracy against distance", "Encodings and tasks"],
        f"{name}: the sections are {titles}",
    )
    check_distances(name, seen["sections"][2]["plots"], report)
    inside, outside = (
        plot for plot in seen["sections"][3]["plots"] if plot["title"] in ("In distribution", "Out of distribution")
    )
    check(
        (inside["top"] == outside["top"] and inside["left"] < outside["left"]) == (width > 1000),
        f"{name}: the maps are not placed as the width allows",
    )
    check_summary(name, [plot for section in seen["sections"] for plot in section["plots"]], report)
    return sum(len(section["plots"]) for section in seen["sections"])


def drawn(browser, script):
    """Returns the value of a script after everything on the page was drawn again."""
    return browser.run(
        f"(async () => {{ await new Promise(resolve => setTimeout(resolve, 250)); await posbench.draw_all(); return {script}; }})()"
    )


CELLS = """(() => { const plot = posbench.plots.find(plot => plot.details.cells), data = plot.view.data("table");
  return {rows: plot.view.scale("y").domain(), columns: plot.view.scale("x").domain(), size: data.length,
          curves: posbench.plots.filter(plot => plot.kind === "curve" && !plot.node.hidden).length}; })()"""


def check_filters(browser, page, report):
    """Filters and orders change the plots, are in the address of the page, and are restored from it."""
    encodings, tasks = ({e[key] for e in report["experiments"]} for key in ("encoding", "task"))
    browser.open(page)
    whole = drawn(browser, CELLS)
    check((set(whole["rows"]), set(whole["columns"])) == (encodings, tasks), f"the map has {whole}")
    browser.run(
        "(() => { const text = document.querySelector('#filters input'); text.value = 'rope counting'; text.dispatchEvent(new Event('input')); })()"
    )
    few = drawn(browser, CELLS)
    check(
        few["columns"] == [t for t in whole["columns"] if "counting" in t]
        and few["rows"] == [e for e in whole["rows"] if "rope" in e]
        and 0 < few["curves"] < whole["curves"],
        f"filtered by text the map has {few}",
    )
    headings = "[...document.querySelectorAll('main > section')].filter(s => !s.hidden && [...s.querySelectorAll('figure')].every(f => f.hidden)).length"
    browser.run(
        "(() => { const text = document.querySelector('#filters input'); text.value = 'nothing'; text.dispatchEvent(new Event('input')); })()"
    )
    check(
        drawn(browser, headings) == 0 and browser.run("document.querySelectorAll('nav li[hidden]').length") > 0,
        "the filter leaves empty headings",
    )
    browser.run(
        "(() => { const text = document.querySelector('#filters input'); text.value = 'rope counting'; text.dispatchEvent(new Event('input')); })()"
    )
    drawn(browser, "0")
    address = browser.run("location.hash.slice(1)")
    check("text=rope" in address, f"the address is {address}")
    browser.open(page, address=address)
    check(
        drawn(browser, CELLS) == few
        and browser.run("document.querySelector('#filters input').value") == "rope counting",
        "the address does not bring a filter back",
    )
    browser.open(page, address="family=rotary")
    rotary = drawn(browser, CELLS)["rows"]
    check(
        rotary == [e for e in whole["rows"] if e.startswith(("rope", "xpos"))] and rotary,
        f"filtered by family the map has {rotary}",
    )
    browser.open(page, address="sort=name")
    check(drawn(browser, CELLS)["rows"] == sorted(encodings), "not sorted by name")
    task = sorted(tasks)[0]
    browser.open(page, address=f"sort=task+{task}")
    values = {
        row["encoding"]: row["in_distribution"]["sequence"]["mean"] for row in report["summary"] if row["task"] == task
    }
    rows = drawn(browser, CELLS)["rows"]
    check([values[e] for e in rows] == sorted(values.values(), reverse=True), f"sorted by a task the map has {rows}")
    browser.open(page, address="sort=family")
    families = drawn(
        browser,
        "posbench.plots.find(plot => plot.details.cells).view.scale('y').domain().map(name => posbench.family_of.get(name))",
    )
    check(families == sorted(families) and len(set(families)) > 1, f"sorted by family: {families}")


def check_cell(browser, page, report):
    """A cell opens its seeds, and leads to its curves and configuration."""
    browser.open(page)
    drawn(browser, "0")
    browser.run("document.querySelector('figure.heat').scrollIntoView()")
    x, y, encoding, task = (
        browser.run("""(() => { const cell = document.querySelector("figure.heat .cells path"), box = cell.getBoundingClientRect();
      return [box.x + box.width / 2, box.y + box.height / 2, cell.__data__.datum.row, cell.__data__.datum.column]; })()""")
    )
    for kind in ("mousePressed", "mouseReleased"):
        browser.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
    dialog = """(() => { const node = document.querySelector("dialog"); return {open: node.open, title: node.querySelector("h2")?.textContent,
      cells: [...node.querySelectorAll("tbody tr")].map(row => [...row.cells].map(cell => cell.textContent)),
      links: [...node.querySelectorAll("a")].map(link => link.href),
      buttons: [...node.querySelectorAll("button")].map(button => button.textContent)}; })()"""
    seen = drawn(browser, dialog)
    mine = [e for e in report["experiments"] if (e["encoding"], e["task"]) == (encoding, task)]
    expected = [
        [
            str(e["seed"]),
            e["status"],
            *(two_digits(s["sequence"]["correct"] / s["sequence"]["total"]) for s in e["splits"]),
        ]
        for e in mine
    ]
    check(
        seen["open"] and seen["title"] == f"{encoding} on {task}" and seen["cells"] == expected,
        f"the cell of {encoding}, {task} shows {seen}",
    )
    for part in ("Accuracy against length", "Accuracy against distance", "Learning curves", "Configuration"):
        check(any(part in button for button in seen["buttons"]), f"no link to {part} from a cell: {seen['buttons']}")
    address = browser.run("location.hash.slice(1)")
    browser.open(page, address=address)
    check(drawn(browser, dialog)["title"] == seen["title"], f"{address} does not open the cell")
    browser.run(
        "[...document.querySelectorAll('dialog button')].find(button => button.textContent.startsWith('Configuration')).click()"
    )
    check(
        browser.run("document.getElementById('configuration0').open && !document.querySelector('dialog').open"),
        "the configuration does not open",
    )


def check_behaviour(browser, page):
    browser.open(page)
    symbols = "document.querySelectorAll('figure.curve .means path').length"
    before = drawn(browser, symbols)
    browser.run("document.querySelector('#chooser input').click()")
    after = drawn(browser, symbols)
    check(0 < after < before, f"an encoding that is not chosen is drawn: {before} symbols, then {after}")
    check("show=" in browser.run("location.hash"), "the address does not say whose curves are shown")
    browser.run("document.body.insertAdjacentHTML('beforeend', `<img src=x onerror=\"document.title='pwned'\">`)")
    browser.run("new Promise(resolve => setTimeout(resolve, 100))")
    check(
        browser.run("document.title") != "pwned" and any("Content Security Policy" in p for p in browser.problems),
        "the Content-Security-Policy does not stop a script in an attribute",
    )
    check(
        len(browser.requests) == 1 or all(r.startswith("file:") for r in browser.requests),
        "the policy lets a request out",
    )


FIRST = """new Promise(done => { const look = () => posbench.first() || posbench.problems.length ? done(posbench.first()) : requestAnimationFrame(look);
  look(); })"""


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
        wall = browser.run(FIRST) / 1000
        times.append(min(wall, browser.cpu_seconds() - before))
    check(min(times) < 3, f"the first plot of 10,000 experiments takes {times} s")
    seen = browser.run(
        "({drawn: posbench.plots.filter(plot => plot.drawn).length, all: posbench.plots.length, problems: posbench.problems})"
    )
    check(0 < seen["drawn"] < 30 < seen["all"] and not seen["problems"], f"of 10,000 experiments: {seen}")
    browser.run("document.querySelector('figure.heat').scrollIntoView()")
    browser.run(
        "new Promise(done => { const look = () => document.querySelector('figure.heat .cells path') ? done() : requestAnimationFrame(look); look(); })"
    )
    check(browser.run("document.documentElement.scrollWidth") <= 1280, "10,000 experiments are wider than the window")
    return min(times)


def check_anonymous(posbench, path, directory):
    page = os.path.join(directory, "anonymous.html")
    subprocess.run([posbench, "report", path, "--anonymous", "-o", page], check=True)
    with open(page, encoding="utf-8") as file:
        text = file.read()
    check(
        "run 1" in text and not any(trace in text for trace in (directory, "the-host", "the-command")),
        "an anonymous page says where it is from",
    )
    subprocess.run([posbench, "report", path, "-o", page], check=True)
    with open(page, encoding="utf-8") as file:
        text = file.read()
    check(
        all(trace in text for trace in (directory, "the-host", "the-command")), "a page does not say where it is from"
    )


def map_title(told_map):
    return f"Layer {told_map['layer']}, head {told_map['head']}: {told_map['name']}"


def check_query_plots(page, plots, told):
    """The plots of one query have the values of the JSON for the last scored query: a curve for each head, drawn in full."""
    query = told["scored"][-1]
    curves = {title: plot for title, plot in plots.items() if plot["kind"] == "curve"}
    layers = {told_map["layer"] for told_map in told["maps"]}
    check(
        len(curves) == 2 * len(layers) and not any("[object" in title for title in curves),
        f"{page}: the plots of a query are {sorted(curves)}",
    )
    for title, plot in curves.items():
        name = next(name for name in ("positional part", "position-position", "attention") if f": {name} of" in title)
        expected = {
            (f"layer {told_map['layer']}, head {told_map['head']}", key): value
            for told_map in told["maps"]
            if told_map["name"] == name and title.startswith(f"Layer {told_map['layer']}:")
            for key, value in enumerate(told_map["values"][query])
            if value is not None
        }
        check(
            {(row[0], row[1]): row[2] for row in plot["rows"]} == expected
            and plot["marks"] == len(plot["rows"]) == plot["alone"],
            f"{page}: {title}: {plot['marks']} marks of {len(expected)}",
        )
    return len(curves)


def check_long_inspection(browser, posbench, run, directory):
    """The page of an example of more than 160 tokens has the position term of one query by key, and no maps."""
    page = os.path.join(directory, "long.html")
    command = [posbench, "inspect", run, "last_x_retrieval", "alibi", "--length", "200"]
    subprocess.run([*command, "-o", page], check=True)
    told = json.loads(subprocess.run([*command, "--format", "json"], check=True, stdout=subprocess.PIPE).stdout)
    sections = look_at(browser, page, "heads")
    plots = {plot["title"]: plot for plots in sections.values() for plot in plots}
    query = told["scored"][-1]
    check(query > 160, f"{page}: the query is {query}")
    check(not any(plot["kind"] == "heat" for plot in plots.values()), f"{page}: the plots are {sorted(plots)}")
    check(
        all(row[1] == "local" for row in plots["Heads"]["cells"])
        and len(plots["Heads"]["cells"]) == len(told["heads"]),
        f"{page}: the signs are {plots['Heads']['cells']}",
    )
    bias = next(plot for title, plot in plots.items() if ": positional part of query" in title)
    heads = sum(told_head["layer"] == 0 for told_head in told["heads"])
    slopes = {f"layer 0, head {head}": 2 ** (-8 * (head + 1) / heads) for head in range(heads)}
    check(
        len(bias["rows"]) == heads * (query + 1)
        and all(abs(row[2] + slopes[row[0]] * (query - row[1])) < 1e-3 for row in bias["rows"]),
        f"{page}: the bias of query {query} is {bias['rows'][:3]}",
    )
    return check_query_plots(page, plots, told)


def check_inspection(browser, posbench, directory):
    """The maps of `posbench inspect` have a cell for every pair of a query and a key that it sees, as its JSON has."""
    run = os.path.join(directory, "run")
    subprocess.run(
        [
            posbench,
            "run",
            "--profile",
            "smoke",
            "-t",
            "last_x_retrieval",
            "-e",
            "cope,dape,sinusoidal,alibi",
            "-q",
            "-o",
            run,
            "--save-models",
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    count = 0
    for encoding, names in [
        ("cope", {"gate", "contextual position"}),
        ("dape", {"bias before the network", "bias after the network"}),
        ("sinusoidal", {"content-content", "position-position"}),
    ]:
        page = os.path.join(directory, f"{encoding}.html")
        command = [posbench, "inspect", run, "last_x_retrieval", encoding]
        subprocess.run([*command, "-o", page], check=True)
        told = json.loads(subprocess.run([*command, "--format", "json"], check=True, stdout=subprocess.PIPE).stdout)
        browser.open(page, 390)
        seen = browser.run(LOOK)
        check(
            not browser.problems
            and not seen["problems"]
            and browser.requests == ["file://" + page]
            and seen["width"] <= 390,
            f"{page}: {browser.problems} {seen['problems']} {browser.requests} {seen['width']} wide",
        )
        plots = {plot["title"]: plot for section in seen["sections"] for plot in section["plots"]}
        check(
            {title for title, plot in plots.items() if plot["kind"] == "heat"}
            == {map_title(told_map) for told_map in told["maps"]}
            and names < {told_map["name"] for told_map in told["maps"]},
            f"{page}: the maps are {sorted(plots)}",
        )
        count += check_query_plots(page, plots, told)
        for told_map in told["maps"]:
            plot = plots[map_title(told_map)]
            low, high = plot["colors"]
            values = [value for row in told_map["values"] for value in row]
            check(
                low == -high if min(values) < 0 or len(set(values)) == 1 else low >= 0,
                f"{page}: {plot['title']}: the colours reach from {low} to {high}",
            )
            check(
                [row[2] for row in plot["rows"]] == values
                and plot["marks"] == len(values) == plot["alone"]
                and len(plot["cells"]) == min(1000, len(values)),
                f"{page}: {plot['title']}: {plot['marks']} marks of {len(values)}",
            )
            count += 1
    count += check_long_inspection(browser, posbench, run, directory)
    check_inspection_link(browser, posbench, run)
    return count


def check_inspection_link(browser, posbench, run):
    """The cell of a model links to its page in the folder inspect of the run directory; other cells do not."""
    page, model = (
        os.path.join(run, "report.html"),
        next(m for m in sorted(os.listdir(os.path.join(run, "models"))) if "-cope-" in m),
    )
    saved = os.path.join(run, "inspect", model.replace(".safetensors", ".html"))
    os.mkdir(os.path.dirname(saved))
    subprocess.run([posbench, "inspect", run, "last_x_retrieval", "cope", "-o", saved], check=True)
    subprocess.run([posbench, "report", run, "-o", page], check=True)
    for encoding, expected in [("cope", ["file://" + saved]), ("dape", [])]:
        with open(os.path.join(run, "report.json"), encoding="utf-8") as file:
            spec = next(e for e in json.load(file)["experiments"] if e["encoding"].startswith(encoding))
        browser.open(page, address=urllib.parse.urlencode({"task": spec["task"], "encoding": spec["encoding"]}))
        links = browser.run("[...document.querySelectorAll('dialog a')].map(link => link.href)")
        check(links == expected, f"the cell of {encoding} links to {links}, expected {expected}")


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


def check_compare(browser, posbench, reference, directory):
    """The page of a comparison opens with the table that the terminal prints; each task has a forest plot."""
    page, command = os.path.join(directory, "compare.html"), [posbench, "compare", reference, "--between", "cope,rope"]
    subprocess.run([*command, "-o", page], stdout=subprocess.DEVNULL)  # exits with 1: some results are worse
    told = json.loads(subprocess.run([*command, "--format", "json"], stdout=subprocess.PIPE).stdout)
    check_opening(browser, "compare", page, r"reference \(rope\), compared with reference \(cope\)")
    check_edges(browser, "compare", page, True)
    check_labels(browser, "compare", page)
    browser.open(page)
    seen = browser.run("""posbench.draw_all().then(() => ({problems: posbench.problems,
      rows: [...document.querySelectorAll(".results tbody tr")].map(row => [...row.cells].map(cell => cell.textContent)),
      plots: posbench.plots.filter(p => p.kind === "forest").map(p => [p.title, p.rows.map(row => row[0])])}))""")
    check(not seen["problems"] and not browser.problems, f"compare: {seen['problems']} {browser.problems}")
    expected = sorted([row["verdict"], row["task"], row["split"]] for row in told["rows"])
    check(sorted([row[0].split(" (")[0], row[1], row[3]] for row in seen["rows"]) == expected, "compare: the verdicts")
    check(
        all(title.endswith(", cope -> rope") and "cope" not in " ".join(rows) for title, rows in seen["plots"]),
        f"compare: the plots are {seen['plots'][:2]}",
    )
    return len(seen["plots"])


def check_claims(browser, results_tests, directory):
    """Each claim with something to show has a plot of its seeds, means, thresholds and published values."""
    page = os.path.join(directory, "claims.html")
    subprocess.run(
        [results_tests, "[.write_claims]"],
        env={**os.environ, "POSBENCH_WRITE_CLAIMS": page},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    plots = 0
    for width, dark in [(1280, False), (390, True)]:
        browser.open(page, width, 900, dark)
        told = browser.run("""posbench.draw_all().then(() => posbench.plots.filter(p => p.kind === "strip").map(p => ({
          title: p.title, rows: p.rows, signals: p.signals,
          marks: Object.fromEntries(["seed_dots", "thresholds", "published_values", "means"].map(name =>
            [name, p.view_node.querySelectorAll(`.${name} path`).length])) })))""")
        check([len(plot["rows"]) for plot in told] == [2, 1, 2], f"claims: rows of {[plot['title'] for plot in told]}")
        for plot in told:
            expected = {
                "seed_dots": sum(len(row[3]) for row in plot["rows"]),
                "means": sum(row[2] is not None for row in plot["rows"]),
                "thresholds": sum(row[4] is not None for row in plot["rows"]),
                "published_values": sum(row[6] is not None for row in plot["rows"]),
            }
            check(
                plot["marks"] == expected and expected["means"] > 0,
                f"claims: {plot['title']}: marks {plot['marks']}, expected {expected}",
            )
            check(all(plot["signals"]["labels"][row[0]] for row in plot["rows"]), f"claims: {plot['title']}: labels")
        rows = browser.run(
            "[...document.querySelectorAll('.results tbody tr')].map(row => [...row.cells].map(c => c.textContent))"
        )
        check(
            [row[:2] for row in rows]
            == [
                ["claim-1", "contradicted"],
                ["claim-2", "inconclusive"],
                ["claim-0", "reproduced"],
                ["claim-3", "not run"],
            ],
            f"claims: the table has {[row[:2] for row in rows]}",
        )
        browser.run(
            "[...document.querySelectorAll('.results th button')].find(b => b.textContent === 'claim-0').click()"
        )
        top = drawn(
            browser, "posbench.plots.find(p => p.details.opened_by === 'claim-0').node.getBoundingClientRect().top"
        )
        check(-5 <= top < 844, f"claims: the plot of a claim is at {top} after a click on its name")
        check(browser.run("posbench.problems.length") == 0 and not browser.problems, f"claims: {browser.problems}")
        check(browser.run("document.documentElement.scrollWidth") <= width, f"claims: wider than {width}")
        check(
            browser.run("document.querySelectorAll('figcaption b, td b').length") == 0,
            "claims: markup of a statement is taken for markup",
        )
        plots += len(told)
    check_opening(browser, "claims", page, "claims: 4 claims about position encodings")
    check_edges(browser, "claims", page, True)
    check_labels(browser, "claims", page)
    return plots


def check_board(browser, posbench, directory):
    """A strip for the mean and for each split of each task, in the order of the tiers, which the filter narrows."""
    page = os.path.join(directory, "board.html")
    subprocess.run([posbench, "board", "-t", "last_x_retrieval,flip_flop", "-o", page], check=True)
    told = subprocess.run(
        [posbench, "board", "-t", "last_x_retrieval", "--format", "json"], check=True, stdout=subprocess.PIPE
    )
    rows = json.loads(told.stdout)["tasks"][0]["rows"]
    plots = 0
    for width, dark in [(1280, False), (390, True)]:
        browser.open(page, width, 900, dark)
        for task in ("flip_flop", "last_x_retrieval"):
            browser.run(
                f"[...document.querySelectorAll('.results th button')].find(b => b.textContent === '{task}').click()"
            )
            screens = browser.run("""posbench.draw_all().then(() => [...document.querySelectorAll("main > section")]
              .filter(section => !section.hidden && section.querySelector("figure.strip")).map(section => section.querySelector("h2").textContent))""")
            check(screens == [task], f"board: the screens are {screens}, expected {task}")
            height = browser.run("document.documentElement.scrollHeight")
            check(width < 1000 or height < 12000, f"board: the page of one task is {height} pixels high")
        check(browser.run("document.querySelectorAll('nav li:not([hidden])').length") < 10, "board: links to all tasks")
        strips = browser.run("""posbench.draw_all().then(() => posbench.plots.filter(p => p.kind === "strip").map(p => ({
          task: p.details.task, title: p.title, rows: p.rows, drawn: p.view_node.querySelectorAll(".means path").length })))""")
        of_task = [strip for strip in strips if strip["task"] == "last_x_retrieval"]
        check(
            [strip["title"] for strip in of_task][:2] == ["out of distribution", "in_distribution"]
            and len(of_task) == 8,
            f"board: the strips are {[strip['title'] for strip in of_task]}",
        )
        check(
            [row[0] for row in of_task[0]["rows"]] == [row["encoding"] for row in rows], "board: the order of the tiers"
        )
        check(all(close(row[2], told["mean"]) for row, told in zip(of_task[0]["rows"], rows)), "board: the means")
        check(all(strip["drawn"] == min(100, len(strip["rows"])) for strip in strips), "board: what is drawn")
        check(browser.run("posbench.problems.length") == 0 and not browser.problems, f"board: {browser.problems}")
        check(browser.run("document.documentElement.scrollWidth") <= width, f"board: wider than {width}")
        plots += len(strips)
    tiers = "Object.values(posbench.plots.find(p => p.kind === 'strip' && p.view).view.scale('color').range())"
    browser.open(page, address="open=flip_flop")
    colors = browser.run(f"posbench.draw_all().then(() => {tiers})")
    check(len(set(colors[:23])) == 23, f"board: tiers share colors: {colors}")
    browser.open(page, address="open=last_x_retrieval&family=rotary")
    rotary = {row["encoding"] for row in rows if row["family"] == "rotary"}
    shown = browser.run("""posbench.draw_all().then(() => posbench.plots.filter(p => p.kind === "strip" && p.drawn)
      .map(p => p.view_node.querySelectorAll(".means path").length))""")
    check(set(shown) == {len(rotary)}, f"board: filtered to {set(shown)}, expected {len(rotary)}")
    subprocess.run([posbench, "board", "-o", page], check=True)
    check_opening(browser, "board", page, "The board of position encodings")
    check_edges(browser, "board", page, True)
    check_labels(browser, "board", page, "open=last_x_retrieval")
    return plots


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


def check_sweep(browser, posbench, directory):
    """The phase diagrams of a small sweep: all cells with their values, and the filter leaves those of an encoding."""
    run = os.path.join(directory, "grid")
    subprocess.run(
        [
            posbench,
            "run",
            "--profile",
            "smoke",
            "-t",
            "flip_flop",
            "-e",
            "rope,alibi",
            "--sweep",
            "task.length=16,8,32",
            "--sweep",
            "model.width=16,32",
            "-q",
            "-o",
            run,
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    page = os.path.join(run, "report.html")
    diagrams = look_at(browser, page, "encodings")["Phase diagrams"]
    check(len(diagrams) == 8, f"{len(diagrams)} phase diagrams")
    for plot in diagrams:
        check([two_digits(row[2]) for row in plot["rows"]] == plot["texts"], f"{plot['title']}: {plot['texts']}")
    axes = browser.run("""posbench.draw_all().then(() => posbench.plots.filter(p => p.details.phase).map(p =>
      ["x", "y"].map(scale => p.view.scale(scale).domain())))""")
    for plot, (columns, rows) in zip(diagrams, axes):
        for names in (columns, rows):
            numbers = [int(name.split()[0]) for name in names if name[0].isdigit()]
            check(numbers == sorted(numbers), f"{plot['title']}: the order of an axis is {names}")
    check(any(len(columns) > 3 for columns, _ in axes), f"the axes are {axes}")
    check_opening(browser, "sweep", page, "grid: 2 position encodings on 6 tasks, 1 seed")
    check_edges(browser, "sweep", page, True)
    check_labels(browser, "sweep", page)
    browser.open(page, address="text=alibi")
    left = drawn(
        browser, "posbench.plots.filter(plot => plot.details.phase && !plot.node.hidden).map(plot => plot.title)"
    )
    check(len(left) == 4 and all("alibi" in title for title in left), f"filtered by text there are {left}")
    return len(diagrams)


def check_over(browser, posbench, directory):
    """The page of many samples of CoPE: heads, distances, the right key, parts, counts."""
    run, page = os.path.join(directory, "saved"), os.path.join(directory, "over.html")
    subprocess.run(
        [
            posbench,
            "run",
            "--profile",
            "smoke",
            "-t",
            "last_x_retrieval",
            "-e",
            "cope",
            "--save-models",
            "-q",
            "-o",
            run,
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    subprocess.run([posbench, "inspect", run, "last_x_retrieval", "cope", "--over", "16", "-o", page], check=True)
    sections = look_at(browser, page, "heads")
    titles = [plot["title"] for plots in sections.values() for plot in plots]
    check(
        titles
        == [
            "Heads",
            "mean attention",
            "mean positional part of the score",
            "Attention around the right key",
            "Contextual position of the right key",
            "Parts",
            "Answers by the distance of the right key, in tokens",
        ],
        f"over many samples there are {titles}",
    )
    return len(titles)


def main(posbench, results_tests, *given):
    if not Browser.find():
        print("skipped: no chromium (Debian: chromium)")
        return 77
    plots = 0
    with tempfile.TemporaryDirectory() as directory, Browser() as browser:
        path = os.path.join(directory, "report.json")
        subprocess.run(
            [results_tests, "[.write_report]"],
            env={**os.environ, "POSBENCH_WRITE_REPORT": path},
            check=True,
            stdout=subprocess.DEVNULL,
        )
        with open(path, encoding="utf-8") as file:
            small = json.load(file)
        reports = {
            "small": small,
            "many": with_encodings(small, [f"encoding{i}" for i in range(12)]),
            "hostile": hostile(small),
            "drawn": drawn_report(8, 6, 2) | {"context": {"host": "the-host", "command": "the-command"}},
        }
        for file in given:
            check(
                os.path.getsize(file) < 2_000_000,
                f"{file} has {os.path.getsize(file)} bytes, too many for a repository",
            )
            with open(file, encoding="utf-8") as opened:
                reports[file] = json.load(opened)
        for name, report in reports.items():
            page = os.path.join(directory, "page.html")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(report, file)
            subprocess.run([posbench, "report", path, "-o", page], check=True)
            summary = subprocess.run([posbench, "report", path, "--format", "json"], check=True, stdout=subprocess.PIPE)
            report |= json.loads(summary.stdout)
            for width, dark in [(1280, False), (390, True)]:
                plots += check_page(name, browser, page, report, width, dark)
            if name != "hostile":
                check_table(browser, posbench, path, page)
            if name == "many":
                check_behaviour(browser, page)
            if name in given:
                check_opening(browser, name, page, r"\w+: 7 position encodings on 7 tasks, 5 seeds")
                check_edges(browser, name, page, True)
                check_labels(browser, name, page)
            if name == "drawn":
                check_filters(browser, page, report)
                check_cell(browser, page, report)
                check_saved(browser, page)
                check_colors(browser, posbench, report, directory)
                check_anonymous(posbench, path, directory)
        plots += check_claims(browser, results_tests, directory)
        plots += check_board(browser, posbench, directory)
        for file in given:
            plots += check_compare(browser, posbench, file, directory)
        plots += check_inspection(browser, posbench, directory)
        plots += check_sweep(browser, posbench, directory)
        plots += check_over(browser, posbench, directory)
        seconds = check_large(browser, posbench, directory)
    print(
        "\n".join(faults[:40])
        or f"{plots} plots and tables on {2 * len(reports) + 2} pages; the first of 10,000 experiments in {seconds:.2f} s"
    )
    return 1 if faults else 0


sys.exit(main(*sys.argv[1:]))
