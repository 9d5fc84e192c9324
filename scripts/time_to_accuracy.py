#!/usr/bin/env python3
"""Compares the time that posbench and PyTorch take until a model has learned a task.

Both train the same model on the same samples, with the same batches, learning rates and number of threads, until the
token accuracy on the same validation samples is --accuracy or more. The time of posbench is that of the whole program,
from its start on. The time of PyTorch is that of steps and validations; it does not include drawing the samples and
importing torch. PyTorch computes the output layer at the targets only, with a fused AdamW. Needs torch and the Python package
posbench (pip install .).

    scripts/time_to_accuracy.py build/release/posbench
    scripts/time_to_accuracy.py build/release/posbench --cells selective_copy --seeds 0,1,2 --threads 2
"""

import argparse
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

try:
    import numpy as np
    import posbench
    import torch
    from compare_pytorch import Model
    from posbench.torch.training import schedule
    from torch import nn
    from torch.nn import functional as F
except ImportError as missing:
    print(f"time_to_accuracy.py: skipped, {missing.name} is not installed (pip install torch .)")
    sys.exit(0)


@dataclass(frozen=True)
class Cell:
    task: str
    encoding: str
    layers: int
    width: int
    heads: int
    batch: int
    steps: int  # of the schedule
    learning_rate: float
    warm_up: float = 0.05
    weight_decay: float = 0
    block: str = "sequential"
    tied: bool = False

    def settings(self, threads):
        return {
            "model.layers": self.layers,
            "model.width": self.width,
            "model.heads": self.heads,
            "model.block": self.block,
            "model.tied_embeddings": str(self.tied).lower(),
            "training.batch": self.batch,
            "training.steps": self.steps,
            "training.learning_rate": self.learning_rate,
            "training.warm_up": self.warm_up,
            "training.weight_decay": self.weight_decay,
            "training.validate_every": VALIDATE_EVERY,
            "training.validation_sequences": VALIDATION_SEQUENCES,
            "training.groups": 1 if threads == 1 else GROUPS,
            "evaluation.sequences": VALIDATION_SEQUENCES,
        }


CELLS = {
    # The smallest cell of Zoology (arXiv:2312.04927, HazyResearch/zoology): 64 tokens, 4 pairs, 8192 ids, 64 epochs, and
    # one of its four learning rates. Embeddings of tokens and positions start with the same deviation, as there.
    "mqar": Cell(
        "mqar:length=64,pairs=4,vocabulary=8192",
        "learned_abs:deviation=1",
        layers=2,
        width=64,
        heads=1,
        batch=512,
        steps=12544,
        learning_rate=2.15e-3,
        warm_up=0,
        weight_decay=0.1,
        block="attention",
        tied=True,
    ),
    # The settings of the profile quick.
    "selective_copy": Cell(
        "selective_copy", "rope", layers=2, width=64, heads=4, batch=16, steps=4000, learning_rate=3e-3
    ),
}
VALIDATE_EVERY, VALIDATION_SEQUENCES, GROUPS = 20, 512, 8


