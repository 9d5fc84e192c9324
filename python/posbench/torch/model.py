"""The transformer: token embedding, blocks of attention and feed-forward, final normalization, output layer."""
from __future__ import annotations

from typing import Callable, Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional

from .encoding import Attention, Encoding, Shape


def _linear(inputs: int, outputs: int) -> nn.Linear:
    """Weights uniform within 1 / sqrt(inputs), no bias at the start: the program's initial values."""
    layer = nn.Linear(inputs, outputs)
    nn.init.uniform_(layer.weight, -(inputs**-0.5), inputs**-0.5)
    nn.init.zeros_(layer.bias)
    return layer


class Block(nn.Module):
    """Attention and feed-forward, each normalized before it (pre-norm) or after its sum with x (post-norm)."""

    def __init__(self, shape: Shape):
        super().__init__()
        self.shape = shape
        self.norm1, self.norm2 = nn.LayerNorm(shape.width), nn.LayerNorm(shape.width)
        self.qkv = _linear(shape.width, 3 * shape.width)
        self.out = _linear(shape.width, shape.width)
        self.up = _linear(shape.width, shape.inner_width)
        self.down = _linear(shape.inner_width, shape.width)
        self.dropout = nn.Dropout(shape.dropout)

    def heads(self, x: Tensor) -> list[Tensor]:
        """q, k and v, (B, H, T, D) each."""
        parts = self.qkv(x).chunk(3, dim=-1)
        return [part.unflatten(-1, (self.shape.heads, self.shape.head_width)).transpose(1, 2) for part in parts]

    def forward(self, x: Tensor, encoding: Encoding, attend: Callable[..., Attention]) -> Tensor:
        pre = self.shape.pre_norm
        given = self.norm1(x) if pre else x
        a = attend(given, *self.heads(given))
        attention = encoding.normalize(a, encoding.score(a))
        joined = encoding.mix(a, attention).transpose(1, 2).flatten(2)
        x = x + self.dropout(self.out(joined))
        if not pre:
            x = self.norm1(x)
        inner = self.up(self.norm2(x) if pre else x)
        gelu = self.shape.activation == "gelu"
        activated = functional.gelu(inner, approximate="tanh") if gelu else functional.relu(inner)
        x = x + self.dropout(self.down(activated))
        return x if pre else self.norm2(x)


class Transformer(nn.Module):
    """The model of the program, batched. The encoding is the module `self.encoding`."""

    def __init__(self, shape: Shape, encoding: Encoding):
        super().__init__()
        if shape.width % shape.heads != 0:
            raise ValueError(f"width {shape.width} is not a multiple of heads {shape.heads}")
        self.shape = shape
        self.encoding = encoding
        self.embedding = nn.Embedding(shape.vocabulary, shape.width)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.final_norm = nn.LayerNorm(shape.width) if shape.pre_norm else nn.Identity()
        self.output = _linear(shape.width, shape.vocabulary)
        if shape.tied_embeddings:
            del self.output.weight
        self.dropout = nn.Dropout(shape.dropout)

    def visible(self, mask: Tensor) -> Tensor:
        """Whether a query sees a key: tokens only, and no later ones where causal. (T, T) or (B, 1, T, T)"""
        T = mask.shape[1]
        if self.shape.causal:  # padding is after all tokens, so that no token sees it
            return torch.ones(T, T, dtype=torch.bool, device=mask.device).tril()
        return mask[:, None, None, :].expand(-1, -1, T, -1)

    def forward(self, tokens: Tensor, mask: Tensor | None = None, segments: Tensor | None = None,
                digit_positions: Tensor | None = None) -> Tensor:
        """Logits (B, T, vocabulary) of tokens (B, T), padded at the end where mask (B, T) is False."""
        mask = torch.ones_like(tokens, dtype=torch.bool) if mask is None else mask
        visible = self.visible(mask)
        positions = self.encoding.positions(tokens, segments).to(self.embedding.weight.dtype)
        x = self.dropout(self.encoding.embed(self.embedding(tokens), positions))
        for layer, block in enumerate(self.blocks):

            def attend(given: Tensor, q: Tensor, k: Tensor, v: Tensor) -> Attention:
                return Attention(layer, given, q, k, v, visible, positions, tokens, segments, digit_positions)

            x = block(x, self.encoding, attend)
        x = self.final_norm(x)
        if self.shape.tied_embeddings:
            return x @ self.embedding.weight.T / self.shape.width**0.5 + self.output.bias
        return self.output(x)

    def decaying_parameters(self) -> Iterator[tuple[nn.Parameter, bool]]:
        """All parameters, and whether weight decay shrinks them: matrices with more than one row and column, except
        for embeddings and what an encoding excludes (`Encoding.learn`)."""
        excluded = {"embedding.weight"} | {f"encoding.{name}" for name in self.encoding.without_decay}
        for name, parameter in self.named_parameters():
            yield parameter, parameter.ndim >= 2 and min(parameter.shape[-2:]) > 1 and name not in excluded

    def file_parameters(self) -> dict[str, tuple[nn.Parameter, bool]]:
        """Parameters under their names in files of the program, and whether they are transposed there:
        the weights of linear layers are (inputs, outputs)."""
        named: dict[str, tuple[nn.Parameter, bool]] = {"embedding.weight": (self.embedding.weight, False)}

        def add(name: str, module: nn.Module, transposed: bool) -> None:
            for part in ("weight", "bias"):
                value = getattr(module, part, None)
                if value is not None:
                    named[f"{name}.{part}"] = (value, transposed and part == "weight")

        for n, block in enumerate(self.blocks):
            for norm in ("norm1", "norm2"):
                add(f"blocks.{n}.{norm}", getattr(block, norm), False)
            for name, layer in (("attention.qkv", block.qkv), ("attention.out", block.out),
                                ("feed_forward.up", block.up), ("feed_forward.down", block.down)):
                add(f"blocks.{n}.{name}", layer, True)
        add("final_norm", self.final_norm, False)
        add("output", self.output, True)
        for attribute, parameter in self.encoding.named_parameters():
            own = f"{self.encoding.report_name()}.{attribute}"
            named[self.encoding.file_names.get(attribute, own)] = (parameter, False)
        return named
