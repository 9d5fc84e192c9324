"""Writes the site of `posbench site`, checks its files, and opens pages in a headless Chromium.

    site_test.py POSBENCH REPORT

The report is added to a second site as a submission. If the Python package axe_core_python is installed, pages are checked
with axe too. Exit code 77: the files were checked, but there is no Chromium.
"""

import html.parser
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.parse
from pathlib import Path

from browser import Browser
from page_checks import SCRIPTS, check, faults

MOST_BYTES = 30_000_000


class Reader(html.parser.HTMLParser):
    """Collects the links, ids, headings, scripts and tables of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.ids, self.headings, self.scripts, self.tables = [], [], [], [], {}
        self.labels, self.styles, self._table, self._cell = set(), 0, None, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.links += [given[name] for name in ("href", "src") if name in given]
        if "id" in given:
            self.ids.append(given["id"])
        if "for" in given:
            self.labels.add(given["for"])
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "script":
            self.scripts.append(given)
        if tag == "style":
            self.styles += 1
        if tag == "table":
            self._table = self.tables.setdefault(given["aria-label"], [])
        if self._table is not None and tag == "tr":
            self._table.append([])
        if self._table is not None and tag in ("td", "th"):
            self._cell = ""

    def handle_endtag(self, tag):
        if tag == "table":
            self._table = None
        if self._cell is not None and tag in ("td", "th"):
            self._table[-1].append(self._cell)
            self._cell = None

    def handle_data(self, data):
        if self._cell is not None:
            self._cell += data


def run(posbench, *arguments):
    return subprocess.run([posbench, *map(str, arguments)], text=True, capture_output=True)


def told(posbench, *arguments):
    outcome = run(posbench, *arguments)
    assert outcome.returncode == 0, outcome.stderr
    return outcome.stdout


def read_pages(site):
    return {str(path.relative_to(site)): Reader(path.read_text()) for path in sorted(site.rglob("*.html"))}


def read_names(site):
    text = (site / "files/names.js").read_text()
    return json.loads(text.removeprefix("const posbench_names = ").rstrip().removesuffix(";"))


def check_links(site, pages):
    """Every link leads to a file of the site, and to an id that it has."""
    count = 0
    for name, page in pages.items():
        for link in page.links:
            count += 1
            parts = urllib.parse.urlsplit(link)
            check(not parts.scheme and not parts.netloc, f"{name}: links to {link}")
            path = urllib.parse.unquote(parts.path)
            target = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
            check((site / target).is_file(), f"{name}: no file for {link}")
            if parts.fragment and target in pages:
                check(parts.fragment in pages[target].ids, f"{name}: no place for {link}")
    return count


def check_form(pages):
    """Headings are in order, ids are unique, and styles and scripts are files."""
    for name, page in pages.items():
        levels = page.headings
        check(levels[:1] == [1] and levels.count(1) == 1, f"{name}: the headings begin with {levels[:1]}")
        check(all(b - a <= 1 for a, b in zip(levels, levels[1:])), f"{name}: the headings are {levels}")
        check(len(page.ids) == len(set(page.ids)), f"{name}: an id occurs twice")
        check(not page.styles, f"{name}: has a style of its own")
        inline = [script for script in page.scripts if "src" not in script and script.get("type") != "application/json"]
        check(not inline, f"{name}: has a script of its own")
        check("query" in page.labels, f"{name}: the search has no label")


def check_addresses(posbench, site, pages):
    """Every encoding, task and claim has a page, which the index links and the search finds."""
    kinds = {
        "encoding": {item["id"] for item in json.loads(told(posbench, "list", "encodings", "--json"))["encodings"]},
        "task": {item["id"] for item in json.loads(told(posbench, "list", "tasks", "--json"))["tasks"]},
        "claim": {item["claim"] for item in json.loads(told(posbench, "reproduce", "--list", "--format", "json"))},
    }
    entries = read_names(site)
    for kind, names in kinds.items():
        found = {entry["name"]: entry["address"] for entry in entries if entry["kind"].startswith(kind)}
        check(names and found.keys() >= names, f"the search lacks {kind}s: {names - found.keys()}")
        for name, address in found.items():
            check(address in pages, f"{name}: no page {address}")
            check(address in pages["index.html"].links, f"{name}: the index has no link to {address}")
    aliases = {entry["name"]: entry["aliases"] for entry in entries}
    check("nope" in aliases["none"] and "LLaMA" in aliases["rope"], f"the aliases are {aliases}")
    return sum(map(len, kinds.values()))


def check_tables(posbench, pages):
    """The tables have what the board and the claims print."""
    answers = pages["questions.html"].tables
    check(
        len(answers) >= 5 and answers["2. Does YaRN that is always on cost short prompts?"][1:],
        f"the answers: {answers}",
    )
    claims = json.loads(told(posbench, "reproduce", "--list", "--format", "json"))
    shown = {row[0]: row[1:3] for row in pages["index.html"].tables["Claims"][1:]}
    listed = {claim["claim"]: [claim["confirmation"], claim["exploration"]] for claim in claims}
    check(shown == listed, f"the verdicts are {shown}")
    encodings = {row[0] for row in pages["index.html"].tables["Encodings"][1:]}
    listed = json.loads(told(posbench, "list", "encodings", "--json"))["encodings"]
    check(encodings >= {item["id"] for item in listed}, f"the index has {encodings}")


def check_cross_links(pages):
    """Encodings link to tasks and to claims about them, tasks to encodings and claims, and claims to both."""
    rope, task, claim = (
        pages[f"{name}.html"].links for name in ("encodings/rope", "tasks/flip_flop", "claims/cope-flip-flop-over-rope")
    )
    for links, expected in (
        (rope, ["../tasks/flip_flop.html", "../claims/cope-flip-flop-over-rope.html"]),
        (task, ["../encodings/rope.html", "../claims/cope-flip-flop-over-rope.html"]),
        (claim, ["../encodings/rope.html", "../encodings/cope.html", "../tasks/flip_flop.html"]),
    ):
        check(all(link in links for link in expected), f"no links to {expected}")


def check_submission(posbench, folder, site, report):
    """A site with a submission replaces the first one. It has a page for each of the encodings of the submission."""
    outcome = run(posbench, "site", "-o", f"{site}/", "--force", "--submissions", report)
    check(outcome.returncode == 0, f"with a submission: {outcome.stderr}")
    pages = read_pages(site)
    check_links(site, pages)
    added = [
        entry for entry in read_names(site) if entry["kind"].startswith("encoding") and "report.json" in entry["name"]
    ]
    submitted = {experiment["encoding"] for experiment in json.loads(report.read_text())["experiments"]}
    check(len(added) == len(submitted), f"the submission has {len(submitted)} encodings, the site {added}")
    for entry in added:
        check(entry["address"] in pages, f"no page for {entry}")
        links = pages["tasks/flip_flop.html"].links
        check("../" + entry["address"] in links, f"flip_flop does not link to {entry['address']}")
    left = [path.name for path in folder.iterdir() if path.name.startswith(".posbench")]
    check(not left, f"temporary folders are left: {left}")


def number_of(text):
    return float(re.search(r"\d+(\.\d+)?", text)[0])


def check_sorting(browser, site):
    browser.open(site / "index.html")
    for column, first, is_number in (
        ("cost", "descending", True),
        ("encoding", "ascending", False),
        ("learned", "descending", True),
    ):
        seen = browser.run(f"test.sorted('{column}')")
        check(
            [s["order"] for s in seen] == [first, "ascending" if first == "descending" else "descending"],
            f"{column}: sorted {[s['order'] for s in seen]}",
        )
        for state in seen:
            texts = [text for text in state["cells"] if text != "-"]
            values = [number_of(text) if is_number else text.lower() for text in texts]
            check(
                values == sorted(values, reverse=state["order"] == "descending") and len(set(values)) > 5,
                f"{column}, {state['order']}: {values}",
            )
            check("-" not in state["cells"][: len(texts)], f"{column}: an empty cell is not last")
    check(not browser.problems, f"sorting: {browser.problems}")


def check_search(browser, site):
    for page in ("index.html", "encodings/rope.html"):
        for text, expected in (
            ("nope", "none"),
            ("llama", "rope"),
            ("flip-flop cope", "cope-flip-flop"),
            ("xyzxyz", None),
        ):
            browser.open(site / page)
            found = browser.run(f"test.found('{text}')")
            names = [name for name, _ in found]
            right = not found if expected is None else names and names[0].startswith(expected)
            check(right, f"{page}: '{text}' finds {names}, expected {expected}")
            for _, address in found:
                check(Path(urllib.parse.unquote(urllib.parse.urlsplit(address).path)).is_file(), f"{page}: {address}")


# Pages, and whether they have plots.
LOOKED_AT = {
    "index.html": True,
    "encodings/rope.html": True,
    "encodings/grape_a_querykeygated.html": True,
    "tasks/flip_flop.html": True,
    "tasks/text.html": False,
    "claims/cope-flip-flop-over-rope.html": True,
    "board.html": True,
    "reference.html": True,
    "licenses.html": False,
}


def find_axe():
    """Returns the script of axe; None if the package is not installed."""
    package = importlib.util.find_spec("axe_core_python")
    return Path(package.origin).with_name("axe.min.js").read_text() if package else None


def check_accessible(browser, axe, name):
    """Axe finds nothing serious."""
    browser.run(axe + "; 0")
    found = browser.run("test.violations()")
    for impact, rule, count, example in found:
        check(impact not in ("serious", "critical"), f"{name}: {impact}: {rule}, {count} times: {example}")


def check_pages(browser, site, axe):
    for page, has_plots in LOOKED_AT.items():
        for width, dark in ((1280, False), (390, False), (1280, True), (390, True)):
            if page in ("board.html", "reference.html") and (width == 390) != dark:
                continue  # these take long
            name = f"{page}, {width} wide, {'dark' if dark else 'light'}"
            browser.open(site / page, width, 900, dark)
            seen = browser.run("test.look()")
            check(not browser.problems and not seen["problems"], f"{name}: {browser.problems} {seen['problems']}")
            check(seen["width"] <= width, f"{name}: {seen['width']} wide")
            check((seen["paper"] == "rgb(255, 255, 255)") != dark, f"{name}: the paper is {seen['paper']}")
            check((seen["views"] > 0) == has_plots and seen["drawn"] == seen["views"], f"{name}: {seen}")
            outside = [url for url in browser.requests if not url.startswith(("file:///", "about:"))]
            check(not outside, f"{name}: asked for {outside}")
            if axe:
                check_accessible(browser, axe, name)


def main():
    posbench, report = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        site = folder / "site"
        print(told(posbench, "site", "-o", site), end="")
        pages = read_pages(site)
        bytes_of = sum(path.stat().st_size for path in site.rglob("*") if path.is_file())
        check(bytes_of < MOST_BYTES, f"the site has {bytes_of} bytes")
        names = check_addresses(posbench, site, pages)
        links = check_links(site, pages)
        check_form(pages)
        check_cross_links(pages)
        check_tables(posbench, pages)
        print(f"{len(pages)} pages, {names} names, {links} links, {bytes_of / 1e6:.1f} MB")
        if Browser.find():
            axe = find_axe()
            print("with axe" if axe else "without axe")
            with Browser(SCRIPTS / "site.js") as browser:
                check_sorting(browser, site)
                check_search(browser, site)
                check_pages(browser, site, axe)
        check_submission(posbench, folder, site, report)
    for fault in faults:
        print(fault)
    if faults:
        sys.exit(1)
    if not Browser.find():
        print("skipped: no Chromium (Debian: chromium); the files are right")
        sys.exit(77)


main()
