"""Checks a model before training, so that a mistake in a module is explained and not trained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor

from .._program import InputError
from .model import Transformer, recorded_scores
from .modules import Model

_CAUSAL_TOLERANCE = 1e-4  # relative to the largest logit; rounding is far below


def check_module(model: Model, about: str, given: Mapping[str, Tensor]) -> None:
    """Raises InputError if the modules of a model fail on the longest sequences or have no finite gradients, or if the
    logits of a token depend on later tokens of a causal model, or else on padding. `given` has the arguments of two samples
    of the task."""
    config, device = model.config, model.device
    length = max(4, config.longest_length)
    half = length // 2
    arguments = {
        name: torch.cat([values, values[..., -1:].expand(*values.shape[:-1], length)], -1)[..., :length].to(device)
        for name, values in given.items()
    }
    arguments["mask"] = torch.ones(2, length, dtype=torch.bool, device=device)
    arguments["mask"][:, half:] = config.causal
    generator = torch.Generator().manual_seed(0)
    first, later = torch.randint(config.vocabulary, (2, length), generator=generator).tensor_split([half], 1)
    others = torch.randint(config.vocabulary, later.shape, generator=generator)
    was_training = model.training
    logits = []
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        with torch.no_grad():
            for rest in (later, later, others):
                arguments["tokens"] = torch.cat([first, rest], 1).to(device)
                with _explained(about, arguments):
                    logits.append(model.eval()(**arguments)[:, :half].float())
        with torch.backends.cudnn.flags(enabled=False):  # cuDNN has no backward pass of an LSTM in evaluation
            _check_finite(model, about, arguments)
    model.train(was_training)
    tolerance = _CAUSAL_TOLERANCE * (1 + logits[0].abs().max().item())
    if (logits[0] - logits[1]).abs().max().item() > tolerance:
        return  # it draws random numbers by a generator of its own
    if (logits[0] - logits[2]).abs().max().item() > tolerance:
        raise InputError(
            f"the logits of {about} depend on later tokens; make it causal, or set model.attention=bidirectional"
            if config.causal
            else f"the logits of {about} depend on padding; hide the tokens where its argument mask is False"
        )


@contextmanager
def _explained(about: str, arguments: Mapping[str, Tensor]) -> Iterator[None]:
    """Raises the errors of a user's module as InputError, in one line."""
    torch.manual_seed(0)  # an encoding may draw positions
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        message = (str(error) or type(error).__name__).strip().splitlines()[0]
        raise InputError(f"{about} fails on sequences of {arguments['tokens'].shape[1]} tokens: {message}") from error


def _check_finite(model: Model, about: str, arguments: Mapping[str, Tensor]) -> None:
    """Raises InputError if logits or gradients are not finite, with the scores that cause it."""
    kept = arguments["mask"]
    with recorded_scores(model) as scores, _explained(about, arguments):
        logits = model(**arguments)
        logits[kept].float().log_softmax(-1).mean().backward()
    wrong = [name for name, p in model.named_parameters() if p.grad is not None and not p.grad.isfinite().all()]
    model.zero_grad()
    if not wrong and logits[kept].isfinite().all():
        return
    what = f"the gradient of {wrong[0]}" if logits[kept].isfinite().all() else "the logits"
    for a, values in scores.values():
        entries = (~values.isfinite()).nonzero()
        if len(entries) > 0 and isinstance(model, Transformer):
            _, head, query, key = entries[0].tolist()
            where = "a later key" if key > query else "an earlier key" if key < query else "the same token"
            hint = "; a later key is at a negative distance, so use .clamp(min=0)" if key > query else ""
            raise InputError(
                f"{what} is not finite before training: the score of {about} in layer {a.layer}, head {head} for query "
                f"{query} and key {key}, {where}, is {values[tuple(entries[0])].item()}{hint}"
            )
    raise InputError(f"{what} of {about} is not finite before training")
