"""Writes the plots of reports as files for a paper.

python -m posbench.figures RUN... -o DIR     SVG, PDF and PNG, without a browser; needs pip install 'posbench[figures]'
"""

from __future__ import annotations

import argparse
import re
import sys

from ._program import PosbenchError
from .plots import _FORMATS
from .report import Report
from .views import View


def split_specs(text: str) -> list[str]:
    """Splits a list of encodings at its commas, except for those between options and in parentheses."""
    specs: list[str] = []
    depth = start = 0
    for at, letter in enumerate(text + ","):
        depth += (letter == "(") - (letter == ")")
        if letter != "," or depth != 0:
            continue
        piece, start = text[start:at], at + 1
        if specs and re.match(r"[\w.]+=", piece):
            specs[-1] += "," + piece
        else:
            specs.append(piece)
    return specs


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
    parser.add_argument("--formats", default=",".join(_FORMATS), help="comma-separated formats [svg,pdf,png]")
    parser.add_argument("--plots", metavar="TEXT", help="only plots with this text in the section or title")
    parser.add_argument(
        "-e",
        "--encodings",
        help="comma-separated encodings of curves, as in 'rope,cope:positions=16' [the first eight]",
    )
    given = parser.parse_args()
    try:
        plots = View("report", [Report.load(run) for run in given.runs]).plots(
            given.encodings and split_specs(given.encodings)
        )
        plots = plots[given.plots] if given.plots else plots
        files = plots.save(given.output, formats=given.formats.split(","), width=given.width, font_size=given.font_size)
    except (PosbenchError, OSError) as error:
        print(f"posbench.figures: {error}", file=sys.stderr)
        return 2 if isinstance(error, ValueError) else 1
    for file in files:
        print(file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
