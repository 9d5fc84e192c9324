"""Shows reports, comparisons and boards in notebooks: the tables and the plots of the program."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ._program import Argument, call, write_json
from .plots import Plots, plots_of


class View:
    """The output of a command of the program about reports. Jupyter displays its tables; `plots()` are its plots."""

    def __init__(self, command: str, reports: Sequence[Mapping[str, Any]], flags: Sequence[Argument] = ()):
        self._command, self._reports, self._flags = command, tuple(reports), tuple(flags)

    def write(self, form: str) -> str:
        """Returns the output in a format of the program, such as console, markdown, latex, csv, json or html."""
        with tempfile.TemporaryDirectory(prefix="posbench-") as folder:
            paths = [Path(folder) / f"{n}.json" for n in range(1, len(self._reports) + 1)]
            for report, path in zip(self._reports, paths):
                write_json(path, report)
            output = Path(folder) / "output"
            call([self._command, *paths, *self._flags, "--format", form, "-q", "-o", output], accept=(0, 1))
            return output.read_text(encoding="utf-8").replace(f"{folder}/", "")

    @cached_property
    def markdown(self) -> str:
        """Returns the tables in Markdown."""
        return self.write("markdown")

    @cached_property
    def _plots(self) -> str:
        return self.write("plots")

    def plots(self, encodings: Sequence[str] | None = None) -> Plots:
        """Returns the plots of the page of the program, for notebooks and papers. Curves are those of the given encodings,
        or else of the first eight of the page."""
        return plots_of(self._plots, encodings)

    def __str__(self) -> str:
        return self.write("console")

    def __repr__(self) -> str:
        return f"<posbench {self._command}: {len(self._reports)} reports>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Mapping[str, str]:
        """Returns the tables for Jupyter."""
        return {"text/markdown": self.markdown, "text/plain": str(self)}
