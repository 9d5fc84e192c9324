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


def _sinusoids(arguments: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """Returns sines and cosines of n 10000^(-2 m / width), m = 0 .. width / 2 - 1, in double."""
    frequencies = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64, device=arguments.device) / width)
    angles = arguments.double()[..., None] * frequencies
    return angles.sin(), angles.cos()


def _by_head(values: Tensor) -> Tensor:
    """Reorders ([B, 1,] T, T, H) to ([B,] H, T, T)."""
    return values.movedim(-1, -3) if values.dim() == 3 else values[:, 0].movedim(-1, -3)


class Sinusoidal(Encoding):
    """x_t += S(t), S(t)[2 n] = sin(t w_n), S(t)[2 n + 1] = cos(t w_n), w_n = 10000^(-2 n / C)"""

    name = spec = "sinusoidal"

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return x + torch.stack(_sinusoids(positions, self.config.width), -1).flatten(-2).to(x.dtype)


class LearnedAbsolute(Encoding):
    """x_t += P[t], P (N, C) with N the longest sequence of any split"""

    name = spec = "learned_abs"

    def __init__(self, config: ModelConfig):
        super().__init__(config)
        self.learn(
            "learned_abs.table", torch.randn(config.longest_length, config.width) / config.width**0.5, decays=False
        )

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return x + self.learned_abs_table[positions.long().clamp(max=len(self.learned_abs_table) - 1)]


class ShawKeys(Encoding):
    """score = q_i . (k_j + A[clip(j - i, -16, 16)]) / sqrt(D), A for each layer, shared by heads"""

    name = spec = "shaw_k"
    clip = 16

    def __init__(self, config: ModelConfig):
        super().__init__(config)
        D = config.head_width
        for n in range(config.layers):
            self.learn(f"shaw_k.keys.{n}", torch.randn(2 * self.clip + 1, D) / D**0.5, decays=False)

    def score(self, a: Attention) -> Tensor:
        row = (-a.distance).clamp(-self.clip, self.clip).long() + self.clip
        by_row = a.q @ getattr(self, f"shaw_k_keys_{a.layer}").T / self.config.head_width**0.5
        return super().score(a) + by_row.gather(-1, row.expand(*by_row.shape[:2], -1, -1))


class TransformerXl(Encoding):
    """score_h = ((q_i + u_h) . k_j + (q_i + w_h) . (W S(i - j))_h) / sqrt(D), S all sines, then all cosines"""

    name = spec = "txl"

    def __init__(self, config: ModelConfig):
        super().__init__(config)
        self.learn("txl.u", 0.02 * torch.randn(config.heads, config.head_width), decays=False)
        self.learn("txl.w", 0.02 * torch.randn(config.heads, config.head_width), decays=False)
        for n in range(config.layers):
            self.learn(f"txl.projection.{n}", 0.02 * torch.randn(config.width, config.width))

    def score(self, a: Attention) -> Tensor:
        H, D = self.config.heads, self.config.head_width
        sinusoids = torch.cat(_sinusoids(a.distance, self.config.width), -1).to(a.x.dtype)
        projected = (sinusoids @ getattr(self, f"txl_projection_{a.layer}")).unflatten(-1, (H, D))
        content = (a.q + self.txl_u[:, None]) @ a.k.transpose(-1, -2)
        equation = "bhid,ijhd->bhij" if projected.dim() == 4 else "bhid,bijhd->bhij"
        projected = projected if projected.dim() == 4 else projected[:, 0]
        return (content + torch.einsum(equation, a.q + self.txl_w[:, None], projected)) / D**0.5


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
        return super().score(a) + _by_head(self.t5_bias_table[self.bucket(a.distance)])


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

    def bias(self, a: Attention) -> Tensor:
        return -self.slopes * a.distance.abs()

    def score(self, a: Attention) -> Tensor:
        return super().score(a) + self.bias(a)


class KerpleLog(Encoding):
    """score_h = q_i . k_j / sqrt(D) - r1_h log(1 + r2_h |i - j|), r1 and r2 at least 0.01"""

    name = spec = "kerple_log"

    def __init__(self, config: ModelConfig):
        super().__init__(config)
        self.learn("kerple_log.r1", 2 * torch.rand(1, config.heads), decays=False)
        self.learn("kerple_log.r2", torch.rand(1, config.heads), decays=False)

    def score(self, a: Attention) -> Tensor:
        r1, r2 = self.kerple_log_r1[0, :, None, None], self.kerple_log_r2[0, :, None, None]
        return super().score(a) - r1 * torch.log1p(r2 * a.distance.abs())

    def constrain(self) -> None:
        self.kerple_log_r1.clamp_(min=0.01)
        self.kerple_log_r2.clamp_(min=0.01)


