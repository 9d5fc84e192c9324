#!/usr/bin/env python3
"""Compares the speed of posbench and PyTorch, with the same model on one core.

It builds the model of each size of `posbench bench` in PyTorch, with the encodings none, learned_abs, rope, alibi, cope, fox
and dape (over ALiBi). It measures training steps (forward, backward, clipping, AdamW) of both in turn, in processor time of
one thread. PyTorch trains in three forms: eager, eager with fused AdamW, and compiled with fused AdamW. The ratio divides
the tokens per second of posbench by those of the fastest form. Without torch the script is skipped.

    scripts/compare_pytorch.py build/release/posbench --sizes quick,cope -e none,cope
    scripts/compare_pytorch.py build/release/posbench --sizes cope -e none --batch 16
    scripts/compare_pytorch.py build/release/posbench --sizes quick -e none,rope,alibi,cope,fox --length 4096
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"
try:
    import torch
    from torch import nn
    from torch.nn import functional as F
except ImportError:
    print("compare_pytorch.py: skipped, torch is not installed (pip install torch)")
    sys.exit(0)

SIZES = {  # layers, width, heads, length, causal, sequences in a batch: those of posbench bench
    "quick": (2, 64, 4, 64, True, 32),
    "che": (5, 64, 8, 40, False, 32),
    "cope": (4, 256, 4, 512, True, 2),
    "tiny": (2, 16, 2, 20, True, 64),
}
VOCABULARY = 32
ENCODINGS = ("none", "learned_abs", "rope", "alibi", "cope", "fox", "dape")
FORMS = ("eager", "fused", "compiled")  # eager, eager with fused AdamW, and compiled with fused AdamW


@dataclass(frozen=True)
class Size:
    name: str
    layers: int
    width: int
    heads: int
    length: int
    causal: bool
    batch: int


def select_sizes(request):
    """Returns the sizes of `posbench bench` with the same options."""
    sizes = []
    for name in request.sizes.split(","):
        layers, width, heads, length, causal, batch = SIZES[name]
        if request.length:
            length, batch = request.length, max(1, batch * length // request.length)
        sizes.append(Size(name, layers, width, heads, length, causal, request.batch or batch))
    return sizes


def rotate(x, cosine, sine):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((a * cosine - b * sine, a * sine + b * cosine), dim=-1)


class Attention(nn.Module):
    """Multi-head attention over x (batch, length, width) with one position encoding."""

    def __init__(self, width, heads, length, causal, encoding):
        super().__init__()
        self.heads, self.causal, self.encoding = heads, causal, encoding
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        depth = width // heads
        position = torch.arange(length, dtype=torch.float32)
        self.register_buffer("future", torch.ones(length, length, dtype=torch.bool).triu(1))
        if encoding == "rope":
            angles = position[:, None] * 10000 ** (-torch.arange(0, depth, 2) / depth)
            self.register_buffer("cosine", angles.cos())
            self.register_buffer("sine", angles.sin())
        if encoding in ("alibi", "dape"):
            slopes = 2 ** (-8 * torch.arange(1, heads + 1) / heads)
            distance = (position[:, None] - position[None, :]).abs()
            bias = -slopes[:, None, None] * distance
            hides = causal and encoding == "alibi"
            self.register_buffer("bias", bias.masked_fill(self.future, -math.inf) if hides else bias)
        if encoding == "dape":
            self.network = nn.Sequential(nn.Linear(2 * heads, 32), nn.LeakyReLU(), nn.Linear(32, heads))
        if encoding == "cope":
            self.table = nn.Parameter(torch.zeros(length + 1, depth))
        if encoding == "fox":
            self.gate = nn.Linear(width, heads)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        if self.encoding == "rope":
            cosine, sine = self.cosine[:T], self.sine[:T]
            q, k = rotate(q, cosine, sine), rotate(k, cosine, sine)
        if self.encoding in ("none", "rope", "learned_abs"):
            y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        elif self.encoding == "alibi":
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=self.bias)
        elif self.encoding == "fox":
            level = F.logsigmoid(self.gate(x)).transpose(1, 2).cumsum(-1)
            bias = (level[..., :, None] - level[..., None, :]).masked_fill(self.future, -math.inf)
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        elif self.encoding == "dape":  # as its authors' code
            scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
            pairs = torch.cat((scores, self.bias.expand(B, -1, -1, -1)), dim=1).permute(0, 2, 3, 1)
            scores = scores + self.bias + self.network(pairs).permute(0, 3, 1, 2)
            if self.causal:
                scores = scores.masked_fill(self.future, -math.inf)
            y = scores.softmax(-1) @ v
        else:  # CoPE, as its paper's listing
            scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
            gates = scores.sigmoid().masked_fill(self.future, 0)
            count = gates.flip(-1).cumsum(-1).flip(-1).clamp(max=self.table.shape[0] - 1)
            above, below = count.ceil().long(), count.floor().long()
            by_row = q @ self.table.t() / math.sqrt(q.shape[-1])
            fraction = count - below
            scores = scores + by_row.gather(-1, above) * fraction + by_row.gather(-1, below) * (1 - fraction)
            y = scores.masked_fill(self.future, -math.inf).softmax(-1) @ v
        return self.out(y.transpose(1, 2).reshape(B, T, C))


class Block(nn.Module):
    def __init__(self, width, *rest, feed_forward=True):
        super().__init__()
        self.norm1, self.attention, self.norm2 = nn.LayerNorm(width), Attention(width, *rest), None
        if feed_forward:
            self.norm2 = nn.LayerNorm(width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x if self.norm2 is None else x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Model(nn.Module):
    def __init__(
        self, layers, width, heads, length, causal, encoding, vocabulary=VOCABULARY, feed_forward=True, tied=False
    ):
        super().__init__()
        self.embedding, self.norm = nn.Embedding(vocabulary, width), nn.LayerNorm(width)
        self.positions = nn.Embedding(length, width) if encoding == "learned_abs" else None
        self.blocks = nn.ModuleList(
            Block(width, heads, length, causal, encoding, feed_forward=feed_forward) for _ in range(layers)
        )
        self.output, self.output_scale = nn.Linear(width, vocabulary), 1
        if tied:
            self.output.weight, self.output_scale = self.embedding.weight, width**-0.5
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.zeros_(module.bias)

    def hidden(self, tokens):
        """Returns (batch, length, width): the input of the output layer."""
        x = self.embedding(tokens)
        if self.positions is not None:
            x = x + self.positions.weight[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        x = self.norm(x)
        return x if self.output_scale == 1 else x * self.output_scale

    def forward(self, tokens, targets):
        return F.cross_entropy(self.output(self.hidden(tokens)).flatten(0, 1), targets.flatten())


class Trainer:
    """Training steps of one model in PyTorch, in one of the FORMS."""

    def __init__(self, size, encoding, form):
        self.tokens = size.batch * size.length
        self.model = Model(size.layers, size.width, size.heads, size.length, size.causal, encoding)
        self.loss = torch.compile(self.model) if form == "compiled" else self.model
        optimizer = {"foreach": True} if form == "eager" else {"fused": True}
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4, weight_decay=0, **optimizer)
        self.batch = torch.randint(VOCABULARY, (2, size.batch, size.length))

    def step(self):
        start = time.process_time()
        self.optimizer.zero_grad(set_to_none=True)
        self.loss(*self.batch).backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1)
        self.optimizer.step()
        return time.process_time() - start

    def tokens_per_second(self, seconds):
        times, end = [], time.process_time() + seconds
        while len(times) < 3 or time.process_time() < end:
            times.append(self.step())
        return self.tokens / statistics.median(times)


def run_bench(request, size, encoding):
    """Returns the measurement of posbench: tokens_per_second and others."""
    command = [request.posbench, "bench", "--json", "-e", encoding, "--sizes", size.name, "--repetitions", "5"]
    command += ["--length", str(size.length), "--batch", str(size.batch)]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return next(row for row in json.loads(output)["benchmarks"] if row["encoding"] == encoding)


def measure(request, size, encoding):
    trainers = {}
    for form in FORMS:
        if form != "compiled" or not request.eager_only:
            trainers[form] = Trainer(size, encoding, form)
            for _ in range(3):
                trainers[form].step()
    ours, theirs = [], {form: [] for form in trainers}
    for _ in range(request.rounds):
        ours.append(run_bench(request, size, encoding)["tokens_per_second"]["training"])
        for form, trainer in trainers.items():
            theirs[form].append(trainer.tokens_per_second(request.seconds))
    ratios = sorted(a / max(b) for a, b in zip(ours, zip(*theirs.values())))
    medians = "".join(f"{statistics.median(theirs[form]):>10.0f}" if form in theirs else f"{'-':>10}" for form in FORMS)
    print(
        f"{size.name:<7}{size.length:>6}  {encoding:<12}{statistics.median(ours):>10.0f}{medians}"
        f"{statistics.median(ratios):>7.2f}  {ratios[0]:.2f} .. {ratios[-1]:.2f}",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("posbench", help="the program, built with the preset release")
    parser.add_argument("--sizes", default="quick,che,cope,tiny")
    parser.add_argument("-e", "--encodings", default="none,rope,cope,fox,dape", help=f"of {', '.join(ENCODINGS)}")
    parser.add_argument("--batch", type=int, default=0, help="sequences of a batch (default: those of the size)")
    parser.add_argument("--length", type=int, default=0, help="tokens of a sequence (default: that of the size)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds; each measures every program once")
    parser.add_argument("--seconds", type=float, default=2, help="seconds of each form of PyTorch in a round")
    parser.add_argument("--eager-only", action="store_true", help="without torch.compile, which needs a compiler")
    request = parser.parse_args()
    for given, known in ((request.sizes, SIZES), (request.encodings, ENCODINGS)):
        unknown = [name for name in given.split(",") if name not in known]
        if unknown:
            parser.error(f"'{unknown[0]}' is unknown, expected names of {', '.join(known)}")
    if request.rounds < 1:
        parser.error(f"--rounds is {request.rounds}, expected 1 or more")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    torch.set_flush_denormal(True)
    print(f"torch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}; tokens per second of processor time")
    print(
        f"{'size':<7}{'length':>6}  {'encoding':<12}{'posbench':>10}{'eager':>10}{'fused':>10}{'compiled':>10}"
        f"{'ratio':>7}  of {request.rounds} rounds"
    )
    for size in select_sizes(request):
        for encoding in request.encodings.split(","):
            if encoding in ("cope", "fox") and not size.causal:
                continue  # defined for causal models only
            measure(request, size, encoding)


if __name__ == "__main__":
    try:
        main()
    except (OSError, subprocess.CalledProcessError, KeyError) as error:
        print(f"compare_pytorch.py: {error}", file=sys.stderr)
        sys.exit(2)
