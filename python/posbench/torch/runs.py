"""Trains a model in PyTorch on tasks and seeds, and has the program write the report."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import torch

from .._program import Argument, InputError, Settings, configuration, encoding_names, seeds_of
from ..report import Report
from ..runs import score_files, write_answers, write_unfinished
from ..samples import Task
from .check import check_module
from .encoding import Encoding
from .model import Transformer
from .modules import MakeModule, Model
from .training import MakeEncoding, Training, any_model, initial_model, scored_logits, tensors, train


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
    name: str | None = None,
    description: str = "",
    output: str | Path | None = None,
    progress: bool = True,
) -> Report:
    """Trains a model with this encoding (a class, or a function of ModelConfig) on each task and seed, tests it on every
    split, and has the program write the report: that of `posbench run` with the same profile and settings, so that
    the two may be compared. It refuses modules whose logits depend on later tokens, or in bidirectional models on
    padding. `seeds` is their number, or a list of them. It runs on a GPU if there is one.

    Instead of an encoding: `mixer` makes a module from (batch, tokens, channels) to the same shape, which replaces
    attention in every layer; `model` makes a whole model, from tokens to logits (batch, tokens, vocabulary). Both are
    classes or functions of ModelConfig. The report calls them by the name of the function or of the class, or `name`."""
    tasks = [tasks] if isinstance(tasks, str) else list(tasks)
    _check_arguments(tasks, encoding, mixer, model, name)
    seeds = seeds_of(seeds)
    made_tasks = [Task(spec, tuple(_only_splits(configuration(profile, settings, config)))) for spec in tasks]
    if any("extend" in task.manifest["settings"] for task in made_tasks):
        raise InputError(
            "a setting 'extend.*' is given; posbench.torch does not extend trained models, so leave it out"
        )
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    kind = "encoding" if encoding else "mixer" if mixer else "model"
    with tempfile.TemporaryDirectory(prefix="posbench-") as folder:
        files: list[Path] = []
        for task in made_tasks:
            samples = tensors(task.samples(f"test:{task.splits[0]}", count=2), "cpu")
            for seed in seeds:
                started = time.process_time()
                make_transformer = encoding or Encoding
                made = (
                    any_model(task, model, seed) if model else initial_model(task, make_transformer, seed, mixer=mixer)
                )
                made = made.to(device)
                check_module(made, f"the {kind} '{made.report_name()}'", samples)
                about: dict[str, Any] = {"name": name or made.report_name(), "description": description}
                shown = _Progress(f"{about['name']} on {task.spec}, seed {seed}", task) if progress else None
                about.update(train(made, task, seed, on_validation=shown).model())
                # The configuration has the sizes of a Transformer and of no other model.
                about["trained_as_configured"] = isinstance(made, Transformer)
                about["parameters"] = sum(p.numel() for p in made.parameters())
                about["seconds"] = time.process_time() - started
                files += _test(made, task, seed, about, Path(folder), len(files))
        return score_files(files, output)


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
    """Turns off the tests beyond the splits of the task, which a profile may have. Refuses those that a user asks for."""
    result = list(flags)
    for name, meaning in (("grid", "grid of lengths"), ("shift", "split 'shift'")):
        given = [flag for flag in map(str, flags) if flag.startswith(f"evaluation.{name}=")]
        if any(flag != f"evaluation.{name}=0" for flag in given):
            raise InputError(f"{given[-1]}: posbench.torch tests no {meaning}; leave it out")
        result += ["--set", f"evaluation.{name}=0"]
    return result


def _test(model: Model, task: Task, seed: int, about: dict[str, Any], folder: Path, number: int) -> list[Path]:
    """Writes the answers to every split, and returns their files."""
    count = task.manifest["settings"]["evaluation"]["sequences"]
    files: list[Path] = []
    for split in task.splits:
        path = folder / f"{number + len(files)}.safetensors"
        if about.get("status") == "diverged":
            return [write_unfinished(path, task.samples(f"test:{split}", seed=seed, count=1), about)]
        samples = task.samples(f"test:{split}", seed=seed, count=count)
        files.append(write_answers(path, samples, scored_logits(model, samples), about))
    return files


class _Progress:
    """Prints a line on standard error after every validation."""

    def __init__(self, what: str, task: Task):
        self.what, self.steps = what, task.manifest["settings"]["training"]["steps"]

    def __call__(self, training: Training) -> None:
        point = training.learning_curve[-1]
        print(
            f"{self.what}: step {point['step']} of {self.steps}, loss {point['loss']:.4f}, "
            f"validation {point['validation_token']:.4f}",
            file=sys.stderr,
        )
