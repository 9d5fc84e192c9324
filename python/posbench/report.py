"""Loads, shows and compares reports."""

from __future__ import annotations

import gzip
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._program import Argument, InputError, flags_of, load_json, parse_value, write_json
from .parquet import rows_to_parquet
from .plots import Plots
from .views import View

if TYPE_CHECKING:
    import pandas


_SOLVED = 0.99  # a predictor that solves the split is no trivial one
_COUNTS = ("correct", "total", "low", "high")
_NO_RESULT = dict.fromkeys(("split", "kind", "metric", "value", *_COUNTS, "multiple"))


def _results(split: Mapping[str, Any], trivial: float | None) -> Iterator[dict[str, Any]]:
    """Yields the result of each metric of a split, whose best trivial predictor has the given accuracy."""
    about = {"split": split["name"], "kind": split["kind"]}
    for metric in ("token", "sequence"):
        count = split[metric]
        yield {**about, "metric": metric, "value": count["accuracy"], **{key: count[key] for key in _COUNTS}}
    if trivial is not None:
        above = max(0.0, (split["token"]["accuracy"] - trivial) / (1 - trivial)) if trivial < 1 else 0.0
        yield {**about, "metric": "above_trivial", "value": above}
    for metric, at in (("sequence", 3), ("token", 1)):
        if by_length := split.get("by_length"):
            counts = [
                point[at : at + 2] if isinstance(point, list) else list(point[metric].values())[:2]
                for point in by_length
            ]
            values = [correct / total for correct, total in counts if total > 0]
            if values:
                yield {**about, "metric": f"{metric}_over_lengths", "value": sum(values) / len(values)}
    for metric in ("loss", "margin"):
        if split.get(metric) is not None:
            yield {**about, "metric": metric, "value": split[metric]}


