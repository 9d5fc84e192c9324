"""Writes the plots of reports as files for a paper.

python -m posbench.figures RUN... -o DIR     PDF, SVG or PNG, without a browser; needs pip install 'posbench[figures]'
"""

from __future__ import annotations

import argparse
import sys

from ._program import InputError, PosbenchError, flags_of
from .plots import FORMATS
from .report import show


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m posbench.figures", description="Writes the plots of reports as files."
    )
    parser.add_argument("runs", nargs="+", help="reports or run directories; several are shown together")
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="folder of the figures")
    parser.add_argument(
        "--width", type=float, default=5.5, help="width in inches, as the line width of the paper [5.5]"
    )
    parser.add_argument("--font-size", type=float, default=8, help="size of labels in points [8]")
    parser.add_argument("--formats", default="pdf", help=f"comma-separated formats of {', '.join(FORMATS)} [pdf]")
    parser.add_argument(
        "--plots", metavar="TEXT", help="plots with this text in the section or title, or all [the first section]"
    )
    parser.add_argument("-t", "--tasks", help="comma-separated tasks [all]")
    parser.add_argument("-e", "--encodings", help="comma-separated encodings [all, and the first eight of curves]")
    given = parser.parse_args()
    try:
        plots = show("report", given.runs, flags_of({"-t": given.tasks, "-e": given.encodings})).plots()
        if not len(plots):
            raise InputError("the report has no plots")
        if given.plots != "all":
            plots = plots[given.plots or plots[0].section]
        files = plots.save(given.output, formats=given.formats.split(","), width=given.width, font_size=given.font_size)
    except (PosbenchError, OSError) as error:
        print(f"posbench.figures: {error}", file=sys.stderr)
        return 2 if isinstance(error, ValueError) else 1
    for file in files:
        print(file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
