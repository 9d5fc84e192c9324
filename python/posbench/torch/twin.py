"""Compares an encoding in PyTorch with its port in the program."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from .._program import InputError, Settings, call, configuration
from ..samples import Task
from .encoding import Encoding
from .training import MakeEncoding, initial_model, scored_logits, train


@dataclass(frozen=True)
class Differences:
    """The largest absolute differences between an encoding of the program and its counterpart in PyTorch."""

    encoding: str
    logits: float  # of the initial model on test samples
    losses: float  # of training, over its steps

    @property
    def same(self) -> bool:
        """Returns true if they agree up to rounding in float: 1e-5 for logits, 1e-3 for losses."""
        return self.logits <= 1e-5 and self.losses <= 1e-3


def twin(
    encoding: MakeEncoding,
    task: str = "reverse_string",
    *,
    seed: int = 0,
    steps: int = 100,
    profile: str | None = "smoke",
    settings: Settings = (),
) -> Differences:
    """Trains an encoding, and the encoding of the program that its `spec` names, from the same initial values on the
    same samples, both in float."""
    flags = [*configuration(profile, settings, None), "--set", f"training.steps={steps}"]
    made = Task(task, tuple(flags))
    model = initial_model(made, encoding, seed)
    spec = model.encoding.spec
    if not _states_spec(model.encoding):
        raise InputError(
            f"the encoding '{model.encoding.report_name()}' names no encoding of the program to compare with; set its "
            "attribute spec to the name of its port"
        )
    with tempfile.TemporaryDirectory(prefix="posbench-") as folder:
        logits = logits_difference(made, model, seed, Path(folder))
        run = Path(folder) / "run"
        call(["run", "-t", task, "-e", spec, "-s", f"{seed},", "-q", "--trace-loss", "-o", run, *flags], accept=(0, 1))
        [trace] = (run / "losses").iterdir()
        ours = np.loadtxt(trace, delimiter=",", skiprows=1, ndmin=2)[:, 2]
    theirs = np.array(train(model, made, seed).losses)
    if len(ours) != len(theirs):
        return Differences(spec, logits, float("inf"))
    return Differences(spec, logits, float(np.abs(ours - theirs).max(initial=0)))


def _states_spec(encoding: Encoding) -> bool:
    """Returns true for plain attention, and if the encoding or a class of it below Encoding has the attribute `spec`."""
    classes = type(encoding).__mro__
    below = classes[: classes.index(Encoding)]
    return not below or "spec" in vars(encoding) or any("spec" in vars(c) for c in below)


def logits_difference(task: Task, model: torch.nn.Module, seed: int, folder: Path, count: int = 32) -> float:
    """Returns the largest difference of logits between an initial model and the program's, on the first test samples."""
    config, path = folder / "config.json", folder / "logits.npz"
    config.write_text(call(["run", "--show-config", *task.flags]))
    call(["forward", config, task.spec, model.encoding.spec, "--initial", "--seed", seed, "-n", count, "-o", path])
    samples = task.samples("test:in_distribution", seed=seed, count=count)
    with np.load(path) as arrays:
        difference = np.abs(arrays["logits"] - scored_logits(model, samples))
    return float(difference[samples.scored_positions >= 0].max())
