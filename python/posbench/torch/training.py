"""Trains and tests models with the same steps as `posbench run`."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from .._program import InputError, default_settings, text_of
from ..samples import Samples, Task
from .encoding import Encoding, ModelConfig
from .files import load_parameters, save_initial
from .model import Transformer
from .modules import AnyModel, MakeModule, Model, make_module, name_of

MakeEncoding = Callable[[ModelConfig], Encoding]
_TEST_BATCH = 128
_TEST_SCORES = 2**23  # the largest number of pairs of tokens in a batch
_OF_PROGRAM = ("convolution", "key_offset", "smear")  # settings that posbench.torch does not have
_OF_ATTENTION = ("window", "segment", "chunk", "sinks", "temperature", "qk_norm", "logit_scale")
# The settings of training that train() reads, and those that change the samples. The others must have their defaults.
_TRAINING = {
    *("steps", "batch", "learning_rate", "warm_up", "decay", "weight_decay", "decayed_parameters", "beta1", "beta2"),
    *("epsilon", "clip", "validate_every", "validation_sequences", "early_stop", "extend_while_gaining"),
    *("samples", "lengths", "groups", "reserve"),
}
# The fraction of the peak learning rate after a part of the steps that follow the warm-up.
_DECAYS: dict[str, Callable[[float], float]] = {
    "cosine": lambda done: (1 + math.cos(math.pi * done)) / 2,
    "linear": lambda done: 1 - done,
    "constant": lambda done: 1.0,
}


@dataclass
class Training:
    """The result of training a model."""

    steps: int = 0
    losses: list[float] = field(default_factory=list)  # of every step
    learning_curve: list[dict[str, float]] = field(default_factory=list)
    stopped_early: bool = False
    diverged_step: int | None = None

    def model(self) -> dict[str, Any]:
        """Returns the entry `model` for the manifest of the answers."""
        about: dict[str, Any] = {
            "steps": self.steps,
            "stopped_early": self.stopped_early,
            "learning_curve": self.learning_curve,
        }
        if self.learning_curve:
            about["final_loss"] = self.learning_curve[-1]["loss"]
        if self.diverged_step is not None:
            about.update(
                status="diverged",
                diverged_step=self.diverged_step,
                reason=f"the loss or its gradient stopped being finite at step {self.diverged_step}",
            )
        return about


def model_config(task: Task) -> ModelConfig:
    """Returns the model of a task under its configuration."""
    about, settings = task.manifest, task.manifest["settings"]
    require_defaults("model", settings["model"], ["block"], "posbench.torch has sequential blocks only; leave it at")
    require_defaults("model", settings["model"], _OF_PROGRAM, "posbench.torch does not have it; leave it at")
    reason = "posbench.torch reads samples one at a time, as a whole and without rounding; leave it at"
    require_defaults("training", settings["training"], ["pack", "pack_mask", "pack_restart", "rounding"], reason)
    cache = ["cache", "cache_size", "cache_shift", "rounding"]
    require_defaults("evaluation", settings["evaluation"], cache, reason)
    loops = settings["evaluation"].get("loops", 0)
    if loops not in (0, settings["model"].get("loops", 1)):
        raise InputError(
            f"evaluation.loops is {loops}; posbench.torch tests with as many loops as it trains, model.loops"
        )
    sizes = (about["vocabulary"], about["trained_length"], about["longest_length"], about.get("coordinates", 0))
    return ModelConfig(*sizes, settings["model"])


def require_defaults(group: str, settings: Mapping[str, Any], names: Iterable[str], why: str) -> None:
    """Raises InputError if a setting of these names has another value than the program's default."""
    for name, default in default_settings(group).items():
        if name in names and settings.get(name, default) != default:
            raise InputError(f"{group}.{name} is {text_of(settings[name])}; {why} {text_of(default)}")


def initial_model(
    task: Task, make_encoding: MakeEncoding = Encoding, seed: int = 0, *, mixer: MakeModule | None = None
) -> Transformer:
    """Returns the model before training, with the initial values of the program. If the program does not have the
    encoding (`Encoding.spec`), the parameters of the encoding are drawn with `seed` instead, as those of a mixer."""
    config = model_config(task)
    if mixer:
        require_defaults("model", config.settings, _OF_ATTENTION, "a mixer replaces attention, so leave it at")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Transformer(config, make_encoding(config), mixer)
    spec = model.encoding.spec
    with tempfile.TemporaryDirectory(prefix="posbench-") as folder:
        path = Path(folder) / "initial.safetensors"
        save_initial(task, spec, seed, path)
        load_parameters(model, path, only_shared=spec == "none")
    with torch.no_grad():
        model.constrain()
    return model


