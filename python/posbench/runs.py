"""Makes reports: of the program's runs, and of the answers of any other model."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import _safetensors
from ._program import Argument, InputError, Settings, call, configuration, flags_of, seeds_of, text_of, write_json
from .report import Report
from .samples import Samples


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
    flags: list[Argument] = configuration(profile, settings, config)
    for flag, names in (("-t", tasks), ("-e", encodings)):
        if names is not None:
            flags += [flag, names if isinstance(names, str) else ",".join(map(_checked_name, names))]
    if seeds is not None:
        flags += ["-s", "".join(f"{seed}," for seed in seeds_of(seeds))]
    for name, values in (sweep or {}).items():
        flags += ["--sweep", f"{name}={text_of(values)}"]
    for run_or_report in [reuse] if isinstance(reuse, (str, Path)) else reuse:
        flags += ["--reuse", Path(run_or_report)]
    flags += flags_of({"-j": jobs, "--save-models": save_models, "-q": not progress})
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
            write_answers(Path(folder) / f"{n}.safetensors", samples, values, model)
            for n, (samples, values) in enumerate(answers)
        ]
        return score_files(files, output)


def write_answers(path: Path, samples: Samples, values: Any, model: Mapping[str, Any]) -> Path:
    """Writes one file of answers, numbers of any type, with its manifest."""
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
    number = (np.float32 if values.itemsize <= 4 else np.float64) if is_logits else np.int64
    arrays = {"index": samples.index, "logits" if is_logits else "answers": values.astype(number)}
    _safetensors.write_arrays(path, arrays)
    write_json(_manifest_path(path), dict(samples.manifest, model=dict(model)))
    return path


def write_unfinished(path: Path, samples: Samples, model: Mapping[str, Any]) -> Path:
    """Writes a manifest without answers for a model whose training diverged or failed."""
    path = _manifest_path(path)
    write_json(path, dict(samples.manifest, model=dict(model)))
    return path


def answer_files(folder: Path) -> list[Path]:
    """Returns the files of answers in a folder, and the manifests that have no answers."""
    names = {path.name for path in folder.iterdir()}
    ending = ".manifest.json"
    return [folder / name for name in sorted(names) if not name.endswith(ending) or name[: -len(ending)] not in names]


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
