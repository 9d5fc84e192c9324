"""Trains and tests models with the same steps as `posbench run`."""

from __future__ import annotations

import math
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from .._program import InputError, Settings, call, configuration
from ..report import Report, score_files, write_answers, write_unfinished
from ..samples import Samples, Task
from .encoding import Encoding, ModelConfig
from .files import load_parameters
from .model import Transformer
from .modules import AnyModel, MakeModule, Model, check_module, make_module, name_of

MakeEncoding = Callable[[ModelConfig], Encoding]
_TEST_BATCH = 128
_COUNTS = ("window", "segment", "chunk", "sinks", "temperature")
_OF_ATTENTION = {**dict.fromkeys(_COUNTS, 0), "qk_norm": False, "logit_scale": "constant"}  # without effect
_ONLY = {
    "optimizer": "adamw",
    "outputs": "vocabulary",
    "validate_splits": False,
}  # settings that are supported with this value only


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
    about, model = task.manifest, task.manifest["settings"]["model"]
    if model.get("block", "sequential") != "sequential":
        raise InputError(f"model.block is {model['block']}; posbench.torch has sequential blocks only")
    loops = about["settings"]["evaluation"].get("loops", 0)
    if loops not in (0, model.get("loops", 1)):
        raise InputError(
            f"evaluation.loops is {loops}; posbench.torch tests with as many loops as it trains, model.loops"
        )
    blocks = ("norm_kind", "biases", "qk_norm", "logit_scale", *_COUNTS, "loops")
    return ModelConfig(
        vocabulary=about["vocabulary"],
        trained_length=about["trained_length"],
        longest_length=about["longest_length"],
        coordinates=about.get("coordinates", 0),
        layers=model["layers"],
        width=model["width"],
        heads=model["heads"],
        feed_forward=model["feed_forward"],
        causal=model["attention"] == "causal",
        pre_norm=model["norm"] == "pre",
        activation=model["activation"],
        dropout=model["dropout"],
        tied_embeddings=model["tied_embeddings"],
        **{name: model[name] for name in blocks if name in model},
    )


def refuse_attention_settings(config: ModelConfig, what: str) -> None:
    for name, value in _OF_ATTENTION.items():
        if getattr(config, name) != value:
            raise InputError(
                f"model.{name} is {getattr(config, name)}; {what} replaces attention, so leave it at {value}"
            )


def initial_model(
    task: Task, make_encoding: MakeEncoding = Encoding, seed: int = 0, *, mixer: MakeModule | None = None
) -> Transformer:
    """Returns the model before training, with the initial values of the program. If the program does not have the
    encoding (`Encoding.spec`), the parameters of the encoding are drawn with `seed` instead, as those of a mixer."""
    config = model_config(task)
    if mixer:
        refuse_attention_settings(config, "a mixer")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Transformer(config, make_encoding(config), mixer)
    spec = model.encoding.spec
    with tempfile.TemporaryDirectory(prefix="posbench-") as folder:
        config_file, path = Path(folder) / "config.json", Path(folder) / "initial.safetensors"
        config_file.write_text(call(["run", "--show-config", *task.flags]))
        call(["forward", config_file, task.spec, spec, "--initial", "--seed", seed, "--model-output", path])
        load_parameters(model, path, only_shared=spec == "none")
    with torch.no_grad():
        model.constrain()
    return model


def any_model(task: Task, make: MakeModule, seed: int = 0) -> AnyModel:
    """Returns a model from tokens to logits before training; `seed` draws its initial values."""
    config = model_config(task)
    refuse_attention_settings(config, "the model")
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
    pieces = []
    with torch.no_grad():
        for first in range(0, len(samples), _TEST_BATCH):
            part = samples[first : first + _TEST_BATCH]
            logits = model(**tensors(part, model.device)).float().cpu().numpy()
            pieces.append(logits[np.arange(len(part))[:, None], positions[first : first + _TEST_BATCH]])
    return np.concatenate(pieces)


def accuracies(logits: np.ndarray, samples: Samples) -> tuple[float, float]:
    """Returns the accuracy of scored tokens, and of sequences in which all of them are right."""
    logits = logits[..., outputs_of(samples)]
    if samples.candidates is not None:
        allowed = np.zeros((len(samples), 1, logits.shape[-1]), bool)
        rows, columns = np.nonzero(samples.candidates >= 0)
        allowed[rows, 0, samples.candidates[rows, columns]] = True
        allowed |= ~allowed.any(-1, keepdims=True)
        logits = np.where(allowed, logits, -np.inf)
    scored = samples.scored_positions >= 0
    right = (logits.argmax(-1) == samples.at_scored(samples.targets)) & scored
    has_target = scored.any(1)
    whole = (right == scored).all(1) & has_target
    return float(right.sum() / max(1, scored.sum())), float(whole.sum() / max(1, has_target.sum()))


def schedule(decay: str, step: int, steps: int, warm_up: int) -> float:
    """Returns the fraction of the peak learning rate at this step."""
    if step < warm_up:
        return (step + 1) / warm_up
    done = (step - warm_up) / max(1, steps - warm_up)
    return {"cosine": (1 + math.cos(math.pi * done)) / 2, "linear": 1 - done, "constant": 1.0}[decay]


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
    every = options.get("decayed_parameters", "matrices") == "all"
    groups: dict[bool, list[torch.nn.Parameter]] = {True: [], False: []}
    for parameter, decays in model.decaying_parameters():
        groups[every or decays].append(parameter)
    return torch.optim.AdamW(
        [{"params": groups[True], "weight_decay": decay}, {"params": groups[False], "weight_decay": 0.0}],
        lr=0.0,
        betas=(options["beta1"], options["beta2"]),
        eps=options["epsilon"],
    )