def any_model(task: Task, make: MakeModule, seed: int = 0) -> AnyModel:
    """Returns a model from tokens to logits before training; `seed` draws its initial values."""
    config = model_config(task)
    require_defaults("model", config.settings, _OF_ATTENTION, "the model replaces attention, so leave it at")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        module = make_module(make, config, "model")
    return AnyModel(config, module, name_of(make, module))


def tensors(samples: Samples, device: torch.device | str) -> dict[str, Tensor]:
    """Returns the arguments of Transformer.forward."""
    given = {
        "tokens": torch.from_numpy(samples.tokens.astype(np.int64)),
        "mask": torch.from_numpy(samples.mask),
        "segments": torch.from_numpy(samples.segments.astype(np.int64)),
    }
    for name in ("digit_positions", "coordinates"):
        values = getattr(samples, name)
        if values is not None:
            given[name] = torch.from_numpy(values.astype(np.int64))
    return {name: value.to(device) for name, value in given.items()}


def outputs_of(samples: Samples) -> slice:
    """Returns the ids of the vocabulary that loss and predictions are over; the begin token is not one of them."""
    return slice(samples.manifest["outputs"])


def loss_of(model: Model, samples: Samples) -> Tensor:
    """Returns the mean cross-entropy of all positions with a target."""
    logits = model(**tensors(samples, model.device))[..., outputs_of(samples)]
    targets = torch.from_numpy(samples.targets.astype(np.int64)).to(model.device)
    return functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-1)


