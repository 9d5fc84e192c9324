"""Opens pages that compare encodings in a headless Chromium: of claims, of the board, of a comparison and of a sweep.

    comparison_pages_test.py POSBENCH RESULTS_TESTS REPORT...

The comparison is that of two encodings of each report. Exit code 77: skipped, no Chromium.
"""

import os
import subprocess
import sys

from page_checks import check, check_form, close, look_at, run_page_test, run_smoke, told, two_digits, write_by_test


def check_quiet(browser, name, width=1280):
    problems = browser.run("test.problems()")
    check(not problems and not browser.problems, f"{name}: {problems} {browser.problems}")
    check(browser.run("test.width()") <= width, f"{name}: wider than {width}")


def check_compare(browser, posbench, reference, directory):
    """The page of a comparison opens with the table that the terminal prints; each task has a forest plot."""
    page, command = os.path.join(directory, "compare.html"), [posbench, "compare", reference, "--between", "cope,rope"]
    subprocess.run([*command, "-o", page], stdout=subprocess.DEVNULL)  # exits with 1: some results are worse
    rows = told(*command)["rows"]
    check_form(browser, "compare", page, r"reference \(rope\), compared with reference \(cope\)")
    browser.open(page)
    plots = browser.run("test.plots('forest')")
    shown = sorted([row[0], row[2], row[3].split(" (")[0]] for row in browser.run("test.table('.results')"))
    check(shown == sorted([row["task"], row["split"], row["verdict"]] for row in rows), "compare: the verdicts")
    titles = {f"{row['task']}, cope -> rope" for row in rows}
    check({plot["title"] for plot in plots} == titles, f"compare: the plots are {[plot['title'] for plot in plots]}")
    check_quiet(browser, "compare")
    return len(plots)


def check_claims(browser, results_tests, directory):
    """The verdicts are in a table, and the claims with a published difference in a plot."""
    page = os.path.join(directory, "claims.html")
    write_by_test(results_tests, "claims", page)
    for width, dark in [(1280, False), (390, True)]:
        browser.open(page, width, 900, dark)
        plots = browser.run("test.plots('scatter')")
        rows = [row[:2] for row in browser.run("test.table('.results')") if row[0]]
        verdicts = {"claim-0": "reproduced", "claim-1": "contradicted", "claim-2": "inconclusive", "claim-3": "not run"}
        check(rows == [list(row) for row in verdicts.items()], f"claims: the table has {rows}")
        names = [row[0] for row in plots[0]["rows"]]
        check(names == ["claim-0", "claim-1"], f"claims: the plot of published values has {names}")
        check_quiet(browser, "claims", width)
    check_form(browser, "claims", page, "claims: 4 claims about position encodings")
    return len(plots)


def check_board(browser, posbench, directory):
    """A strip for the mean and for each split of each task, in the order of the tiers, which the filter narrows."""
    page = os.path.join(directory, "board.html")
    subprocess.run([posbench, "board", "-t", "last_x_retrieval,flip_flop", "-o", page], check=True)
    task = told(posbench, "board", "-t", "last_x_retrieval")["tasks"][0]
    rows = task["rows"] + task["other_models"]
    for width, dark in [(1280, False), (390, True)]:
        browser.open(page, width, 900, dark)
        for task in ("flip_flop", "last_x_retrieval"):
            browser.run(f"test.open_row('{task}')")
            screens = browser.run("test.screens()")
            check(screens == [task], f"board: the screens are {screens}, expected {task}")
        strips = browser.run("test.plots('strip')")
        of_task = [strip for strip in strips if strip["details"]["task"] == "last_x_retrieval"]
        titles = [strip["title"] for strip in of_task]
        check(
            titles[:2] == ["out of distribution", "in_distribution"] and len(titles) == 8,
            f"board: the strips are {titles}",
        )
        means = of_task[0]["rows"]
        check([row[0] for row in means] == [row["encoding"] for row in rows], "board: the order of the tiers")
        check(all(close(shown[2], row["mean"]) for shown, row in zip(means, rows)), "board: the means")
        drawn = [strip["marks"]["means"] == min(100, len(strip["rows"])) for strip in of_task]
        check(all(drawn), f"board: what is drawn: {drawn}")
        check_quiet(browser, "board", width)
    browser.open(page, address="open=last_x_retrieval&family=rotary")
    rotary = sum(row["family"] == "rotary" for row in rows)
    shown = {strip["marks"]["means"] for strip in browser.run("test.plots('strip')") if strip["is_drawn"]}
    check(shown == {rotary}, f"board: filtered to {shown}, expected {rotary}")
    subprocess.run([posbench, "board", "-o", page], check=True)
    check_form(browser, "board", page, "The board of position encodings", "open=last_x_retrieval")
    return len(strips)


def check_sweep(browser, posbench, directory):
    """The phase diagrams of a small sweep: all cells with their values, and the filter leaves those of an encoding."""
    run = os.path.join(directory, "grid")
    run_smoke(posbench, "flip_flop", "rope,alibi", run, "--sweep=task.length=16,8,32", "--sweep=model.width=16,32")
    page = os.path.join(run, "report.html")
    diagrams = look_at(browser, page, "encodings")["Phase diagrams"]
    check(len(diagrams) == 8, f"{len(diagrams)} phase diagrams")
    for plot in diagrams:
        check([two_digits(row[2]) for row in plot["rows"]] == plot["texts"], f"{plot['title']}: {plot['texts']}")
    for title, *axes in browser.run("test.axes()"):
        for names in axes:
            numbers = [int(name.split()[0]) for name in names if name[0].isdigit()]
            check(numbers == sorted(numbers), f"{title}: the order of an axis is {names}")
    check_form(browser, "sweep", page, "grid: 2 position encodings on 6 tasks, 1 seed")
    browser.open(page, address="text=alibi")
    left = [title for title, *_ in browser.run("test.axes()")]
    check(len(left) == 4 and all("alibi" in title for title in left), f"filtered by text there are {left}")
    return len(diagrams)


def test(browser, directory, posbench, results_tests, *given):
    plots = check_claims(browser, results_tests, directory) + check_board(browser, posbench, directory)
    plots += sum(check_compare(browser, posbench, file, directory) for file in given)
    plots += check_sweep(browser, posbench, directory)
    return f"{plots} plots"


sys.exit(run_page_test("comparisons.js", test, *sys.argv[1:]))
