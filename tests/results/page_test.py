"""Opens pages of `posbench report` in a headless Chromium and checks their contents.

    page_test.py POSBENCH RESULTS_TESTS [REPORT...]

The reports are what to_json writes of the report of the unit tests, one with many encodings, one whose names are
hostile, and those given; then pages of `posbench inspect`. Exit code 77: skipped, no Chromium.
"""

import copy
import json
import math
import os
import subprocess
import sys
import tempfile

from browser import Browser

MARKUP = ["<script>document.title='pwned'</script>", "</script><script>document.title='pwned'</script>",
          "<img src=x onerror=\"document.title='pwned'\">", "'\"><svg onload=\"document.title='pwned'\">", "{{data}}&lt;&amp;",
          "javascript:alert(1)", "=cmd|' /C calc'!A0", "__proto__", "constructor", "\\u003cscript\\u003e", "]]>", "<!--<script>"]
faults = []


def check(right, what):
    if not right:
        faults.append(what)


def with_encodings(report, names):
    """The report with its first encoding's experiments under each of these names."""
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
    report["context"] = {name: MARKUP for name in MARKUP} | {"started": MARKUP[0], "command": MARKUP[1], "cpu": MARKUP[2]}
    report["config"] = {"deep": report["context"], "\u2028</pre>": "\u202e\u2029"}
    report["timing"] = {"experiments": [{"task": e["task"], "encoding": e["encoding"], "seed": e["seed"], "seconds": seconds}
                                        for e, seconds in zip(report["experiments"], [1e308, -1, 1e11] + [3] * 1000)] + [None, 7, [], {}, {"task": []}, {"seconds": "x"}]}
    return report


def close(shown, value):
    return shown == value or (shown is not None and value is not None and math.isclose(shown, value, abs_tol=1.0001e-6))


def check_summary(name, plots, report):
    """The maps and the ranking agree with the report's summary."""
    kinds = [("in_distribution", "sequence"), ("out_of_distribution", "sequence"),
             ("in_distribution", "above_trivial"), ("out_of_distribution", "above_trivial")]
    maps = [plot for plot in plots if plot["kind"] == "heat"]
    check(len(maps) == len(kinds), f"{name}: {len(maps)} maps")
    for plot, (kind, metric) in zip(maps, kinds):
        rows = {(row["encoding"], row["task"]): row for row in report["summary"] if row[kind]}
        check(len(plot["rows"]) == len(rows), f"{name}: {plot['title']}: {len(plot['rows'])} cells, expected {len(rows)}")
        for encoding, task, value, low, high, solved, seeds, mark in plot["rows"]:
            row = rows[encoding, task]
            spread, interval = row[kind][metric], row[kind][metric]["interval"] or {"low": None, "high": None}
            check(close(value, spread["mean"]) and close(low, interval["low"]) and close(high, interval["high"])
                  and close(solved, row[kind]["solved"]) and seeds == len(row["seeds"])
                  and mark == "d" * (row["diverged"] > 0) + "f" * (row["failed"] > 0),
                  f"{name}: {plot['title']}: the cell of {encoding}, {task}")
    ranking = {row["encoding"]: row for row in report["ranking"]}
    for encoding, kind, mean, low, high, tasks in next(p for p in plots if p["title"] == "Mean rank")["rows"]:
        rank = ranking[encoding][kind.replace(" ", "_")]
        check(close(mean, rank["mean"]) and close(low, rank["interval"]["low"]) and close(high, rank["interval"]["high"])
              and tasks == rank["tasks"], f"{name}: the rank of {encoding}")


def mean(values):
    return sum(values) / len(values)