def scored_logits(model: Model, samples: Samples) -> np.ndarray:
    """Returns the logits at the scored positions, (N, S, vocabulary)."""
    model.eval()
    positions = np.maximum(samples.scored_positions, 0)
    size = max(1, min(_TEST_BATCH, _TEST_SCORES // samples.tokens.shape[1] ** 2))
    pieces = []
    with torch.no_grad():
        for first in range(0, len(samples), size):
            part = samples[first : first + size]
            logits = model(**tensors(part, model.device)).float().cpu().numpy()
            pieces.append(logits[np.arange(len(part))[:, None], positions[first : first + size]])
    return np.concatenate(pieces)


def right_answers(logits: np.ndarray, samples: Samples) -> tuple[np.ndarray, np.ndarray]:
    """Returns two arrays (N, S): true where an answer is right, and true where there is one."""
    logits = logits[..., outputs_of(samples)]
    if samples.candidates is not None:
        allowed = np.zeros((len(samples), 1, logits.shape[-1]), bool)
        rows, columns = np.nonzero(samples.candidates >= 0)
        allowed[rows, 0, samples.candidates[rows, columns]] = True
        allowed |= ~allowed.any(-1, keepdims=True)
        logits = np.where(allowed, logits, -np.inf)
    scored = samples.scored_positions >= 0
    return (logits.argmax(-1) == samples.at_scored(samples.targets)) & scored, scored


def accuracies(logits: np.ndarray, samples: Samples) -> tuple[float, float]:
    """Returns the accuracy of scored tokens, and of sequences in which all of them are right."""
    right, scored = right_answers(logits, samples)
    has_target = scored.any(1)
    whole = (right == scored).all(1) & has_target
    return float(right.sum() / max(1, scored.sum())), float(whole.sum() / max(1, has_target.sum()))


def schedule(decay: str, step: int, steps: int, warm_up: int) -> float:
    """Returns the fraction of the peak learning rate at this step."""
    if step < warm_up:
        return (step + 1) / warm_up
    return _DECAYS[decay]((step - warm_up) / max(1, steps - warm_up))


def clip(parameters: Sequence[Tensor], most: float) -> Tensor:
    """Scales the gradients to at most this Euclidean norm. Returns their norm before."""
    gradients = [p.grad for p in parameters if p.grad is not None]
    norm = torch.stack([g.norm() for g in gradients]).norm()
    if norm > most:
        for gradient in gradients:
            gradient.mul_(most / norm)
    return norm


def make_optimizer(model: Model, options: Mapping[str, Any]) -> torch.optim.Optimizer:
    decay = options["weight_decay"]
    every = options["decayed_parameters"] == "all"
    groups: dict[bool, list[torch.nn.Parameter]] = {True: [], False: []}
    for parameter, decays in model.decaying_parameters():
        groups[every or decays].append(parameter)
    return torch.optim.AdamW(
        [{"params": groups[True], "weight_decay": decay}, {"params": groups[False], "weight_decay": 0.0}],
        lr=0.0,
        betas=(options["beta1"], options["beta2"]),
        eps=options["epsilon"],
    )


def validation_at(curve: list[dict[str, float]], step: float) -> float:
    """Returns the sequence accuracy of a learning curve at a step, interpolated; before its first point, that point."""
    for a, b in zip(curve, curve[1:]):
        if step <= b["step"]:
            part = max(0.0, (step - a["step"]) / (b["step"] - a["step"]))
            return a["validation_sequence"] + part * (b["validation_sequence"] - a["validation_sequence"])
    return curve[-1]["validation_sequence"]


def is_unfinished(curve: list[dict[str, float]]) -> bool:
    """Returns True if the last validation is below 0.95 and the last 40 % of the steps gained 0.05 or more."""
    last = curve[-1]["validation_sequence"]
    return len(curve) > 1 and last < 0.95 and last - validation_at(curve, 0.6 * curve[-1]["step"]) >= 0.05


def train(
    model: Model,
    task: Task,
    seed: int = 0,
    steps: int | None = None,
    on_validation: Callable[[Training], None] | None = None,
) -> Training:
    """Trains a model on the stream of a task and a seed, by the settings `training.*` of its configuration. `steps`
    ends it sooner; `on_validation` is called after every validation."""
    defaults, given = default_settings("training"), task.manifest["settings"]["training"]
    require_defaults("training", given, defaults.keys() - _TRAINING, "posbench.torch trains with")
    options = {**defaults, **given}
    rate = options["learning_rate"]
    if not isinstance(rate, (int, float)):
        raise InputError(f"training.learning_rate is {rate}; posbench.torch trains at one learning rate")
    if options["decay"] not in _DECAYS:
        raise InputError(f"training.decay is {options['decay']}; posbench.torch has {', '.join(_DECAYS)}")
    total, batch = options["steps"], options["batch"]
    parameters = list(model.parameters())
    optimizer = make_optimizer(model, options)
    most = total * options["extend_while_gaining"]
    batches = task.batches(batch, most, seed=seed)
    start = 0  # of the schedule, which every doubling of the steps repeats
    validation: Samples | None = None
    training = Training()
    since: list[float] = []
    perfect_validations = 0
    while training.steps < min(total, most if steps is None else steps) and not training.stopped_early:
        model.train()
        optimizer.zero_grad(set_to_none=False)
        loss = loss_of(model, batches.samples(training.steps))
        loss.backward()
        if not (math.isfinite(loss.item()) and math.isfinite(clip(parameters, options["clip"]).item())):
            training.diverged_step = training.steps
            break
        for group in optimizer.param_groups:
            warm_up = math.ceil(options["warm_up"] * (total - start))
            group["lr"] = rate * schedule(options["decay"], training.steps - start, total - start, warm_up)
        optimizer.step()
        with torch.no_grad():
            model.constrain()
        training.steps += 1
        training.losses.append(loss.item())
        since.append(loss.item())
        if training.steps % options["validate_every"] == 0 or training.steps == total:
            if validation is None:
                validation = task.samples("validation", seed=seed, count=options["validation_sequences"])
            token, sequence = accuracies(scored_logits(model, validation), validation)
            point = {"step": training.steps, "loss": sum(since) / len(since)}
            training.learning_curve.append({**point, "validation_token": token, "validation_sequence": sequence})
            since = []
            perfect_validations = perfect_validations + 1 if token == 1 else 0
            training.stopped_early = 0 < options["early_stop"] <= perfect_validations and training.steps < total
            if training.steps == total and 2 * total <= most and is_unfinished(training.learning_curve):
                start, total = total, 2 * total
            if on_validation:
                on_validation(training)
    return training
