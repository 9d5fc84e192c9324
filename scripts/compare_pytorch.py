#!/usr/bin/env python3
"""Compares the speed of posbench and PyTorch, with the same model on one core.

Builds the model of each size of `posbench bench` in PyTorch, with the encodings none, learned_abs, rope, alibi, cope, fox
and dape (over ALiBi), and measures training steps (forward, backward, clipping, AdamW) of both in turn: processor time of one
thread, the best of PyTorch's forms against the median of posbench's: eager, eager with fused AdamW, and compiled with
fused AdamW. The last column is how many times the tokens of a second posbench trains on. Skips, with a word, where torch
is not installed.

    scripts/compare_pytorch.py build/release/posbench --sizes quick,cope -e none,cope
    scripts/compare_pytorch.py build/release/posbench --sizes cope -e none --batch 16
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time

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
FORMS = ("eager", "fused", "compiled")  # eager, eager with fused AdamW, and compiled with fused AdamW


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
    def __init__(self, width, *rest):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, *rest)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Model(nn.Module):
    def __init__(self, layers, width, heads, length, causal, encoding, vocabulary=VOCABULARY):
        super().__init__()
        self.embedding, self.norm = nn.Embedding(vocabulary, width), nn.LayerNorm(width)
        self.positions = nn.Embedding(length, width) if encoding == "learned_abs" else None
        self.blocks = nn.ModuleList(Block(width, heads, length, causal, encoding) for _ in range(layers))
        self.output = nn.Linear(width, vocabulary)

    def hidden(self, tokens):
        """Returns (batch, length, width): the input of the output layer."""
        x = self.embedding(tokens)
        if self.positions is not None:
            x = x + self.positions.weight[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.norm(x)

    def forward(self, tokens, targets):
        return F.cross_entropy(self.output(self.hidden(tokens)).flatten(0, 1), targets.flatten())


class Trainer:
    """Training steps of one model in PyTorch, in one of the FORMS."""

    def __init__(self, size, encoding, form, batch):
        layers, width, heads, length, causal, default_batch = SIZES[size]
        batch = batch or default_batch
        self.tokens = batch * length
        self.model = Model(layers, width, heads, length, causal, encoding)
        self.loss = torch.compile(self.model) if form == "compiled" else self.model
        optimizer = {"foreach": True} if form == "eager" else {"fused": True}
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4, weight_decay=0, **optimizer)
        self.batch = torch.randint(VOCABULARY, (2, batch, length))

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


def posbench_tokens_per_second(program, size, encoding, batch):
    arguments = ["--json", "-e", encoding, "--sizes", size, "--repetitions", "5"]
    output = subprocess.run(
        [program, "bench", *arguments, *(["--batch", str(batch)] if batch else [])],
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ).stdout
    length = SIZES[size][3]
    return next(
        row["tokens_per_second"]["training"]
        for row in json.loads(output)["benchmarks"]
        if row["encoding"] == encoding and row["length"] == length
    )


def measure(request, size, encoding):
    trainers = {}
    for form in FORMS:
        if form != "compiled" or not request.eager_only:
            trainers[form] = Trainer(size, encoding, form, request.batch)
            for _ in range(3):
                trainers[form].step()
    ours, theirs = [], {form: [] for form in trainers}
    for _ in range(request.rounds):
        ours.append(posbench_tokens_per_second(request.posbench, size, encoding, request.batch))
        for form, trainer in trainers.items():
            theirs[form].append(trainer.tokens_per_second(request.seconds))
    ratios = sorted(a / max(b) for a, b in zip(ours, zip(*theirs.values())))
    medians = "".join(f"{statistics.median(theirs[form]):>12.0f}" if form in theirs else f"{'-':>12}" for form in FORMS)
    print(
        f"{size:<7}{encoding:<9}{statistics.median(ours):>12.0f}{medians}{statistics.median(ratios):>9.2f}"
        f"   {ratios[0]:.2f} .. {ratios[-1]:.2f}",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("posbench", help="the program, built with the preset release")
    parser.add_argument("--sizes", default="quick,che,cope,tiny")
    parser.add_argument("-e", "--encodings", default="none,rope,cope,fox,dape")
    parser.add_argument("--batch", type=int, default=0, help="sequences of a batch (default: those of the size)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds; each measures every program once")
    parser.add_argument("--seconds", type=float, default=2, help="seconds of each form of PyTorch in a round")
    parser.add_argument("--eager-only", action="store_true", help="without torch.compile, which needs a compiler")
    request = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    torch.set_flush_denormal(True)
    print(f"torch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}; tokens per second of processor time")
    print(
        f"{'size':<7}{'encoding':<9}{'posbench':>12}{'eager':>12}{'fused':>12}{'compiled':>12}{'ratio':>9}   "
        f"lowest .. highest of {request.rounds}"
    )
    for size in request.sizes.split(","):
        for encoding in request.encodings.split(","):
            if encoding in ("cope", "fox") and not SIZES[size][4]:
                continue  # defined for causal models only
            measure(request, size, encoding)


if __name__ == "__main__":
    try:
        main()
    except (OSError, subprocess.CalledProcessError, KeyError) as error:
        print(f"compare_pytorch.py: {error}", file=sys.stderr)
        sys.exit(2)