def train(
    model: Model,
    task: Task,
    seed: int = 0,
    steps: int | None = None,
    on_validation: Callable[[Training], None] | None = None,
) -> Training:
    """Trains a model on the stream of a task and a seed, by the settings `training.*` of its configuration. `steps`
    ends it sooner; `on_validation` is called after every validation."""
    options = task.manifest["settings"]["training"]
    for name, value in _ONLY.items():
        if options.get(name, value) != value:
            raise InputError(f"training.{name} is {options[name]}; posbench.torch has {value} only")
    rate = options["learning_rate"]
    if not isinstance(rate, (int, float)):
        raise InputError(f"training.learning_rate is {rate}; posbench.torch trains at one learning rate")
    total, batch = options["steps"], options["batch"]
    warm_up = math.ceil(options["warm_up"] * total)
    parameters = list(model.parameters())
    optimizer = make_optimizer(model, options)
    batches = task.batches(batch, total, seed=seed)
    validation: Samples | None = None
    training = Training()
    since: list[float] = []
    perfect_validations = 0
    while training.steps < min(total, total if steps is None else steps) and not training.stopped_early:
        model.train()
        optimizer.zero_grad(set_to_none=False)
        loss = loss_of(model, batches.samples(training.steps))
        loss.backward()
        if not (math.isfinite(loss.item()) and math.isfinite(clip(parameters, options["clip"]).item())):
            training.diverged_step = training.steps
            break
        for group in optimizer.param_groups:
            group["lr"] = rate * schedule(options["decay"], training.steps, total, warm_up)
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
            training.learning_curve.append(
                {
                    "step": training.steps,
                    "loss": sum(since) / len(since),
                    "validation_token": token,
                    "validation_sequence": sequence,
                }
            )
            since = []
            perfect_validations = perfect_validations + 1 if token == 1 else 0
            training.stopped_early = 0 < options["early_stop"] <= perfect_validations and training.steps < total
            if on_validation:
                on_validation(training)
    return training


def only_splits(flags: Sequence[str]) -> list[str]:
    """Turns off the tests beyond the splits of the task, which a profile may have. Refuses those that a user asks for."""
    result = list(flags)
    for name, meaning in (("grid", "grid of lengths"), ("shift", "split 'shift'")):
        given = [flag for flag in flags if flag.startswith(f"evaluation.{name}=")]
        if any(flag != f"evaluation.{name}=0" for flag in given):
            raise InputError(f"{given[-1]}: posbench.torch tests no {meaning}; leave it out")
        result += ["--set", f"evaluation.{name}=0"]
    return result


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
    if not tasks:
        raise InputError("there are no tasks; expected their names, as in tasks=['flip_flop']")
    if isinstance(encoding, str):
        raise InputError(
            f"the encoding is '{encoding}'; posbench.run(encodings=['{encoding}']) trains encodings by name"
        )
    if sum(given is not None for given in (encoding, mixer, model)) != 1:
        raise InputError("run trains one thing; expected an encoding, mixer=... or model=...")
    if isinstance(seeds, int):
        if seeds < 1:
            raise InputError(f"seeds is {seeds}, expected the number of seeds (1 or more) or a list of seeds")
        seeds = range(seeds)
    flags = tuple(only_splits(configuration(profile, settings, config)))
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    with tempfile.TemporaryDirectory(prefix="posbench-") as folder:
        files: list[Path] = []
        made_tasks = [Task(spec, flags) for spec in tasks]
        if any("extend" in task.manifest["settings"] for task in made_tasks):
            raise InputError(
                "a setting 'extend.*' is given; posbench.torch does not extend trained models, so leave it out"
            )
        for task in made_tasks:
            samples = tensors(task.samples(f"test:{task.splits[0]}", count=2), "cpu")
            for seed in seeds:
                started = time.process_time()
                made = _make_model(task, seed, encoding, mixer, model).to(device)
                kind = "encoding" if encoding else "mixer" if mixer else "model"
                check_module(made, f"the {kind} '{made.report_name()}'", samples)
                called = name or made.report_name()
                shown = _Progress(f"{called} on {task.spec}, seed {seed}", task) if progress else None
                training = train(made, task, seed, on_validation=shown)
                about = dict(
                    training.model(),
                    name=called,
                    description=description,
                    trained_as_configured=isinstance(
                        made, Transformer
                    ),  # the configuration has the sizes of no other model
                    parameters=sum(p.numel() for p in made.parameters()),
                    seconds=time.process_time() - started,
                )
                files += _test(made, task, seed, about, Path(folder), len(files))
        return score_files(files, output)


def _make_model(
    task: Task, seed: int, encoding: MakeEncoding | None, mixer: MakeModule | None, model: MakeModule | None
) -> Model:
    return any_model(task, model, seed) if model else initial_model(task, encoding or Encoding, seed, mixer=mixer)


def _test(model: Model, task: Task, seed: int, about: Mapping[str, Any], folder: Path, number: int) -> list[Path]:
    files: list[Path] = []
    count = task.manifest["settings"]["evaluation"]["sequences"]
    for split in task.splits:
        path = folder / f"{number + len(files)}.npz"
        diverged = about.get("status") == "diverged"
        samples = task.samples(f"test:{split}", seed=seed, count=1 if diverged else count)
        if diverged:
            return [write_unfinished(path, samples, about)]
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
