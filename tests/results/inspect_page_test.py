"""Opens pages of `posbench inspect` in a headless Chromium: of one example, and of many samples.

    inspect_page_test.py POSBENCH

Exit code 77: skipped, no Chromium.
"""

import os
import subprocess
import sys

from page_checks import check, look_at, run_page_test, run_smoke, told

TASK = "last_x_retrieval"


def map_title(one):
    return f"Layer {one['layer']}, head {one['head']}: {one['name']}"


def check_query_plots(page, plots, inspected):
    """The plots of one query have the values of the JSON for the last scored query: a curve for each head."""
    query = inspected["scored"][-1]
    curves = {title: plot for title, plot in plots.items() if plot["kind"] == "curve"}
    layers = {one["layer"] for one in inspected["maps"]}
    check(len(curves) == 2 * len(layers), f"{page}: the plots of a query are {sorted(curves)}")
    for title, plot in curves.items():
        name = next(name for name in ("positional part", "position-position", "attention") if f": {name} of" in title)
        expected = {
            (f"layer {one['layer']}, head {one['head']}", key): value
            for one in inspected["maps"]
            if one["name"] == name and title.startswith(f"Layer {one['layer']}:")
            for key, value in enumerate(one["values"][query])
            if value is not None
        }
        check({(row[0], row[1]): row[2] for row in plot["rows"]} == expected, f"{page}: {title}: other values")
    return len(curves)


def check_maps(page, plots, inspected):
    """The maps have the values of the JSON, and colors that distinguish the signs of their values."""
    for one in inspected["maps"]:
        plot = plots[map_title(one)]
        low, high = plot["colors"]
        values = [value for row in one["values"] for value in row]
        check(
            low == -high if min(values) < 0 or len(set(values)) == 1 else low >= 0,
            f"{page}: {plot['title']}: the colors reach from {low} to {high}",
        )
        check([row[2] for row in plot["rows"]] == values, f"{page}: {plot['title']}: other values")
    return len(inspected["maps"])


def check_inspection(browser, posbench, run, directory):
    """The maps of `posbench inspect` have a cell for every pair of a query and a key that it sees, as its JSON has."""
    count = 0
    for encoding, names in [
        ("cope", {"gate", "contextual position"}),
        ("dape", {"bias before the network", "bias after the network"}),
        ("sinusoidal", {"content-content", "position-position"}),
    ]:
        page, command = os.path.join(directory, f"{encoding}.html"), [posbench, "inspect", run, TASK, encoding]
        subprocess.run([*command, "-o", page], check=True)
        inspected = told(*command)
        plots = {plot["title"]: plot for plots in look_at(browser, page, "heads").values() for plot in plots}
        maps = {title for title, plot in plots.items() if plot["kind"] == "heat"}
        check(
            maps == set(map(map_title, inspected["maps"])) and names < {one["name"] for one in inspected["maps"]},
            f"{page}: the maps are {sorted(maps)}",
        )
        count += check_query_plots(page, plots, inspected) + check_maps(page, plots, inspected)
    return count


def check_over(browser, posbench, run, directory):
    """The page of many samples of CoPE has curves by distance."""
    page = os.path.join(directory, "over.html")
    subprocess.run([posbench, "inspect", run, TASK, "cope", "--over", "16", "-o", page], check=True)
    sections = look_at(browser, page, "heads")
    titles = [plot["title"] for plots in sections.values() for plot in plots]
    expected = ["mean attention", "mean positional part of the score"]
    check(titles == expected, f"over many samples there are {titles}")
    return len(titles)


def test(browser, directory, posbench):
    run = os.path.join(directory, "run")
    run_smoke(posbench, TASK, "cope,dape,sinusoidal", run, "--save-models")
    plots = check_inspection(browser, posbench, run, directory) + check_over(browser, posbench, run, directory)
    return f"{plots} plots and tables"


sys.exit(run_page_test("", test, *sys.argv[1:]))