def check_curves(name, section, plots, report):
    """Curves are means over the experiments of the report, worked out here once more."""
    for plot in plots:
        for row in plot["rows"]:
            encoding, x, y, low, high, *rest = row
            experiments = [e for e in report["experiments"] if (e["task"], e["encoding"]) == (plot["title"], encoding)]
            if section == "Learning curves":
                points = [p for e in experiments for p in e["learning_curve"] if p["step"] == x]
                expected = mean([p["validation_sequence"] for p in points])
                check(len(points) == rest[2] and close(rest[0], mean([p["validation_token"] for p in points])),
                      f"{name}: {section}: {plot['title']}: {row}")
            else:
                unit = section.split()[-1]
                first, last, seeds, cases = rest
                values, total = [], 0
                for experiment in experiments:
                    counts = {}
                    for split in experiment["splits"]:
                        for item in split[f"by_{unit}"]:
                            counts.setdefault(item[unit], item["token"])
                    chosen = [counts[value] for value in counts if first <= value <= last]
                    total += sum(count["total"] for count in chosen)
                    if experiment["status"] != "ok":
                        values.append(0)
                    elif sum(count["total"] for count in chosen):
                        values.append(sum(count["correct"] for count in chosen) / sum(count["total"] for count in chosen))
                expected = mean(values)
                check(seeds == len(values) and cases == total and x == (first + last) / 2, f"{name}: {section}: {plot['title']}: {row}")
            check(close(y, expected), f"{name}: {section}: {plot['title']}: {y} at {x} of {encoding}, expected {expected}")
            check(low is None or 0 <= low <= y + 1e-6 and y - 1e-6 <= high <= 1, f"{name}: {section}: {plot['title']}: the interval {row}")