class Fire(Encoding):
    """score_h = q_i . k_j / sqrt(D) + f_h(+- psi(|i - j|) / (psi(max(i, j, |mu| L)) + 1e-6)), psi(n) = log(|c| n + 1),
    negative for keys after the query; f: 1 -> 32 -> H with ReLU, for each layer; L half of the trained length"""

    name = spec = "fire"
    hidden = 32

    def __init__(self, config: ModelConfig):
        super().__init__(config)
        bound = self.hidden**-0.5
        for n in range(config.layers):
            self.learn(f"fire.c.{n}", torch.full((1, 1), 0.1))
            self.learn(f"fire.mu.{n}", torch.ones(1, 1))
            self.learn(f"fire.w1.{n}", torch.empty(1, self.hidden).uniform_(-1, 1))
            self.learn(f"fire.b1.{n}", torch.empty(1, self.hidden).uniform_(-1, 1))
            self.learn(f"fire.w2.{n}", torch.empty(self.hidden, config.heads).uniform_(-bound, bound))
            self.learn(f"fire.b2.{n}", torch.empty(1, config.heads).uniform_(-bound, bound))

    def score(self, a: Attention) -> Tensor:
        c, mu, w1, b1, w2, b2 = (
            getattr(self, f"fire_{part}_{a.layer}") for part in ("c", "mu", "w1", "b1", "w2", "b2")
        )
        threshold = mu.abs() * max(1, self.config.trained_length // 2)
        later = torch.maximum(a.positions[..., :, None], a.positions[..., None, :])
        reach = torch.where(threshold > later, threshold, later)
        reach = reach if a.positions.dim() == 1 else reach[:, None]
        side = torch.where(a.distance < 0, -1.0, 1.0).to(reach.dtype)
        xi = side * torch.log1p(c.abs() * a.distance.abs()) / (torch.log1p(c.abs() * reach) + 1e-6)
        bias = functional.relu(xi[..., None] * w1[0] + b1[0]) @ w2 + b2[0]
        return super().score(a) + _by_head(bias)


class Rope(Encoding):
    """score = R(i) q_i . R(j) k_j / sqrt(D), R(p) rotates components 2 n and 2 n + 1 by p 10000^(-2 n / D)"""

    name = spec = "rope"

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        sine, cosine = (part.to(x.dtype) for part in _sinusoids(positions, self.config.head_width))
        if positions.dim() == 2:
            sine, cosine = sine[:, None], cosine[:, None]
        even, odd = x[..., 0::2], x[..., 1::2]
        return torch.stack((even * cosine - odd * sine, even * sine + odd * cosine), -1).flatten(-2)

    def score(self, a: Attention) -> Tensor:
        q, k = self.rotate(a.q, a.positions), self.rotate(a.k, a.positions)
        return q @ k.transpose(-1, -2) / self.config.head_width**0.5


class Local(Rope):
    """The score of rope for keys less than a quarter of the trained length away. The others get no attention."""

    name = spec = "local"

    def score(self, a: Attention) -> Tensor:
        window = max(1, math.floor(0.25 * self.config.trained_length + 0.5))
        at = torch.arange(a.x.shape[1], device=a.x.device)
        seen = a.visible & ((at[:, None] - at).abs() < window)
        seen = torch.where(seen.any(-1, keepdim=True), seen, a.visible)  # padding sees something
        return super().score(a).masked_fill(~seen, -math.inf)


class SinkLogit(Rope):
    """rope, and attention_h(i, j) = e^z_h(i, j) / (e^s_h + sum over m of e^z_h(i, m)), z the scores, s learned"""

    name = spec = "sink_logit"

    def __init__(self, config: ModelConfig):
        super().__init__(config)
        for n in range(config.layers):
            self.learn(f"sink_logit.logit.{n}", torch.zeros(1, config.heads), decays=False)

    def normalize(self, a: Attention, scores: Tensor) -> Tensor:
        logit = getattr(self, f"sink_logit_logit_{a.layer}")[0, :, None, None].expand(*scores.shape[:-1], 1)
        return torch.cat((scores.masked_fill(~a.visible, -math.inf), logit), -1).softmax(-1)[..., :-1]


class Gated(Rope):
    """rope, and output_h(i) = sigmoid((x_i W)_h) attention_h v_h, entry by entry"""

    name = spec = "gated"

    def __init__(self, config: ModelConfig):
        super().__init__(config)
        for n in range(config.layers):
            self.learn(f"gated.weight.{n}", 0.02 * torch.randn(config.width, config.width))

    def mix(self, a: Attention, attention: Tensor) -> Tensor:
        gates = (a.x @ getattr(self, f"gated_weight_{a.layer}")).sigmoid()
        return super().mix(a, attention) * gates.unflatten(-1, (self.config.heads, -1)).transpose(1, 2)


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


class Dape(Alibi):
    """score_h = A_h + B_h + f_h([A; B]), A = q_i . k_j / sqrt(D), B ALiBi's bias, f: 2 H -> 32 -> H with LeakyReLU"""

    name = spec = "dape"
    hidden = 32

    def __init__(self, config: ModelConfig):
        super().__init__(config)
        H, within, without = config.heads, (2 * config.heads) ** -0.5, self.hidden**-0.5
        for n in range(config.layers):
            self.learn(f"dape.{n}.in.weight", torch.empty(self.hidden, 2 * H).uniform_(-within, within))
            self.learn(f"dape.{n}.in.bias", torch.empty(1, self.hidden).uniform_(-within, within))
            self.learn(f"dape.{n}.out.weight", torch.empty(H, self.hidden).uniform_(-without, without))
            self.learn(f"dape.{n}.out.bias", torch.empty(1, H).uniform_(-without, without))

    def score(self, a: Attention) -> Tensor:
        w1, b1, w2, b2 = (
            getattr(self, f"dape_{a.layer}_{part}") for part in ("in_weight", "in_bias", "out_weight", "out_bias")
        )
        content = Encoding.score(self, a)
        bias = self.bias(a).expand_as(content)
        channels = torch.cat((content, bias), 1).movedim(1, -1)
        hidden = functional.leaky_relu(channels @ w1.T + b1[0], 0.01)
        return content + bias + (hidden @ w2.T + b2[0]).movedim(-1, 1)


ALL: dict[str, type[Encoding]] = {
    encoding.spec: encoding
    for encoding in (
        NoEncoding,
        Sinusoidal,
        LearnedAbsolute,
        ShawKeys,
        TransformerXl,
        T5Bias,
        Alibi,
        KerpleLog,
        Fire,
        Rope,
        Local,
        SinkLogit,
        Gated,
        Cope,
        Fox,
        Dape,
    )
}
