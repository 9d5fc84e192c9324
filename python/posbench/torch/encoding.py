"""Defines the stages of a transformer that a position encoding may change."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from .._program import default_settings


@dataclass(frozen=True)
class ModelConfig:
    """What model and encoding create their parameters from: the sizes of the task, and the settings `model.*` of a
    configuration as attributes, such as `width`, `heads` and `window` (`posbench list settings` shows all)."""

    vocabulary: int
    trained_length: int  # tokens of the longest training sequence that is expected
    longest_length: int  # the same of all splits
    coordinates: int = 0  # A, of a position that the task states; 0: none
    settings: Mapping[str, Any] = field(default_factory=dict)  # model.*; the others have the program's defaults

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", {**default_settings("model"), **self.settings})

    def __getattr__(self, name: str) -> Any:
        settings = self.__dict__.get("settings", {})
        if name in settings:
            return settings[name]
        similar = get_close_matches(name, [*settings, *dir(type(self))], 1)
        raise AttributeError(
            f"ModelConfig has no '{name}'" + "".join(f"; did you mean '{other}'?" for other in similar)
        )

    @property
    def causal(self) -> bool:
        return bool(self.attention == "causal")

    @property
    def pre_norm(self) -> bool:
        return bool(self.norm == "pre")

    @property
    def head_width(self) -> int:
        """D = C / H"""
        return int(self.width // self.heads)

    @property
    def inner_width(self) -> int:
        """The inner width of feed-forward layers."""
        if self.feed_forward:
            return int(self.feed_forward)
        return int((8 * self.width // 3 + 7) // 8 * 8 if self.activation == "swiglu" else 4 * self.width)


@dataclass(frozen=True)
class Attention:
    """The inputs of an encoding in one attention layer, for a batch of B sequences of at most T tokens."""

    layer: int
    x: Tensor  # (B, T, C) layer input, after normalization
    q: Tensor  # (B, H, T, D)
    k: Tensor
    v: Tensor
    visible: Tensor  # (T, T) or (B, 1, T, T): whether a query (row) sees a key (column)
    positions: Tensor  # (T) or (B, T), from Encoding.positions
    tokens: Tensor  # (B, T)
    segments: Tensor | None = None  # (B, T)
    digit_positions: Tensor | None = None  # (B, T)
    coordinates: Tensor | None = None  # (B, A, T)

    @property
    def distance(self) -> Tensor:
        """Returns i - j for query i and key j, (T, T) or (B, 1, T, T); negative for later keys, but 0 where the query does
        not see the key, so that log(1 + distance) has a gradient in causal models."""
        difference = self.positions[..., :, None] - self.positions[..., None, :]
        difference = difference if difference.dim() == 2 else difference[:, None]
        return difference.masked_fill(~self.visible, 0)


def snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


class Encoding(nn.Module):
    """A position encoding. This base class is plain attention, without one; an encoding overrides what it changes.

    Parameters of a subclass are those of any module. Autograd gives the gradients.
    """

    name: ClassVar[str] = ""  # in reports; without it, that of the class in snake case
    spec: ClassVar[str] = "none"  # the encoding of the program whose parameters it has

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.config = config
        self.file_names: dict[str, str] = {}  # of parameters in files of the program
        self.without_decay: set[str] = set()  # attributes without weight decay

    @classmethod
    def report_name(cls) -> str:
        return cls.name or snake_case(cls.__name__)

    def positions(self, tokens: Tensor, segments: Tensor | None) -> Tensor:
        """1. Returns the position of each token, (T) or (B, T), of the type of the parameters.   Default: 0 .. T - 1."""
        return torch.arange(tokens.shape[1], device=tokens.device, dtype=torch.get_default_dtype())

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        """2. Returns token embeddings (B, T, C) to which positions may add.   Default: unchanged."""
        return x

    def score(self, a: Attention) -> Tensor:
        """3. Returns scores before normalization, (B, H, T, T). Scores of keys that are not visible are ignored.
        Default: q k^T / sqrt(D)."""
        return a.q @ a.k.transpose(-1, -2) / self.config.head_width**0.5

    def normalize(self, a: Attention, scores: Tensor) -> Tensor:
        """4. Returns the attention, (B, H, T, T), zero for keys that are not visible.   Default: softmax."""
        return scores.masked_fill(~a.visible, float("-inf")).softmax(-1)

    def mix(self, a: Attention, attention: Tensor) -> Tensor:
        """5. Returns the head outputs, (B, H, T, D).   Default: attention v."""
        return attention @ a.v

    def constrain(self) -> None:
        """Projects parameters back into their range: before training and after every update.   Default: nothing."""

    def learn(self, file_name: str, values: Tensor, decays: bool = True) -> None:
        """Adds a parameter that files of the program have under this name, with its initial values, a matrix. As an
        attribute it is called the same, with "_" for ".". decays=False excludes it from weight decay: a table of
        vectors, or numbers of heads side by side. A parameter with one row or column is always excluded."""
        attribute = file_name.replace(".", "_")
        self.register_parameter(attribute, nn.Parameter(values))
        self.file_names[attribute] = file_name
        if not decays:
            self.without_decay.add(attribute)