def _grid_results(grid: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields the accuracies at each multiple of a grid: of the length, of the length with far evidence, or of the distance."""
    for point in grid["points"]:
        multiple = point["multiple"]
        about = {"split": f"{grid['option']}={multiple:g}x", "kind": "grid", "multiple": multiple}
        for metric in ("token", "sequence"):
            count = point[metric]
            yield {**about, "metric": metric, "value": count["accuracy"], **{key: count[key] for key in _COUNTS}}


@dataclass(frozen=True)
class Report:
    """A report as `posbench run` and `posbench score` write it; `data` is its JSON."""

    data: Mapping[str, Any] = field(repr=False)

    @classmethod
    def load(cls, path: str | Path) -> Report:
        """Reads a report, which gzip may have compressed, or the report of a run directory. Raises InputError
        otherwise."""
        path = Path(path)
        if path.is_dir():
            kept = path / "report.json.gz"
            path = kept if kept.exists() and not (path / "report.json").exists() else path / "report.json"
        try:
            packed = path.read_bytes()
            text = gzip.decompress(packed) if packed.startswith(b"\x1f\x8b") else packed
        except OSError as error:
            raise InputError(f"{path}: {error.strerror or error}") from None
        except (EOFError, ValueError, zlib.error) as error:
            raise InputError(f"{path}: {error}") from None
        data = load_json(text, path)
        if not isinstance(data, dict) or data.get("schema_version") != 1 or "experiments" not in data:
            raise InputError(f"{path} is no report of posbench with schema_version 1")
        return cls(data)

    def save(self, path: str | Path) -> None:
        write_json(Path(path), self.data)

    @property
    def experiments(self) -> list[Mapping[str, Any]]:
        experiments: list[Mapping[str, Any]] = self.data["experiments"]
        return experiments

    def rows(self) -> list[dict[str, Any]]:
        """Returns a row for each experiment, split and metric, and for each multiple of the trained length that was tested,
        whose kind is "grid" and whose split is such as "far=4x". `value` is the accuracy, or the loss or margin, which have no
        counts. An experiment that did not finish has one row, without split and metric. In a sweep, swept_task and
        swept_encoding are the specs without the swept options, and each swept value is a column. An extension has the encoding of
        its model as parent, and further_steps. `posbench report RUN --format csv` has the same rows."""
        rows = []
        trivial = {
            task["task"]: {
                split["name"]: max(split["chance"], *(a for a in split["trivial"].values() if a < _SOLVED), 0.0)
                for split in task["splits"]
            }
            for task in self.data.get("tasks", [])
        }
        for e in self.experiments:
            about = {key: e[key] for key in ("task", "encoding", "seed", "status", "parameters", "steps")}
            if "swept" in e:
                about.update(swept_task=e["swept"]["task"], swept_encoding=e["swept"]["encoding"])
                about.update((value["name"], parse_value(value["value"])) for value in e["swept"]["values"])
            if "extends" in e:
                about.update(parent=e["extends"]["parent"], further_steps=e["extends"]["steps"])
            of_task = trivial.get(e["task"], {})
            results = [row for split in e["splits"] for row in _results(split, of_task.get(split["name"]))]
            results += [row for grid in e.get("grid", []) for row in _grid_results(grid)]
            rows += [{**about, **_NO_RESULT, **result} for result in results or [{}]]
        return rows

    def to_pandas(self) -> pandas.DataFrame:
        """Returns rows() as a DataFrame. Needs pandas: pip install 'posbench[pandas]'."""
        import pandas

        return pandas.DataFrame(self.rows())

    def to_parquet(self, path: str | Path) -> None:
        """Writes rows() as a Parquet file, with the configuration and the context as the metadata `posbench`. Needs
        pip install 'posbench[data]'."""
        about = {key: self.data[key] for key in ("schema_version", "config", "context") if key in self.data}
        rows_to_parquet(self.rows(), about, path)

    def plots(self, encodings: Sequence[str] | None = None) -> Plots:
        """Returns the plots of `posbench report -o page.html`. Jupyter draws them, and `plots().save(folder)` writes them
        as figures of a paper. Curves are those of the given encodings, or else of the first eight of the page."""
        return View("report", [self.data]).plots(encodings)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Returns the tables for Jupyter."""
        return {"text/markdown": View("report", [self.data]).markdown, "text/plain": repr(self)}

    def __repr__(self) -> str:
        def counted(key: str) -> str:
            count = len({e[key] for e in self.experiments})
            return f"{count} {key if count == 1 else key + 's'}"

        states = Counter(e["status"] for e in self.experiments if e["status"] != "ok")
        parts = [counted("task"), counted("encoding"), counted("seed"), f"{len(self.experiments)} experiments"]
        return (
            f"<posbench.Report: {', '.join(parts + [f'{count} {state}' for state, count in sorted(states.items())])}>"
        )

    def __str__(self) -> str:
        return table(self)


def table(*reports: Report | str | Path) -> str:
    """Returns the tables of reports next to each other, as `posbench report` prints them."""
    return show("report", reports).write("console")


def compare(
    baseline: Report | str | Path,
    *candidates: Report | str | Path,
    match: Mapping[str, str] | None = None,
    stored: Sequence[str] | None = None,
    metric: str | None = None,
    allow_different_budget: bool = False,
) -> View:
    """Compares reports as `posbench compare` does, and tests whether the differences exceed the noise of the seeds.
    `match` pairs encodings of different names, {"cope": "cope:positions=16"}. `stored` names encodings whose stored results
    are compared with the one report: compare(mine, stored=["rope", "alibi", "cope"])."""
    pairs = [flag for before, after in (match or {}).items() for flag in ("--match", f"{before}={after}")]
    flags = flags_of({"--with": stored, "--metric": metric, "--allow-different-budget": allow_different_budget})
    return show("compare", (baseline, *candidates), [*pairs, *flags])


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
    options = {"-t": tasks, "-e": encodings, "--split": split, "--metric": metric}
    flags = flags_of({**options, "--only-own": only_own, "--allow-different-budget": allow_different_budget})
    return show("board", reports, flags)


def show(command: str, reports: Sequence[Report | str | Path], flags: Sequence[Argument] = ()) -> View:
    """Runs a command on reports. Raises InputError for invalid arguments."""
    loaded = [report if isinstance(report, Report) else Report.load(report) for report in reports]
    view = View(command, [report.data for report in loaded], flags)
    _ = view.markdown
    return view
