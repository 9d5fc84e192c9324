"""Compares an encoding in PyTorch with its port in the program."""

from __future__ import annotations

import copy
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from .._program import InputError, Settings, call, configuration
from .._safetensors import read_arrays
from ..samples import Samples, Task
from .encoding import Encoding
from .files import forward, load_parameters, save_parameters
from .model import Transformer, recorded_scores
from .training import MakeEncoding, initial_model, loss_of, scored_logits, train

_SAMPLES = 32  # test samples on which scores and logits are compared
_DESCENT = {
    "training.optimizer": "sgd",
    "training.momentum": 0,
    "training.weight_decay": 0,
    "training.learning_rate": 0.3,
    "training.warm_up": 0,
    "training.decay": "constant",
    "training.clip": 1e9,
    "training.steps": 5,
}


@dataclass(frozen=True)
class Differences:
    """The largest differences between an encoding of the program and its counterpart in PyTorch."""

    encoding: str
    scores: float  # before normalization, on test samples, with random parameters of the encoding
    logits: float  # of the same model
    gradients: float  # sums over a few steps of gradient descent, relative to the largest of each parameter
    losses: float  # of training, over its steps
    rounding: float = 0.0  # the same, between initial values and those with an error of one rounding

    @property
    def same(self) -> bool:
        """Returns true if they agree up to rounding in float: 1e-4 for scores and logits, 1e-3 for gradients and losses. A
        training that enlarges an error of one rounding to more may differ by three times as much."""
        most = max(1e-3, 3 * self.rounding)
        return self.scores <= 1e-4 and self.logits <= 1e-4 and self.gradients <= 1e-3 and self.losses <= most


def twin(
    encoding: MakeEncoding,
    task: str = "reverse_string",
    *,
    seed: int = 0,
    steps: int = 100,
    profile: str | None = "smoke",
    settings: Settings = (),
) -> Differences:
    """Compares an encoding with the encoding of the program that its `spec` names, both in float: scores and logits of the
    same parameters, gradients from the same initial values on the same samples, and the losses of training."""
    flags = configuration(profile, settings, None)
    made = Task(task, (*flags, "--set", f"training.steps={steps}"))
    model = initial_model(made, encoding, seed)
    if not _states_spec(model.encoding):
        raise InputError(
            f"the encoding '{model.encoding.report_name()}' names no encoding of the program to compare with; set its "
            "attribute spec to the name of its port"
        )
    scores, logits = forward_differences(made, model, seed)
    descent = Task(task, (*flags, *configuration(None, _DESCENT, None)))
    gradients = gradient_difference(descent, initial_model(descent, encoding, seed), seed)
    losses, rounding = loss_differences(made, encoding, seed)
    return Differences(model.encoding.spec, scores, logits, gradients, losses, rounding)


def _states_spec(encoding: Encoding) -> bool:
    """Returns true for plain attention, and if the encoding or a class of it below Encoding has the attribute `spec`."""
    classes = type(encoding).__mro__
    below = classes[: classes.index(Encoding)]
    return not below or "spec" in vars(encoding) or any("spec" in vars(c) for c in below)


def forward_differences(task: Task, model: Transformer, seed: int) -> tuple[float, float]:
    """Changes the parameters of the encoding at random, and returns the largest differences of scores and of logits."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.encoding.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=generator).to(parameter))
        model.constrain()
    samples = task.samples("test:in_distribution", seed=seed, count=_SAMPLES)
    with tempfile.TemporaryDirectory(prefix="posbench-") as folder:
        path, outputs = Path(folder) / "model.safetensors", Path(folder) / "outputs.safetensors"
        save_parameters(model, path, task.manifest, seed=seed)
        forward(path, task, model.encoding.spec, seed, ["-n", _SAMPLES, "--maps", "-o", outputs])
        theirs, _ = read_arrays(outputs)
    ours, logits = _scores_and_logits(model, samples)
    expected = theirs["scores"]
    kept = np.isfinite(expected) & samples.mask[:, None, None, :, None] & samples.mask[:, None, None, None, :]
    if model.config.causal:
        kept &= np.tri(expected.shape[-1], dtype=bool)
    scored = samples.scored_positions >= 0
    return _largest(ours[kept] - expected[kept]), _largest((logits - theirs["logits"])[scored])


def _scores_and_logits(model: Transformer, samples: Samples) -> tuple[np.ndarray, np.ndarray]:
    """Returns the scores of every layer in its last loop, (N, layers, H, T, T), and the logits at the scored positions."""
    with recorded_scores(model) as scores:
        logits = scored_logits(model, samples)
    return torch.stack([scores[layer][1] for layer in sorted(scores)], 1).numpy(), logits


def gradient_difference(task: Task, model: Transformer, seed: int) -> float:
    """Returns the largest difference of parameters after gradient descent, relative to the largest change of a parameter,
    or to a thousandth of the largest change of all if that is more."""
    options = task.manifest["settings"]["training"]
    before, theirs = copy.deepcopy(model), copy.deepcopy(model)
    with tempfile.TemporaryDirectory(prefix="posbench-") as folder:
        load_parameters(theirs, _run(task, model.encoding.spec, seed, Path(folder), "--save-models", "models"))
    batches = task.batches(options["batch"], options["steps"], seed=seed)
    for n in range(options["steps"]):
        model.zero_grad()
        loss_of(model, batches.samples(n)).backward()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter -= options["learning_rate"] * (0 if parameter.grad is None else parameter.grad)
            model.constrain()
    triples = [[p.detach().numpy() for p in each] for each in zip(*(m.parameters() for m in (model, theirs, before)))]
    changes = [_largest(expected - start) for _, expected, start in triples]
    differences = [_largest(found - expected) for found, expected, _ in triples]
    return max(difference / max(change, max(changes) / 1000) for difference, change in zip(differences, changes))


def loss_differences(task: Task, encoding: MakeEncoding, seed: int) -> tuple[float, float]:
    """Returns the largest difference of the losses of training to those of the program, and to those of a training from
    initial values with an error of one rounding."""
    models = [initial_model(task, encoding, seed) for _ in range(2)]
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in models[1].parameters():
            parameter *= 1 + 2.0**-23 * torch.randint(-1, 2, parameter.shape, generator=generator)
    losses, rounded = (np.array(train(model, task, seed).losses) for model in models)
    with tempfile.TemporaryDirectory(prefix="posbench-") as folder:
        trace = _run(task, models[0].encoding.spec, seed, Path(folder), "--trace-loss", "losses")
        expected = np.loadtxt(trace, delimiter=",", skiprows=1, ndmin=2)[:, 2]
    comparable = losses.shape == rounded.shape and np.isfinite(losses).all() and np.isfinite(rounded).all()
    rounding = _largest(losses - rounded) if comparable else 0.0
    return _largest(losses - expected) if losses.shape == expected.shape else float("inf"), rounding


def _run(task: Task, spec: str, seed: int, folder: Path, flag: str, kind: str) -> Path:
    """Trains the program's encoding with a flag, and returns the file of that kind which the flag adds to the run."""
    run = folder / "run"
    call(["run", "-t", task.spec, "-e", spec, "-s", f"{seed},", "-q", flag, "-o", run, *task.flags], accept=(0, 1))
    [file] = (run / kind).iterdir()
    return file


def _largest(differences: np.ndarray) -> float:
    """Returns the largest absolute value, infinity if one is not a number, and 0 of none."""
    return float(np.nan_to_num(np.abs(differences), nan=np.inf).max(initial=0))
