"""Position encodings of the program, written from their equations.

The sources are those of the encodings of the same names (`posbench show NAME`). h, i and j are head, query and key;
D is the width of a head. `learn` gives a parameter the name that it has in files of the program.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional

from .encoding import Attention, Encoding, ModelConfig


class NoEncoding(Encoding):
    """score = q_i . k_j / sqrt(D)"""

    name = spec = "none"


class T5Bias(Encoding):
    """score_h = q_i . k_j / sqrt(D) + B[bucket(i - j), h], 32 buckets, logarithmic from half of them up to 128"""

    name = spec = "t5_bias"
    buckets, max_distance = 32, 128

    def __init__(self, config: ModelConfig):
        super().__init__(config)
        self.learn("t5_bias.table", torch.randn(self.buckets, config.heads) / config.width**0.5, decays=False)

    def bucket(self, distance: Tensor) -> Tensor:
        count = self.buckets if self.config.causal else self.buckets // 2
        exact = count // 2
        side = 0 if self.config.causal else count * (distance < 0)
        n = (distance.clamp(min=0) if self.config.causal else distance.abs()).double()
        octaves = torch.log(n.clamp(min=1) / exact) / math.log(self.max_distance / exact)
        far = (exact + (octaves * (count - exact)).long()).clamp(max=count - 1)
        return side + torch.where(n < exact, n.long(), far)

    def score(self, a: Attention) -> Tensor:
        bias = self.t5_bias_table[self.bucket(a.distance)].movedim(-1, -3)  # ([B, 1,] H, T, T)
        return super().score(a) + (bias if bias.dim() == 3 else bias[:, 0])


def alibi_slopes(heads: int) -> Tensor:
    """Returns 2^(-8 (h + 1) / H). If H is no power of two: those of the next lower power, then every other one of twice that."""
    power = 1 << (heads.bit_length() - 1)
    slopes = [2.0 ** (-8 * (h + 1) / power) for h in range(power)]
    return torch.tensor(slopes + [2.0 ** (-8 * (2 * h + 1) / (2 * power)) for h in range(heads - power)])


class Alibi(Encoding):
    """score_h = q_i . k_j / sqrt(D) - m_h |i - j|"""

    name = spec = "alibi"

    def __init__(self, config: ModelConfig):
        super().__init__(config)
        self.register_buffer("slopes", alibi_slopes(config.heads)[:, None, None])

    def score(self, a: Attention) -> Tensor:
        return super().score(a) - self.slopes * a.distance.abs()


class Rope(Encoding):
    """score = R(i) q_i . R(j) k_j / sqrt(D), R(p) rotates components 2 n and 2 n + 1 by p 10000^(-2 n / D)"""

    name = spec = "rope"

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        D = self.config.head_width
        frequencies = 10000.0 ** (-torch.arange(0, D, 2, dtype=torch.float64, device=positions.device) / D)
        angles = positions.double()[..., None] * frequencies
        angles = angles if positions.dim() == 1 else angles[:, None]
        sine, cosine = angles.sin().to(x.dtype), angles.cos().to(x.dtype)
        even, odd = x[..., 0::2], x[..., 1::2]
        return torch.stack((even * cosine - odd * sine, even * sine + odd * cosine), -1).flatten(-2)

    def score(self, a: Attention) -> Tensor:
        q, k = self.rotate(a.q, a.positions), self.rotate(a.k, a.positions)
        return q @ k.transpose(-1, -2) / self.config.head_width**0.5


class Cope(Encoding):
    """score = (q_i . k_j + q_i . e[p]) / sqrt(D), p = sum of sigmoid(q_i . k_m / sqrt(D)) over m = j .. i, at most the
    trained length; e is interpolated between its rows, and starts at zero"""

    name = spec = "cope"

    def __init__(self, config: ModelConfig):
        super().__init__(config)
        for n in range(config.layers):
            self.learn(f"cope.table.{n}", torch.zeros(config.trained_length + 1, config.head_width), decays=False)

    def score(self, a: Attention) -> Tensor:
        content = super().score(a)
        table = getattr(self, f"cope_table_{a.layer}")
        gates = content.sigmoid().masked_fill(~a.visible, 0)
        count = gates.flip(-1).cumsum(-1).flip(-1).clamp(max=len(table) - 1)
        row = count.detach().floor()
        by_row = a.q @ table.T / self.config.head_width**0.5
        low = by_row.gather(-1, row.long())
        high = by_row.gather(-1, (row.long() + 1).clamp(max=len(table) - 1))
        return content + low + (count - row) * (high - low)


class Fox(Encoding):
    """score_h = q_i . k_j / sqrt(D) + sum of log sigmoid(w_h . x_t + b_h) over t = j + 1 .. i"""

    name = spec = "fox"

    def __init__(self, config: ModelConfig):
        super().__init__(config)
        for n in range(config.layers):
            self.learn(f"fox.gate.{n}.weight", 0.02 * torch.randn(config.width, config.heads))
            self.learn(f"fox.gate.{n}.bias", torch.zeros(1, config.heads))

    def score(self, a: Attention) -> Tensor:
        weight, bias = getattr(self, f"fox_gate_{a.layer}_weight"), getattr(self, f"fox_gate_{a.layer}_bias")
        level = functional.logsigmoid(a.x @ weight + bias).cumsum(1).transpose(1, 2)  # (B, H, T)
        return super().score(a) + level[..., :, None] - level[..., None, :]


ALL: dict[str, type[Encoding]] = {encoding.spec: encoding for encoding in (NoEncoding, T5Bias, Alibi, Rope, Cope, Fox)}
