"""Trains a model in PyTorch on tasks and seeds, and has the program write the report."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

import torch

from .._program import Argument, InputError, Settings, configuration, encoding_names, seeds_of
from ..report import Report
from ..runs import answer_files, score_files
from ..samples import Task
from .check import check_module
from .encoding import Encoding
from .jobs import Progress, run_all
from .model import Transformer
from .modules import MakeModule, Model
from .testing import test, test_seconds
from .training import MakeEncoding, any_model, initial_model, tensors, train


def run(
    encoding: MakeEncoding | None = None,
    tasks: Iterable[str] = (),
    *,
    mixer: MakeModule | None = None,
    model: MakeModule | None = None,
    seeds: int | Sequence[int] = 1,
    profile: str | None = None,
    settings: Settings = (),
    config: str | Path | None = None,
    device: torch.device | str | None = None,
    jobs: int | None = None,
    name: str | None = None,
    description: str = "",
    output: str | Path | None = None,
    progress: bool = True,
) -> Report:
    """Trains a model with this encoding (a class, or a function of ModelConfig) on each task and seed, tests it on every
    split and length, and has the program write the report: that of `posbench run` with the same profile and settings,
    so that the two may be compared. It refuses modules whose logits depend on later tokens, or in bidirectional models
    on padding. `seeds` is their number, or a list of them. It runs on a GPU if there is one (`device`). On the CPU of
    Linux it trains `jobs` models at a time, by default one on each core. If it is interrupted or a model fails, `output`
    has the report of the models that were finished.

    Instead of an encoding: `mixer` makes a module from (batch, tokens, channels) to the same shape, which replaces
    attention in every layer; `model` makes a whole model, from tokens to logits (batch, tokens, vocabulary). Both are
    classes or functions of ModelConfig. The report calls them by the name of the function or of the class, or `name`."""
    made = Trainings(encoding, tasks, mixer, model, seeds, profile, settings, config, device, name, description)
    parallel = made.parallel(jobs)
    with tempfile.TemporaryDirectory(prefix="posbench-") as folder:
        shown_progress = Progress(made.steps()) if progress else None
        try:
            run_all(made.jobs(Path(folder), shown_progress), parallel)
        except BaseException:
            models = len(list(Path(folder).glob("*.tested")))
            if output is not None and models > 0:
                report_of(Path(folder), output)
                kept = f"{output} has what is finished, {models} of {len(made.made_tasks) * len(made.all_seeds)} models"
                print(f"{kept}; train the others and join the reports with 'posbench merge'", file=sys.stderr)
            raise
        return report_of(Path(folder), output)


def estimate(
    encoding: MakeEncoding | None = None, tasks: Iterable[str] = (), *, jobs: int | None = None, **options: Any
) -> float:
    """Returns the seconds that `run` with the same arguments takes here: it checks the module, trains 20 steps of every
    task and answers a part of its tests, up to four times the trained length. A model that keeps longer lengths takes
    longer. It takes all arguments of `run` but `output` and `progress`."""
    made = Trainings(encoding, tasks, **options)
    parallel, threads = made.parallel(jobs), torch.get_num_threads()
    if parallel > 1:
        torch.set_num_threads(1)  # as each of several jobs has
    seconds = 0.0
    for task in made.made_tasks:
        module = made.checked(task, made.all_seeds[0])
        train(module, task, made.all_seeds[0], steps=2)
        started = time.perf_counter()
        train(module, task, made.all_seeds[0], steps=20)
        seconds += (time.perf_counter() - started) / 20 * task.manifest["settings"]["training"]["steps"]
        seconds += test_seconds(module, task, made.all_seeds[0])
    torch.set_num_threads(threads)
    return seconds * len(made.all_seeds) / parallel


@dataclass
class Trainings:
    """The models that a run trains: one for each task and seed."""

    encoding: MakeEncoding | None = None
    tasks: Iterable[str] = ()
    mixer: MakeModule | None = None
    model: MakeModule | None = None
    seeds: int | Sequence[int] = 1
    profile: str | None = None
    settings: Settings = ()
    config: str | Path | None = None
    device: torch.device | str | None = None
    name: str | None = None
    description: str = ""

    def __post_init__(self) -> None:
        specs = [self.tasks] if isinstance(self.tasks, str) else list(dict.fromkeys(self.tasks))
        _check_arguments(specs, self.encoding, self.mixer, self.model, self.name)
        self.all_seeds = seeds_of(self.seeds)
        if len(set(self.all_seeds)) < len(self.all_seeds):
            raise InputError(f"seeds is {self.seeds!r}, which has a seed twice; expected different seeds")
        flags = _only_splits(configuration(self.profile, self.settings, self.config))
        self.made_tasks = [Task(spec, tuple(flags)) for spec in specs]
        for task in self.made_tasks:
            if task.manifest["settings"]["evaluation"].get("shift", 0) != 0:
                raise InputError(f"the task '{task.spec}' sets evaluation.shift, which posbench.torch does not test")
        if any("extend" in task.manifest["settings"] for task in self.made_tasks):
            raise InputError(
                "a setting 'extend.*' is given; posbench.torch does not extend trained models, so leave it out"
            )
        self.place = str(self.device or ("cuda" if torch.cuda.is_available() else "cpu"))

    def parallel(self, jobs: int | None) -> int:
        """Returns the number of models that are trained at a time."""
        if jobs is not None and jobs < 1:
            raise InputError(f"jobs is {jobs}, expected 1 or more")
        can_fork = self.place == "cpu" and sys.platform == "linux"
        return min(jobs or len(os.sched_getaffinity(0)), len(self.made_tasks) * len(self.all_seeds)) if can_fork else 1

    def steps(self) -> int:
        return sum(int(task.manifest["settings"]["training"]["steps"]) for task in self.made_tasks) * len(
            self.all_seeds
        )

    def checked(self, task: Task, seed: int) -> Model:
        """Returns a model before training. Raises InputError if its module fails a check."""
        made: Model = (
            any_model(task, self.model, seed)
            if self.model
            else initial_model(task, self.encoding or Encoding, seed, mixer=self.mixer)
        )
        made = made.to(self.place)
        kind = "encoding" if self.encoding else "mixer" if self.mixer else "model"
        samples = tensors(task.samples(f"test:{task.splits[0]}", count=2), "cpu")
        check_module(made, f"the {kind} '{made.report_name()}'", samples)
        return made

    def jobs(self, folder: Path, shown_progress: Progress | None) -> list[Callable[[], None]]:
        return [self.job(task, seed, folder, shown_progress) for task in self.made_tasks for seed in self.all_seeds]

    def job(self, task: Task, seed: int, folder: Path, shown_progress: Progress | None) -> Callable[[], None]:
        """Returns a function that trains and tests one model and writes its answers to the folder."""
        number = self.made_tasks.index(task) * len(self.all_seeds) + self.all_seeds.index(seed)

        def train_and_test() -> None:
            started = time.process_time()
            made = self.checked(task, seed)
            about: dict[str, Any] = {"name": self.name or made.report_name(), "description": self.description}
            shown = shown_progress.of(f"{about['name']} on {task.spec}, seed {seed}", task) if shown_progress else None
            about.update(train(made, task, seed, on_validation=shown).model())
            # The configuration has the sizes of a Transformer and of no other model.
            about["trained_as_configured"] = isinstance(made, Transformer)
            about["parameters"] = sum(p.numel() for p in made.parameters())
            about["seconds"] = time.process_time() - started
            about["trained_with"] = f"PyTorch {torch.__version__}"
            answers = folder / f"{number:05}"
            answers.mkdir()
            test(made, task, seed, about, answers, answers.name)
            answers.rename(answers.with_suffix(".tested"))

        return train_and_test


def report_of(folder: Path, output: str | Path | None = None) -> Report:
    """Returns the report of the models in a folder that have answered all their tests."""
    return score_files([file for model in sorted(folder.rglob("*.tested")) for file in answer_files(model)], output)


def _check_arguments(tasks: Sequence[str], encoding: Any, mixer: Any, model: Any, name: str | None) -> None:
    if not tasks:
        raise InputError("there are no tasks; expected their names, as in tasks=['flip_flop']")
    if isinstance(encoding, str):
        raise InputError(
            f"the encoding is '{encoding}'; posbench.run(encodings=['{encoding}']) trains encodings by name"
        )
    if sum(given is not None for given in (encoding, mixer, model)) != 1:
        raise InputError("run trains one thing; expected an encoding, mixer=... or model=...")
    if name is not None and name != getattr(encoding, "spec", "") and name.split(":")[0] in encoding_names():
        raise InputError(f"the name is '{name}', which is an encoding of the program; choose another name")


def _only_splits(flags: Sequence[Argument]) -> list[Argument]:
    """Turns off the split 'shift', which a profile may have. Refuses it if a user asks for it."""
    given = [flag for flag in map(str, flags) if flag.startswith("evaluation.shift=")]
    if any(flag != "evaluation.shift=0" for flag in given):
        raise InputError(f"{given[-1]}: posbench.torch tests no split 'shift'; leave it out")
    return [*flags, "--set", "evaluation.shift=0"]
