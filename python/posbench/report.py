"""Loads and makes reports: those of the program's runs, and those of the answers of any other model."""

from __future__ import annotations

import gzip
import json
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ._program import InputError, Settings, call, configuration, parse_value, text_of
from .plots import Plots
from .samples import Samples
from .views import View, load_reports

if TYPE_CHECKING:
    import pandas


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
            data = path.read_bytes()
            data = json.loads(gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data)
        except OSError as error:
            raise InputError(f"{path}: {error.strerror or error}") from None
        except (EOFError, ValueError, zlib.error) as error:
            raise InputError(f"{path}: {error}") from None
        if not isinstance(data, dict) or data.get("schema_version") != 1 or "experiments" not in data:
            raise InputError(f"{path} is no report of posbench with schema_version 1")
        return cls(data)

    def save(self, path: str | Path) -> None:
        Path(path).write_text(json.dumps(self.data, indent=1) + "\n", encoding="utf-8")

    @property
    def experiments(self) -> list[Mapping[str, Any]]:
        experiments: list[Mapping[str, Any]] = self.data["experiments"]
        return experiments

    def rows(self) -> list[dict[str, Any]]:
        """Returns a row for each experiment, split and metric. `value` is the accuracy, or the loss or margin, which have no
        counts. An experiment that did not finish has one row, without split and metric. In a sweep, swept_task and
        swept_encoding are the specs without the swept options, and each swept value is a column. An extension has the encoding of
        its model as parent, and further_steps."""
        rows = []
        for e in self.experiments:
            about = {key: e[key] for key in ("task", "encoding", "seed", "status", "parameters", "steps")}
            if "swept" in e:
                about.update(swept_task=e["swept"]["task"], swept_encoding=e["swept"]["encoding"])
                about.update((value["name"], parse_value(value["value"])) for value in e["swept"]["values"])
            if "extends" in e:
                about.update(parent=e["extends"]["parent"], further_steps=e["extends"]["steps"])
            if not e["splits"]:
                rows.append(
                    dict(
                        about,
                        split=None,
                        kind=None,
                        metric=None,
                        value=None,
                        correct=None,
                        total=None,
                        low=None,
                        high=None,
                    )
                )
            for split in e["splits"]:
                for metric in ("token", "sequence"):
                    count = split[metric]
                    rows.append(
                        dict(
                            about,
                            split=split["name"],
                            kind=split["kind"],
                            metric=metric,
                            value=count["accuracy"],
                            correct=count["correct"],
                            total=count["total"],
                            low=count["low"],
                            high=count["high"],
                        )
                    )
                for metric in ("loss", "margin"):
                    if split.get(metric) is not None:
                        rows.append(
                            dict(
                                about,
                                split=split["name"],
                                kind=split["kind"],
                                metric=metric,
                                value=split[metric],
                                correct=None,
                                total=None,
                                low=None,
                                high=None,
                            )
                        )
        return rows

    def to_pandas(self) -> pandas.DataFrame:
        """Returns rows() as a DataFrame. Needs pandas: pip install 'posbench[pandas]'."""
        import pandas

        return pandas.DataFrame(self.rows())

    def to_parquet(self, path: str | Path) -> None:
        """Writes rows() as a Parquet file, with the configuration and the context as the metadata `posbench`. Needs
        pip install 'posbench[data]'."""
        from .data import rows_to_parquet

        about = {key: self.data[key] for key in ("schema_version", "config", "context") if key in self.data}
        rows_to_parquet(self.rows(), about, path)

    def plots(self, encodings: Sequence[str] | None = None) -> Plots:
        """Returns the plots of `posbench report -o page.html`. Jupyter draws them, and `plots().save(folder)` writes them
        as figures of a paper. Curves are those of the given encodings, or else of the first eight of the page."""
        return View("report", [self]).plots(encodings)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Returns the tables for Jupyter."""
        return {"text/markdown": View("report", [self]).markdown, "text/plain": repr(self)}

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
    return View("report", load_reports(reports)).write("console")


def run(
    *,
    tasks: Sequence[str] | None = None,
    encodings: Sequence[str] | None = None,
    seeds: int | Sequence[int] | None = None,
    profile: str | None = None,
    settings: Settings = (),
    config: str | Path | None = None,
    output: str | Path | None = None,
    jobs: int | None = None,
    save_models: bool = False,
    progress: bool = True,
    sweep: Mapping[str, Sequence[Any]] | None = None,
    reuse: str | Path | Sequence[str | Path] = (),
) -> Report:
    """Trains encodings of the program on tasks, as `posbench run` does. `output` is the run directory; `progress` shows
    the program's progress. `sweep` is a grid, {"model.width": [32, 64], "task.length": [16, 32]}. `reuse` are
    runs or reports whose experiments are taken over, if their settings are the same. Experiments that diverge are rows of the
    report too."""
    flags = configuration(profile, settings, config)
    for flag, names in (("-t", tasks), ("-e", encodings)):
        if names is not None:
            flags += [flag, ",".join([names] if isinstance(names, str) else map(_checked_name, names))]
    if seeds is not None:
        flags += ["-s", str(seeds) if isinstance(seeds, int) else "".join(f"{seed}," for seed in seeds)]
    if jobs is not None:
        flags += ["-j", str(jobs)]
    for name, values in (sweep or {}).items():
        flags += ["--sweep", f"{name}={','.join(map(text_of, values))}"]
    if save_models:
        flags += ["--save-models"]
    for run_or_report in [reuse] if isinstance(reuse, (str, Path)) else reuse:
        flags += ["--reuse", str(run_or_report)]
    if not progress:
        flags += ["-q"]
    with tempfile.TemporaryDirectory(prefix="posbench-") as folder:
        directory = Path(output) if output is not None else Path(folder) / "run"
        call(["run", *flags, "-o", directory], accept=(0, 1), progress=progress)
        return Report.load(directory)


def _checked_name(name: object) -> str:
    """Returns the name of a task or an encoding. Raises InputError for a class."""
    if isinstance(name, str):
        return name
    if isinstance(name, type):
        raise InputError(
            f"'{name.__name__}' is a class, expected the name of a task or an encoding of the program; "
            f"posbench.torch.run({name.__name__}, tasks) trains an encoding in PyTorch"
        )
    raise InputError(f"{name!r} is not a string, expected the name of a task or an encoding of the program")


def score(
    answers: Iterable[tuple[Samples, np.ndarray]],
    name: str,
    *,
    parameters: int = 0,
    description: str = "",
    output: str | Path | None = None,
) -> Report:
    """Returns a report of the answers of a model to test samples, given pairs of samples and answers.

    The second of a pair holds ids, (N, S), or logits or log-probabilities, (N, S, vocabulary), for the scored
    positions; or (N, T) and (N, T, vocabulary), for every position. All splits of each task and seed must be there.
    Raises InputError where something is missing, doubled, of another shape, or not a number.
    """
    model = {"name": name, "parameters": int(parameters), "description": description}
    with tempfile.TemporaryDirectory(prefix="posbench-") as folder:
        files = [
            write_answers(Path(folder) / f"{n}.npz", samples, values, model)
            for n, (samples, values) in enumerate(answers)
        ]
        return score_files(files, output)


def write_answers(path: Path, samples: Samples, values: np.ndarray, model: Mapping[str, Any]) -> Path:
    """Writes one file of answers with its manifest."""
    values = np.asarray(values)
    rows, width = values.shape[:2] if values.ndim >= 2 else (0, 0)
    is_logits = values.ndim == 3 and np.issubdtype(values.dtype, np.floating)
    if rows != len(samples) or not (is_logits or (values.ndim == 2 and np.issubdtype(values.dtype, np.integer))):
        raise InputError(
            f"answers of shape {values.shape} and type {values.dtype}; expected integers of shape "
            f"({len(samples)}, S) or floats of shape ({len(samples)}, S, vocabulary)"
        )
    if width == samples.tokens.shape[1]:
        values = samples.at_scored(values)
    if is_logits and values.dtype not in (np.float32, np.float64):
        values = values.astype(np.float32)
    arrays: dict[str, Any] = {
        "index": samples.index,
        "logits" if is_logits else "answers": np.ascontiguousarray(values),
    }
    np.savez(path, **arrays)
    _manifest_path(path).write_text(json.dumps(dict(samples.manifest, model=dict(model))))
    return path


def write_unfinished(path: Path, samples: Samples, model: Mapping[str, Any]) -> Path:
    """Writes a manifest without answers for a model whose training diverged or failed."""
    path = _manifest_path(path)
    path.write_text(json.dumps(dict(samples.manifest, model=dict(model))))
    return path


def score_files(files: Iterable[Path], output: str | Path | None = None) -> Report:
    """Runs `posbench score`."""
    with tempfile.TemporaryDirectory(prefix="posbench-") as folder:
        path = Path(output) if output is not None else Path(folder) / "report.json"
        files = list(files)
        if not files:
            raise InputError("there are no answers to score")
        call(["score", *files, "-o", path], accept=(0, 1))
        return Report.load(path)


def _manifest_path(path: Path) -> Path:
    return path.with_name(path.name + ".manifest.json")
