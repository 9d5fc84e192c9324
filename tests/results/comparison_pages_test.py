"""Opens pages that compare encodings in a headless Chromium: of claims, of the board, of a comparison and of a sweep.

    comparison_pages_test.py POSBENCH RESULTS_TESTS REPORT...

The comparison is that of two encodings of each report. Exit code 77: skipped, no Chromium.
"""

import json
import os
import subprocess
import sys

from page_checks import (
    check,
    check_edges,
    check_labels,
    check_opening,
    close,
    drawn,
    look_at,
    run_page_test,
    run_smoke,
    two_digits,
)


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
      wide: posbench.plots.filter(p => p.kind === "forest" && (() => {
        const [band, frame] = [".unimportant", ".background"].map(name => p.view_node.querySelector(name).getBBox());
        return band.x < frame.x - 1 || band.x + band.width > frame.x + frame.width + 1; })()).map(p => p.title),
      plots: posbench.plots.filter(p => p.kind === "forest").map(p => [p.title, p.rows.map(row => row[0])])}))""")
    check(not seen["problems"] and not browser.problems, f"compare: {seen['problems']} {browser.problems}")
    expected = sorted([row["task"], row["split"], row["verdict"]] for row in told["rows"])
    shown = sorted([row[0], row[2], row[3].split(" (")[0]] for row in seen["rows"])
    check(shown == expected, "compare: the verdicts")
    check(
        all(title.endswith(", cope -> rope") and "cope" not in " ".join(rows) for title, rows in seen["plots"]),
        f"compare: the plots are {seen['plots'][:2]}",
    )
    with_plots = {title.removesuffix(", cope -> rope") for title, _ in seen["plots"]}
    check(with_plots == {row["task"] for row in told["rows"]}, f"compare: the plots are of {with_plots}")
    check(not seen["wide"], f"compare: the gray range leaves the plots {seen['wide']}")
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
            "[...document.querySelectorAll('[aria-label=\"All claims\"] tbody tr')]"
            ".map(row => [...row.cells].map(c => c.textContent))"
        )
        check(
            [row[:2] for row in rows]
            == [
                ["claim-1", "contradicted"],
                ["claim-2", "weaker"],
                ["claim-0", "reproduced"],
                ["claim-3", "not run"],
            ],
            f"claims: the table has {[row[:2] for row in rows]}",
        )
        dots = browser.run("""(() => {
          const plot = posbench.plots.find(p => p.kind === "scatter"), dots = [...plot.view_node.querySelectorAll(".dots path")];
          dots[plot.rows.findIndex(row => row[0] === "claim-1")].dispatchEvent(new MouseEvent("click", {bubbles: true}));
          return {count: dots.length, claims: plot.rows.map(row => row[0]), address: location.hash}; })()""")
        check(
            dots == {"count": 2, "claims": ["claim-0", "claim-1"], "address": "#claim=claim-1"},
            f"claims: the plot of published values has {dots}",
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


def check_sweep(browser, posbench, directory):
    """The phase diagrams of a small sweep: all cells with their values, and the filter leaves those of an encoding."""
    run = os.path.join(directory, "grid")
    run_smoke(posbench, "flip_flop", "rope,alibi", run, "--sweep=task.length=16,8,32", "--sweep=model.width=16,32")
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


def test(browser, directory, posbench, results_tests, *given):
    plots = check_claims(browser, results_tests, directory) + check_board(browser, posbench, directory)
    plots += sum(check_compare(browser, posbench, file, directory) for file in given)
    plots += check_sweep(browser, posbench, directory)
    return f"{plots} plots"


sys.exit(run_page_test(test, *sys.argv[1:]))
