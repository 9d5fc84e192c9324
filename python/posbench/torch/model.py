"""The transformer: token embedding, blocks of attention and feed-forward, final normalization, output layer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Callable
from unittest import mock

import torch
from torch import Tensor, nn
from torch.nn import functional

from .._program import InputError
from .encoding import Attention, Encoding, ModelConfig
from .modules import MakeModule, Model, call_module, make_module, mask_of, name_of


def _of_shape(value: Tensor, shape: Sequence[int], encoding: Encoding, stage: str) -> Tensor:
    """Returns the value of a stage, broadcast to this shape. Raises InputError if that is impossible."""
    given = f"a value of type {type(value).__name__}"
    if isinstance(value, Tensor):
        try:
            return value.expand(*shape)
        except RuntimeError:
            given = f"the shape {tuple(value.shape)}"
    raise InputError(
        f"{stage} of '{encoding.report_name()}' returns {given}, expected the shape {tuple(shape)}: "
        f"batch, heads, tokens, {'keys' if stage == 'score' else 'head width'}"
    )


def _linear(inputs: int, outputs: int, biases: bool = True) -> nn.Linear:
    """A linear layer with the initial values of the program: weights uniform within 1 / sqrt(inputs), biases 0."""
    layer = nn.Linear(inputs, outputs, bias=biases)
    nn.init.uniform_(layer.weight, -(inputs**-0.5), inputs**-0.5)
    if biases:
        nn.init.zeros_(layer.bias)
    return layer


class Norm(nn.Module):
    """Layer normalization (without a shift if the model has no biases), or RMSNorm."""

    def __init__(self, width: int, kind: str = "layer_norm", biases: bool = True):
        super().__init__()
        self.kind = kind
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width)) if biases and kind == "layer_norm" else None

    def forward(self, x: Tensor) -> Tensor:
        if self.kind == "rms_norm":
            return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * self.weight
        return functional.layer_norm(x, x.shape[-1:], self.weight, self.bias)


class Block(nn.Module):
    """Attention and feed-forward, each normalized before it (pre-norm) or after its sum with x (post-norm). A mixer may
    replace attention, together with its linear layers."""

    def __init__(self, config: ModelConfig, mixer: nn.Module | None = None):
        super().__init__()
        self.config = config
        self.mixer = mixer
        self.norm1, self.norm2 = (Norm(config.width, config.norm_kind, config.biases) for _ in range(2))
        if mixer is None:
            self.qkv = _linear(config.width, 3 * config.width, config.biases)
            self.out = _linear(config.width, config.width, config.biases)
        self.up = _linear(config.width, config.inner_width, config.biases)
        self.down = _linear(config.inner_width, config.width, config.biases)
        if config.activation == "swiglu":
            self.gate = _linear(config.width, config.inner_width, config.biases)
        if config.qk_norm and mixer is None:
            self.q_norm, self.k_norm = (Norm(config.head_width, "rms_norm") for _ in range(2))
        self.dropout = nn.Dropout(config.dropout)

    def heads(self, x: Tensor) -> list[Tensor]:
        """Returns q, k and v, (B, H, T, D) each."""
        parts = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (part.unflatten(-1, (self.config.heads, self.config.head_width)).transpose(1, 2) for part in parts)
        return [self.q_norm(q), self.k_norm(k), v] if self.config.qk_norm else [q, k, v]

    def feed_forward(self, x: Tensor) -> Tensor:
        if self.config.activation == "swiglu":
            return self.down(functional.silu(self.gate(x)) * self.up(x))
        if self.config.activation == "gelu":
            return self.down(functional.gelu(self.up(x), approximate="tanh"))
        return self.down(functional.relu(self.up(x)))

    def seen(self, visible: Tensor) -> Tensor:
        """Returns the visible keys that the window, the segments and the chunks allow."""
        config = self.config
        if config.window == 0 and config.segment == 0 and config.chunk == 0:
            return visible
        at = torch.arange(visible.shape[-1], device=visible.device)
        near = torch.ones_like(visible)
        if config.window > 0:
            near = near & ((at[:, None] - at).abs() < config.window)
        if config.segment > 0:
            segments_back = at[:, None] // config.segment - at // config.segment
            near = near & (segments_back >= 0) & (segments_back <= 1)
        if config.chunk > 0:
            near = near & (at[:, None] // config.chunk == at // config.chunk)
        seen = visible & (near | (at < config.sinks))
        return torch.where(seen.any(-1, keepdim=True), seen, visible)  # padding sees something, so that no row is empty

    def logit_scale(self, seen: Tensor) -> Tensor | float:
        """Returns the factor of the scores of each query, (T, 1) or (B, 1, T, 1)."""
        if self.config.temperature > 0:
            at = torch.arange(seen.shape[-1], device=seen.device, dtype=self.qkv.weight.dtype)
            blocks = ((at + 1) / self.config.temperature).floor()
            return (1 + 0.1 * blocks.log1p())[:, None] * self.length_scale(seen)
        return self.length_scale(seen)

    def length_scale(self, seen: Tensor) -> Tensor | float:
        """Returns the factor of the option logit_scale."""
        if self.config.logit_scale == "constant":
            return 1.0
        trained = max(2, self.config.trained_length)
        all_seen = torch.ones(trained, trained, dtype=torch.bool, device=seen.device)
        longest = self.seen(all_seen.tril() if self.config.causal else all_seen)[-1].sum().clamp(min=2)
        dtype = self.qkv.weight.dtype
        ratio = seen.sum(-1, keepdim=True).clamp(min=1).to(dtype).log() / longest.to(dtype).log()
        return ratio if self.config.logit_scale == "log_length" else ratio.clamp(min=1)

    def attention(self, x: Tensor, encoding: Encoding, attend: Callable[..., Attention]) -> Tensor:
        a = attend(x, *self.heads(x))
        windowed = replace(a, visible=self.seen(a.visible))
        scores = _of_shape(encoding.score(a), (*a.q.shape[:3], a.k.shape[2]), encoding, "score")
        attention = encoding.normalize(windowed, scores * self.logit_scale(windowed.visible))
        outputs = _of_shape(encoding.mix(a, attention), a.v.shape, encoding, "mix")
        mixed: Tensor = self.out(outputs.transpose(1, 2).flatten(2))
        return mixed

    def forward(self, x: Tensor, mix: Callable[[Block, Tensor], Tensor]) -> Tensor:
        pre = self.config.pre_norm
        x = x + self.dropout(mix(self, self.norm1(x) if pre else x))
        if not pre:
            x = self.norm1(x)
        x = x + self.dropout(self.feed_forward(self.norm2(x) if pre else x))
        return x if pre else self.norm2(x)


class Transformer(Model):
    """The model of the program, batched. The encoding is the module `self.encoding`. `make_mixer` makes a module
    (B, T, C) to (B, T, C) for each layer, which replaces attention."""

    def __init__(self, config: ModelConfig, encoding: Encoding, make_mixer: MakeModule | None = None):
        super().__init__()
        if config.width % config.heads != 0:
            raise ValueError(f"width {config.width} is not a multiple of heads {config.heads}")
        self.config = config
        self.encoding = encoding
        self.embedding = nn.Embedding(config.vocabulary, config.width)
        mixers = [make_module(make_mixer, config, "mixer") if make_mixer else None for _ in range(config.layers)]
        self.mixer_name = name_of(make_mixer, mixers[0]) if make_mixer and mixers[0] is not None else ""
        self.blocks = nn.ModuleList(Block(config, mixer) for mixer in mixers)
        self.final_norm = Norm(config.width, config.norm_kind, config.biases) if config.pre_norm else nn.Identity()
        self.output = _linear(config.width, config.vocabulary, config.biases)
        if config.tied_embeddings:
            del self.output.weight
        self.dropout = nn.Dropout(config.dropout)

    def visible(self, mask: Tensor) -> Tensor:
        """Returns true where a query sees a key: a token, in causal models not a later one. (T, T) or (B, 1, T, T)"""
        T = mask.shape[1]
        if self.config.causal:  # padding is after all tokens, so that no token sees it
            return torch.ones(T, T, dtype=torch.bool, device=mask.device).tril()
        return mask[:, None, None, :].expand(-1, -1, T, -1)

    def forward(
        self,
        tokens: Tensor,
        mask: Tensor | None = None,
        segments: Tensor | None = None,
        digit_positions: Tensor | None = None,
        coordinates: Tensor | None = None,
    ) -> Tensor:
        """Returns logits (B, T, vocabulary) of tokens (B, T), padded at the end where mask (B, T) is False."""
        mask = torch.ones_like(tokens, dtype=torch.bool) if mask is None else mask
        visible = self.visible(mask)
        module_mask = mask_of(self.config, mask, tokens)
        positions = self.encoding.positions(tokens, segments).to(self.embedding.weight.dtype)
        x = self.dropout(self.encoding.embed(self.embedding(tokens), positions))
        for layer, block in [*enumerate(self.blocks)] * self.config.loops:

            def attend(given: Tensor, q: Tensor, k: Tensor, v: Tensor, layer: int = layer) -> Attention:
                return Attention(
                    layer, given, q, k, v, visible, positions, tokens, segments, digit_positions, coordinates
                )

            def mix(block: Block, given: Tensor, attend: Callable[..., Attention] = attend) -> Tensor:
                if block.mixer is None:
                    return block.attention(given, self.encoding, attend)
                about = f"the mixer '{self.mixer_name}'"
                return call_module(block.mixer, given, module_mask, tuple(given.shape), about)

            x = block(x, mix)
        x = self.final_norm(x)
        if self.config.tied_embeddings:
            logits = x @ self.embedding.weight.T / self.config.width**0.5
            return logits if self.output.bias is None else logits + self.output.bias
        return self.output(x)

    def constrain(self) -> None:
        self.encoding.constrain()

    def report_name(self) -> str:
        return self.mixer_name or self.encoding.report_name()

    def without_decay(self) -> set[str]:
        """Returns the names of matrices that weight decay does not shrink: embeddings, except for those of an encoding,
        which excludes parameters with `Encoding.learn`."""
        embeddings = {name for name in super().without_decay() if not name.startswith("encoding.")}
        return embeddings | {f"encoding.{name}" for name in self.encoding.without_decay}

    def file_parameters(self) -> dict[str, tuple[nn.Parameter, bool]]:
        """Returns parameters under their names in files of the program, and true for those that are transposed there:
        the weights of linear layers are (inputs, outputs). Parameters of a mixer have no names there."""
        named: dict[str, tuple[nn.Parameter, bool]] = {"embedding.weight": (self.embedding.weight, False)}

        def add(name: str, module: nn.Module, transposed: bool) -> None:
            for part in ("weight", "bias"):
                value = getattr(module, part, None)
                if value is not None:
                    named[f"{name}.{part}"] = (value, transposed and part == "weight")

        for n, block in enumerate(self.blocks):
            for norm in ("norm1", "norm2"):
                add(f"blocks.{n}.{norm}", getattr(block, norm), False)
            for name in ("q_norm", "k_norm") if self.config.qk_norm and block.mixer is None else ():
                add(f"blocks.{n}.attention.{name}", getattr(block, name), False)
            for name in ("qkv", "out") if block.mixer is None else ():
                add(f"blocks.{n}.attention.{name}", getattr(block, name), True)
            for name in ("up", "down"):
                add(f"blocks.{n}.feed_forward.{name}", getattr(block, name), True)
            if self.config.activation == "swiglu":
                add(f"blocks.{n}.feed_forward.gate", block.gate, True)
        add("final_norm", self.final_norm, False)
        add("output", self.output, True)
        for attribute, parameter in self.encoding.named_parameters():
            own = f"{self.encoding.report_name()}.{attribute}"
            named[self.encoding.file_names.get(attribute, own)] = (parameter, False)
        return named


@contextmanager
def recorded_scores(model: Model) -> Iterator[dict[int, tuple[Attention, Tensor]]]:
    """Yields a dictionary that gets the inputs and the scores of each layer of a Transformer when it is called."""
    scores: dict[int, tuple[Attention, Tensor]] = {}
    if not isinstance(model, Transformer):
        yield scores
        return
    normalize = model.encoding.normalize

    def keep(a: Attention, given: Tensor) -> Tensor:
        scores[a.layer] = a, given
        return normalize(a, given)

    with mock.patch.object(model.encoding, "normalize", keep):
        yield scores
