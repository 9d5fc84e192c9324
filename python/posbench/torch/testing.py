"""Answers the test samples of a task with a trained model, as a run of the program does."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..runs import write_answers, write_unfinished
from ..samples import Samples, Task
from .model import Transformer
from .modules import Model
from .training import right_answers, scored_logits

# The rules of a length grid, which `posbench score` applies too (docs/bridge.md).
_STEP = 64  # sequences between two looks at the accuracy
_KEPT = 0.9  # the accuracy that a test decides
_FLOOR = 0.5  # a grid ends after two multiples in a row below it,
_LEAST = 4  # but not before this one
_MAX_SCORES = 2**27  # of a sequence, in all layers and heads


def test(model: Model, task: Task, seed: int, about: Mapping[str, Any], folder: Path, name: str) -> None:
    """Writes the answers to every split and at every multiple of the trained length to files whose names begin with
    `name`. Of a training that diverged it writes a manifest only."""
    if about.get("status") == "diverged":
        samples = task.samples(f"test:{task.splits[0]}", seed=seed, count=1)
        write_unfinished(folder / f"{name}.safetensors", samples, about)
        return
    count = task.manifest["settings"]["evaluation"]["sequences"]
    for n, split in enumerate(task.splits):
        samples = task.samples(f"test:{split}", seed=seed, count=count)
        write_answers(folder / f"{name}-{n}.safetensors", samples, scored_logits(model, samples), about)
    for grid in task.manifest["grids"]:
        answers, end = _answer_grid(model, task, seed, grid)
        model_entry = {**about, "grid_end": {grid["option"]: end}} if end else about
        for n, (samples, logits) in enumerate(answers):
            write_answers(folder / f"{name}-{grid['option']}-{n}.safetensors", samples, logits, model_entry)


def test_seconds(model: Model, task: Task, seed: int) -> float:
    """Returns the estimated seconds of the tests of a model, without those at more than four times the trained length."""
    count = task.manifest["settings"]["evaluation"]["sequences"]
    parts = [(f"test:{split}", count) for split in task.splits]
    points = [point for grid in task.manifest["grids"] for point in grid["points"]]
    parts += [(point["split"], point["sequences"]) for point in points if point["multiple"] <= _LEAST]
    seconds = 0.0
    for split, sequences in parts:
        samples = task.samples(split, seed=seed, count=min(sequences, _STEP // 4))
        started = time.perf_counter()
        scored_logits(model, samples)
        seconds += (time.perf_counter() - started) * sequences / len(samples)
    return seconds


def _answer_grid(
    model: Model, task: Task, seed: int, grid: Mapping[str, Any]
) -> tuple[list[tuple[Samples, np.ndarray]], str]:
    """Returns the samples and the logits at each multiple, and why the model has none at larger ones, or ""."""
    rules = task.manifest["settings"]["evaluation"].get("grid_rules", 1)
    answers: list[tuple[Samples, np.ndarray]] = []
    was_low = False
    for n, point in enumerate(grid["points"]):
        samples = task.samples(point["split"], seed=seed, count=point["sequences"])
        tokens = samples.tokens.shape[1]
        is_longer = tokens > model.config.longest_length
        has_scores = isinstance(model, Transformer) and not model.mixer_name
        if is_longer and has_scores and model.config.layers * model.config.heads * tokens**2 > _MAX_SCORES:
            return answers, f"the attention scores of {tokens} tokens take more than 512 MiB"
        try:
            samples, logits, accuracy = _until_decided(model, samples, rules == 2)
        except Exception as error:
            if not is_longer:
                raise
            message = (str(error) or type(error).__name__).strip().splitlines()[0]
            return answers, f"the model fails on {tokens} tokens: {message}"
        answers.append((samples, logits))
        is_low = accuracy < _FLOOR
        is_next_shown = rules == 2 and n + 1 < len(grid["points"]) and grid["points"][n + 1]["multiple"] <= _LEAST
        if is_low and was_low and not is_next_shown:
            break
        was_low = is_low
    return answers, ""


def _until_decided(model: Model, samples: Samples, until: bool) -> tuple[Samples, np.ndarray, float]:
    """Answers 64 sequences at a time until the 95 % Wilson interval of the accuracy of sequences is above or below 0.90.
    Returns the samples that were answered, their logits and the accuracy."""
    pieces = []
    right = total = 0
    for first in range(0, len(samples), _STEP):
        part = samples[first : first + _STEP]
        logits = scored_logits(model, part)
        correct, scored = right_answers(logits, part)
        has_target = scored.any(1)
        right += int(((correct == scored).all(1) & has_target).sum())
        total += int(has_target.sum())
        pieces.append(logits)
        deviation = right - _KEPT * total
        if until and len(part) == _STEP and deviation**2 > 1.959963984540054**2 * _KEPT * (1 - _KEPT) * total:
            break
    width = max(piece.shape[1] for piece in pieces)
    padded = [np.pad(piece, ((0, 0), (0, width - piece.shape[1]), (0, 0))) for piece in pieces]
    answered = np.concatenate(padded)
    return samples[: len(answered)], answered, right / max(1, total)