def time_posbench(program, cell, seed, request):
    """Returns the step and the seconds until the accuracy is reached, or None."""
    command = [program, "run", "-v", "-t", cell.task, "-e", cell.encoding, "-s", f"{seed},", "-j", "1"]
    command += ["--threads", str(request.threads)]
    for name, value in cell.settings(request.threads).items():
        command += ["--set", f"{name}={value}"]
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        process = subprocess.Popen(
            [*command, "-o", str(Path(folder) / "run")], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        lines = []
        for line in process.stderr:
            lines.append(line)
            found = re.search(r"step (\d+), loss .*, validation ([0-9.]+) of tokens", line)
            if found and float(found[2]) >= request.accuracy:
                seconds = time.perf_counter() - start
                process.kill()
                process.wait()
                return int(found[1]), seconds
        if process.wait() != 0:
            raise RuntimeError("".join(lines[-3:]))
    return None


class Trainer:
    """Trains the model of a cell in PyTorch."""

    def __init__(self, cell, task, seed):
        torch.manual_seed(seed)
        self.cell, self.step = cell, 0
        self.validation = as_tensors(task.samples("validation", count=VALIDATION_SEQUENCES).arrays())
        length = 2 * self.validation[0].shape[1]  # training samples may be longer
        self.model = Model(
            cell.layers,
            cell.width,
            cell.heads,
            length,
            True,
            cell.encoding.removesuffix(":deviation=1"),  # that of nn.Embedding
            task.vocabulary,
            feed_forward=cell.block != "attention",
            tied=cell.tied,
        )
        embedding = self.model.embedding.weight
        linear = [m.weight for m in self.model.modules() if isinstance(m, nn.Linear) and m.weight is not embedding]
        others = [p for p in self.model.parameters() if all(p is not weight for weight in linear)]
        groups = [{"params": linear, "weight_decay": cell.weight_decay}, {"params": others, "weight_decay": 0}]
        self.optimizer = torch.optim.AdamW(groups, lr=cell.learning_rate, fused=True)

    def learning_rate(self):
        """Returns the learning rate of posbench at this step."""
        warm_up = math.ceil(self.cell.warm_up * self.cell.steps)
        return self.cell.learning_rate * schedule("cosine", self.step, self.cell.steps, warm_up)

    def train(self, tokens, targets):
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate()
        self.optimizer.zero_grad(set_to_none=True)
        at_targets = targets >= 0
        logits = self.model.output(self.model.hidden(tokens)[at_targets])
        F.cross_entropy(logits, targets[at_targets]).backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1)
        self.optimizer.step()
        self.step += 1

    @torch.no_grad()
    def accuracy(self):
        tokens, targets = self.validation
        at_targets = targets >= 0
        predicted = self.model.output(self.model.hidden(tokens)[at_targets]).argmax(-1)
        return (predicted == targets[at_targets]).double().mean().item()


def as_tensors(arrays):
    return tuple(torch.from_numpy(arrays[name].astype(np.int64)) for name in ("tokens", "targets"))


def time_pytorch(cell, seed, request):
    """Returns the step and the seconds until the accuracy is reached, or None."""
    settings = {**cell.settings(request.threads), "model.attention": "causal"}
    task = posbench.task(cell.task, settings=settings)
    batches = task.batches(cell.batch, cell.steps, seed=seed)
    trainer, seconds = Trainer(cell, task, seed), 0.0
    for n in range(cell.steps):
        batch = as_tensors(batches[n])
        start = time.perf_counter()
        trainer.train(*batch)
        if (n + 1) % VALIDATE_EVERY == 0 and trainer.accuracy() >= request.accuracy:
            return n + 1, seconds + time.perf_counter() - start
        seconds += time.perf_counter() - start
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("posbench", help="the program, built with the preset release")
    parser.add_argument("--cells", default="mqar,selective_copy", help=f"of {', '.join(CELLS)}")
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--accuracy", type=float, default=0.99, help="token accuracy in validation")
    request = parser.parse_args()
    unknown = [name for name in request.cells.split(",") if name not in CELLS]
    if unknown:
        parser.error(f"unknown cell '{unknown[0]}'; expected {' or '.join(CELLS)}")
    if not re.fullmatch(r"\d+(,\d+)*", request.seeds):
        parser.error(f"--seeds is {request.seeds}, expected numbers as in 0,1,2")
    os.environ["POSBENCH_PROGRAM"] = request.posbench
    torch.set_num_threads(request.threads)
    torch.set_flush_denormal(True)
    print(f"torch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}; threads: {request.threads}")
    print(f"{'cell':<16}{'seed':>5}{'posbench: steps':>17}{'seconds':>9}{'PyTorch: steps':>16}{'seconds':>9}")
    for name in request.cells.split(","):
        pairs = []
        for seed in map(int, request.seeds.split(",")):
            ours = time_posbench(request.posbench, CELLS[name], seed, request)
            theirs = time_pytorch(CELLS[name], seed, request)
            columns = "".join(
                f"{found[0] if found else 'not reached':>{width}}{f'{found[1]:.1f}' if found else '':>9}"
                for found, width in ((ours, 17), (theirs, 16))
            )
            print(f"{name:<16}{seed:>5}{columns}", flush=True)
            if ours and theirs:
                pairs.append((ours[1], theirs[1]))
        if pairs:
            ours, theirs = (statistics.median(times) for times in zip(*pairs))
            print(f"{name:<16} medians: {ours:.1f} s and {theirs:.1f} s; posbench / PyTorch: {ours / theirs:.2f}")


if __name__ == "__main__":
    try:
        main()
    except (OSError, RuntimeError, posbench.InputError) as error:
        print(f"time_to_accuracy.py: {error}", file=sys.stderr)
        sys.exit(2)
