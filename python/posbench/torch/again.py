"""Trains models of a report of `run` again with the source of their module: `posbench check REPORT --source FILE`."""

from __future__ import annotations

import os
import random
import runpy
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from .._program import InputError, PosbenchError, write_json
from ..report import Report
from ..samples import Task
from .encoding import Encoding, snake_case
from .jobs import run_all
from .runs import Trainings, report_of
from .training import model_config

_CLOSE = 0.05  # the largest difference of accuracies, since processors and versions round differently


def check(report: str | Path, source: str | Path, sample: int = 5, jobs: int = 0, seed: int | None = None) -> bool:
    """Trains some experiments of a report again with the encoding or mixer of a Python file. Prints the largest
    difference of each, and returns whether no accuracy differs by more than 0.05."""
    given = Report.load(report)
    settings = {key: value for key, value in given.data["config"].items() if key not in ("tasks", "encodings", "seeds")}
    if "training" not in settings or "trained_elsewhere" not in given.data["context"]:
        raise InputError(f"{report}: expected a report of posbench.torch.run on an encoding or a mixer")
    number = random.randrange(10**6) if seed is None else seed
    experiments = given.experiments
    chosen = random.Random(number).sample(experiments, min(sample, len(experiments)))
    with tempfile.TemporaryDirectory(prefix="posbench-") as folder:
        config = Path(folder) / "config.json"
        write_json(config, settings)
        module = _module(source, chosen[0]["encoding"], Task(chosen[0]["task"], ("--config", config)))
        print(
            f"training {len(chosen)} of {len(experiments)} models again (--seed {number} chooses the same)", flush=True
        )
        work = []
        for n, e in enumerate(chosen):
            answers = Path(folder) / str(n)
            answers.mkdir()
            one = Trainings(**module, tasks=[e["task"]], seeds=[e["seed"]], config=config, name=e["encoding"])
            work += one.jobs(answers, None)
        torch.set_num_threads(1)  # as each of several jobs has
        run_all(work, min(jobs or len(os.sched_getaffinity(0)), len(work)))
        now = report_of(Path(folder))
    agree = sum(_compare(e, _accuracies(given, e), _accuracies(now, e)) for e in chosen)
    print(f"{agree} of {len(chosen)} models agree")
    return agree == len(chosen)


def _module(source: str | Path, name: str, task: Task) -> dict[str, Any]:
    """Returns the argument of `run` for the class or function of the file that has the name, or for its only class."""
    try:
        defined = runpy.run_path(str(source))
    except Exception as error:
        raise InputError(f"{source} cannot be run: {error!r}") from None
    own = {key: item for key, item in defined.items() if getattr(item, "__module__", "") == "<run_path>"}
    named = [item for key, item in own.items() if name in (snake_case(key), getattr(item, "name", None))]
    modules = [item for item in own.values() if isinstance(item, type) and issubclass(item, torch.nn.Module)]
    found = named or modules
    if len(found) != 1:
        raise InputError(f"{source} defines {', '.join(own) or 'nothing'}; expected one class or function for '{name}'")
    return {"encoding" if isinstance(found[0](model_config(task)), Encoding) else "mixer": found[0]}


def _accuracies(report: Report, experiment: Mapping[str, Any]) -> dict[tuple[str, str], float]:
    """Returns the accuracies of an experiment by split and metric."""
    rows = [row for row in report.rows() if all(row[key] == experiment[key] for key in ("task", "encoding", "seed"))]
    return {(row["split"], row["metric"]): row["value"] for row in rows if row["total"]}


def _compare(e: Mapping[str, Any], before: Mapping[Any, float], now: Mapping[Any, float]) -> bool:
    """Prints the largest difference of the accuracies that both have. A length grid may end at another multiple."""
    shared = [key for key in before if key in now]
    worst = max(shared, key=lambda key: abs(before[key] - now[key]), default=None)
    difference = abs(before[worst] - now[worst]) if worst else float(before.keys() != now.keys())
    word = "same" if difference == 0 else "close" if difference <= _CLOSE else "DIFFERS"
    where = f"{worst[0]} {worst[1]}: {before[worst]:.3f} in the report, {now[worst]:.3f} now" if worst else ""
    about = f"{len(shared)} accuracies" if difference == 0 else where or "only one of the two trainings was finished"
    print(f"{word:7}  {e['encoding']} on {e['task']} with seed {e['seed']}: {about}")
    return difference <= _CLOSE


def main(report: str, source: str, sample: str, jobs: str, seed: str | None = None) -> int:
    """Returns the exit code of the command: 1 if a model differs."""
    try:
        return 0 if check(report, source, int(sample), int(jobs), None if seed is None else int(seed)) else 1
    except KeyboardInterrupt:
        return 130
    except PosbenchError as error:
        print(f"posbench: {error}", file=sys.stderr)
        return 2 if isinstance(error, InputError) else 3
