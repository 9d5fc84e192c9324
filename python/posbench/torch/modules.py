"""Lets the program's transformer and training loop use any module: a mixer instead of attention, or a whole model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Callable

import torch
from torch import Tensor, nn

from .._program import InputError
from .encoding import ModelConfig, snake_case

MakeModule = Callable[[ModelConfig], nn.Module]


class Model(nn.Module):
    """A model that train() trains."""

    config: ModelConfig

    def constrain(self) -> None:
        """Projects parameters back into their range: before training and after every update.   Default: nothing."""

    def report_name(self) -> str:
        """Returns the name of the model in reports."""
        return snake_case(type(self).__name__)

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    def without_decay(self) -> set[str]:
        """Returns the names of matrices that weight decay does not shrink: embeddings."""
        return {f"{name}.weight" for name, module in self.named_modules() if isinstance(module, nn.Embedding)}

    def decaying_parameters(self) -> Iterator[tuple[nn.Parameter, bool]]:
        """Returns all parameters, and true for those that weight decay shrinks: matrices with more than one row and
        column, except for those of without_decay()."""
        excluded = self.without_decay()
        for name, parameter in self.named_parameters():
            yield parameter, parameter.ndim >= 2 and min(parameter.shape[-2:]) > 1 and name not in excluded


class AnyModel(Model):
    """A module from tokens (B, T) to logits (B, T, vocabulary), which does not know posbench."""

    def __init__(self, config: ModelConfig, module: nn.Module, name: str):
        super().__init__()
        self.config, self.module, self.name = config, module, name
        if next(self.parameters(), None) is None:
            raise InputError(f"the model '{name}' has no parameters, so that it cannot be trained")

    def report_name(self) -> str:
        return self.name

    def forward(
        self,
        tokens: Tensor,
        mask: Tensor | None = None,
        segments: Tensor | None = None,
        digit_positions: Tensor | None = None,
        coordinates: Tensor | None = None,
    ) -> Tensor:
        expected = (*tokens.shape, self.config.vocabulary)
        about = f"the model '{self.name}'"
        return call_module(self.module, tokens, mask_of(self.config, mask, tokens), expected, about)


def name_of(make: MakeModule, module: nn.Module) -> str:
    """Returns the name in reports: that of the function, or of the module's class if the function has none."""
    name = getattr(make, "__name__", "<lambda>")
    return snake_case(type(module).__name__ if name == "<lambda>" else name)


def make_module(make: MakeModule, config: ModelConfig, argument: str) -> nn.Module:
    """Calls the function or class that an argument of run() gives. Raises InputError if it returns no module."""
    if isinstance(make, nn.Module):
        raise InputError(
            f"{argument} is a module, expected a function of ModelConfig that makes one, so that each layer and seed has its "
            f"own: {argument}=lambda config: {type(make).__name__}(...)"
        )
    module = make(config) if callable(make) else make
    if not isinstance(module, nn.Module):
        raise InputError(
            f"{argument} gives {describe(module)}, expected a class or a function of ModelConfig that returns a torch.nn.Module"
        )
    return module


def mask_of(config: ModelConfig, mask: Tensor | None, tokens: Tensor) -> Tensor | None:
    """Returns what a module gets as `mask`. Causal models need none: padding is after all tokens."""
    if config.causal:
        return None
    return torch.ones_like(tokens, dtype=torch.bool) if mask is None else mask


def call_module(module: nn.Module, given: Tensor, mask: Tensor | None, expected: tuple[int, ...], about: str) -> Tensor:
    """Returns the output of a module, which must have the expected shape. It may be the first of a tuple, as of
    torch.nn.LSTM, or `logits` of an object, as in transformers."""
    output = module(given) if mask is None else module(given, mask=mask)
    output = output[0] if isinstance(output, tuple) and output else getattr(output, "logits", output)
    if not isinstance(output, Tensor) or output.shape != expected or not output.is_floating_point():
        raise InputError(
            f"{about} returns {describe(output)} for an input of shape {tuple(given.shape)}, expected floats of shape "
            f"{expected}"
        )
    return output


def describe(value: Any) -> str:
    if not isinstance(value, Tensor):
        return f"a value of type {type(value).__name__}"
    return f"{'floats' if value.is_floating_point() else 'numbers'} of shape {tuple(value.shape)}"
