#!/usr/bin/env python3
"""Saves plots of a page as SVG files for a README or slides. Headless Chromium draws them.

    posbench report results/data/reference/report.json -o page.html
    scripts/picture.py page.html counting -o results/data/reference/accuracy_by_multiple.svg

Takes the first plot whose title has the given words in it; without -o it lists all titles.
"""

import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "results"))
from browser import Browser  # noqa: E402

TITLES = "[...document.querySelectorAll('figure')].map(figure => figure.querySelector('h3')?.textContent ?? '')"


def refuse(message):
    print(message, file=sys.stderr)
    sys.exit(2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", help="an HTML page of `posbench report`")
    parser.add_argument("title", nargs="?", default="", help="words of the plot's title")
    parser.add_argument("-o", "--output", help="an .svg file")
    parser.add_argument("--width", type=int, default=900, help="of the window, in pixels")
    request = parser.parse_args()
    if not os.path.exists(request.page):
        refuse(f"{request.page}: no such file; write it with posbench report REPORT -o {request.page}")
    if not Browser.find():
        refuse("this needs chromium; install it (scripts/install_dependencies.sh tests does)")
    with Browser() as browser:
        browser.open(request.page, request.width)
        titles = browser.run(TITLES)
        found = [n for n, title in enumerate(titles) if request.title.lower() in title.lower()]
        if not found:
            refuse(f"'{request.title}' is in no title of {request.page} (without a title and -o they are listed)")
        if not request.output:
            print("\n".join(titles[n] for n in found))
            return
        figure = f"document.querySelectorAll('figure')[{found[0]}]"
        browser.run(f"{figure}.scrollIntoView()")
        browser.run(
            f"new Promise(done => {{ const check = () => {figure}.querySelector('svg') ? done() : "
            "requestAnimationFrame(check); check(); })"
        )
        save = f"[...{figure}.querySelectorAll('button')].find(button => button.textContent.includes('SVG')).click()"
        svg = browser.run(
            f"new Promise(done => {{ URL.createObjectURL = blob => (blob.text().then(done), '#'); {save}; }})"
        )
    with open(request.output, "w", encoding="utf-8") as file:
        file.write(svg + "\n")


if __name__ == "__main__":
    main()
