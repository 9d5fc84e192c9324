"""Opens pages of `posbench inspect` in a headless Chromium: of one example, of a long one, and of many samples.

    inspect_page_test.py POSBENCH

Exit code 77: skipped, no Chromium.
"""

import json
import os
import subprocess
import sys
import urllib.parse

from page_checks import LOOK, check, look_at, run_page_test, run_smoke


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


def check_maps(page, plots, told):
    """The maps have the values of the JSON, and colors that distinguish the signs of their values."""
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
    return len(told["maps"])


def check_inspection(browser, posbench, directory):
    """The maps of `posbench inspect` have a cell for every pair of a query and a key that it sees, as its JSON has."""
    run = os.path.join(directory, "run")
    run_smoke(posbench, "last_x_retrieval", "cope,dape,sinusoidal,alibi", run, "--save-models")
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
        count += check_maps(page, plots, told)
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


def check_over(browser, posbench, directory):
    """The page of many samples of CoPE: heads, distances, the right key, parts, counts."""
    run, page = os.path.join(directory, "saved"), os.path.join(directory, "over.html")
    run_smoke(posbench, "last_x_retrieval", "cope", run, "--save-models")
    subprocess.run([posbench, "inspect", run, "last_x_retrieval", "cope", "--over", "16", "-o", page], check=True)
    sections = look_at(browser, page, "heads")
    titles = [plot["title"] for plots in sections.values() for plot in plots if plot["kind"] != "table"]
    check(
        titles
        == [
            "mean attention",
            "mean positional part of the score",
            "Attention around the right key",
            "Contextual position of the right key",
        ],
        f"over many samples there are {titles}",
    )
    return len(titles)


def test(browser, directory, posbench):
    plots = check_inspection(browser, posbench, directory) + check_over(browser, posbench, directory)
    return f"{plots} plots and tables"


sys.exit(run_page_test(test, *sys.argv[1:]))
