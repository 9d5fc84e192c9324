"""Shows reports, comparisons and boards in notebooks: the tables and the plots of the program."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._program import Argument, call
from .plots import Plots, plots_of

if TYPE_CHECKING:
    from .report import Report


class View:
    """The output of a command of the program about reports. Jupyter displays its tables; `plots()` are its plots."""

    def __init__(self, command: str, reports: Sequence[Report], flags: Sequence[Argument] = ()):
        self._command, self._reports, self._flags = command, tuple(reports), tuple(flags)

    def write(self, form: str) -> str:
        """Returns the output in a format of the program: console, markdown, latex, csv, json or html."""
        with tempfile.TemporaryDirectory(prefix="posbench-") as folder:
            paths = [Path(folder) / f"{n}.json" for n in range(1, len(self._reports) + 1)]
            for report, path in zip(self._reports, paths):
                report.save(path)
            output = Path(folder) / "output"
            call([self._command, *paths, *self._flags, "--format", form, "-q", "-o", output], accept=(0, 1))
            return output.read_text(encoding="utf-8").replace(f"{folder}/", "")

    @cached_property
    def markdown(self) -> str:
        """Returns the tables in Markdown."""
        return self.write("markdown")

    @cached_property
    def _page(self) -> str:
        return self.write("html")

    def plots(self, encodings: Sequence[str] | None = None) -> Plots:
        """Returns the plots of the page of the program, for notebooks and papers. Curves are those of the given encodings,
        or else of the first eight of the page."""
        return plots_of(self._page, encodings)

    def __str__(self) -> str:
        return self.write("console")

    def __repr__(self) -> str:
        return f"<posbench {self._command}: {len(self._reports)} reports>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Mapping[str, str]:
        """Returns the tables for Jupyter."""
        return {"text/markdown": self.markdown, "text/plain": str(self)}


def compare(
    baseline: Report | str | Path,
    *candidates: Report | str | Path,
    match: Mapping[str, str] | None = None,
    metric: str | None = None,
    allow_different_budget: bool = False,
) -> View:
    """Compares reports as `posbench compare` does, and tests whether the differences exceed the noise of the seeds.
    `match` pairs encodings of different names, {"cope": "cope:positions=16"}."""
    flags: list[Argument] = []
    for before, after in (match or {}).items():
        flags += ["--match", f"{before}={after}"]
    return _view("compare", (baseline, *candidates), flags, metric, allow_different_budget)


def board(
    *reports: Report | str | Path,
    tasks: Sequence[str] | None = None,
    encodings: Sequence[str] | None = None,
    split: str | None = None,
    metric: str | None = None,
    only_own: bool = False,
    allow_different_budget: bool = False,
) -> View:
    """Ranks all encodings on tasks in tiers, and those of the given reports among them, as `posbench board` does."""
    flags: list[Argument] = ["--only-own"] if only_own else []
    for flag, names in (("-t", tasks), ("-e", encodings)):
        if names is not None:
            flags += [flag, names if isinstance(names, str) else ",".join(names)]
    if split is not None:
        flags += ["--split", split]
    return _view("board", reports, flags, metric, allow_different_budget)


def load_reports(reports: Sequence[Report | str | Path]) -> list[Report]:
    """Returns the reports, and reads those that are given as paths."""
    from .report import Report

    return [report if isinstance(report, Report) else Report.load(report) for report in reports]


def _view(
    command: str,
    reports: Sequence[Report | str | Path],
    flags: list[Argument],
    metric: str | None,
    allow_different_budget: bool,
) -> View:
    if metric is not None:
        flags += ["--metric", metric]
    if allow_different_budget:
        flags += ["--allow-different-budget"]
    view = View(command, load_reports(reports), flags)
    _ = view.markdown  # raises InputError for invalid arguments
    return view