# What the page holds, and what it shows of that: each plot's rows as given and as its table has them, the marks that are
# drawn, and those of its specification alone.
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
      const shape = {heat: "cells", curve: "mark-symbol", dots: "means"}[plot.kind];
      const marks = [...figure.querySelectorAll(`.view .${shape} path`)].filter(path => path.getAttribute("d"));
      let alone = null;
      if (shape) {
        const view = new vega.View(vega.parse(JSON.parse(figure.querySelector("pre").textContent), {}, {ast: true}),
                                   {expr: vega.expressionInterpreter, renderer: "none"});
        await view.runAsync();
        alone = view.data("table").length;
      }
      plots.push({kind: plot.kind, title: plot.title, rows: plot.rows, cells, marks: marks.length, alone,
                  box: figure.getBoundingClientRect().width, headers: [...figure.querySelectorAll("thead th")].length});
    }
    sections.push({title: section.querySelector("h2").textContent, plots});
  }
  return {sections, problems: posbench.problems, names: document.querySelectorAll("#chooser label").length,
          shown: document.querySelectorAll("#chooser input:checked").length, title: document.title,
          width: document.documentElement.scrollWidth, paper: getComputedStyle(document.body).backgroundColor};
})()"""


def shown(value):
    if value is None:
        return ""
    return str(value) if isinstance(value, str) else None  # a number: compared as one


def check_page(name, browser, page, report, width, dark):
    browser.open(page, width, 900, dark)
    seen = browser.run(LOOK)
    name = f"{name}, {width} wide, {'dark' if dark else 'light'}"
    check(not browser.problems and not seen["problems"], f"{name}: {browser.problems} {seen['problems']}")
    check(browser.requests == ["file://" + page], f"{name}: requested {browser.requests}")
    check(seen["title"].startswith("Position encodings"), f"{name}: the title is {seen['title']}")
    check(seen["width"] <= width, f"{name}: {seen['width']} wide")
    check((seen["paper"] == "rgb(255, 255, 255)") != dark, f"{name}: the paper is {seen['paper']}")
    check(seen["shown"] == min(8, seen["names"]), f"{name}: {seen['shown']} of {seen['names']} encodings are chosen")
    ranks = next(p for s in seen["sections"] for p in s["plots"] if p["title"] == "Mean rank")["rows"]
    chosen = list(dict.fromkeys(row[0] for row in ranks))[:8]
    for section in seen["sections"]:
        for plot in section["plots"]:
            label = f"{name}: {section['title']}: {plot['title']}"
            expected = {"table": 0, "heat": len(plot["rows"]), "curve": sum(row[0] in chosen for row in plot["rows"]),
                        "dots": sum(row[2] is not None for row in plot["rows"])}[plot["kind"]]
            check(plot["marks"] == expected and (expected > 0 or plot["kind"] == "table"), f"{label}: {plot['marks']} marks, expected {expected}")
            check(plot["alone"] in (None, len(plot["rows"])), f"{label}: its specification alone has {plot['alone']} rows")
            same = len(plot["cells"]) == len(plot["rows"]) > 0 and all(
                len(cells) == plot["headers"] == len(row)
                and all(cell == shown(value) or (shown(value) is None and float(cell) == value) for cell, value in zip(cells, row))
                for cells, row in zip(plot["cells"], plot["rows"]))
            check(same, f"{label}: the table is not what is plotted")
        if section["plots"][0]["kind"] == "curve":
            check_curves(name, section["title"], section["plots"], report)
    check_summary(name, [plot for section in seen["sections"] for plot in section["plots"]], report)
    return sum(len(section["plots"]) for section in seen["sections"])


def check_behaviour(browser, page):
    browser.open(page)
    browser.run("posbench.draw_all().then(() => 0)")
    symbols = "document.querySelectorAll('figure.curve .mark-symbol path').length"
    before = browser.run(symbols)
    after = browser.run("(async () => { document.querySelector('#chooser input').click();"
                        f" await new Promise(resolve => setTimeout(resolve, 300)); return {symbols}; }})()")
    check(0 < after < before, f"an encoding that is not chosen is drawn: {before} symbols, then {after}")
    browser.run("document.body.insertAdjacentHTML('beforeend', `<img src=x onerror=\"document.title='pwned'\">`)")
    browser.run("new Promise(resolve => setTimeout(resolve, 100))")
    check(browser.run("document.title") != "pwned" and any("Content Security Policy" in p for p in browser.problems),
          "the Content-Security-Policy does not stop a script in an attribute")
    check(len(browser.requests) == 1 or all(r.startswith("file:") for r in browser.requests), "the policy lets a request out")


def check_inspection(browser, posbench, directory):
    """The maps of `posbench inspect` have a cell for every pair of a query and a key that it sees, as its JSON has."""
    run = os.path.join(directory, "run")
    subprocess.run([posbench, "run", "--profile", "smoke", "-t", "last_x_retrieval", "-e", "cope,dape", "-q", "-o", run,
                    "--save-models"], check=True, stdout=subprocess.DEVNULL)
    count = 0
    for encoding, names in [("cope", {"gate", "contextual position"}), ("dape", {"bias before the network", "bias after the network"})]:
        page = os.path.join(directory, f"{encoding}.html")
        command = [posbench, "inspect", run, "last_x_retrieval", encoding]
        subprocess.run([*command, "-o", page], check=True)
        inspected = json.loads(subprocess.run([*command, "--format", "json"], check=True, stdout=subprocess.PIPE).stdout)
        browser.open(page, 390)
        seen = browser.run(LOOK)
        check(not browser.problems and not seen["problems"] and browser.requests == ["file://" + page] and seen["width"] <= 390,
              f"{page}: {browser.problems} {seen['problems']} {browser.requests} {seen['width']} wide")
        plots = {plot["title"]: plot for section in seen["sections"] for plot in section["plots"]}
        check(len(plots) == len(inspected["maps"]) and names < {m["name"] for m in inspected["maps"]}, f"{page}: the maps are {sorted(plots)}")
        for expected in inspected["maps"]:
            plot = plots[f"Layer {expected['layer']}, head {expected['head']}: {expected['name']}"]
            values = [value for row in expected["values"] for value in row]
            check([row[2] for row in plot["rows"]] == values and plot["marks"] == len(values) == len(plot["cells"]) == plot["alone"],
                  f"{page}: {plot['title']}: {plot['marks']} marks of {len(values)}")
            count += 1
    return count


def main(posbench, results_tests, *given):
    if not Browser.find():
        print("skipped: no chromium (Debian: chromium)")
        return 77
    plots = 0
    with tempfile.TemporaryDirectory() as directory, Browser() as browser:
        path = os.path.join(directory, "report.json")
        subprocess.run([results_tests, "[.write_report]"], env={**os.environ, "POSBENCH_WRITE_REPORT": path}, check=True,
                       stdout=subprocess.DEVNULL)
        with open(path, encoding="utf-8") as file:
            small = json.load(file)
        reports = {"small": small, "many": with_encodings(small, [f"encoding{i}" for i in range(12)]), "hostile": hostile(small)}
        for file in given:
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
            if name == "many":
                check_behaviour(browser, page)
        plots += check_inspection(browser, posbench, directory)
    print("\n".join(faults[:40]) or f"{plots} plots and tables on {2 * len(reports) + 2} pages")
    return 1 if faults else 0


sys.exit(main(*sys.argv[1:]))
